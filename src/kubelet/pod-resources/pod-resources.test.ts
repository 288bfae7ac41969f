/** As an agent on the machine sees it, with the answers that a kubelet v1.37.1 gave on 2026-11-26. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { liveClock } from '../../base/live-clock.ts'
import { createMetrics, type Metrics } from '../../base/metrics.ts'
import type { Pod } from '../pod.ts'
import { type Agent, startAgent } from '../server/agent-stand-in.ts'
import type { PodResourcesSources } from './pod-resources.ts'
import { servePodResources } from './pod-resources-service.ts'

const container = (name: string) => ({ name, image: 'x' })
const pod: Pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'p', namespace: 'n', uid: 'u' },
  spec: {
    initContainers: [container('i'), { ...container('sidecar'), restartPolicy: 'Always' }],
    containers: [container('c')],
  },
}
const RESOURCE = 'example.test/gadget'
const NONE = { devices: [], cpu_ids: [], memory: [], dynamic_resources: [] }

let root: string
let ending: AbortController
let now = 0
let agent: Agent
let metrics: Metrics
const usual: PodResourcesSources = {
  activePods: () => [pod],
  plugins: { given: () => [], allocatable: () => [] },
  claims: () => [],
}

async function serve(sources: Partial<PodResourcesSources> = {}): Promise<string> {
  const clock = { ...liveClock(), monotonic: () => now }
  await servePodResources({ clock, metrics }, root, { ...usual, ...sources }, ending.signal)
  const socket = join(root, 'pod-resources', 'kubelet.sock')
  agent = startAgent(socket, 'podresources', 'v1.PodResourcesLister')
  return socket
}
const failure = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    const { code, details } = error as { readonly code: number; readonly details: string }
    return `${code} ${details}`
  }
  return undefined
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skiff-pod-resources-'))
  ending = new AbortController()
  now = 0
  metrics = createMetrics()
})
afterEach(() => {
  agent.close()
  ending.abort()
  rmSync(root, { recursive: true, force: true })
})

test('its socket is in a folder that others may not look into', async () => {
  const socket = await serve()
  assert.ok(statSync(socket).isSocket())
  assert.equal((statSync(join(socket, '..')).mode & 0o777).toString(8), '750')
  ending.abort()
  assert.equal(statSync(socket, { throwIfNoEntry: false }), undefined)
})

test('a socket of an earlier kubelet makes room, its folder stays as it is', async () => {
  const socket = await serve()
  agent.close()
  chmodSync(join(socket, '..'), 0o700)
  const first = statSync(socket).ino
  await serve()
  assert.notEqual(statSync(socket).ino, first)
  assert.equal((statSync(join(socket, '..')).mode & 0o777).toString(8), '700')
  assert.equal((await agent.call<{ pod_resources: readonly unknown[] }>('List')).pod_resources.length, 1)
})

test('pods of which something may run, with sidecars and containers', async () => {
  await serve()
  assert.deepEqual(await agent.call('List'), {
    pod_resources: [
      {
        name: 'p',
        namespace: 'n',
        containers: [
          { name: 'sidecar', ...NONE },
          { name: 'c', ...NONE },
        ],
      },
    ],
  })
})

test('devices of plugins, each by itself, once for each node of memory that it is near to', async () => {
  const device = (id: string, numaNodes?: readonly number[]) => ({ resource: RESOURCE, id, numaNodes })
  await serve({
    plugins: {
      given: (uid, name) => (uid === 'u' && name === 'c' ? [device('d1', [0, 1]), device('d2')] : []),
      allocatable: () => [device('d1', [0, 1]), device('d3', [])],
    },
  })
  const near = (ID: number) => ({ resource_name: RESOURCE, device_ids: ['d1'], topology: { nodes: [{ ID }] } })
  const { pod_resources: one } = await agent.call<{
    readonly pod_resources: { readonly containers: readonly { readonly devices: unknown }[] }
  }>('Get', { pod_name: 'p', pod_namespace: 'n' })
  assert.deepEqual(
    one.containers.map(({ devices }) => devices),
    [[], [near(0), near(1), { resource_name: RESOURCE, device_ids: ['d2'], topology: null }]],
  )
  assert.deepEqual(await agent.call('GetAllocatableResources'), {
    devices: [near(0), near(1)],
    cpu_ids: [],
    memory: [],
  })
})

test('CPUs and memory of managers, and claims', async () => {
  const memory = { memory_type: 'memory', size: 2 ** 33, topology: { nodes: [{ ID: 0 }] } }
  const device = { driver_name: 'd.example.com', pool_name: 'n', device_name: 'd', cdi_devices: [{ name: 'a.b/c=d' }] }
  const claim = { claim_name: 'r', claim_namespace: 'n', claim_resources: [device, { ...device, share_id: 's' }] }
  await serve({
    claims: (_, { name }) => (name === 'c' ? [claim] : []),
    exclusive: {
      allocatable: () => ({ cpus: [1, 2, 3], memory: [memory] }),
      of: (uid, name) => (uid === 'u' && name === 'c' ? { cpus: [2], memory: [memory] } : { cpus: [], memory: [] }),
    },
  })
  const { pod_resources: one } = await agent.call<{ readonly pod_resources: { readonly containers: unknown } }>('Get', {
    pod_name: 'p',
    pod_namespace: 'n',
  })
  assert.deepEqual(one.containers, [
    { name: 'sidecar', ...NONE },
    { name: 'c', devices: [], cpu_ids: [2], memory: [memory], dynamic_resources: [claim] },
  ])
  assert.deepEqual(await agent.call('GetAllocatableResources'), { devices: [], cpu_ids: [1, 2, 3], memory: [memory] })
})

test('a pod that is not there', async () => {
  await serve()
  const get = (pod_name: string, pod_namespace: string) => failure(agent.call('Get', { pod_name, pod_namespace }))
  assert.equal(await get('q', 'n'), '2 pod q in namespace n not found')
  assert.equal(await get('p', ''), '2 pod p in namespace  not found')
  for (const what of ['requests_get', 'errors_get', 'requests_total'])
    assert.match(
      metrics.text(),
      new RegExp(`^kubelet_pod_resources_endpoint_${what}\\{server_api_version="v1"\\} 2$`, 'm'),
    )
})

test('a hundred calls in a second, ten at once', async () => {
  await serve()
  const calls = async (count: number) => {
    const all = await Promise.all(Array.from({ length: count }, () => failure(agent.call('List'))))
    return all.filter((one) => one === '8 rejected by rate limit').length
  }
  assert.equal(await calls(12), 2)
  const counted = /^kubelet_pod_resources_endpoint_requests_list\{server_api_version="v1"\} 10$/m
  assert.match(metrics.text(), counted)
  now += 50
  assert.equal(await calls(6), 1)
  now += 60_000
  assert.equal(await calls(11), 1)
})

test('clients of v1alpha1 are told of devices, and of no sidecars', async () => {
  const socket = await serve({
    plugins: {
      given: (_, name) => (name === 'c' ? [{ resource: RESOURCE, id: 'd1', numaNodes: [0, 1] }] : []),
      allocatable: () => [],
    },
  })
  const old = startAgent(socket, 'podresources-v1alpha1', 'v1alpha1.PodResourcesLister')
  const devices = [{ resource_name: RESOURCE, device_ids: ['d1'] }]
  const containers = [{ name: 'c', devices: [...devices, ...devices] }]
  assert.deepEqual(await old.call('List'), { pod_resources: [{ name: 'p', namespace: 'n', containers }] })
  old.close()
})
