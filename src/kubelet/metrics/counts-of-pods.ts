/** What a kubelet counts of its pods: all families of it, and to which of its work they belong. */
import type { Runtime } from '../../base/runtime.ts'
import type { HeldForPods } from '../held-for-pods.ts'
import { createWorkMetrics, type WorkMetrics } from '../work-metrics.ts'
import { createImageMetrics, type ImageMetrics } from './image-metrics.ts'
import { createPodStartMetrics, type PodStartMetrics } from './pod-start-metrics.ts'
import { createVolumeWorkMetrics, type VolumeWorkMetrics } from './volume-work-metrics.ts'

export interface CountsOfPods {
  readonly counts?: WorkMetrics
  readonly podStarts?: PodStartMetrics
  readonly volumeWork?: VolumeWorkMetrics
  readonly imageCounts?: ImageMetrics
}

/** Without `isCounted`, or where the runtime has no metrics, there are none. */
export function createCountsOfPods(
  { clock, metrics, ...rest }: Runtime,
  held: HeldForPods,
  isCounted: boolean,
): CountsOfPods {
  if (!isCounted || metrics === undefined) return {}
  return {
    counts: createWorkMetrics({ ...rest, clock, metrics }),
    podStarts: held.add(createPodStartMetrics(clock, metrics)),
    volumeWork: held.add(createVolumeWorkMetrics(clock, metrics)),
    imageCounts: createImageMetrics(metrics),
  }
}
