/** Counts what a kubelet asks of its container runtime, under the names of a kubelet's own metrics. */
import type { Clock } from '../../../base/clock.ts'
import type { Metrics } from '../../../base/metrics.ts'
import type { Connection } from './connection.ts'

const BUCKETS = [0.005, 0.0125, 0.03125, 0.078125, 0.1953125, 0.48828125, 1.220703125, 3.0517578125, 7.62939453125]

/** `RunPodSandbox` as `run_podsandbox`. */
export const operationType = (method: string): string =>
  method
    .replace('PodSandbox', 'Podsandbox')
    .replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()

export function countedConnection(clock: Clock, metrics: Metrics, connection: Connection): Connection {
  const labels = ['operation_type']
  const total = metrics.counter('kubelet_runtime_operations_total', 'Calls of the container runtime.', labels)
  const failed = metrics.counter(
    'kubelet_runtime_operations_errors_total',
    'Calls of the container runtime that failed.',
    labels,
  )
  const seconds = metrics.histogram(
    'kubelet_runtime_operations_duration_seconds',
    'How long calls of the container runtime took.',
    labels,
    BUCKETS,
  )
  return {
    ...connection,
    async call(method, request, options) {
      const type = operationType(method)
      const begun = clock.monotonic()
      total.child(type).add()
      try {
        return await connection.call(method, request, options)
      } catch (error) {
        failed.child(type).add()
        throw error
      } finally {
        seconds.child(type).observe((clock.monotonic() - begun) / 1000)
      }
    },
  }
}
