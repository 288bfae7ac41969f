import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerStatus } from '../api/generated/types.ts'
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
  counts.worked(pod, 'syncing', 'create', 1000)
  counts.worked(pod, 'syncing', 'sync', 1000)
  counts.worked(pod, 'syncing', 'sync', 1000)
  counts.worked(pod, 'terminating', 'kill', 1000)
  counts.worked(pod, 'terminated', 'sync', 1000)
  const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  counts.worked(deleted, 'terminating', 'update', 1000)
  counts.worked(deleted, 'terminated', 'sync', 1000)
  const ended = { name: 'c', state: { terminated: { exitCode: 3, reason: 'Error' } } } as ContainerStatus
  counts.statusChanged({}, { containerStatuses: [ended] })
  counts.statusChanged({ containerStatuses: [ended] }, { containerStatuses: [ended] })
  counts.admitted(pod)
  counts.evicted('memory.available', 20)
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
  await counts.podRelisted(nothing)
  await counts.relisted(nothing)
  await counts.relisted(nothing)
  counts.resizeRequested('cpu', 'limits', 'add')
  await counts.resized(nothing)
  await assert.rejects(counts.resized(failsOtherwise))
  await assert.rejects(counts.claimsWork('PrepareResources', failsOtherwise))
  const lines = metrics.text().split('\n')
  for (const line of [
    'kubelet_container_requested_resizes_total{operation="add",requirement="limits",resource="cpu"} 1',
    'kubelet_pod_resize_duration_milliseconds_count{success="true"} 1',
    'kubelet_pod_resize_duration_milliseconds_count{success="false"} 1',
    'dra_operations_duration_seconds_count{is_error="true",operation_name="PrepareResources"} 1',
    'kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1',
    'kubelet_pod_worker_duration_seconds_count{operation_type="sync"} 2',
    'kubelet_pod_worker_duration_seconds_count{operation_type="terminated"} 1',
    'kubelet_pod_worker_duration_seconds_count{operation_type="update"} 1',
    'kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"} 1',
    'kubelet_pod_level_resources_admission_total{config_mode="",qos_class="besteffort"} 1',
    'kubelet_evictions{eviction_signal="memory.available"} 1',
    'kubelet_pleg_pod_relist_duration_seconds_count 1',
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

test('rejections are counted by known reasons alone', () => {
  const metrics = createMetrics()
  const counts = createWorkMetrics({ ...simulatedRuntime(1), metrics })
  for (const reason of ['OutOfcpu', 'OutOfexample.com/a', 'OutOfexample.com/b', 'NodeAffinity', 'x'])
    counts.rejected(reason)
  const lines = metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('kubelet_admission_rejections_total{'))
  assert.deepEqual(lines.sort(), [
    'kubelet_admission_rejections_total{reason="Other"} 2',
    'kubelet_admission_rejections_total{reason="OutOfExtendedResources"} 2',
    'kubelet_admission_rejections_total{reason="OutOfcpu"} 1',
  ])
})
