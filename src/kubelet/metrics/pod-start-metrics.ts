/**
 * How long pods take to start, by the measure of Kubernetes' service level objective: from when a pod was made until all of its containers
 * are seen to run, without the time that its images and init containers took; pods whose volumes outlive them do not count.
 */
import type { Clock } from '../../base/clock.ts'
import type { Metrics } from '../../base/metrics.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import { SECONDS } from '../work-metrics.ts'

export interface PodStartMetrics {
  /** The node has the pod. */
  seen(pod: Pod): void
  /** A first step is begun for it. */
  begun(pod: Pod): void
  /** Its status is found out: what its phase was, undefined for the first time, and is. */
  found(pod: Pod, before: string | undefined, now: string | undefined): void
  /** An image is pulled for it meanwhile. */
  pulling<T>(pod: Pod, task: () => Promise<T>): Promise<T>
  /** The API server has it like this. */
  observed(pod: Pod): void
  forget(uid: string): void
}

interface Start {
  readonly seenAt: number
  readonly pulls: { first?: number; last?: number }
}

const START_SECONDS = [
  ...[0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600],
]
/** What does not outlive a pod. */
const PASSING = ['secret', 'configMap', 'downwardAPI', 'emptyDir', 'projected'] as const

export function createPodStartMetrics(clock: Clock, metrics: Metrics): PodStartMetrics {
  const histogram = (name: string, help: string, buckets = START_SECONDS) =>
    metrics.histogram(`kubelet_${name}_seconds`, help, [], buckets).child()
  const toBegin = histogram('pod_worker_start_duration', 'Seconds from a pod being seen to its first step.', SECONDS)
  const toRun = histogram(
    'pod_start_duration',
    'Seconds from a pod being seen to its first status, and to its running.',
  )
  const total = histogram(
    'pod_start_total_duration',
    'Seconds from the making of a pod to all its containers being seen running.',
  )
  const sli = histogram(
    'pod_start_sli_duration',
    'The same without images and init containers, of pods without lasting volumes.',
  )
  const firstNetwork = metrics
    .gauge('kubelet_first_network_pod_start_sli_duration_seconds', 'That of the first pod with a network of its own.')
    .child()
  let hasFirst = false
  /** Pods that have not run yet, by uid. */
  const starts = new Map<string, Start>()
  const since = (at: number) => (clock.monotonic() - at) / 1000

  return {
    seen(pod) {
      // One that an earlier kubelet began has started long ago.
      if (pod.status?.startTime === undefined) starts.set(uidOf(pod), { seenAt: clock.monotonic(), pulls: {} })
    },
    begun(pod) {
      const start = starts.get(uidOf(pod))
      if (start !== undefined) toBegin.observe(since(start.seenAt))
    },
    found(pod, before, now) {
      const start = starts.get(uidOf(pod))
      if (start !== undefined && (before === undefined || (before === 'Pending' && now === 'Running')))
        toRun.observe(since(start.seenAt))
    },
    async pulling(pod, task) {
      const start = starts.get(uidOf(pod))
      if (start !== undefined) start.pulls.first ??= clock.now()
      try {
        return await task()
      } finally {
        if (start !== undefined) start.pulls.last = clock.now()
      }
    },
    observed(pod) {
      const start = starts.get(uidOf(pod))
      if (start === undefined || pod.metadata.creationTimestamp === undefined || !allRun(pod)) return
      starts.delete(uidOf(pod))
      const took = (clock.now() - Date.parse(pod.metadata.creationTimestamp ?? '')) / 1000
      total.observe(Math.max(0, took))
      if (!(specOf(pod).volumes ?? []).every((volume) => PASSING.some((kind) => volume[kind] !== undefined))) return
      const { first, last = first } = start.pulls
      const pulls = first === undefined || last === undefined ? 0 : (last - first) / 1000
      const own = Math.max(0, took - pulls - initSeconds(pod))
      sli.observe(own)
      if (hasFirst || specOf(pod).hostNetwork === true) return
      hasFirst = true
      firstNetwork.set(own)
    },
    forget: (uid) => void starts.delete(uid),
  }
}

function allRun({ status = {} }: Pod): boolean {
  const { containerStatuses = [] } = status
  return containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running !== undefined)
}

/** From the first one's start to the last one's end; sidecars go on. */
function initSeconds({ status = {} }: Pod): number {
  const ended = (status.initContainerStatuses ?? []).flatMap(({ state }) => state?.terminated ?? [])
  const times = (field: 'startedAt' | 'finishedAt') => ended.map((one) => Date.parse(one[field] ?? ''))
  const [from, to] = [Math.min(...times('startedAt')), Math.max(...times('finishedAt'))]
  return Number.isFinite(from) && Number.isFinite(to) ? Math.max(0, to - from) / 1000 : 0
}
