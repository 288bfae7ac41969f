/** What /stats/summary tells of disks: the file systems of the node and of its images, and what logs and volumes of pods hold there. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ephemeralContainersOf, initContainersOf, type Pod, specOf, uidOf } from '../pod.ts'
import type { RealRuntime } from '../runtimes/runtime.ts'
import type { MeasuredDisks, Size } from '../server/disk-summary.ts'
import { fileSystemAt } from './measurements.ts'
import type { PodDirectories } from './pod-directories.ts'
import { sizeOf, type VolumeSizes } from './volume-sizes.ts'

/** @throws Error */
export async function measuredDisks(
  directories: Pick<PodDirectories, 'root' | 'logs'>,
  real: Pick<RealRuntime, 'imageDirectory' | 'imageUse'>,
  volumeSizes: VolumeSizes,
  pods: Iterable<Pod>,
): Promise<MeasuredDisks> {
  const [directory, used] = await Promise.all([real.imageDirectory(), real.imageUse()])
  const node = fileSystemAt(directories.root)
  const found = new Map<string, MeasuredDisks['pods'] extends ReadonlyMap<string, infer T> ? T : never>()
  for (const pod of pods) {
    const logs = new Map<string, Size>()
    for (const { name } of [...initContainersOf(pod), ...specOf(pod).containers, ...ephemeralContainersOf(pod)])
      logs.set(name, await sizeOfFiles(join(directories.logs(pod), name)))
    const volumes = [...(await volumeSizes(pod)).values()]
    found.set(uidOf(pod), { logs, volumes, startTime: pod.status?.startTime })
  }
  return { node, images: fileSystemOfImages(directory) ?? node, used, pods: found }
}

/** undefined where this process does not see it, as where the runtime has mounts of its own. */
function fileSystemOfImages(directory: string | undefined) {
  try {
    return directory === undefined ? undefined : fileSystemAt(directory)
  } catch {
    return undefined
  }
}

async function sizeOfFiles(directory: string): Promise<Size> {
  let [bytes, inodes] = [0, 0]
  for (const name of await readdir(directory).catch(() => [])) {
    const size = await sizeOf(join(directory, name))
    bytes += size.bytes
    inodes += size.inodes
  }
  return { bytes, inodes }
}
