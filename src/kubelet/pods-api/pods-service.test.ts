/** As an agent on the machine sees it, with the answers that a kubelet v1.37.1 gave on 2026-11-26. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readMessage } from '../../api/codec/protobuf-decode.ts'
import { createReader } from '../../api/codec/protobuf-wire.ts'
import type { PodStatus } from '../../api/generated/types.ts'
import { schemaOf } from '../../api/schema/builtin.ts'

import { liveClock } from '../../base/live-clock.ts'
import { createMetrics, type Metrics } from '../../base/metrics.ts'
import type { Pod } from '../pod.ts'
import { createPodManager } from '../pod-manager.ts'
import { type Agent, startAgent } from '../server/agent-stand-in.ts'
import { createPodViews } from './pod-views.ts'
import { servePods } from './pods-service.ts'

const podOf = (name: string): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name, namespace: 'n', uid: `uid-${name}` },
  spec: { containers: [{ name: 'c', image: 'x' }], terminationGracePeriodSeconds: 5 },
})
const read = (bytes: Uint8Array) =>
  readMessage(schemaOf('io.k8s.api.core.v1.Pod'), createReader(bytes, 0, bytes.length), 0)

let root: string
let ending: AbortController
let agent: Agent
let isSynced: boolean
let statuses: Map<string, PodStatus>
let socket: string
let metrics: Metrics
const views = createPodViews({
  pods: { get: (uid) => pods.get(uid), list: () => pods.list() },
  status: (uid) => statuses.get(uid),
})
let pods = createPodManager()

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'skiff-pods-api-'))
  ending = new AbortController()
  isSynced = true
  statuses = new Map()
  pods = createPodManager((uid) => views.changed(uid))
  socket = join(root, 'pods-api', 'pods-api.sock')
  const clock = { ...liveClock(), monotonic: () => 0 }
  metrics = createMetrics()
  await servePods({
    runtime: { clock, metrics },
    root,
    pods: () => (isSynced ? views : undefined),
    signal: ending.signal,
  })
  agent = startAgent(socket, 'pods', 'v1alpha1.Pods')
})
afterEach(() => {
  agent.close()
  ending.abort()
  rmSync(root, { recursive: true, force: true })
})

const setStatus = (uid: string, status: PodStatus) => {
  statuses.set(uid, status)
  views.changed(uid)
}
const failure = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (why: unknown) => why,
  )
  const { code, details } = error as { readonly code: number; readonly details: string }
  return `${code} ${details}`
}

/** Lines of what a watch tells. `until`: as many. */
function watch() {
  const lines: string[] = []
  let wake = () => {}
  agent.stream<{ readonly type: string; readonly pod: Uint8Array }>(
    'WatchPods',
    ({ type, pod }) => {
      const { metadata, status } = pod.length === 0 ? {} : (read(pod) as unknown as Pod)
      lines.push([type, metadata?.name, status?.phase].join(' ').trim())
      wake()
    },
    (error) => {
      const { code, details } = (error ?? {}) as { readonly code?: number; readonly details?: string }
      lines.push(`ERROR ${code} ${details}`)
      wake()
    },
  )
  return {
    async until(count: number) {
      while (lines.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return lines
    },
  }
}

test('its socket is in a folder that others may not look into', () => {
  assert.ok(statSync(socket).isSocket())
  assert.equal((statSync(join(socket, '..')).mode & 0o777).toString(8), '750')
})

test('pods are told whole, with their newest status', async () => {
  pods.set({ ...podOf('a'), status: { phase: 'Pending' } })
  pods.set({ ...podOf('b'), status: { phase: 'Pending' } })
  setStatus('uid-a', { phase: 'Running' })
  const { pods: listed } = await agent.call<{ readonly pods: readonly Uint8Array[] }>('ListPods')
  const [first, second] = listed.map(read)
  assert.deepEqual(first, {
    // As the form of the message has it.
    metadata: {
      ...podOf('a').metadata,
      creationTimestamp: null,
    },
    spec: { containers: [{ name: 'c', image: 'x', resources: {} }], terminationGracePeriodSeconds: 5 },
    status: { phase: 'Running' },
  })
  assert.deepEqual(second?.['status'], { phase: 'Pending' })
  const { pod } = await agent.call<{ readonly pod: Uint8Array }>('GetPod', { podUID: 'uid-a' })
  assert.deepEqual(read(pod), first)
})

test('a pod that is not there', async () => {
  assert.equal(await failure(agent.call('GetPod', { podUID: 'u' })), '5 pod with UID u not found')
  for (const what of ['requests', 'requests_get'])
    assert.match(
      metrics.text(),
      new RegExp(`^kubelet_pod_${what}_total\\{server_api_version="v1alpha1",status_code="NotFound"\\} 1$`, 'm'),
    )
})

test('a watch tells of all pods, then that these are all, then of changes', async () => {
  pods.set({ ...podOf('a'), status: { phase: 'Pending' } })
  const watched = watch()
  await watched.until(2)
  pods.set(podOf('b'))
  setStatus('uid-a', { phase: 'Running' })
  // The API server has it too.
  pods.set({ ...podOf('a'), status: { phase: 'Running' } })
  setStatus('uid-b', { phase: 'Pending' })
  setStatus('uid-a', { phase: 'Running' })
  pods.delete('uid-a')
  assert.deepEqual(await watched.until(5), [
    'ADDED a Pending',
    'INITIAL_SYNC_COMPLETE',
    'MODIFIED a Running',
    'ADDED b Pending',
    'DELETED a',
  ])
})

test('a watch beside another is told of what became of each pod that it was told of, and of none twice', async () => {
  const first = watch()
  await first.until(1)
  // Of this one, and of the other, there is no status yet.
  pods.set(podOf('a'))
  pods.set(podOf('b'))
  const second = watch()
  await second.until(3)
  setStatus('uid-a', { phase: 'Pending' })
  pods.delete('uid-b')
  pods.delete('uid-a')
  assert.deepEqual(await first.until(3), ['INITIAL_SYNC_COMPLETE', 'ADDED a Pending', 'DELETED a'])
  const initial = ['ADDED a', 'ADDED b', 'INITIAL_SYNC_COMPLETE']
  assert.deepEqual(await second.until(6), [...initial, 'MODIFIED a Pending', 'DELETED b', 'DELETED a'])
})

test('nothing is told before all pods are known', async () => {
  isSynced = false
  const why = '9 Kubelet is initializing'
  assert.equal(await failure(agent.call('ListPods')), why)
  assert.equal(await failure(agent.call('GetPod', { podUID: 'u' })), why)
  assert.deepEqual(await watch().until(1), [`ERROR ${why}`])
})

test('a hundred calls in a second, ten at once; a watch is not counted', async () => {
  for (let i = 0; i < 10; i++) await agent.call('ListPods')
  assert.equal(await failure(agent.call('ListPods')), '8 rejected by rate limit')
  assert.deepEqual(await watch().until(1), ['INITIAL_SYNC_COMPLETE'])
})
