import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest } from '../../api/request.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Cgroups } from '../machine/cgroups.ts'
import type { Pod } from '../pod.ts'
import { NO_HINTS } from '../topology-manager/topology-hints.ts'
import { countedCgroups } from './cgroup-metrics.ts'
import { createImageMetrics } from './image-metrics.ts'
import { countedAdmission, countedProvider } from './manager-metrics.ts'
import { createPodStartMetrics } from './pod-start-metrics.ts'
import { countedServer } from './server-metrics.ts'
import { createVolumeWorkMetrics } from './volume-work-metrics.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
const podOf = (uid: string, volumes: readonly object[] = [], status?: object) =>
  ({
    metadata: { name: uid, uid, creationTimestamp: at(0) },
    spec: { containers: [{ name: 'c' }], volumes },
    ...(status === undefined ? {} : { status }),
  }) as unknown as Pod

function holds(metrics: { text(): string }, ...wanted: readonly string[]): void {
  const lines = metrics.text().split('\n')
  for (const line of wanted) assert.ok(lines.includes(line), `${line} is not in\n${lines.join('\n')}`)
}

const nothing = async () => {}

test('a pod’s start is measured from its making, without its images and init containers; one with lasting volumes is no part of the objective', async () => {
  const metrics = createMetrics()
  let seconds = 1
  const clock = { ...simulatedRuntime(1).clock, now: () => Date.parse(at(seconds)), monotonic: () => seconds * 1000 }
  const starts = createPodStartMetrics(clock, metrics)
  const [pod, lasting, old] = [podOf('a'), podOf('b', [{ hostPath: {} }]), podOf('c', [], { startTime: at(0) })]
  for (const one of [pod, lasting, old]) starts.seen(one)
  starts.begun(pod)
  starts.found(pod, undefined, 'Pending')
  await starts.pulling(pod, async () => {
    seconds = 4
  })
  seconds = 10
  starts.found(pod, 'Pending', 'Running')
  const running = [{ name: 'c', state: { running: {} } }]
  const initContainerStatuses = [{ state: { terminated: { startedAt: at(4), finishedAt: at(6) } } }]
  starts.observed({ ...pod, status: { containerStatuses: [{ name: 'c', state: { waiting: {} } }] } } as unknown as Pod)
  for (const one of [pod, pod])
    starts.observed({ ...one, status: { containerStatuses: running, initContainerStatuses } } as unknown as Pod)
  for (const one of [lasting, old])
    starts.observed({ ...one, status: { containerStatuses: running } } as unknown as Pod)
  holds(
    metrics,
    'kubelet_pod_worker_start_duration_seconds_count 1',
    'kubelet_pod_start_duration_seconds_count 2',
    'kubelet_pod_start_total_duration_seconds_sum 20',
    'kubelet_pod_start_total_duration_seconds_count 2',
    'kubelet_pod_start_sli_duration_seconds_sum 5',
    'kubelet_pod_start_sli_duration_seconds_count 1',
    'kubelet_first_network_pod_start_sli_duration_seconds 5',
  )
})

test('work on volumes is counted by their plugins, and how many pods want and have', async () => {
  const metrics = createMetrics()
  const work = createVolumeWorkMetrics(simulatedRuntime(1).clock, metrics)
  const pod = podOf('a')
  const claim = { name: 'd', persistentVolumeClaim: { claimName: 'd' } }
  const bound = { metadata: { name: 'v' }, spec: { capacity: {}, csi: { driver: 'x.io', volumeHandle: 'h' } } }
  await work.mounting(pod, { name: 'c', configMap: { name: 'n' } }, undefined, nothing)
  await work.mounting(pod, { name: 'c', configMap: { name: 'n' } }, undefined, nothing)
  await work.mounting(pod, claim, bound as never, nothing)
  const missing = async () => {
    throw new Error('not found')
  }
  await assert.rejects(work.mounting(pod, { name: 's', secret: { secretName: 'n' } }, undefined, missing))
  const operation = 'storage_operation_duration_seconds_count{migrated="false",operation_name'
  const state = 'volume_manager_total_volumes{plugin_name="kubernetes.io/secret",state'
  holds(
    metrics,
    `${operation}="verify_controller_attached_volume",status="success",volume_plugin="kubernetes.io/configmap"} 1`,
    `${operation}="volume_mount",status="success",volume_plugin="kubernetes.io/configmap"} 2`,
    `${operation}="volume_mount",status="success",volume_plugin="kubernetes.io/csi:x.io"} 1`,
    `${operation}="volume_mount",status="fail-unknown",volume_plugin="kubernetes.io/secret"} 1`,
    'volume_operation_total_seconds_count{operation_name="overall_volume_mount",plugin_name="kubernetes.io/configmap"} 2',
    `${state}="actual_state_of_world"} 0`,
    `${state}="desired_state_of_world"} 1`,
  )
  await work.unmounting('a', nothing)
  holds(metrics, `${operation}="volume_unmount",status="success",volume_plugin="kubernetes.io/csi:x.io"} 1`)
  assert.doesNotMatch(metrics.text(), /volume_manager_total_volumes\{/)
})

test('pods that the topology manager is asked for, and containers with CPUs of their own, are counted', () => {
  const metrics = createMetrics()
  const own = new Set(['c'])
  const provider = {
    hints: () => NO_HINTS,
    podHints: () => NO_HINTS,
    allocate(_pod: Pod, { name }: { name: string }) {
      if (name === 'none') throw new Error('no CPUs')
    },
  }
  const counted = countedProvider(metrics, 'cpu', provider, (_, name) => own.has(name))
  for (const name of ['c', 'shared']) counted.allocate(podOf('a'), { name } as never, undefined)
  assert.throws(() => counted.allocate(podOf('a'), { name: 'none' } as never, undefined))
  const refusal = { reason: 'TopologyAffinityError', message: 'no' }
  const admit = countedAdmission({ ...simulatedRuntime(1), metrics }, (pod) =>
    pod.metadata.uid === 'b' ? refusal : undefined,
  )
  assert.equal(admit(podOf('a')), undefined)
  assert.equal(admit(podOf('b')), refusal)
  holds(
    metrics,
    'kubelet_cpu_manager_pinning_requests_total 2',
    'kubelet_cpu_manager_pinning_errors_total 1',
    'kubelet_topology_manager_admission_requests_total 2',
    'kubelet_topology_manager_admission_errors_total 1',
    'kubelet_topology_manager_admission_duration_ms_count 2',
  )
})

test('a server’s requests are counted by the beginning of their paths alone', async () => {
  const metrics = createMetrics()
  const server = countedServer({ ...simulatedRuntime(1), metrics }, 'readwrite', async (request) => {
    if (request.path === '/pods') throw new Error('broken')
    return { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }
  })
  const ask = (path: string, headers = {}) => server({ method: 'GET', path, headers } as unknown as ApiRequest)
  await ask('/metrics/cadvisor')
  await ask('/metrics/what-ever')
  await ask('/containerLogs/n/p/c')
  await ask('/exec/n/p/c', { upgrade: 'websocket' })
  await assert.rejects(ask('/pods'))
  const total = (path: string, long = 'false') =>
    `kubelet_http_requests_total{long_running="${long}",method="GET",path="${path}",server_type="readwrite"} 1`
  holds(
    metrics,
    ...['metrics/cadvisor', 'other', 'containerLogs', 'pods'].map((path) => total(path)),
    total('exec', 'true'),
    'kubelet_http_inflight_requests{long_running="false",method="GET",path="pods",server_type="readwrite"} 0',
    'kubelet_websocket_streaming_requests_total{subresource="exec"} 1',
  )
})

test('methods that HTTP does not know are counted as one', async () => {
  const metrics = createMetrics()
  const server = countedServer({ ...simulatedRuntime(1), metrics }, 'readwrite', async () => {
    return { kind: 'bytes', status: 200, contentType: 'text/plain', bytes: [] }
  })
  for (const method of ['PROPFIND', 'M-SEARCH', 'OPTIONS'])
    await server({ method, path: '/healthz', headers: {} } as unknown as ApiRequest)
  const total = (method: string, times: number) =>
    `kubelet_http_requests_total{long_running="false",method="${method}",path="healthz",server_type="readwrite"} ${times}`
  holds(metrics, total('other', 2), total('OPTIONS', 1))
})

test('pulls are counted by how large the image is', () => {
  const metrics = createMetrics()
  const images = createImageMetrics(metrics)
  images.ensured('Always', undefined, true)
  images.ensured('Never', false, undefined)
  images.verified('mustAuthenticate')
  images.recordsKept(3, 1)
  for (const megabytes of [0, 5, 50, 3000]) images.pulled(megabytes * 1024 ** 2, 2000)
  const ensured = 'kubelet_image_manager_ensure_image_requests_total'
  holds(
    metrics,
    `${ensured}{present_locally="unknown",pull_policy="always",pull_required="true"} 1`,
    `${ensured}{present_locally="false",pull_policy="never",pull_required="unknown"} 1`,
    'kubelet_imagemanager_image_mustpull_checks_total{result="mustAuthenticate"} 1',
    'kubelet_imagemanager_ondisk_pulledrecords 3',
    'kubelet_imagemanager_ondisk_pullintents 1',
    ...['N/A', '0-10MB', '10MB-100MB', '1GB-5GB'].map(
      (size) => `kubelet_image_pull_duration_seconds_count{image_size_in_bytes="${size}"} 1`,
    ),
  )
})

test('work on control groups is timed by what it is: the first of a pod, further ones, the last', () => {
  const metrics = createMetrics()
  const { clock } = simulatedRuntime(1)
  const groups = { known: () => ['before'], make() {}, remove() {} } as unknown as Cgroups
  const counted = countedCgroups({ clock, metrics }, groups)
  for (const uid of ['before', 'a', 'a']) counted.make(podOf(uid))
  counted.remove('a')
  counted.make(podOf('a'))
  const count = (operation: string, times: number) =>
    `kubelet_cgroup_manager_duration_seconds_count{operation_type="${operation}"} ${times}`
  holds(metrics, count('create', 2), count('update', 2), count('destroy', 1))
})
