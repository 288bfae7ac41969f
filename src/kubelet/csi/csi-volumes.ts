/**
 * Volumes of CSI drivers (API concept: CSI): staged once on the node where the driver wants that, published for each pod that has them, and taken
 * back when it has ended. What is published stands beside it in a file, so that a kubelet that starts anew takes it back too.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type {
  AuthenticationV1TokenRequest,
  CSIDriver,
  PersistentVolume,
  Secret,
  Volume,
  VolumeAttachment,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { quantityValue } from '../../api/objects/quantity.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import { mountedBelow } from '../machine/mounts.ts'
import { ownTree } from '../machine/own-tree.ts'
import { type PodDirectories, plain } from '../machine/pod-directories.ts'
import { MountStepError } from '../mount-step-error.ts'
import { nameOf, namespaceOf, type Pod, specOf, uidOf } from '../pod.ts'
import type { CsiDrivers, Driver } from './csi-drivers.ts'

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

/** What a pod has of a driver, as it is kept. */
interface Published {
  readonly driverName: string
  readonly volumeHandle: string
  /** Undefined: it is not staged. */
  readonly stagingPath?: string
  /** Where it is published. Default: the folder `mount` beside the record. */
  readonly target?: string
  /** Its driver attaches it to nodes. */
  readonly isAttached?: boolean
  /** The driver has not been asked for it yet. */
  readonly isWaiting?: boolean
}

interface Recorded extends Published {
  /** That of the record. */
  readonly folder: string
}

/** A volume as it is wanted of its driver. */
interface Source extends Published {
  /** Of the volume among the pod's. */
  readonly name: string
  readonly isInline: boolean
  readonly isBlock: boolean
  readonly readOnly: boolean
  readonly fsType: string
  readonly attributes: Readonly<Record<string, string>>
  readonly mountFlags: readonly string[]
  readonly accessModes: readonly string[]
  readonly stageSecret?: SecretRef | undefined
  readonly publishSecret?: SecretRef | undefined
}

interface SecretRef {
  readonly name?: string
  readonly namespace?: string
}

const PLUGIN = 'csi'
const RECORD = 'vol_data.json'
const CSI = 'kubernetes.io/csi: '
const CSI_DRIVERS = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' }
const ATTACHMENTS = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' }
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const TIMEOUT_MS = 120_000
const TOKEN_SECONDS = 3600

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export function createCsiVolumes(options: CsiVolumesOptions): CsiVolumes {
  const { client, nodeName, directories, drivers, tellInUse = async () => {} } = options
  /** By the folders at which they are. */
  const published = new Set<string>()

  const call = (driver: Driver, method: string, request: Readonly<Record<string, unknown>>) =>
    driver.connection.call(method, request, { timeoutMs: TIMEOUT_MS })

  const ours = join(directories.root, 'plugins/kubernetes.io/csi')
  const pathOf = (uid: string, { name, isBlock }: Source) =>
    isBlock
      ? join(ours, 'volumeDevices/publish', plain(name), plain(uid))
      : join(directories.volume(uid, PLUGIN, name), 'mount')
  const stagingOf = ({ driverName, volumeHandle, name, isBlock }: Source) =>
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

  /** Undefined: there is no such object, and the driver is what drivers are by default. */
  async function csiDriver(name: string): Promise<CSIDriver | undefined> {
    try {
      return await client.resource<CSIDriver>(CSI_DRIVERS).get(name)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async function secretOf(ref: SecretRef | undefined, namespace: string): Promise<Readonly<Record<string, string>>> {
    if (ref?.name === undefined) return {}
    const { data = {} } = await client
      .resource<Secret & KubeObject>(SECRETS)
      .namespace(ref.namespace ?? namespace)
      .get(ref.name)
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]),
    )
  }

  /** What the attachment tells of the volume; nothing where none is needed. */
  async function attached(source: Source, object: CSIDriver | undefined): Promise<Readonly<Record<string, string>>> {
    if (source.isInline || object?.spec.attachRequired === false) return {}
    const id = `csi-${sha256(`${source.volumeHandle}${source.driverName}${nodeName}`)}`
    let attachment: VolumeAttachment
    try {
      attachment = await client.resource<VolumeAttachment>(ATTACHMENTS).get(id)
    } catch (error) {
      const why = `volume ${source.volumeHandle} has GET error for volume attachment ${id}: ${messageOf(error)}`
      throw new MountStepError('WaitForAttach', source.name, why)
    }
    if (attachment.status?.attached === true) return attachment.status.attachmentMetadata ?? {}
    const why = `volume attachment ${id} is not attached yet`
    throw new MountStepError('WaitForAttach', source.name, attachment.status?.attachError?.message ?? why)
  }

  async function tokens(pod: Pod, object: CSIDriver | undefined): Promise<Readonly<Record<string, string>>> {
    const requests = object?.spec.tokenRequests ?? []
    if (requests.length === 0) return {}
    const given: Record<string, unknown> = {}
    for (const { audience, expirationSeconds = TOKEN_SECONDS } of requests) {
      const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: nameOf(pod), uid: uidOf(pod) }
      const request: AuthenticationV1TokenRequest = {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: {},
        spec: { audiences: audience === '' ? [] : [audience], expirationSeconds, boundObjectRef },
      }
      const name = specOf(pod).serviceAccountName ?? 'default'
      const accounts = client.resource<AuthenticationV1TokenRequest>(ACCOUNTS).namespace(namespaceOf(pod))
      const { status } = await accounts.create(request, { subresource: 'token', name })
      given[audience] = { token: status?.token, expirationTimestamp: status?.expirationTimestamp }
    }
    return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(given) }
  }

  const podInfo = (pod: Pod, isInline: boolean, object: CSIDriver | undefined): Readonly<Record<string, string>> =>
    object?.spec.podInfoOnMount === true
      ? {
          'csi.storage.k8s.io/pod.name': nameOf(pod),
          'csi.storage.k8s.io/pod.namespace': namespaceOf(pod),
          'csi.storage.k8s.io/pod.uid': uidOf(pod),
          'csi.storage.k8s.io/serviceAccount.name': specOf(pod).serviceAccountName ?? 'default',
          'csi.storage.k8s.io/ephemeral': String(isInline),
        }
      : {}

  async function publish(pod: Pod, source: Source): Promise<string> {
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
    const object = await csiDriver(source.driverName)
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
    const publishContext = await attached(source, object)
    const capability = capabilityOf(source, driver, givesGroup ? String(group) : '')
    const staging = !source.isInline && driver.capabilities.has('STAGE_UNSTAGE_VOLUME')
    const stagingPath = staging ? stagingOf(source) : undefined
    keep(directories.volume(uid, PLUGIN, source.name), {
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
        secrets: await secretOf(source.stageSecret, namespaceOf(pod)),
        volume_context: source.attributes,
      }
      await call(driver, 'NodeStageVolume', request).catch((error: unknown) => {
        throw new MountStepError('MountDevice', source.name, rpcText(error))
      })
    }
    // The driver makes the file that the device is put on.
    if (source.isBlock) mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
    const told = await tokens(pod, object)
    const inSecrets = object?.spec.serviceAccountTokenInSecrets === true
    await call(driver, 'NodePublishVolume', {
      volume_id: source.volumeHandle,
      publish_context: publishContext,
      ...(stagingPath === undefined ? {} : { staging_target_path: stagingPath }),
      target_path: path,
      volume_capability: capability,
      readonly: source.readOnly,
      secrets: { ...(await secretOf(source.publishSecret, namespaceOf(pod))), ...(inSecrets ? told : {}) },
      volume_context: { ...source.attributes, ...podInfo(pod, source.isInline, object), ...(inSecrets ? {} : told) },
    }).catch((error: unknown) => {
      throw new Error(`${CSI}mounter.SetUpAt failed to mount: ${rpcText(error)}`)
    })
    if (!source.isBlock && !givesGroup && group !== undefined && !source.readOnly && ownsFiles(source, object))
      ownTree(path, group)
    published.add(path)
    return path
  }

  async function markInUse(uid: string, source: Source): Promise<void> {
    const folder = directories.volume(uid, PLUGIN, source.name)
    if (!existsSync(join(folder, RECORD))) keep(folder, { ...source, isAttached: true, isWaiting: true })
    const name = uniqueName(source)
    if (toldInUse.has(name)) return
    await tellInUse()
    toldInUse.add(name)
  }

  /** Every volume of the pod that a driver has, or may have. */
  function recorded(uid: string): readonly Recorded[] {
    const folder = dirname(directories.volume(uid, PLUGIN, 'any'))
    if (!existsSync(folder)) return []
    return readdirSync(folder).flatMap((name) => {
      const file = join(folder, name, RECORD)
      if (!existsSync(file)) return []
      return [{ ...(JSON.parse(readFileSync(file, 'utf8')) as Published), folder: join(folder, name) }]
    })
  }

  const isHadByOthers = ({ driverName, volumeHandle, folder }: Recorded): boolean =>
    directories
      .known()
      .some((uid) =>
        recorded(uid).some(
          (one) =>
            one.folder !== folder &&
            one.isWaiting !== true &&
            one.driverName === driverName &&
            one.volumeHandle === volumeHandle,
        ),
      )

  async function takeBack(one: Recorded): Promise<void> {
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
    publish: (pod, volume, persistent) => publish(pod, sourceOf(pod, volume, persistent)),
    async expand(pod, volume, persistent) {
      const source = sourceOf(pod, volume, persistent)
      const driver = driverOf(source.driverName)
      if (!driver.capabilities.has('EXPAND_VOLUME')) return false
      const size = persistent.spec?.capacity?.['storage']
      await call(driver, 'NodeExpandVolume', {
        volume_id: source.volumeHandle,
        volume_path: pathOf(uidOf(pod), source),
        capacity_range: { required_bytes: size === undefined ? 0 : Number(quantityValue(size)) },
        ...(driver.capabilities.has('STAGE_UNSTAGE_VOLUME') ? { staging_target_path: stagingOf(source) } : {}),
        volume_capability: capabilityOf(source, driver, ''),
        secrets: await secretOf(persistent.spec?.csi?.nodeExpandSecretRef, namespaceOf(pod)),
      })
      return true
    },
    async stats(pod, volume, persistent) {
      const source = sourceOf(pod, volume, persistent)
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
      const all = directories.known().flatMap((uid) => recorded(uid).filter(({ isAttached }) => isAttached === true))
      return [...new Set(all.map(uniqueName))].sort()
    },
    async unpublish(uid) {
      let isLess = false
      for (const one of recorded(uid)) {
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

/** @throws Error for what is no volume of a driver */
function sourceOf(pod: Pod, volume: Volume, persistent: PersistentVolume | undefined): Source {
  if (volume.csi !== undefined) {
    const { driver, volumeAttributes = {}, readOnly = false, fsType = '', nodePublishSecretRef } = volume.csi
    return {
      name: volume.name,
      isInline: true,
      isBlock: false,
      driverName: driver,
      volumeHandle: `csi-${sha256(`${uidOf(pod)}${volume.name}`)}`,
      readOnly,
      fsType,
      attributes: volumeAttributes,
      mountFlags: [],
      accessModes: ['ReadWriteOnce'],
      publishSecret: nodePublishSecretRef,
    }
  }
  const { csi, mountOptions = [], accessModes = [], volumeMode } = persistent?.spec ?? {}
  if (csi === undefined) throw new Error('it is no volume of a CSI driver')
  const { driver, volumeHandle, readOnly = false, fsType = '', volumeAttributes = {} } = csi
  return {
    name: persistent?.metadata.name ?? volume.name,
    isInline: false,
    isBlock: volumeMode === 'Block',
    driverName: driver,
    volumeHandle,
    readOnly: readOnly || volume.persistentVolumeClaim?.readOnly === true,
    fsType,
    attributes: volumeAttributes,
    mountFlags: mountOptions,
    accessModes,
    stageSecret: csi.nodeStageSecretRef,
    publishSecret: csi.nodePublishSecretRef,
  }
}

function keep(
  folder: string,
  { driverName, volumeHandle, stagingPath, target, isAttached, isWaiting }: Published,
): void {
  mkdirSync(folder, { recursive: true, mode: 0o750 })
  const record: Published = {
    driverName,
    volumeHandle,
    ...(stagingPath === undefined ? {} : { stagingPath }),
    ...(target === undefined ? {} : { target }),
    ...(isAttached === true ? { isAttached } : {}),
    ...(isWaiting === true ? { isWaiting } : {}),
  }
  writeFileSync(join(folder, RECORD), JSON.stringify(record), { mode: 0o600 })
}

const capabilityOf = ({ fsType, mountFlags, accessModes, isBlock }: Source, driver: Driver, group: string) => ({
  ...(isBlock ? { block: {} } : { mount: { fs_type: fsType, mount_flags: mountFlags, volume_mount_group: group } }),
  access_mode: { mode: accessMode(accessModes, driver) },
})

function accessMode([mode]: readonly string[], driver: Driver): string {
  const tellsWriters = driver.capabilities.has('SINGLE_NODE_MULTI_WRITER')
  switch (mode) {
    case 'ReadOnlyMany':
      return 'MULTI_NODE_READER_ONLY'
    case 'ReadWriteMany':
      return 'MULTI_NODE_MULTI_WRITER'
    case 'ReadWriteOncePod':
      return tellsWriters ? 'SINGLE_NODE_SINGLE_WRITER' : 'SINGLE_NODE_WRITER'
    default:
      return tellsWriters ? 'SINGLE_NODE_MULTI_WRITER' : 'SINGLE_NODE_WRITER'
  }
}

/** Whether its files are given to the pod's group (API concept: CSIDriver's fsGroupPolicy). */
function ownsFiles({ fsType, accessModes, isInline }: Source, object: CSIDriver | undefined): boolean {
  switch (object?.spec.fsGroupPolicy) {
    case 'File':
      return true
    case 'None':
      return false
    default:
      return fsType !== '' && (isInline || accessModes.includes('ReadWriteOnce'))
  }
}

const rpcText = (error: unknown) => `rpc error: ${messageOf(error)}`

/** By which the attach/detach controller and kubelets know a volume. */
const uniqueName = ({ driverName, volumeHandle }: Published): string =>
  `kubernetes.io/csi/${driverName}^${volumeHandle}`

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
