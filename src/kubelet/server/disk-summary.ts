/** Disks as /stats/summary tells them: what a file system has, and what of it something uses. */
import { formatTime } from '../../base/clock.ts'
import type { FileSystem } from '../machine/measurements.ts'

export interface Size {
  readonly bytes: number
  readonly inodes: number
}

export interface MeasuredDisks {
  /** Of the kubelet's directory, and of images and containers. */
  readonly node: FileSystem
  readonly images: FileSystem
  /** What images and containers use of it; undefined where the runtime does not tell. */
  readonly used: Size | undefined
  /** By uid. */
  readonly pods: ReadonlyMap<
    string,
    {
      /** By container. */
      readonly logs: ReadonlyMap<string, Size>
      /** Of those on the node's own disk. */
      readonly volumes: readonly Size[]
      readonly startTime: string | undefined
    }
  >
}

const entry = (now: number, { availableBytes, capacityBytes, inodes, inodesFree }: FileSystem, used: Size) => ({
  time: formatTime(now),
  availableBytes,
  capacityBytes,
  usedBytes: used.bytes,
  inodesFree,
  inodes,
  inodesUsed: used.inodes,
})

const whole = ({ capacityBytes, freeBytes, inodes, inodesFree }: FileSystem): Size => ({
  bytes: capacityBytes - freeBytes,
  inodes: inodes - inodesFree,
})

export function nodeDisks(disks: MeasuredDisks | undefined, now: number): object {
  if (disks === undefined) return {}
  const runtime = entry(now, disks.images, disks.used ?? whole(disks.images))
  return { fs: entry(now, disks.node, whole(disks.node)), runtime: { imageFs: runtime, containerFs: runtime } }
}

/** `rootfs`: of the container, which is measured whether or not disks are. */
export function containerDisks(
  disks: MeasuredDisks | undefined,
  podUid: string,
  container: string,
  rootfs: Size & { readonly time: number },
  now: number,
): object {
  if (disks === undefined)
    return { rootfs: { time: formatTime(rootfs.time), usedBytes: rootfs.bytes, inodesUsed: rootfs.inodes } }
  const logs = disks.pods.get(podUid)?.logs.get(container)
  return {
    rootfs: entry(rootfs.time, disks.images, rootfs),
    ...(logs === undefined ? {} : { logs: entry(now, disks.node, logs) }),
  }
}

/** `rootfs`: of all its containers. */
export function podDisks(
  disks: MeasuredDisks | undefined,
  podUid: string,
  rootfs: readonly Size[],
  now: number,
): { readonly 'ephemeral-storage'?: object } {
  const own = disks?.pods.get(podUid)
  if (disks === undefined || own === undefined) return {}
  const all = [...rootfs, ...own.logs.values(), ...own.volumes]
  const sum = (field: keyof Size) => all.reduce((total, one) => total + one[field], 0)
  return { 'ephemeral-storage': entry(now, disks.node, { bytes: sum('bytes'), inodes: sum('inodes') }) }
}
