/**
 * Volumes of CSI drivers (API concept: CSI): staged once on the node where the driver wants that, published for each pod that has them, and taken
 * back when it has ended. What is published stands beside it in a file, so that a kubelet that starts anew takes it back too.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PersistentVolume, Volume } from '../../api/generated/types.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import { ownTree } from '../machine/fs-group.ts'
import { mountedBelow } from '../machine/mounts.ts'
import { type PodDirectories, plain } from '../machine/pod-directories.ts'
import { MountStepError } from '../mount-step-error.ts'
import { namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import { accountTokens, attachmentMetadata, csiDriverNamed, podInfo, secretValues } from './csi-context.ts'
import type { CsiDrivers, Driver } from './csi-drivers.ts'
import {
  type CsiRecordInFolder,
  csiFolderOf,
  csiRecordsOf,
  hasCsiRecord,
  sha256,
  uniqueName,
  writeCsiRecord,
} from './csi-records.ts'
import { type CsiVolumeSource, capabilityOf, csiVolumeSource, ownsFiles } from './csi-volume-source.ts'

export interface CsiVolumes {
  /** The folder at which the driver has published it. @throws Error while something is missing */
  publish(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Promise<string>
  /** Lets the driver make what is published as large as the volume is now. False: it does not do that on nodes. @throws Error */
  expand(pod: Pod, volume: Volume, persistent: PersistentVolume): Promise<boolean>
  /** What the driver tells of a volume that is published; undefined: it does not tell. @throws Error */
  stats(pod: Pod, volume: Volume, persistent: PersistentVolume): Promise<VolumeStats | undefined>
  /** Volumes of drivers that attach them which pods of this node have, or are about to have: the Node's status.volumesInUse. */
  inUse(): readonly string[]
  /** Takes back all that the pod has. @throws Error when a driver does not, or is not there */
  unpublish(uid: string): Promise<void>
}

/** Of a file system, as far as it is known; of a device its size alone. */
export interface VolumeStats {
  readonly capacityBytes?: number
  readonly availableBytes?: number
  readonly usedBytes?: number
  readonly inodes?: number
  readonly inodesFree?: number
  readonly inodesUsed?: number
}

export interface CsiVolumesOptions {
  readonly client: Client
  readonly nodeName: string
  readonly directories: PodDirectories
  readonly drivers: Pick<CsiDrivers, 'get'>
  /** Resolves once the API server has been told what is in use now. Default: nothing is told. */
  readonly tellInUse?: () => Promise<void>
}

const CSI = 'kubernetes.io/csi: '
const TIMEOUT_MS = 120_000

export function createCsiVolumes(options: CsiVolumesOptions): CsiVolumes {
  const { client, nodeName, directories, drivers, tellInUse = async () => {} } = options
  /** By the folders at which they are. */
  const published = new Set<string>()

  const call = (driver: Driver, method: string, request: Readonly<Record<string, unknown>>) =>
    driver.connection.call(method, request, { timeoutMs: TIMEOUT_MS })

  const ours = join(directories.root, 'plugins/kubernetes.io/csi')
  const pathOf = (uid: string, { name, isBlock }: CsiVolumeSource) =>
    isBlock
      ? join(ours, 'volumeDevices/publish', plain(name), plain(uid))
      : join(csiFolderOf(directories, uid, name), 'mount')
  const stagingOf = ({ driverName, volumeHandle, name, isBlock }: CsiVolumeSource) =>
    isBlock
      ? join(ours, 'volumeDevices/staging', plain(name))
      : join(ours, plain(driverName), sha256(volumeHandle), 'globalmount')

  /** Told before a volume is asked for, so that it is not detached under the pod. */
  const toldInUse = new Set<string>()

  function driverOf(name: string): Driver {
    const driver = drivers.get(name)
    if (driver === undefined) throw new Error(`driver name ${name} not found in the list of registered CSI drivers`)
    return driver
  }

  async function publish(pod: Pod, source: CsiVolumeSource): Promise<string> {
    const uid = uidOf(pod)
    const path = pathOf(uid, source)
    const find = (step: string) => {
      try {
        return driverOf(source.driverName)
      } catch (error) {
        if (step === 'MountDevice')
          throw new MountStepError(
            step,
            source.name,
            `${CSI}attacher.MountDevice failed to create newCsiDriverClient: ${messageOf(error)}`,
          )
        throw new Error(`${CSI}mounter.SetUpAt failed to get CSI client: ${messageOf(error)}`)
      }
    }
    const driver = find(source.isInline ? 'SetUp' : 'MountDevice')
    const object = await csiDriverNamed(client, source.driverName)
    if (published.has(path) && object?.spec.requiresRepublish !== true) return path
    const modes = object?.spec.volumeLifecycleModes ?? ['Persistent']
    const mode = source.isInline ? 'Ephemeral' : 'Persistent'
    if (!modes.includes(mode))
      throw new Error(
        `${CSI}mounter.SetUpAt: volume mode ${JSON.stringify(mode)} not supported by driver ${source.driverName} (only supports ${JSON.stringify(modes)})`,
      )
    const group = specOf(pod).securityContext?.fsGroup
    const givesGroup = driver.capabilities.has('VOLUME_MOUNT_GROUP') && group !== undefined
    const isAttached = !source.isInline && object?.spec.attachRequired !== false
    if (isAttached) await markInUse(uid, source)
    const publishContext = await attachmentMetadata(client, nodeName, source, object)
    const capability = capabilityOf(source, driver, givesGroup ? String(group) : '')
    const staging = !source.isInline && driver.capabilities.has('STAGE_UNSTAGE_VOLUME')
    const stagingPath = staging ? stagingOf(source) : undefined
    writeCsiRecord(csiFolderOf(directories, uid, source.name), {
      ...source,
      isAttached,
      ...(source.isBlock ? { target: path } : {}),
      ...(stagingPath === undefined ? {} : { stagingPath }),
    })
    if (stagingPath !== undefined && !published.has(path)) {
      mkdirSync(stagingPath, { recursive: true, mode: 0o750 })
      const request = {
        volume_id: source.volumeHandle,
        publish_context: publishContext,
        staging_target_path: stagingPath,
        volume_capability: capability,
        secrets: await secretValues(client, source.stageSecret, namespaceOf(pod)),
        volume_context: source.attributes,
      }
      await call(driver, 'NodeStageVolume', request).catch((error: unknown) => {
        throw new MountStepError('MountDevice', source.name, rpcText(error))
      })
    }
    // The driver makes the file that the device is put on.
    if (source.isBlock) mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
    const told = await accountTokens(client, pod, object)
    const inSecrets = object?.spec.serviceAccountTokenInSecrets === true
    await call(driver, 'NodePublishVolume', {
      volume_id: source.volumeHandle,
      publish_context: publishContext,
      ...(stagingPath === undefined ? {} : { staging_target_path: stagingPath }),
      target_path: path,
      volume_capability: capability,
      readonly: source.readOnly,
      secrets: { ...(await secretValues(client, source.publishSecret, namespaceOf(pod))), ...(inSecrets ? told : {}) },
      volume_context: { ...source.attributes, ...podInfo(pod, source.isInline, object), ...(inSecrets ? {} : told) },
    }).catch((error: unknown) => {
      throw new Error(`${CSI}mounter.SetUpAt failed to mount: ${rpcText(error)}`)
    })
    if (!source.isBlock && !givesGroup && group !== undefined && !source.readOnly && ownsFiles(source, object))
      ownTree(path, group)
    published.add(path)
    return path
  }

  async function markInUse(uid: string, source: CsiVolumeSource): Promise<void> {
    const folder = csiFolderOf(directories, uid, source.name)
    if (!hasCsiRecord(folder)) writeCsiRecord(folder, { ...source, isAttached: true, isWaiting: true })
    const name = uniqueName(source)
    if (toldInUse.has(name)) return
    await tellInUse()
    toldInUse.add(name)
  }

  const isHadByOthers = ({ driverName, volumeHandle, folder }: CsiRecordInFolder): boolean =>
    directories
      .known()
      .some((uid) =>
        csiRecordsOf(directories, uid).some(
          (one) =>
            one.folder !== folder &&
            one.isWaiting !== true &&
            one.driverName === driverName &&
            one.volumeHandle === volumeHandle,
        ),
      )

  async function takeBack(one: CsiRecordInFolder): Promise<void> {
    const { driverName, volumeHandle: volume_id, target = join(one.folder, 'mount'), stagingPath } = one
    const driver = driverOf(driverName)
    await call(driver, 'NodeUnpublishVolume', { volume_id, target_path: target })
    published.delete(target)
    if (mountedBelow(target).length > 0) throw new Error(`driver ${driverName} left ${target} mounted`)
    if (one.target !== undefined) rmSync(target, { force: true })
    if (stagingPath === undefined || isHadByOthers(one)) return
    await call(driver, 'NodeUnstageVolume', { volume_id, staging_target_path: stagingPath })
    if (mountedBelow(stagingPath).length > 0) return
    rmSync(one.target === undefined ? dirname(stagingPath) : stagingPath, { recursive: true, force: true })
  }

  return {
    publish: (pod, volume, persistent) => publish(pod, csiVolumeSource(pod, volume, persistent)),
    async expand(pod, volume, persistent) {
      const source = csiVolumeSource(pod, volume, persistent)
      const driver = driverOf(source.driverName)
      if (!driver.capabilities.has('EXPAND_VOLUME')) return false
      const size = persistent.spec?.capacity?.['storage']
      await call(driver, 'NodeExpandVolume', {
        volume_id: source.volumeHandle,
        volume_path: pathOf(uidOf(pod), source),
        capacity_range: { required_bytes: size === undefined ? 0 : Number(quantityValue(size)) },
        ...(driver.capabilities.has('STAGE_UNSTAGE_VOLUME') ? { staging_target_path: stagingOf(source) } : {}),
        volume_capability: capabilityOf(source, driver, ''),
        secrets: await secretValues(client, persistent.spec?.csi?.nodeExpandSecretRef, namespaceOf(pod)),
      })
      return true
    },
    async stats(pod, volume, persistent) {
      const source = csiVolumeSource(pod, volume, persistent)
      const driver = drivers.get(source.driverName)
      if (driver?.capabilities.has('GET_VOLUME_STATS') !== true) return undefined
      const request = {
        volume_id: source.volumeHandle,
        volume_path: pathOf(uidOf(pod), source),
        ...(driver.capabilities.has('STAGE_UNSTAGE_VOLUME') ? { staging_target_path: stagingOf(source) } : {}),
      }
      const options = { timeoutMs: TIMEOUT_MS }
      const { usage = [] } = await driver.connection.call<Told>('NodeGetVolumeStats', request, options)
      return statsOf(usage)
    },
    inUse() {
      const all = directories
        .known()
        .flatMap((uid) => csiRecordsOf(directories, uid).filter(({ isAttached }) => isAttached === true))
      return [...new Set(all.map(uniqueName))].sort()
    },
    async unpublish(uid) {
      let isLess = false
      for (const one of csiRecordsOf(directories, uid)) {
        if (one.isWaiting !== true) await takeBack(one)
        // In use until all of it has been taken back.
        rmSync(one.folder, { recursive: true, force: true })
        if (one.isAttached !== true || isHadByOthers(one)) continue
        toldInUse.delete(uniqueName(one))
        isLess = true
      }
      if (isLess) await tellInUse()
    },
  }
}

const rpcText = (error: unknown) => `rpc error: ${messageOf(error)}`

interface Told {
  readonly usage?: readonly Usage[]
}

interface Usage {
  readonly available: number
  readonly total: number
  readonly used: number
  readonly unit: string
}

function statsOf(usage: readonly Usage[]): VolumeStats {
  const bytes = usage.find(({ unit }) => unit === 'BYTES')
  const inodes = usage.find(({ unit }) => unit === 'INODES')
  return {
    ...(bytes === undefined
      ? {}
      : { capacityBytes: bytes.total, availableBytes: bytes.available, usedBytes: bytes.used }),
    ...(inodes === undefined ? {} : { inodes: inodes.total, inodesFree: inodes.available, inodesUsed: inodes.used }),
  }
}
