import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from './pod.ts'
import { podStatusOf, type StatusSources } from './pod-status.ts'
import type { RuntimeContainerStatus } from './runtimes/runtime.ts'

const sources: StatusSources = {
  runtimeName: 'r',
  hostIPs: ['1.2.3.4'],
  mountsRecursivelyReadOnly: () => false,
  startFailure: () => undefined,
  ready: () => true,
  started: () => true,
  resources: () => ({}),
  resizeConditions: () => [],
}

const exited = (name: string, message = ''): RuntimeContainerStatus => ({
  id: name,
  podSandboxId: 's',
  metadata: { name, attempt: 0 },
  state: 'exited',
  createdAt: 0,
  startedAt: 0,
  finishedAt: 0,
  exitCode: 1,
  image: 'i',
  imageId: 'i',
  reason: 'Error',
  message,
  labels: {},
  logPath: '',
})

function statusOf(names: readonly string[], messages: Readonly<Record<string, string>> = {}) {
  const spec = { restartPolicy: 'Never', containers: names.map((name) => ({ name })) }
  const pod: Pod = { kind: 'Pod', apiVersion: 'v1', metadata: { uid: 'u' }, spec }
  const containers = names.map((name) => exited(name, messages[name]))
  const runtime = { uid: 'u', ips: [], sandboxes: [], containers }
  return podStatusOf(pod, runtime, sources, { now: 0, terminal: true, old: {} })
}

test('statuses of containers are in the order of their names, messages about them in that of the spec', () => {
  const { containerStatuses = [] } = statusOf(['c', 'a', 'b'])
  assert.deepEqual(
    containerStatuses.map(({ name }) => name),
    ['a', 'b', 'c'],
  )
})

test('the messages that a pod’s containers leave share 12 KiB', () => {
  const said = (names: readonly string[]) =>
    statusOf(names, { a: 'x'.repeat(4096), b: 'ok' }).containerStatuses?.map(
      ({ state }) => state?.terminated?.message?.length,
    )
  assert.deepEqual(said(['a', 'b', 'c']), [4096, 2, undefined])
  assert.deepEqual(said(['a', 'b', 'c', 'd']), [3072, 2, undefined, undefined])
})

test('what a container was before it stays told when the runtime has it no longer', () => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c' }] }
  const pod: Pod = { kind: 'Pod', apiVersion: 'v1', metadata: { uid: 'u' }, spec }
  const lastState = { terminated: { exitCode: 42 } }
  const lastOf = (containerID: string) => {
    const told = { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 1, containerID, lastState }
    const runtime = { uid: 'u', ips: [], sandboxes: [], containers: [exited('c')] }
    const { containerStatuses } = podStatusOf(pod, runtime, sources, {
      now: 0,
      terminal: true,
      old: { containerStatuses: [told] },
    })
    return containerStatuses?.[0]?.lastState
  }
  assert.deepEqual(lastOf('r://c'), lastState)
  assert.deepEqual(lastOf('r://before'), {})
})

test('of a container that the runtime has no longer, and that another follows, it stays told how it ended, or what was before it', () => {
  const pod = podOf({ containers: [{ name: 'c' }] })
  const lastOf = (state: object) => {
    const old = { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 0, containerID: 'r://b', state }
    const runtime = { uid: 'u', ips: [], sandboxes: [], containers: [{ ...exited('c'), state: 'running' as const }] }
    const told = { containerStatuses: [{ ...old, lastState: { terminated: { exitCode: 42 } } }] }
    const status = podStatusOf(pod, runtime, sources, { now: 0, terminal: false, old: told })
    return status.containerStatuses?.[0]?.lastState?.terminated?.exitCode
  }
  assert.equal(lastOf({ terminated: { exitCode: 7 } }), 7)
  assert.equal(lastOf({ waiting: {} }), 42)
  assert.equal(lastOf({ running: {} }), undefined)
})

test('of a pod that is ended while a container waits for its next start, that is what is told last of the container', () => {
  const pod = podOf({ containers: [{ name: 'c' }], restartPolicy: 'OnFailure' })
  const runtime = { uid: 'u', ips: [], sandboxes: [], containers: [exited('c')] }
  const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' }
  const stateOf = (deletionTimestamp?: string) => {
    const metadata = { ...pod.metadata, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) }
    const told = { ...sources, startFailure: () => waiting }
    const status = podStatusOf({ ...pod, metadata }, runtime, told, { now: 0, terminal: true, old: {} })
    return status.containerStatuses?.[0]
  }
  assert.deepEqual(stateOf()?.state, { waiting })
  assert.equal(stateOf()?.lastState?.terminated?.exitCode, 1)
  assert.equal(stateOf('1970-01-01T00:00:00Z')?.state?.terminated?.exitCode, 1, 'one that is deleted waits for nothing')
})

test('ephemeral containers are never ready, and nothing is said of their start', () => {
  const ephemeralContainers = [{ name: 'b' }, { name: 'a' }]
  const spec = { containers: [{ name: 'c' }], ephemeralContainers }
  const pod: Pod = { kind: 'Pod', apiVersion: 'v1', metadata: { uid: 'u' }, spec }
  const containers = ['a', 'b'].map((name) => ({ ...exited(name), state: 'running' as const }))
  const status = podStatusOf(pod, { uid: 'u', ips: [], sandboxes: [], containers }, sources, {
    now: 0,
    terminal: false,
    old: {},
  })
  assert.deepEqual(
    status.ephemeralContainerStatuses?.map(({ name, ready, started }) => [name, ready, started]),
    [
      ['a', false, undefined],
      ['b', false, undefined],
    ],
  )
})

const failed: StatusSources = { ...sources, startFailure: () => ({ reason: 'Why', message: 'no' }) }
const told = (pod: Pod, containers: readonly RuntimeContainerStatus[]) =>
  podStatusOf(pod, { uid: 'u', ips: [], sandboxes: [], containers }, failed, { now: 0, terminal: false, old: {} })
const waits = { waiting: { reason: 'Why', message: 'no' } }
const podOf = (spec: object, metadata: object = {}): Pod => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { uid: 'u', ...metadata },
  spec: { containers: [], ...spec },
})

test('of an init container that ended well, also of a sidecar, it is not told that it waits', () => {
  const initContainers = ['done', 'not'].map((name) => ({ name, restartPolicy: 'Always' }))
  const ended = [{ ...exited('done'), exitCode: 0 }, exited('not')]
  const { initContainerStatuses = [] } = told(podOf({ initContainers }), ended)
  assert.deepEqual(
    initContainerStatuses.map(({ state }) => Object.keys(state ?? {})),
    [['terminated'], ['waiting']],
  )
})

test('an ephemeral container that could not be started waits, and what it was before is told', () => {
  const { ephemeralContainerStatuses: [own] = [] } = told(podOf({ ephemeralContainers: [{ name: 'e' }] }), [
    exited('e'),
  ])
  assert.deepEqual([own?.state, own?.lastState?.terminated?.exitCode], [waits, 1])
})

test('a pod that is deleted does not tell why its containers could not be started', () => {
  const spec = { containers: [{ name: 'c' }] }
  const stateOf = (metadata: object) => told(podOf(spec, metadata), []).containerStatuses?.[0]?.state
  assert.deepEqual(stateOf({}), waits)
  assert.deepEqual(stateOf({ deletionTimestamp: 'now' }), { waiting: { reason: 'ContainerCreating' } })
})

test('a pod as a whole is told its containers’ limits together, also where one has none, and a container those of its pod', () => {
  const limited = { ...sources, limitsPods: true }
  const statusOf = (spec: object) => {
    const containers = [{ ...exited('a'), state: 'running' as const }]
    return podStatusOf(podOf(spec), { uid: 'u', ips: [], sandboxes: [], containers }, limited, {
      now: 0,
      terminal: false,
      old: {},
    })
  }
  const containers = [{ name: 'a', resources: { limits: { memory: '1Mi' } } }, { name: 'b' }]
  assert.deepEqual(statusOf({ containers }).resources, { limits: { memory: '1Mi' } })
  const held = { ...limited, resources: () => ({ limits: { memory: '1Mi' } }) }
  const { containerStatuses: [own] = [] } = podStatusOf(
    podOf({ containers, resources: { limits: { cpu: '1', memory: '4Mi' } } }),
    { uid: 'u', ips: [], sandboxes: [], containers: [{ ...exited('a'), state: 'running' }] },
    held,
    { now: 0, terminal: false, old: {} },
  )
  assert.deepEqual(own?.resources, { limits: { cpu: '1', memory: '1Mi' } })
})
