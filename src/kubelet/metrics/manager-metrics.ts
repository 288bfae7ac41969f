/** What the managers of CPUs, memory and topology count of the pods that they are asked for. */
import { exponentialBuckets, type Metrics } from '../../base/metrics.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type Container, type Pod, uidOf } from '../pod.ts'
import type { HintProvider } from '../topology-manager/topology-hints.ts'
import type { AdmissionOutcome } from '../topology-manager/topology-manager.ts'

const MS = exponentialBuckets(0.05, 2, 15)

/** `has`: whether a container has something for itself after that. */
export function countedProvider(
  metrics: Metrics | undefined,
  manager: 'cpu' | 'memory',
  provider: HintProvider,
  has: (uid: string, container: string) => boolean,
): HintProvider {
  if (metrics === undefined) return provider
  const count = (what: string, help: string) =>
    metrics.counter(`kubelet_${manager}_manager_pinning_${what}_total`, `Containers that ${help}.`).child()
  const requests = count('requests', `were to have ${manager} of their own`)
  const errors = count('errors', 'could not have it')
  return {
    ...provider,
    allocate(pod: Pod, container: Container, affinity) {
      try {
        const given = provider.allocate(pod, container, affinity)
        if (has(uidOf(pod), container.name)) requests.add()
        return given
      } catch (error) {
        requests.add()
        errors.add()
        throw error
      }
    },
  }
}

export function cpuPoolMetrics(
  metrics: Metrics | undefined,
  pool: () => { readonly exclusive: number; readonly shared: number },
): void {
  const tell = (name: string, help: string, read: () => number) =>
    metrics?.sampled(`kubelet_cpu_manager_${name}`, help, [], () => [[read()]])
  tell('exclusive_cpu_allocation_count', 'CPUs that containers have for themselves.', () => pool().exclusive)
  tell('shared_pool_size_millicores', 'CPUs that containers share, in thousandths.', () => pool().shared * 1000)
}

/** Counts pods that the topology manager is asked for, and those that it refuses. */
export function countedAdmission(
  { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>,
  admit: (pod: Pod) => AdmissionOutcome,
): (pod: Pod) => AdmissionOutcome {
  if (metrics === undefined) return admit
  const name = 'kubelet_topology_manager_admission'
  const requests = metrics.counter(`${name}_requests_total`, 'Pods whose resources were looked for.').child()
  const errors = metrics.counter(`${name}_errors_total`, 'Of these, pods that were refused.').child()
  const took = metrics.histogram(`${name}_duration_ms`, 'Milliseconds that this took.', [], MS).child()
  return (pod) => {
    const began = clock.monotonic()
    const ended = <T>(refusal: T): T => {
      took.observe(clock.monotonic() - began)
      if (refusal !== undefined) errors.add()
      return refusal
    }
    requests.add()
    const outcome = admit(pod)
    return outcome instanceof Promise ? outcome.then(ended) : ended(outcome)
  }
}
