/** What a kubelet tells of itself at /metrics, beside what its process does and what it counts. */
import { createMetrics } from '../../base/metrics.ts'
import type { Kubelet } from '../kubelet.ts'
import { ephemeralContainersOf, type Pod, uidOf } from '../pod.ts'
import { CONFIG_SOURCE } from '../static-pods/static-pod.ts'

/** `cgroupVersion`: of a node of real containers. */
export function kubeletMetrics(nodeName: string, kubelet: () => Kubelet | undefined, cgroupVersion?: 1 | 2) {
  const metrics = createMetrics()
  const statuses = () => {
    const running = kubelet()
    return [...(running?.pods.list() ?? [])].flatMap((pod) => running?.runtimeStatus(uidOf(pod)) ?? [])
  }
  metrics.sampled('kubelet_node_name', 'The node by its label; always 1.', ['node'], () => [[1, nodeName]])
  metrics.sampled('kubelet_running_pods', 'Pods with a sandbox that is ready.', [], () => [
    [statuses().filter(({ sandboxes }) => sandboxes.some(({ state }) => state === 'ready')).length],
  ])
  metrics.sampled('kubelet_running_containers', 'Containers by their state.', ['container_state'], () =>
    [
      ...Map.groupBy(
        statuses().flatMap(({ containers }) => containers),
        ({ state }) => state,
      ),
    ].map(([state, containers]) => [containers.length, state] as const),
  )
  for (const edge of ['start', 'end'] as const)
    metrics.sampled(
      `kubelet_graceful_shutdown_${edge}_time_seconds`,
      `Last graceful shutdown ${edge} time since unix epoch in seconds`,
      [],
      () => [[(kubelet()?.shutdownTimes[edge] ?? 0) / 1000]],
    )
  const isStatic = (pod: Pod) => (pod.metadata.annotations?.[CONFIG_SOURCE] ?? 'api') !== 'api'
  const pods = () => [...(kubelet()?.pods.list() ?? [])]
  const byStatic = (all: readonly Pod[]) => {
    const own = all.filter(isStatic).length
    return [[all.length - own, ''] as const, [own, 'true'] as const]
  }
  metrics.sampled(
    'kubelet_desired_pods',
    'The number of pods the kubelet is being instructed to run. static is true if the pod is not from the apiserver.',
    ['static'],
    () => byStatic(pods()),
  )
  metrics.sampled(
    'kubelet_active_pods',
    'The number of pods the kubelet considers active and which are being considered when admitting new pods. static is true if the pod is not from the apiserver.',
    ['static'],
    () => byStatic([...(kubelet()?.activePods() ?? [])]),
  )
  metrics.sampled(
    'kubelet_mirror_pods',
    'The number of mirror pods the kubelet will try to create (one per admitted static pod)',
    [],
    () => [[pods().filter(isStatic).length]],
  )
  metrics.sampled(
    'kubelet_managed_ephemeral_containers',
    'Current number of ephemeral containers in pods managed by this kubelet.',
    [],
    () => [[pods().reduce((sum, pod) => sum + ephemeralContainersOf(pod).length, 0)]],
  )
  if (cgroupVersion !== undefined)
    metrics.sampled('kubelet_cgroup_version', 'cgroup version on the hosts.', [], () => [[cgroupVersion]])
  return metrics
}
