/** How large the emptyDirs of pods are on the node's disk. There may be many files: they are not counted again within a minute, however many ask. */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import type { Size } from '../server/disk-summary.ts'
import type { PodDirectories } from './pod-directories.ts'

/** By the names of the volumes; those in memory are not among them. */
export type VolumeSizes = (pod: Pod) => Promise<ReadonlyMap<string, Size>>

const KEPT_MS = 60_000

export function createVolumeSizes(
  directories: Pick<PodDirectories, 'volume'>,
  clock: Pick<Clock, 'monotonic'>,
): VolumeSizes {
  /** By uid. While they are counted they are kept, so that each is counted once. */
  const seen = new Map<string, { until: number; readonly sizes: Promise<ReadonlyMap<string, Size>> }>()

  async function count(pod: Pod): Promise<ReadonlyMap<string, Size>> {
    const sizes = new Map<string, Size>()
    for (const { name, emptyDir } of specOf(pod).volumes ?? [])
      if (emptyDir !== undefined && emptyDir.medium !== 'Memory')
        sizes.set(name, await sizeOf(directories.volume(uidOf(pod), 'empty-dir', name)))
    return sizes
  }

  return async (pod) => {
    const now = clock.monotonic()
    for (const [uid, { until }] of seen) if (until <= now) seen.delete(uid)
    const known = seen.get(uidOf(pod))
    if (known !== undefined) return known.sizes
    const counted = { until: Number.POSITIVE_INFINITY, sizes: count(pod) }
    seen.set(uidOf(pod), counted)
    try {
      return await counted.sizes
    } finally {
      counted.until = clock.monotonic() + KEPT_MS
    }
  }
}

/** Neither links nor other file systems are entered; what goes meanwhile is not counted. */
export async function sizeOf(path: string, device?: number): Promise<Size> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined || (device !== undefined && stat.dev !== device)) return { bytes: 0, inodes: 0 }
  let bytes = stat.blocks * 512
  let inodes = 1
  if (stat.isDirectory())
    for (const name of await readdir(path).catch(() => [])) {
      const below = await sizeOf(join(path, name), stat.dev)
      bytes += below.bytes
      inodes += below.inodes
    }
  return { bytes, inodes }
}
