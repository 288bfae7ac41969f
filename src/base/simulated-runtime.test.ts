import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from './clock.ts'
import { turn } from './scheduler.ts'
import { type SimulatedRuntimeOptions, SimulationStuckError, simulatedRuntime } from './simulated-runtime.ts'

/** Three workers that each take four turns, with naps; gives the order in which they went, and the trace. */
async function race(seed: number, options?: SimulatedRuntimeOptions) {
  const runtime = simulatedRuntime(seed, options)
  const order: string[] = []
  const worker = async (name: string) => {
    for (let i = 0; i < 4; i++) {
      await turn(runtime.scheduler, `${name} works`)
      order.push(`${name}${i}`)
      if (i === 1) await sleep(runtime.clock, 1000)
    }
  }
  await runtime.complete(Promise.all(['a', 'b', 'c'].map(worker)))
  return { order: order.join(' '), trace: runtime.trace(), uuid: runtime.random.uuid() }
}

test('the same seed twice gives the same order and the same trace', async () => {
  for (let seed = 0; seed < 20; seed++) assert.deepEqual(await race(seed), await race(seed))
})

test('different seeds explore different orders', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 50; seed++) orders.add((await race(seed)).order)
  assert.ok(orders.size > 30, `${orders.size} orders`)
})

test('fifo order is first in, first out, whatever the seed', async () => {
  const first = await race(1, { order: 'fifo' })
  assert.equal(first.order, 'a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3')
  assert.equal((await race(2, { order: 'fifo' })).trace, first.trace)
})

test('tasks of one lane keep their order while others go between them', async () => {
  let interleaved = false
  for (let seed = 0; seed < 50; seed++) {
    const runtime = simulatedRuntime(seed)
    const seen: string[] = []
    const lane = {}
    for (let i = 0; i < 5; i++) {
      runtime.scheduler.handOver('event', () => seen.push(`e${i}`), lane)
      runtime.scheduler.handOver('other', () => seen.push(`o${i}`))
    }
    await runtime.settle()
    assert.deepEqual(
      seen.filter((s) => s.startsWith('e')),
      ['e0', 'e1', 'e2', 'e3', 'e4'],
    )
    assert.equal(seen.length, 10)
    interleaved ||= seen.indexOf('o4') < seen.indexOf('e0')
  }
  assert.ok(interleaved)
})

test('microtasks are drained between two hand-overs', async () => {
  for (let seed = 0; seed < 10; seed++) {
    const runtime = simulatedRuntime(seed)
    let busy = false
    const task = () => {
      assert.equal(busy, false)
      busy = true
      void (async () => {
        for (let i = 0; i < 20; i++) await null
        busy = false
      })()
    }
    for (let i = 0; i < 5; i++) runtime.scheduler.handOver('task', task)
    await runtime.settle()
    assert.equal(busy, false)
  }
})

test('advance fires timers in the order of their time, and no others', async () => {
  const runtime = simulatedRuntime(1, { startMs: 5000 })
  const fired: string[] = []
  const at = (ms: number) => runtime.clock.setTimer(ms, 'timer', () => fired.push(`${ms}@${runtime.clock.now()}`))
  at(300)
  at(100)
  at(200).cancel()
  at(1001)
  await runtime.advance(1000)
  assert.deepEqual(fired, ['100@5100', '300@5300'])
  assert.equal(runtime.clock.now(), 6000)
  assert.equal(runtime.clock.monotonic(), 1000)
})

test('timers of the same time fire in an order the seed picks', async () => {
  const orders = new Set<string>()
  for (let seed = 0; seed < 20; seed++) {
    const runtime = simulatedRuntime(seed)
    const fired: number[] = []
    for (let i = 0; i < 3; i++) runtime.clock.setTimer(10, 'timer', () => fired.push(i))
    await runtime.advance(10)
    orders.add(fired.join())
  }
  assert.ok(orders.size > 3)
})

test('a run that cannot reach its condition fails with its seed', async () => {
  const runtime = simulatedRuntime(7)
  await assert.rejects(runtime.run({ until: () => false }), (error: unknown) => {
    assert.ok(error instanceof SimulationStuckError)
    assert.match(error.message, /nothing is left to happen \(seed 7/)
    return true
  })
  const spin = () => runtime.scheduler.handOver('spin', spin)
  spin()
  await assert.rejects(runtime.run({ until: () => false, maxSteps: 50 }), /after 50 hand-overs.*waiting: spin/)
})

test('early timers let time pass while hand-overs wait', async () => {
  let early = 0
  for (let seed = 0; seed < 50; seed++) {
    const runtime = simulatedRuntime(seed, { earlyTimers: 0.5 })
    const seen: string[] = []
    runtime.clock.setTimer(60_000, 'timer', () => seen.push('timer'))
    runtime.scheduler.handOver('task', () => seen.push('task'))
    await runtime.run({ until: () => seen.length === 2 })
    if (seen[0] === 'timer') early++
  }
  assert.ok(early > 0 && early < 50)
})

test('early timers stop where they were told to, and say how late they made what waited', async () => {
  for (let seed = 0; seed < 50; seed++) {
    const runtime = simulatedRuntime(seed)
    runtime.setEarlyTimers(0.9, 3000)
    let ticks = 0
    const tick = () => {
      ticks++
      for (let i = 0; i < 20; i++) runtime.scheduler.handOver('work', () => {})
      runtime.clock.setTimer(1000, 'tick', tick)
    }
    tick()
    await runtime.settle()
    assert.ok(ticks >= 1 && ticks <= 4, `${ticks} ticks`)
    assert.equal(runtime.earlyMs, runtime.clock.monotonic())
    const { earlyMs } = runtime
    runtime.setEarlyTimers(0)
    await runtime.advance(10_000)
    assert.equal(runtime.earlyMs, earlyMs)
  }
})

test('seeded randomness is uniform enough, and its uuids and suffixes are well formed', () => {
  const { random } = simulatedRuntime(3)
  let sum = 0
  for (let i = 0; i < 10_000; i++) sum += random.float()
  assert.ok(Math.abs(sum / 10_000 - 0.5) < 0.02)
  assert.match(random.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.match(random.suffix(50), /^[bcdfghjklmnpqrstvwxz2456789]{50}$/)
})

test('what is drawn apart moves nothing else', () => {
  const told = (drawn: number) => {
    const { random } = simulatedRuntime(7)
    const apart = random.apart()
    const names = Array.from({ length: drawn }, () => apart.suffix(5))
    return { rest: [random.float(), random.uuid(), random.suffix(5)], names }
  }
  assert.deepEqual(told(0).rest, told(9).rest)
  assert.deepEqual(told(9).names, told(9).names)
  assert.notDeepEqual(told(1).names, [simulatedRuntime(7).random.suffix(5)])
})
