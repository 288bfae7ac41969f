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
  metrics.sampled(
    'kubelet_working_pods',
    'Pods that are worked on, by whether the node still has them, how far they have come, and whether they are static.',
    ['config', 'lifecycle', 'static'],
    () => workingPods(kubelet()),
  )
  metrics.sampled(
    'kubelet_pod_in_progress_resizes',
    'Pods whose containers are being held to other amounts.',
    [],
    () => {
      const isResizing = (pod: Pod) =>
        kubelet()
          ?.podStatus(uidOf(pod))
          ?.conditions?.some(({ type }) => type === 'PodResizeInProgress') === true
      return [[pods().filter(isResizing).length]]
    },
  )
  if (cgroupVersion !== undefined)
    metrics.sampled('kubelet_metrics_provider', 'What measures containers; always 1.', ['provider'], () => [
      [1, 'cadvisor'],
    ])
  if (cgroupVersion !== undefined)
    metrics.sampled('kubelet_cgroup_version', 'cgroup version on the hosts.', [], () => [[cgroupVersion]])
  return metrics
}

const LIFECYCLES = { syncing: 'sync', terminating: 'terminating', terminated: 'terminated' } as const

/** Each combination is told of, also by 0. */
function workingPods(kubelet: Kubelet | undefined): readonly (readonly [number, ...string[]])[] {
  const counts = new Map<string, number>()
  for (const config of ['desired', 'orphan', 'runtime_only'])
    for (const lifecycle of Object.values(LIFECYCLES))
      for (const own of config === 'runtime_only' ? ['unknown'] : ['', 'true'])
        counts.set([config, lifecycle, own].join(','), 0)
  for (const { pod, phase, isDesired } of kubelet?.working() ?? []) {
    const own = (pod.metadata.annotations?.[CONFIG_SOURCE] ?? 'api') === 'api' ? '' : 'true'
    const key = [isDesired ? 'desired' : 'orphan', LIFECYCLES[phase], own].join(',')
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => [count, ...key.split(',')] as const)
}
