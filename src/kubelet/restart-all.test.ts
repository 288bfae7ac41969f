import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Pod, restartsAfter } from './pod.ts'
import { podStatusOf, type StatusSources } from './pod-status.ts'
import { isRestartingAll, removeAllContainers } from './restart-all.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'

const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }
const pod: Pod = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { uid: 'u' },
  spec: {
    restartPolicy: 'Never',
    initContainers: [{ name: 'i' }],
    containers: [{ name: 'c', restartPolicy: 'Never', restartPolicyRules: [rule] }, { name: 'd' }],
  },
}

const one = (name: string, state: 'running' | number, attempt = 0): RuntimeContainerStatus => ({
  id: `${name}${attempt}`,
  podSandboxId: 's',
  metadata: { name, attempt },
  state: state === 'running' ? 'running' : 'exited',
  createdAt: 0,
  startedAt: 0,
  finishedAt: 0,
  exitCode: state === 'running' ? 0 : state,
  image: 'i',
  imageId: 'i',
  reason: '',
  message: '',
  labels: {},
  logPath: '',
})
const runtimeOf = (...containers: readonly RuntimeContainerStatus[]) => ({
  uid: 'u',
  ips: [],
  sandboxes: [],
  containers,
})

test('a container that ends with a code of its rule has all of its pod’s begin anew, unless the pod is to end', () => {
  assert.equal(isRestartingAll(pod, runtimeOf(one('i', 0), one('c', 42), one('d', 'running'))), true)
  assert.equal(isRestartingAll(pod, runtimeOf(one('i', 0), one('c', 1), one('d', 42))), false)
  assert.equal(restartsAfter(pod.spec!.containers[0]!, pod, 42), true)
  const marked = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-11-26T00:00:00Z' } }
  assert.equal(isRestartingAll(marked, runtimeOf(one('c', 42))), false)
})

test('what runs is stopped without its hooks, and the one that ended so is the last to be forgotten', async () => {
  const did: string[] = []
  await removeAllContainers(
    pod,
    runtimeOf(one('c', 42), one('i', 0), one('d', 'running')),
    { killContainer: async (_, { id }, reason, message) => void did.push(`kill ${id} ${reason} ${message}`) },
    { removeContainer: async (id) => void did.push(`remove ${id}`) },
  )
  assert.deepEqual(did, ['kill d0 restart all killing', 'remove i0', 'remove d0', 'remove c0'])
})

test('statuses count what is to come and tell of what was; the condition says while it lasts', () => {
  let anew = false
  const sources: StatusSources = {
    runtimeName: 'r',
    hostIPs: [],
    mountsRecursivelyReadOnly: () => false,
    startFailure: () => undefined,
    ready: () => true,
    started: () => true,
    resources: () => ({}),
    resizeConditions: () => [],
    isBeginningAnew: () => anew,
  }
  let old = {}
  const next = (...containers: readonly RuntimeContainerStatus[]) => {
    const status = podStatusOf(pod, runtimeOf(...containers), sources, { now: 0, terminal: false, old })
    old = status
    const of = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    const { status: condition, observedGeneration } = status.conditions!.find(
      ({ type }) => type === 'AllContainersRestarting',
    )!
    assert.equal(observedGeneration, undefined)
    const reasonOf = (state: (typeof of)[number]['state']) =>
      state?.waiting?.reason ?? (state?.running === undefined ? state?.terminated?.reason : 'running')
    return [
      status.phase,
      condition,
      ...of.map((one) => [one.name, one.restartCount, reasonOf(one.state), reasonOf(one.lastState)].join(' ')),
    ]
  }
  next(one('i', 0), one('c', 'running'), one('d', 'running'))
  assert.deepEqual(next(one('i', 0), one('c', 42), one('d', 'running')).slice(0, 2), ['Running', 'True'])
  anew = true
  const gone = 'RestartingAllContainers'
  assert.deepEqual(next(), ['Running', 'False', ...['i', 'c', 'd'].map((name) => `${name} 1 ${gone} ${gone}`)])
  anew = false
  assert.deepEqual(next(one('i', 'running', 1)).slice(2), [
    `i 1 running ${gone}`,
    `c 1 PodInitializing ${gone}`,
    `d 1 PodInitializing ${gone}`,
  ])
  assert.deepEqual(next(one('i', 0, 1), one('c', 'running', 1), one('d', 'running', 1)).slice(1), [
    'False',
    `i 1  ${gone}`,
    `c 1 running ${gone}`,
    `d 1 running ${gone}`,
  ])
})
