/** Volumes that are images (API concept: image volumes): what they refer to is brought to the machine before a container is started. */
import type { Images } from './images/pull-policy-and-back-off.ts'
import type { ImageMetrics } from './metrics/image-metrics.ts'
import { type Container, containerPath, type Pod, specOf } from './pod.ts'
import type { PodEvents } from './pod-events.ts'
import { StartContainerError } from './sync-error.ts'

export interface VolumeImage {
  readonly id: string
  readonly reference: string
}

/** By name of the volume: the image, or why it is not there. */
export type ImageVolumes = ReadonlyMap<string, VolumeImage | StartContainerError>

export const NO_IMAGE_VOLUMES: ImageVolumes = new Map()

/** @throws the signal's reason */
export async function pullImageVolumes(
  images: Images,
  pod: Pod,
  signal: AbortSignal,
  counts?: Pick<ImageMetrics, 'volumeRequested'>,
): Promise<ImageVolumes> {
  const found = new Map<string, VolumeImage | StartContainerError>()
  for (const { name, image } of specOf(pod).volumes ?? []) {
    const { reference, pullPolicy } = image ?? {}
    if (reference === undefined || reference === '') continue
    counts?.volumeRequested()
    try {
      found.set(name, { id: await images.ensure(pod, { image: reference, policy: pullPolicy }, signal), reference })
    } catch (error) {
      if (!(error instanceof StartContainerError)) throw error
      found.set(name, error)
    }
  }
  return found
}

/** Those that the container mounts. @throws StartContainerError when one is not there */
export function imagesMountedBy(
  pod: Pod,
  container: Container,
  volumes: ImageVolumes,
  events: PodEvents,
  counts?: Pick<ImageMetrics, 'volumeMounted'>,
): ReadonlyMap<string, VolumeImage> {
  const mounted = new Map<string, VolumeImage>()
  for (const { name } of container.volumeMounts ?? []) {
    const found = volumes.get(name)
    if (found !== undefined) counts?.volumeMounted(!(found instanceof StartContainerError))
    if (found instanceof StartContainerError) {
      events.warning(pod, 'Failed', `Error: ${found.reason}`, containerPath(pod, container.name))
      throw found
    }
    if (found !== undefined) mounted.set(name, found)
  }
  return mounted
}
