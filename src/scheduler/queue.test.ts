import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import type { ClusterEvent, EventName } from './cluster-events.ts'
import { type PodInfo, podInfoOf } from './pod-info.ts'
import { createSchedulingQueue } from './queue.ts'
import { createHints, type Refuser } from './queueing-hints.ts'
import { node, pod } from './test-objects.ts'

const info = (name: string, priority = 0) => podInfoOf(pod(name, { priority }))
const BY_RESOURCES: ReadonlySet<Refuser> = new Set(['NodeResourcesFit'])
const BY_AN_ERROR: ReadonlySet<Refuser> = new Set()
/** A node that is larger than all there was. */
const larger: ClusterEvent = { name: 'NodeAdd', old: undefined, now: node('large') }
const event = (name: EventName, old: unknown, now: unknown) => ({ name, old, now }) as ClusterEvent

/** `gate`: pods of these names are held back. */
function start(gate: Set<string> = new Set()) {
  const runtime = simulatedRuntime(1)
  let woken = 0
  const hints = createHints({ namespaceLabels: () => ({}), addedAffinity: () => undefined, isBacked: () => false })
  const gateOf = ({ pod }: PodInfo): Refuser | undefined =>
    gate.has(pod.metadata.name ?? '') ? 'DynamicResources' : undefined
  const queue = createSchedulingQueue(runtime, { wake: () => woken++, hints, gateOf })
  return {
    runtime,
    queue,
    gate,
    woken: () => woken,
    names: () => {
      const names: string[] = []
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) names.push(next.key.replace('default/', ''))
      return names
    },
    waiting: () =>
      Object.fromEntries(Object.entries(queue.counts).filter(([place, count]) => place !== 'taken' && count > 0)),
  }
}

test('the highest priority comes first, of equal ones the oldest', async () => {
  const { runtime, queue, names } = start()
  for (const [name, priority] of [
    ['a', 0],
    ['b', 10],
    ['c', -5],
    ['d', 10],
    ['e', 0],
  ] as const) {
    queue.add(info(name, priority))
    await runtime.advance(1)
  }
  assert.equal(queue.ready, 5)
  assert.deepEqual(names(), ['b', 'd', 'a', 'e', 'c'])
  assert.equal(queue.ready, 0)
})

test('one that comes while others are taken has its place among them', () => {
  const { queue, names } = start()
  for (const name of ['a', 'b', 'c']) queue.add(info(name))
  queue.pop()
  queue.add(info('urgent', 1))
  assert.equal(names()[0], 'urgent')
})

test('each pod that becomes ready wakes the scheduler, and one that is taken away is not given', () => {
  const { queue, woken, names } = start()
  queue.add(info('a'))
  queue.add(info('b'))
  assert.equal(woken(), 2)
  queue.add(info('b'))
  assert.equal(woken(), 2, 'it is ready already')
  queue.remove('default/a')
  queue.remove('default/never')
  assert.deepEqual(names(), ['b'])
})

test('one that was refused waits for help that its plugin knows, and is taken at once when nobody else is ready', async () => {
  const { runtime, queue, names, waiting } = start()
  const failing = info('a')
  queue.add(failing)
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(names(), ['a'])
    queue.failed(failing, BY_RESOURCES)
    queue.happened(event('NodeUpdateNodeLabel', node('n'), node('n', { labels: { a: 'b' } })))
    queue.happened(event('NodeAdd', undefined, node('small', { allocatable: { pods: '0' } })))
    await runtime.advance(20_000)
    assert.deepEqual([names(), waiting()], [[], { unschedulable: 1 }])
    queue.happened(larger)
  }
})

test('who backs off comes after all that are ready, of the same second by priority: 1 s, doubling, at most 10', async () => {
  const { runtime, queue, names, waiting } = start()
  const failing = info('a', 5)
  queue.add(failing)
  const slow = info('slow', 1)
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    queue.pop()
    queue.failed(failing, BY_RESOURCES)
    queue.happened(larger)
    queue.add(slow)
    assert.deepEqual(waiting(), { active: 1, backoff: 1 })
    assert.equal(queue.pop()?.key, 'default/slow')
    queue.remove('default/slow')
    await runtime.advance(seconds * 1000 - 1)
    assert.deepEqual(waiting(), { backoff: 1 }, `before ${seconds} s`)
    // Backoffs end with a second of the clock.
    await runtime.advance(1000 + 1)
    assert.deepEqual(waiting(), { active: 1 }, `after ${seconds} s`)
  }
  const first = queue.pop() as PodInfo
  const urgent = info('urgent', 9)
  queue.add(urgent)
  queue.pop()
  queue.failed(first, BY_AN_ERROR)
  queue.failed(urgent, BY_AN_ERROR)
  assert.deepEqual(names(), [])
  await runtime.advance(12_000)
  assert.deepEqual(names(), ['urgent', 'a'])
})

test('one that an error kept back waits for all of its backoff, and no change helps', async () => {
  const { runtime, queue, names } = start()
  const failing = info('a')
  queue.add(failing)
  for (const seconds of [1, 2, 4]) {
    assert.deepEqual(names(), ['a'])
    queue.failed(failing, BY_AN_ERROR)
    queue.happened(larger)
    await runtime.advance(seconds * 1000 - 1)
    assert.deepEqual(names(), [], `before ${seconds} s`)
    await runtime.advance(1001)
    assert.equal(queue.ready, 1, `after ${seconds} s`)
  }
  queue.pop()
  queue.failed(failing, BY_RESOURCES)
  queue.happened(larger)
  queue.pop()
  queue.failed(failing, BY_AN_ERROR)
  await runtime.advance(2001)
  assert.equal(queue.ready, 1, 'the errors before a refusal are forgotten')
})

test('what nothing helps is tried again after five minutes', async () => {
  const { runtime, queue, names } = start()
  const failing = info('a')
  queue.add(failing)
  queue.pop()
  queue.failed(failing, BY_RESOURCES)
  await runtime.advance(299_999)
  assert.deepEqual(names(), [])
  await runtime.advance(1)
  assert.deepEqual(names(), ['a'])
})

test('a change of the pod itself is help where a plugin knows it for help, and the pod as it is now is given', () => {
  const { queue, names } = start()
  const failing = podInfoOf(pod('a', {}, { requests: { cpu: '4' } }))
  queue.add(failing)
  queue.pop()
  queue.failed(failing, BY_RESOURCES)
  queue.add(podInfoOf(pod('a', {}, { requests: { cpu: '4' }, labels: { x: 'y' } })))
  assert.deepEqual(names(), [])
  const less = podInfoOf(pod('a', {}, { requests: { cpu: '1' } }))
  queue.add(less)
  assert.equal(queue.pop(), less)
})

test('another pod of the name waits for no backoff', () => {
  const { queue } = start()
  const failing = info('a')
  queue.add(failing)
  queue.pop()
  queue.failed(failing, BY_AN_ERROR)
  const next = { ...failing, uid: 'another' }
  queue.add(next)
  assert.equal(queue.pop(), next)
})

test('a failure of one that is gone, is another by now, or is ready again changes nothing', async () => {
  const { runtime, queue, names } = start()
  const gone = info('a')
  queue.add(gone)
  queue.pop()
  queue.remove('default/a')
  queue.failed(gone, BY_RESOURCES)
  await runtime.advance(600_000)
  assert.deepEqual(names(), [])
  queue.add(info('b'))
  queue.failed(info('b'), BY_RESOURCES)
  queue.pop()
  queue.failed({ ...info('b'), uid: 'former' }, BY_AN_ERROR)
  queue.add({ ...info('b'), uid: 'another' })
  assert.deepEqual(names(), ['b'])
})

test('one that is held back waits apart and without a backoff, and is held back again where that comes back', async () => {
  const { runtime, queue, gate, names, waiting } = start(new Set(['a']))
  const held = info('a')
  const claim = event('resource.k8s.io/DeviceClassAdd', undefined, { metadata: { name: 'c' } })
  queue.add(held)
  queue.happened(claim)
  await runtime.advance(400_000)
  assert.deepEqual([names(), waiting()], [[], { gated: 1 }])
  gate.delete('a')
  queue.happened(larger)
  assert.deepEqual(names(), ['a'], 'a node may have devices')
  queue.failed(held, BY_RESOURCES)
  gate.add('a')
  queue.happened(larger)
  assert.deepEqual([names(), waiting()], [[], { gated: 1 }])
  queue.remove('default/a')
  assert.deepEqual(waiting(), {})
})

test('a change that comes while a pod is on its way does not bring it back', () => {
  const { queue, names } = start()
  const one = info('a')
  queue.add(one)
  queue.pop()
  queue.happened(larger)
  queue.add(one)
  assert.deepEqual(names(), [])
})

test('what happens while a pod is decided is kept until that has ended, and no longer', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const ends: Record<string, (queue: ReturnType<typeof start>['queue'], held: PodInfo) => void> = {
    removed: (queue, { key }) => queue.remove(key),
    replaced: (queue, held) => queue.add({ ...held, uid: 'another' }),
    failed: (queue, held) => queue.failed(held, BY_RESOURCES),
    released: (queue) => queue.release(),
  }
  const isKept = async (queue: ReturnType<typeof start>['queue']) => {
    const told = (() => {
      const one = event('NodeAdd', undefined, node('small', { allocatable: { pods: '0' } }))
      queue.happened(one)
      return new WeakRef(one)
    })()
    await setImmediate()
    collectGarbage()
    return told.deref() !== undefined
  }
  for (const [how, end] of Object.entries(ends)) {
    const { queue } = start()
    const held = info('a')
    queue.add(held)
    queue.pop()
    queue.hold(held.key)
    assert.equal(await isKept(queue), true, how)
    end(queue, held)
    assert.equal(await isKept(queue), false, how)
  }
})

test('what helps pods up to a priority alone helps none above it that was being decided meanwhile', () => {
  const helpedAt = (priority: number) => {
    const { queue, names } = start()
    const held = info('a', priority)
    queue.add(held)
    queue.pop()
    queue.hold(held.key)
    queue.happened({ ...larger, upToPriority: 5 })
    queue.failed(held, BY_RESOURCES)
    return names().length === 1
  }
  assert.deepEqual([helpedAt(5), helpedAt(6)], [true, false])
})

test('of its own claim a pod is helped by a new status, and of a rule for taints by a new spec', async () => {
  const { runtime, queue, names } = start()
  const waits = podInfoOf(pod('a', { resourceClaims: [{ name: 'c', resourceClaimName: 'k' }] }))
  const claim = (finalizers: readonly string[], status: object) => ({
    metadata: { name: 'k', namespace: 'default', finalizers },
    status,
  })
  const rule = (taint: string, status: object) => ({ metadata: { name: 'r' }, spec: { taint }, status })
  const isHelped = async (name: EventName, old: object, now: object) => {
    queue.add(waits)
    queue.pop()
    queue.failed(waits, new Set<Refuser>(['DynamicResources']))
    await runtime.advance(20_000)
    queue.happened(event(name, old, now))
    const helped = names().length === 1
    queue.remove('default/a')
    return helped
  }
  const claimed: EventName = 'resource.k8s.io/ResourceClaimUpdate'
  assert.equal(await isHelped(claimed, claim(['f'], {}), claim([], {})), false)
  assert.equal(await isHelped(claimed, claim(['f'], { reservedFor: [] }), claim(['f'], {})), true)
  const ruled: EventName = 'resource.k8s.io/DeviceTaintRuleUpdate'
  assert.equal(await isHelped(ruled, rule('a', {}), rule('a', { conditions: [] })), false)
  assert.equal(await isHelped(ruled, rule('a', {}), rule('b', {})), true)
})
