import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../../../base/metrics.ts'
import { simulatedRuntime } from '../../../base/simulated-runtime.ts'
import type { Connection } from './connection.ts'
import { countedConnection } from './counted-connection.ts'

test('calls of the runtime are counted under the kubelet’s own names, those that fail too', async () => {
  const { clock } = simulatedRuntime(1)
  const metrics = createMetrics()
  const call = async (method: string) => {
    if (method === 'StopContainer') throw new Error('no')
    return {} as never
  }
  const counted = countedConnection(clock, metrics, { call, close: () => {} } as unknown as Connection)
  await counted.call('RunPodSandbox', {})
  await counted.call('RunPodSandbox', {})
  await assert.rejects(counted.call('StopContainer', {}))
  const text = metrics.text()
  assert.match(text, /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} 2$/m)
  assert.match(text, /^kubelet_runtime_operations_total\{operation_type="stop_container"\} 1$/m)
  assert.match(text, /^kubelet_runtime_operations_errors_total\{operation_type="stop_container"\} 1$/m)
  assert.match(text, /^kubelet_runtime_operations_duration_seconds_count\{operation_type="run_podsandbox"\} 2$/m)
})
