import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../base/metrics.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { Pod } from './pod.ts'
import { StartContainerError } from './sync-error.ts'
import { createWorkMetrics } from './work-metrics.ts'

const pod = {
  metadata: { name: 'p', uid: 'u' },
  spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
} as unknown as Pod

test('what a kubelet does is counted under the names of a kubelet', async () => {
  const metrics = createMetrics()
  const counts = createWorkMetrics({ ...simulatedRuntime(1), metrics })
  const nothing = async () => {}
  for (let times = 0; times < 3; times++) await counts.synced(pod, nothing)
  await counts.terminated(nothing)
  const { signal } = new AbortController()
  await counts.started(pod, 'i', nothing, signal)
  const fails = (reason: string) => async () => {
    throw new StartContainerError(reason, 'no')
  }
  await assert.rejects(counts.started(pod, 'c', fails('CreateContainerError'), signal))
  await assert.rejects(counts.started(pod, 'c', fails('CrashLoopBackOff'), signal))
  const failsOtherwise = async () => {
    throw new Error('dial 10.0.0.1: refused')
  }
  await assert.rejects(counts.started(pod, 'c', failsOtherwise, signal))
  await assert.rejects(counts.started(pod, 'c', failsOtherwise, AbortSignal.abort()))
  await counts.relisted(nothing)
  await counts.relisted(nothing)
  const lines = metrics.text().split('\n')
  for (const line of [
    'kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1',
    'kubelet_pod_worker_duration_seconds_count{operation_type="sync"} 2',
    'kubelet_pod_worker_duration_seconds_count{operation_type="terminated"} 1',
    'kubelet_containers_per_pod_count_sum 1',
    'kubelet_started_containers_total{container_type="init_container"} 1',
    'kubelet_started_containers_total{container_type="container"} 2',
    'kubelet_started_containers_errors_total{code="CreateContainerError",container_type="container"} 1',
    'kubelet_started_containers_errors_total{code="Unknown",container_type="container"} 1',
    'kubelet_pleg_relist_duration_seconds_count 2',
    'kubelet_pleg_relist_interval_seconds_count 1',
  ])
    assert.ok(lines.includes(line), line)
})
