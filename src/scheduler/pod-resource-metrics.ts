/** What pods ask for and are limited to, as kube-scheduler's /metrics/resources tells it (API concept: system metrics). */
import type { Pod } from '../api/generated/types.ts'
import { isHugePageResource } from '../api/names/resource-names.ts'
import { podLimits, podRequests } from '../api/objects/pod-requests.ts'
import { nanosOf } from '../api/values/quantity.ts'
import type { Metrics } from '../base/metrics.ts'

const LABELS = ['namespace', 'node', 'pod', 'priority', 'resource', 'scheduler', 'unit']

/** `pods` is asked each time that the text is made. */
export function podResourceMetrics(metrics: Metrics, pods: () => Iterable<Pod>): void {
  for (const [name, help, amountsIn] of [
    ['kube_pod_resource_limit', 'What pods are limited to, by resource and its unit.', podLimits],
    ['kube_pod_resource_request', 'What pods ask for, by resource and its unit.', podRequests],
  ] as const)
    metrics.sampled(name, help, LABELS, function* () {
      for (const pod of pods()) {
        if (isOver(pod)) continue
        const { spec = {}, metadata } = pod
        const { nodeName = '', schedulerName = '', priority = '' } = spec as Partial<NonNullable<Pod['spec']>>
        for (const [resource, quantity] of Object.entries(amountsIn(spec))) {
          const amount = Number(nanosOf(quantity)) / 1e9
          if (amount === 0) continue
          const { namespace = '', name: podName = '' } = metadata
          yield [amount, namespace, nodeName, podName, String(priority), resource, schedulerName, unitOf(resource)]
        }
      }
    })
}

const isOver = ({ status }: Pod): boolean => ['Failed', 'Succeeded'].includes(status?.phase ?? '')

/** Extended resources have none. */
function unitOf(resource: string): string {
  if (resource === 'cpu') return 'cores'
  return ['memory', 'ephemeral-storage'].includes(resource) || isHugePageResource(resource) ? 'bytes' : ''
}
