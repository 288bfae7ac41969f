/** Counts what a kubelet asks of its container runtime, under the names of a kubelet's own metrics. */
import type { Clock } from '../../../base/clock.ts'
import { exponentialBuckets, type Metrics } from '../../../base/metrics.ts'
import type { Connection } from './connection.ts'

const BUCKETS = exponentialBuckets(0.005, 2.5, 14)

const SANDBOX_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

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
  const sandboxSeconds = metrics.histogram(
    'kubelet_run_podsandbox_duration_seconds',
    'Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.',
    ['runtime_handler'],
    SANDBOX_BUCKETS,
  )
  const pods = metrics.counter('kubelet_started_pods_total', 'Cumulative number of pods started').child()
  const failedPods = metrics
    .counter('kubelet_started_pods_errors_total', 'Cumulative number of errors when starting pods')
    .child()
  const failedSandboxes = metrics.counter(
    'kubelet_run_podsandbox_errors_total',
    'Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.',
    ['runtime_handler'],
  )

  async function runSandbox<T>(request: object, task: () => Promise<T>): Promise<T> {
    const handler = 'runtime_handler' in request ? String(request.runtime_handler) : ''
    const begun = clock.monotonic()
    pods.add()
    try {
      return await task()
    } catch (error) {
      failedPods.add()
      failedSandboxes.child(handler).add()
      throw error
    } finally {
      sandboxSeconds.child(handler).observe((clock.monotonic() - begun) / 1000)
    }
  }

  return {
    ...connection,
    async call(method, request, options) {
      const type = operationType(method)
      const begun = clock.monotonic()
      total.child(type).add()
      try {
        const asked = () => connection.call<never>(method, request, options)
        return await (method === 'RunPodSandbox' ? runSandbox(request, asked) : asked())
      } catch (error) {
        failed.child(type).add()
        throw error
      } finally {
        seconds.child(type).observe((clock.monotonic() - begun) / 1000)
      }
    },
  }
}
