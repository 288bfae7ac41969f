/** How probes came out, and how long they took: what a kubelet tells at /metrics/probes, of pods that it looks after. */
import { createMetrics } from '../../base/metrics.ts'
import { nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import type { ProbeResult } from '../runtimes/runtime.ts'

export interface ProbeMetrics {
  /** `type`: `Liveness`. */
  counted(pod: Pod, container: string, type: string, result: ProbeResult, seconds: number): void
  forget(uid: string): void
  text(): string
}

interface Counts {
  readonly pod: Pod
  readonly container: string
  readonly type: string
  readonly results: Map<string, number>
  /** Of those that could be done. */
  count: number
  seconds: number
}

export function createProbeMetrics(): ProbeMetrics {
  /** By pod, by container and type. */
  const counts = new Map<string, Map<string, Counts>>()
  const all = () => [...counts.values()].flatMap((own) => [...own.values()])
  const metrics = createMetrics()
  const total = 'Cumulative number of a liveness, readiness or startup probe for a container by result.'
  metrics.sampled(
    'prober_probe_total',
    total,
    ['container', 'namespace', 'pod', 'pod_uid', 'probe_type', 'result'],
    () =>
      all().flatMap(({ pod, container, type, results }) =>
        [...results].map(
          ([result, value]) => [value, container, namespaceOf(pod), nameOf(pod), uidOf(pod), type, result] as const,
        ),
      ),
    'counter',
  )

  /** A histogram of the one bucket that takes all. */
  function durations(): string {
    const name = 'prober_probe_duration_seconds'
    const lines = all().flatMap(({ pod, container, type, count, seconds }) => {
      if (count === 0) return []
      const pairs = Object.entries({ container, namespace: namespaceOf(pod), pod: nameOf(pod), probe_type: type })
      const labels = pairs.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')
      return [
        `${name}_bucket{${labels},le="+Inf"} ${count}`,
        `${name}_sum{${labels}} ${seconds}`,
        `${name}_count{${labels}} ${count}`,
      ]
    })
    if (lines.length === 0) return ''
    return `# HELP ${name} Duration in seconds for a probe response.\n# TYPE ${name} histogram\n${lines.join('\n')}\n`
  }

  return {
    counted(pod, container, type, { success, errored, warning }, seconds) {
      const uid = uidOf(pod)
      const own = counts.get(uid) ?? new Map<string, Counts>()
      counts.set(uid, own)
      const key = `${type}/${container}`
      const known = own.get(key) ?? { pod, container, type, results: new Map(), count: 0, seconds: 0 }
      own.set(key, known)
      const result =
        errored !== undefined ? 'unknown' : !success ? 'failed' : warning === undefined ? 'successful' : 'warning'
      known.results.set(result, (known.results.get(result) ?? 0) + 1)
      if (errored !== undefined) return
      known.count++
      known.seconds += seconds
    },
    forget: (uid) => void counts.delete(uid),
    text: () => durations() + (counts.size === 0 ? '' : metrics.text()),
  }
}
