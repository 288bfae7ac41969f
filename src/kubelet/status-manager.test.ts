import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodStatus } from '../api/generated/types.ts'
import type { Fields } from '../api/object.ts'
import type { ApiRequest, Handler } from '../api/request.ts'
import { conflict, notFound } from '../api/status.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClient, inProcessTransport } from '../client/transport.ts'
import type { Pod } from './pod.ts'
import { createStatusManager } from './status-manager.ts'

function podOf(metadata: object = {}, status: PodStatus = {}): Pod {
  const known = { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1', ...metadata }
  return { kind: 'Pod', apiVersion: 'v1', metadata: known, spec: { containers: [] }, status } as Pod
}

type PodConditions = NonNullable<PodStatus['conditions']>

/** `answer` may throw; else the pod is what the patch says. */
function setup(pod: Pod | undefined, answer?: (request: ApiRequest) => void) {
  const runtime = simulatedRuntime(1)
  const state = { pod, running: false }
  const requests: ApiRequest[] = []
  let stored: PodStatus | undefined
  const handler: Handler = async (request) => {
    requests.push(request)
    answer?.(request)
    const body: Fields = request.body?.kind === 'object' ? request.body.object : {}
    const metadata = { ...state.pod?.metadata, resourceVersion: '2' }
    const before = stored ?? state.pod?.status
    const status = { ...before, ...body['status'] }
    if (body['status']?.conditions) status.conditions = byType(before?.conditions, body['status'].conditions)
    stored = status
    const object = { ...podOf(), metadata, status }
    return { kind: 'object', status: 200, object }
  }
  const manager = createStatusManager({
    runtime,
    client: createClient(runtime, inProcessTransport(handler), { userAgent: 'kubelet' }),
    pod: () => state.pod,
    couldHaveRunningContainers: () => state.running,
  })
  const bodies = () => requests.map(({ body }) => (body?.kind === 'object' ? (body.object as Fields) : undefined))
  return { runtime, manager, requests, bodies, state }
}

/** As a strategic merge patch has it. */
function byType(old: readonly Fields[] = [], patch: readonly Fields[]): PodConditions {
  const all = new Map(old.map((one) => [one['type'], one]))
  for (const one of patch) {
    if (one['$patch'] === 'delete') all.delete(one['type'])
    else all.set(one['type'], { ...all.get(one['type']), ...one })
  }
  return [...all.values()] as unknown as PodConditions
}

test('what changes in one turn is written at once, and what did not change not at all', async () => {
  const { runtime, manager, requests, bodies, state } = setup(podOf())
  manager.set(state.pod!, { phase: 'Pending' })
  manager.set(state.pod!, { phase: 'Running' })
  await runtime.settle()
  manager.set(state.pod!, { phase: 'Running' })
  await runtime.settle()
  assert.equal(requests.length, 1)
  assert.equal(bodies()[0]?.['status'].phase, 'Running')
  assert.deepEqual(bodies()[0]?.['metadata'], { uid: 'u' })
})

test('what another wrote meanwhile, and only the answer shows, is written over at once', async () => {
  const conditions = (status: string) => [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' }]
  const ours = { phase: 'Running', conditions: conditions('True') }
  const { runtime, manager, bodies, state } = setup(podOf({}, ours))
  manager.set(state.pod!, ours)
  await runtime.settle()
  assert.deepEqual(bodies(), [])
  state.pod = podOf({}, { phase: 'Running', conditions: conditions('False') })
  manager.set(state.pod, { ...ours, message: 'm' })
  await runtime.settle()
  const [first, second, ...more] = bodies().map((body) => body?.['status'])
  assert.deepEqual(first, { message: 'm' })
  assert.equal(second.conditions[0].status, 'True')
  assert.deepEqual(more, [])
})

test('a final phase is held back while containers may run', async () => {
  const { runtime, manager, bodies, state } = setup(podOf({}, { phase: 'Running' }))
  state.running = true
  manager.set(state.pod!, { phase: 'Failed', reason: 'R', message: 'm' })
  await runtime.settle()
  assert.equal(manager.get('u')?.phase, 'Running')
  assert.deepEqual(bodies(), [])
  state.running = false
  manager.set(state.pod!, { phase: 'Failed', reason: 'R', message: 'm' })
  await runtime.settle()
  assert.deepEqual(bodies()[0]?.['status'], { phase: 'Failed', reason: 'R', message: 'm' })
})

test('a transition time only changes with the status of its condition', async () => {
  const { runtime, manager, state } = setup(podOf())
  const ready = (status: string, reason: string): PodStatus => ({ conditions: [{ type: 'Ready', status, reason }] })
  const since = () => manager.get('u')?.conditions?.[0]?.lastTransitionTime
  manager.set(state.pod!, ready('False', 'A'))
  const first = since()
  await runtime.advance(5000)
  manager.set(state.pod!, ready('False', 'B'))
  assert.equal(since(), first)
  manager.set(state.pod!, ready('True', 'B'))
  assert.notEqual(since(), first)
})

test('conditions and fields of others stay', async () => {
  const gate = { type: 'example.com/gate', status: 'True' }
  const { runtime, manager, bodies, state } = setup(podOf({}, { conditions: [gate], nominatedNodeName: 'n' }))
  manager.set(state.pod!, { conditions: [{ type: 'Ready', status: 'True' }] })
  await runtime.settle()
  const status = bodies()[0]?.['status']
  assert.deepEqual(status['$setElementOrder/conditions'], [{ type: 'example.com/gate' }, { type: 'Ready' }])
  assert.equal('nominatedNodeName' in status, false)
})

test('a status that somebody overwrote is put right', async () => {
  const { runtime, manager, bodies, state } = setup(podOf())
  manager.set(state.pod!, { phase: 'Running' })
  await runtime.settle()
  manager.observed(podOf({ resourceVersion: '3' }, { phase: 'Pending' }))
  await runtime.settle()
  assert.equal(bodies()[1]?.['status'].phase, 'Running')
})

test('a mirror pod that was just made is told the next status of its pod at once, else what it was after ten seconds', async () => {
  const mirror = { ...podOf({ uid: 'mirror', resourceVersion: '1' }), status: { phase: 'Pending' } } as Pod
  const statusOf = (phase: string): PodStatus => ({ phase, startTime: '2026-01-01T00:00:00Z' })
  for (const next of [statusOf('Running'), undefined]) {
    const { runtime, manager, requests, bodies, state } = setup(undefined)
    const pod = podOf({ resourceVersion: undefined })
    manager.set(pod, statusOf('Pending'))
    await runtime.settle()
    state.pod = mirror
    manager.observed(mirror, 'u')
    await runtime.advance(9000)
    assert.equal(requests.length, 0)
    if (next !== undefined) manager.set(pod, next)
    await runtime.settle()
    assert.deepEqual(
      bodies().map((body) => body?.['status'].phase),
      next === undefined ? [] : ['Running'],
    )
    await runtime.advance(1000)
    await runtime.settle()
    assert.equal(requests.length, 1)
    assert.deepEqual(bodies()[0]?.['metadata'], { uid: 'mirror' })
  }
})

test('a new mirror pod that others change meanwhile is told of its pod all the same, one made after it in its own time', async () => {
  const mirror = (uid: string, version: string) =>
    podOf({ uid, resourceVersion: version, labels: { version } }, { phase: 'Pending' })
  const { runtime, manager, bodies, state } = setup(undefined)
  manager.set(podOf({ resourceVersion: undefined }), { phase: 'Failed', startTime: '2026-01-01T00:00:00Z' })
  await runtime.settle()
  const observed = (pod: Pod) => {
    state.pod = pod
    manager.observed(pod, 'u')
  }
  observed(mirror('first', '1'))
  await runtime.advance(9000)
  observed(mirror('second', '3'))
  await runtime.advance(9000)
  observed(mirror('second', '5'))
  await runtime.settle()
  assert.deepEqual(bodies(), [])
  await runtime.advance(1000)
  await runtime.settle()
  assert.deepEqual(
    bodies().map((body) => [body?.['metadata'], body?.['status'].phase]),
    [[{ uid: 'second' }, 'Failed']],
  )
})

test('a pod that ended is deleted with its uid as precondition, once', async () => {
  const { runtime, manager, requests, bodies, state } = setup(podOf({ deletionTimestamp: '2026-01-01T00:00:00Z' }))
  manager.terminate(state.pod!)
  await runtime.settle()
  manager.terminate(state.pod!)
  await runtime.settle()
  assert.deepEqual(
    requests.map(({ method }) => method),
    ['PATCH', 'DELETE'],
  )
  assert.equal(bodies()[0]?.['status'].phase, 'Failed')
  assert.deepEqual(bodies()[1]?.['preconditions'], { uid: 'u' })
  assert.equal(bodies()[1]?.['gracePeriodSeconds'], 0)
})

test('a pod that ended before the kubelet heard of its deletion goes when it hears of it', async () => {
  const { runtime, manager, requests, state } = setup(podOf())
  manager.set(state.pod!, { phase: 'Succeeded' })
  manager.terminate(state.pod!)
  await runtime.settle()
  // The write was answered with what the watch only tells now.
  state.pod = podOf({ resourceVersion: '2', deletionTimestamp: '2026-01-01T00:00:00Z' }, { phase: 'Succeeded' })
  manager.observed(state.pod)
  await runtime.settle()
  assert.deepEqual(
    requests.map(({ method }) => method),
    ['PATCH', 'DELETE'],
  )
})

test('a pod deleted without grace is on its way out: only when it stays is it ended here', async () => {
  const marked = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
  const ended = (pod: Pod) => {
    const own = setup(pod)
    own.manager.terminate(pod)
    return own
  }
  const removed = ended(podOf(marked))
  await removed.runtime.settle()
  removed.manager.forget('u')
  await removed.runtime.advance(60_000)
  assert.deepEqual(removed.requests, [])

  const left = ended(podOf(marked))
  await left.runtime.advance(9000)
  assert.deepEqual(left.requests, [])
  await left.runtime.advance(2000)
  assert.deepEqual(
    left.requests.map(({ method }) => method),
    ['PATCH', 'DELETE'],
  )

  const held = ended(podOf({ ...marked, finalizers: ['example.com/hold'] }))
  await held.runtime.settle()
  assert.equal(held.requests[0]?.method, 'PATCH')
})

test('a failed write is tried again, one about a pod that is gone is not', async () => {
  let failures = 1
  const flaky = setup(podOf(), () => {
    if (failures-- > 0) throw new Error('no connection')
  })
  flaky.manager.set(flaky.state.pod!, { phase: 'Running' })
  await flaky.runtime.advance(11_000)
  assert.equal(flaky.requests.length, 2)

  const gone = setup(podOf(), () => {
    throw notFound({ group: '', resource: 'pods' }, 'p')
  })
  gone.manager.set(gone.state.pod!, { phase: 'Running' })
  await gone.runtime.advance(60_000)
  assert.equal(gone.requests.length, 1)
})

test('a conflict is tried again: whoever wrote in between said nothing about the status', async () => {
  let failures = 1
  const { runtime, manager, requests, state } = setup(podOf(), () => {
    if (failures-- > 0) throw conflict({ group: '', resource: 'pods' }, 'p', 'changed')
  })
  manager.set(state.pod!, { phase: 'Running' })
  await runtime.advance(11_000)
  assert.equal(requests.length, 2)
})

test('what is told while a write fails is written, and so is everything after it', async () => {
  let failures = 1
  const { runtime, manager, bodies, state } = setup(podOf(), () => {
    if (failures-- > 0) {
      manager.set(state.pod!, { phase: 'Running', message: 'told meanwhile' })
      throw new Error('no connection')
    }
  })
  manager.set(state.pod!, { phase: 'Running' })
  await runtime.settle()
  manager.set(state.pod!, { phase: 'Running', message: 'later' })
  await runtime.advance(11_000)
  assert.deepEqual(
    bodies()
      .map((body) => body?.['status'].message)
      .slice(1),
    ['told meanwhile', 'later'],
  )
})

test('nothing is written about a pod whose object is known to be gone', async () => {
  const { runtime, manager, requests, state } = setup(podOf())
  const pod = state.pod!
  state.pod = undefined
  manager.set(pod, { phase: 'Running' })
  await runtime.settle()
  assert.deepEqual(requests, [])
})

test('of a pod that ended before its init containers had, those that had begun are told to have ended, and the first', async () => {
  const told = async (...inits: readonly object[]) => {
    const { runtime, manager, bodies, state } = setup(podOf())
    const initContainerStatuses = inits.map((one, at) => ({ ...one, name: `i${at}`, ready: false, restartCount: 0 }))
    const conditions = [{ type: 'Initialized', status: 'False' }]
    manager.set(state.pod!, { phase: 'Pending', conditions, initContainerStatuses } as never)
    manager.terminate(state.pod!)
    await runtime.settle()
    const { status } = bodies().at(-1) as never as { status: { initContainerStatuses: readonly { state: object }[] } }
    return status.initContainerStatuses.map(({ state: one }) => Object.keys(one)[0])
  }
  const waiting = { state: { waiting: { reason: 'ErrImageNeverPull' } } }
  assert.deepEqual(await told(waiting, waiting), ['terminated', 'waiting'])
  assert.deepEqual(await told({ state: { terminated: { exitCode: 0 } } }, waiting), ['terminated', 'waiting'])
  const crashed = { ...waiting, lastState: { terminated: { exitCode: 1 } } }
  assert.deepEqual(await told({ state: { terminated: { exitCode: 0 } } }, crashed), ['terminated', 'terminated'])
})

test('containers that had not begun are told to be lost where the pod had been initialized, by the object its worker has', async () => {
  const told = async (initContainerStatuses: readonly object[]) => {
    const pod = podOf({}, { initContainerStatuses } as never)
    const withInit = {
      ...pod,
      spec: { ...pod.spec, containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
    } as Pod
    const { runtime, manager, bodies } = setup(withInit)
    const ended = { name: 'i', state: { terminated: { exitCode: 0 } } }
    const containerStatuses = [{ name: 'c', state: { waiting: { reason: 'PodInitializing' } } }]
    manager.set(withInit, { phase: 'Failed', initContainerStatuses: [ended], containerStatuses } as never)
    manager.terminate(withInit)
    await runtime.settle()
    const { status } = bodies().at(-1) as never as { status: { containerStatuses: readonly { state: object }[] } }
    return status.containerStatuses.map(({ state }) => Object.keys(state)[0])
  }
  assert.deepEqual(await told([]), ['waiting'])
  assert.deepEqual(await told([{ name: 'i', state: { terminated: { exitCode: 0 } } }]), ['terminated'])
})
