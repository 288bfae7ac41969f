/** Volumes as directories of this machine (API concept: volumes). What a pod has made of them goes with the pod, hostPath aside. */

import { chmodSync, existsSync, mkdirSync, type Stats, statfsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PersistentVolume, Volume } from '../../api/generated/types.ts'
import { isHugePageResource } from '../../api/names/resource-names.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import type { Clock } from '../../base/clock.ts'
import type { VolumeFiles } from '../configmap-and-secret-keys-as-files.ts'
import type { CsiVolumes, VolumeStats } from '../csi/csi-volumes.ts'
import { UnprocessedVolumeError } from '../mount-step-error.ts'
import type { VolumeWriter } from '../mount-volumes.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import { FIELDS_WITHOUT_SOURCE } from '../volume-source-fields.ts'
import { makeMountPoints, writeAtomically } from './atomic-writer.ts'
import { podResources } from './cpu-shares-and-memory-limits.ts'
import { ownTree } from './fs-group.ts'
import { mountedBelow, mountMemory } from './mounts.ts'
import type { PodDirectories } from './pod-directories.ts'

export interface MachineVolumes extends VolumeWriter {
  /** The directory or file that stands for the volume. Undefined before it is set up. */
  pathOf(pod: Pod, name: string): string | undefined
  /** Whether it may be written to at all. */
  isReadOnly(pod: Pod, name: string): boolean
  /** Of the pod's volumes that claims are bound to, what is known. Never throws: a driver that does not answer tells nothing. */
  stats(pod: Pod): Promise<readonly { readonly name: string; readonly stats: VolumeStats }[]>
  forget(uid: string): void
}

function noSuchMedium(pod: Pod, medium: string): string {
  const asks = specOf(pod).containers.some(({ resources }) =>
    Object.keys(resources?.requests ?? {}).some((name) => isHugePageResource(name)),
  )
  return medium.startsWith('HugePages') && !asks
    ? `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`
    : `unknown storage medium ${JSON.stringify(medium)}`
}

export function createMachineVolumes(
  directories: PodDirectories,
  allocatable: () => Readonly<Record<string, string>>,
  clock: Pick<Clock, 'now'>,
  csi?: Pick<CsiVolumes, 'publish' | 'expand' | 'stats'>,
): MachineVolumes {
  /** By pod, by volume. */
  const paths = new Map<string, Map<string, string>>()
  /** What claims of pods are bound to, the same way. */
  const bounds = new Map<string, Map<string, PersistentVolume>>()

  async function place(pod: Pod, volume: Volume, files: VolumeFiles | undefined, bound: PersistentVolume | undefined) {
    const uid = uidOf(pod)
    const group = specOf(pod).securityContext?.fsGroup
    checkMode(pod, volume, bound)
    if (files !== undefined) {
      const path = directories.secret(uid, volume.name)
      makeMountPoints(path, mountPointsIn(pod, volume.name))
      writeAtomically(path, files, group, clock.now(), volume.configMap === undefined ? 0o1777 : 0o777)
      return path
    }
    if (volume.emptyDir !== undefined) {
      const path = directories.volume(uid, 'empty-dir', volume.name)
      const { medium = '', sizeLimit } = volume.emptyDir
      if (medium !== '' && medium !== 'Memory') throw new Error(noSuchMedium(pod, medium))
      if (existsSync(path) && (medium !== 'Memory' || mountedBelow(path).includes(path))) return path
      mkdirSync(path, { recursive: true })
      if (medium === 'Memory') await mountMemory(path, '0777', memorySize(pod, sizeLimit))
      chmodSync(path, medium === 'Memory' ? 0o1777 : 0o777)
      if (group !== undefined) ownTree(path, group)
      return path
    }
    const hostPath = volume.hostPath ?? bound?.spec?.hostPath
    if (hostPath !== undefined) {
      checkHostPath(hostPath.path, hostPath.type ?? '')
      return hostPath.path
    }
    const local = bound?.spec?.local
    if (local !== undefined && bound?.spec?.volumeMode === 'Block') {
      checkHostPath(local.path, 'BlockDevice')
      return local.path
    }
    if (local !== undefined) {
      if (!existsSync(local.path)) throw new Error(`path ${JSON.stringify(local.path)} does not exist`)
      if (group !== undefined && statSync(local.path).gid !== group) ownTree(local.path, group)
      return local.path
    }
    if (csi !== undefined && (volume.csi ?? bound?.spec?.csi) !== undefined) return csi.publish(pod, volume, bound)
    const source = bound?.spec ?? volume
    if (volume.flexVolume !== undefined || bound?.spec?.flexVolume !== undefined)
      throw new UnprocessedVolumeError(
        `failed to get Plugin from volumeSpec for volume "${volume.name}" err=no volume plugin matched`,
      )
    if (volume.gitRepo !== undefined)
      throw new Error(
        'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`',
      )
    const kind = Object.keys(source).find(
      (key) => typeof source[key as never] === 'object' && !FIELDS_WITHOUT_SOURCE.has(key),
    )
    throw new Error(`volumes of type ${kind ?? 'unknown'} are not supported by this node`)
  }

  /** In bytes: no more than the pod may have, and the node gives. */
  function memorySize(pod: Pod, sizeLimit: string | undefined): bigint | undefined {
    const most = [sizeLimit, allocatable()['memory']].flatMap((one) => (one === undefined ? [] : [quantityValue(one)]))
    const { memory } = podResources(pod)
    return [...most, ...(memory === undefined ? [] : [memory])]
      .filter((bytes) => bytes > 0n)
      .reduce<bigint | undefined>((least, bytes) => (least === undefined || bytes < least ? bytes : least), undefined)
  }

  return {
    ...(csi === undefined ? {} : { expand: csi.expand }),
    allocatable,
    async setUp(pod, volume, files, persistent) {
      // The runtime mounts it.
      if (volume.image !== undefined) return
      const uid = uidOf(pod)
      const own = paths.get(uid) ?? new Map<string, string>()
      paths.set(uid, own)
      own.set(volume.name, await place(pod, volume, files, persistent))
      if (persistent === undefined) return
      const bound = bounds.get(uid) ?? new Map<string, PersistentVolume>()
      bounds.set(uid, bound.set(volume.name, persistent))
    },
    async stats(pod) {
      const found: { name: string; stats: VolumeStats }[] = []
      for (const [name, persistent] of bounds.get(uidOf(pod)) ?? []) {
        const volume = specOf(pod).volumes?.find((one) => one.name === name)
        const { local, csi: ofDriver, volumeMode } = persistent.spec ?? {}
        if (volume === undefined) continue
        const isFiles = local !== undefined && volumeMode !== 'Block'
        const stats = isFiles
          ? fileSystemStats(local.path)
          : ofDriver === undefined
            ? undefined
            : await csi?.stats(pod, volume, persistent).catch(() => undefined)
        if (stats !== undefined) found.push({ name, stats })
      }
      return found
    },
    pathOf: (pod, name) => paths.get(uidOf(pod))?.get(name),
    isReadOnly(pod, name) {
      const volume = specOf(pod).volumes?.find((one) => one.name === name)
      if (volume === undefined) return false
      const { configMap, secret, projected, downwardAPI, persistentVolumeClaim } = volume
      const isMadeOfFiles = [configMap, secret, projected, downwardAPI].some((source) => source !== undefined)
      return isMadeOfFiles || persistentVolumeClaim?.readOnly === true
    },
    forget(uid) {
      paths.delete(uid)
      bounds.delete(uid)
    },
  }
}

function fileSystemStats(path: string): VolumeStats | undefined {
  try {
    const { bsize, blocks, bavail, bfree, files, ffree } = statfsSync(path)
    return {
      capacityBytes: bsize * blocks,
      availableBytes: bsize * bavail,
      usedBytes: bsize * (blocks - bfree),
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    }
  } catch {
    return undefined
  }
}

/** A device is no directory, nor the other way round. @throws Error in the kubelet's words */
function checkMode(pod: Pod, { name }: Volume, bound: PersistentVolume | undefined): void {
  const { containers, initContainers = [] } = specOf(pod)
  const all = [...containers, ...initContainers]
  const isBlock = bound?.spec?.volumeMode === 'Block'
  if (isBlock && all.some(({ volumeMounts = [] }) => volumeMounts.some((mount) => mount.name === name)))
    throw new UnprocessedVolumeError(`volume ${name} has volumeMode Block, but is specified in volumeMounts`)
  if (!isBlock && all.some(({ volumeDevices = [] }) => volumeDevices.some((device) => device.name === name)))
    throw new UnprocessedVolumeError(`volume ${name} has volumeMode Filesystem, but is specified in volumeDevices`)
}

/** @throws Error in the words of the API concept when the path is not what its type says */
export function checkHostPath(path: string, type: string): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  const fail = (what: string) => {
    if (stat === undefined)
      throw new Error(
        `hostPath type check failed, ${path} is not ${what}, unable to determine its type: path ${JSON.stringify(path)} does not exist`,
      )
    throw new Error(`hostPath type check failed: ${path} is not ${what}, it's a ${typeOf(stat)}`)
  }
  switch (type) {
    case '':
      // The runtime makes a directory where there is nothing.
      if (stat === undefined) mkdirSync(path, { recursive: true, mode: 0o755 })
      return
    case 'DirectoryOrCreate':
      if (stat === undefined) mkdirSync(path, { recursive: true, mode: 0o755 })
      else if (!stat.isDirectory()) fail('a directory')
      return
    case 'Directory':
      if (stat?.isDirectory() !== true) fail('a directory')
      return
    case 'FileOrCreate':
      if (stat === undefined) {
        if (!existsSync(dirname(path))) throw new Error(`open ${path}: no such file or directory`)
        writeFileSync(path, '', { mode: 0o644 })
      } else if (!stat.isFile()) fail('a file')
      return
    case 'File':
      if (stat?.isFile() !== true) fail('a file')
      return
    case 'Socket':
      if (stat?.isSocket() !== true) fail('a socket file')
      return
    case 'CharDevice':
      if (stat?.isCharacterDevice() !== true) fail('a character device')
      return
    case 'BlockDevice':
      if (stat?.isBlockDevice() !== true) fail('a block device')
      return
    default:
      throw new Error(`${type} is an invalid volume type`)
  }
}

function typeOf(stat: Stats): string {
  if (stat.isDirectory()) return 'Directory'
  if (stat.isSocket()) return 'Socket'
  if (stat.isCharacterDevice()) return 'CharDevice'
  return stat.isBlockDevice() ? 'BlockDevice' : 'File'
}

/** Where other volumes of the pod's containers are to be mounted below this one, as seen from it; not what is mounted in one of those. A container has nothing above its root. */
function mountPointsIn(pod: Pod, volume: string): readonly string[] {
  const { containers, initContainers = [] } = specOf(pod)
  const found = new Set<string>()
  for (const { volumeMounts = [] } of [...containers, ...initContainers]) {
    const paths = volumeMounts.map(({ mountPath }) => `${join('/', mountPath).replace(/\/+$/, '')}/`)
    for (const [at, { name }] of volumeMounts.entries()) {
      if (name !== volume) continue
      const below = paths.filter((path) => path !== paths[at] && path.startsWith(paths[at]!))
      for (const path of below)
        if (!below.some((other) => other !== path && path.startsWith(other)))
          found.add(path.slice(paths[at]!.length, -1))
    }
  }
  return [...found]
}
