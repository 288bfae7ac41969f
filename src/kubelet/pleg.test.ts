import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { stoppable } from '../base/stoppable.ts'
import { createPleg, type PodLifecycleEvent } from './pleg.ts'
import { createPodAddresses, podCIDROf } from './pod-addresses.ts'
import { createPodCache } from './pod-cache.ts'
import { type ContainerEvent, type ContainerRuntime, POD_UID_LABEL, type RealRuntime } from './runtimes/runtime.ts'
import { createSimulatedRuntime } from './runtimes/simulated/simulated-runtime.ts'

function setup(silent: boolean, { runs = true } = {}) {
  const runtime = simulatedRuntime(1)
  const { containerEvents, ...others } = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  let listed = 0
  const listPodSandboxes: ContainerRuntime['listPodSandboxes'] = (filter) => {
    listed += 1
    return others.listPodSandboxes(filter)
  }
  const counting = { ...others, listPodSandboxes }
  const cri: ContainerRuntime = silent ? counting : { ...counting, containerEvents: containerEvents! }
  const cache = createPodCache()
  const events: PodLifecycleEvent[] = []
  const stop = new AbortController()
  const pleg = createPleg(stoppable(runtime, stop.signal), cri, cache, (changes) => events.push(...changes))
  if (runs) pleg.run(stop.signal)
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const labels = { [POD_UID_LABEL]: 'u' }
  const sandbox = () =>
    runtime.complete(cri.runPodSandbox({ metadata, hostname: '', labels, annotations: {}, hostNetwork: false }))
  return { runtime, cri, cache, events, pleg, stop, sandbox, lists: () => listed }
}
const types = (events: readonly PodLifecycleEvent[]) => events.map(({ type }) => type)

for (const silent of [false, true])
  test(`starts and ends are told by a runtime that is ${silent ? 'asked' : 'listened to'}`, async () => {
    const { runtime, cri, cache, events, stop, sandbox } = setup(silent)
    const id = await sandbox()
    await runtime.advance(1000)
    assert.deepEqual(types(events), ['ContainerStarted'])
    assert.deepEqual(cache.get('u').ips, ['10.244.0.2'])
    await runtime.complete(cri.stopPodSandbox(id))
    await runtime.advance(1000)
    assert.deepEqual(types(events), ['ContainerStarted', 'ContainerDied'])
    assert.deepEqual(cache.get('u').ips, ['10.244.0.2'], 'an ended pod keeps its address')
    await runtime.complete(cri.removePodSandbox(id))
    await runtime.advance(1000)
    assert.deepEqual(types(events), ['ContainerStarted', 'ContainerDied', 'ContainerRemoved'])
    stop.abort()
  })

test('settling sees what this kubelet has just done, and asks nothing where it has done nothing', async () => {
  const { cache, pleg, stop, sandbox, runtime, lists, events } = setup(true)
  await pleg.settle('u')
  assert.equal(lists(), 0)
  await sandbox()
  pleg.changed('u')
  assert.equal(cache.get('u').sandboxes.length, 0)
  await pleg.settle('u')
  // That would be another sync, for what this one goes by.
  assert.deepEqual(types(events), [])
  assert.deepEqual([cache.get('u').sandboxes.length, lists()], [1, 1])
  await pleg.settle('u')
  assert.equal(lists(), 1)
  await runtime.settle()
  assert.equal(lists(), 1)
  await runtime.advance(1000)
  assert.equal(lists(), 2)
  await pleg.settle('u')
  assert.equal(lists(), 2)
  stop.abort()
})

test('what this kubelet has begun is told at once, however soon it ends', async () => {
  const { pleg, stop, sandbox, runtime, lists, events } = setup(true)
  await sandbox()
  pleg.changed('u')
  await runtime.settle()
  assert.deepEqual([types(events), lists()], [['ContainerStarted'], 1])
  await pleg.settle('u')
  assert.equal(lists(), 1)
  stop.abort()
})

test('a change while the runtime is being read is not taken for one that was read', async () => {
  const { pleg, stop, lists } = setup(true)
  pleg.changed('u')
  const reading = pleg.relistPod('u')
  pleg.changed('u')
  await reading
  await pleg.settle('u')
  assert.equal(lists(), 2)
  stop.abort()
})

test('a runtime that tells of its changes is not polled', async () => {
  const { runtime, stop } = setup(false)
  await runtime.settle()
  await runtime.advance(3_600_000)
  assert.equal(runtime.ready, 0)
  stop.abort()
})

test('a change whose reading failed is read again after a second', async () => {
  const { runtime, cri, events, stop, sandbox } = setup(false)
  const list = cri.listContainers
  let failures = 2
  cri.listContainers = (filter) => (failures-- > 0 ? Promise.reject(new Error('fault')) : list(filter))
  await sandbox()
  await runtime.advance(1999)
  assert.deepEqual(types(events), [])
  await runtime.advance(1)
  assert.deepEqual(types(events), ['ContainerStarted'])
  stop.abort()
})

test('the first reading is tried until the runtime answers', async () => {
  const { runtime, cri, cache, pleg, sandbox } = setup(true, { runs: false })
  await sandbox()
  const list = cri.listPodSandboxes
  let failures = 3
  cri.listPodSandboxes = (filter) => (failures-- > 0 ? Promise.reject(new Error('fault')) : list(filter))
  const start = runtime.clock.now()
  await runtime.complete(pleg.firstRelist(new AbortController().signal))
  assert.equal(runtime.clock.now() - start, 3000)
  assert.equal(cache.get('u').sandboxes.length, 1)
})

test('a real runtime is listed each second until its events come, then now and then, and again when they end', async () => {
  const runtime = simulatedRuntime(1)
  const { containerEvents: _, ...others } = createSimulatedRuntime(runtime, createPodAddresses(podCIDROf(0)))
  let lists = 0
  let tell: ((event: ContainerEvent) => void) | undefined
  let end = () => {}
  const real = {
    events: (listener: (event: ContainerEvent) => void) =>
      new Promise<void>((_, reject) => {
        tell = listener
        end = () => reject(new Error('the runtime is gone'))
      }),
  } as Partial<RealRuntime> as RealRuntime
  const cri: ContainerRuntime = {
    ...others,
    real,
    listPodSandboxes(filter) {
      lists++
      return others.listPodSandboxes(filter)
    },
  }
  const events: PodLifecycleEvent[] = []
  const stop = new AbortController()
  createPleg(runtime, cri, createPodCache(), (changes) => events.push(...changes)).run(stop.signal)
  const listsIn = async (ms: number) => {
    lists = 0
    await runtime.advance(ms)
    return lists
  }
  const metadata = { name: 'p', namespace: 'n', uid: 'u', attempt: 0 }
  const labels = { [POD_UID_LABEL]: 'u' }
  assert.equal(await listsIn(10_000), 10)

  tell?.({ type: 'created', podUid: 'other', containerId: 'o' })
  await runtime.advance(1)
  assert.equal(await listsIn(299_000), 0)
  assert.equal(await listsIn(2000), 1)

  const id = await runtime.complete(
    cri.runPodSandbox({ metadata, hostname: '', labels, annotations: {}, hostNetwork: false }),
  )
  tell?.({ type: 'started', podUid: 'u', containerId: id })
  await runtime.settle()
  assert.deepEqual(types(events), ['ContainerStarted'])
  await runtime.complete(cri.removePodSandbox(id))
  tell?.({ type: 'deleted', podUid: '', containerId: id })
  await runtime.settle()
  assert.deepEqual(types(events), ['ContainerStarted', 'ContainerDied', 'ContainerRemoved'])

  end()
  await runtime.settle()
  assert.equal(await listsIn(10_000), 11)
  tell = undefined
  await runtime.advance(25_000)
  assert.notEqual(tell, undefined, 'events are asked for again')
  stop.abort()
})
