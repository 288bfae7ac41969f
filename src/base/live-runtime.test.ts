import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRuntime } from './live-runtime.ts'
import { manualRuntime } from './manual-clock-runtime.ts'

test('the live clock is the wall clock with microseconds', () => {
  const { clock } = liveRuntime()
  const [earliest, now, latest] = [Date.now(), clock.now(), Date.now()]
  assert.ok(earliest <= now && now < latest + 1, `${earliest} ${now} ${latest}`)
  const before = clock.monotonic()
  assert.ok(clock.monotonic() >= before)
})

test('the live clock keeps to the millisecond of a wall clock that is set by little or much, and goes back only with it', (t) => {
  let offset = 0
  const wall = () => Math.floor(performance.timeOrigin + performance.now() + offset)
  t.mock.method(Date, 'now', wall)
  const { clock } = liveRuntime()
  for (const next of [0, 1.4, 0.6, -0.7, 1.9, -3, 40_000, 39_999.2, -40_000]) {
    const back = next < offset
    offset = next
    let last = back ? 0 : clock.now()
    for (let i = 0; i < 2000; i++) {
      const [earliest, now, latest] = [Date.now(), clock.now(), Date.now()]
      assert.ok(earliest <= now && now < latest + 1, `${earliest} ${now} ${latest} at ${next}`)
      assert.ok(now >= last, `${now} after ${last} at ${next}`)
      last = now
    }
  }
})

test('hand-overs run first in, first out, before later ones', async () => {
  const { scheduler } = liveRuntime()
  const seen: number[] = []
  await new Promise<void>((resolve) => {
    scheduler.later('later', () => {
      seen.push(3)
      resolve()
    })
    scheduler.handOver('a', () => seen.push(1))
    scheduler.handOver('b', () => seen.push(2))
    assert.deepEqual(seen, [])
  })
  assert.deepEqual(seen, [1, 2, 3])
})

test('a cancelled timer does not fire', async () => {
  const { clock } = liveRuntime()
  await new Promise<void>((resolve, reject) => {
    clock.setTimer(1, 'cancelled', () => reject(new Error('fired'))).cancel()
    const keepAlive = setInterval(() => {}, 1000)
    clock.setTimer(5, 'end', () => {
      clearInterval(keepAlive)
      resolve()
    })
  })
})

test('timers that are due together leave turns to others, and keep their order', async () => {
  const { clock } = liveRuntime()
  const fired: number[] = []
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  const work = (number: number) => {
    fired.push(number)
    const end = performance.now() + 5
    while (performance.now() < end);
  }
  await new Promise<void>((resolve) => {
    const timers = Array.from({ length: 40 }, (_, number) => clock.setTimer(1, 'due', () => work(number)))
    clock.setTimer(1, 'cancels one that is due already', () => timers[39]!.cancel())
    // This one is due before any of them has run.
    setImmediate(() => {
      timers[38]!.cancel()
      count()
    })
    clock.setTimer(2, 'end', () => {
      over = true
      resolve()
    })
  })
  assert.deepEqual(
    fired,
    Array.from({ length: 40 }, (_, number) => number).filter((number) => number !== 38),
  )
  assert.ok(turns >= 6, `${turns} turns beside 195 ms of timers`)
})

test('random values have the shape Kubernetes clients expect', () => {
  const { random } = liveRuntime()
  assert.match(random.suffix(5), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  assert.match(random.uuid(), /^[0-9a-f-]{36}$/)
  const passing = Array.from({ length: 200 }, () => random.passingUuid())
  for (const id of passing) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(new Set(passing).size, 200)
  assert.equal(random.bytes(16).length, 16)
  const pieces = Array.from({ length: 2000 }, (_, at) =>
    at % 2 === 0 ? random.bytes(13) : random.bytes(300).subarray(0, 13),
  )
  assert.equal(new Set(pieces.map((piece) => Buffer.from(piece).toString('hex'))).size, 2000)
  const floats = Array.from({ length: 3000 }, () => random.float())
  assert.ok(floats.every((f) => f >= 0 && f < 1))
  assert.equal(new Set(floats).size > 2990, true)
})

test('a line is logged up to the level asked for, with its name', () => {
  const lines: string[] = []
  const { log } = liveRuntime({ level: 2, log: { write: (line) => lines.push(line) } })
  log.named('gc').named('graph').info(2, 'hello', { key: 'a' })
  log.info(3, 'too detailed')
  log.error('failed', new Error('cause'))
  assert.equal(lines.length, 2)
  const hello = JSON.parse(lines[0]!)
  assert.deepEqual([hello.v, hello.logger, hello.msg, hello.key], [2, 'gc.graph', 'hello', 'a'])
  assert.equal(lines[0]!.split('"logger"').length, 2, 'each key is there once')
  assert.equal(JSON.parse(lines[1]!).err.message, 'cause')
})

test('how late the event loop was is among the metrics', async () => {
  const { metrics } = liveRuntime({ log: { write: () => {} } })
  const turn = () => new Promise((resolve) => setTimeout(resolve, 60))
  await turn()
  for (const begun = performance.now(); performance.now() - begun < 250; );
  await turn()
  const text = metrics?.text() ?? ''
  const longest = Number(/^skiff_event_loop_delay_seconds\{quantile="1"\} (.+)$/m.exec(text)?.[1])
  assert.ok(longest > 0.2, `${longest} s`)
})

test('what was handed over behind I/O leaves turns to others, keeps its order, and what it brings comes behind it', async () => {
  const { scheduler, clock } = liveRuntime()
  const done: number[] = []
  const seen: number[] = []
  const keepAlive = setInterval(() => {}, 1000)
  const all = 5000
  await new Promise<void>((resolve) => {
    const work = (i: number) => () => {
      done.push(i)
      // Its microtasks are done before the next begins.
      queueMicrotask(() => seen.push(done.length))
      for (const until = clock.monotonic() + (i < 90 ? 2 : 0); clock.monotonic() < until; );
      if (i < 10) scheduler.later('brought', work(all + i))
      if (i === all + 9) resolve()
    }
    for (let i = 0; i < all; i++) scheduler.later('work', work(i))
    setImmediate(() => setTimeout(() => done.push(-1), 0))
  })
  clearInterval(keepAlive)
  const timer = done.indexOf(-1)
  assert.ok(timer > 0 && timer < 100, `the timer came after ${timer}`)
  done.splice(timer, 1)
  assert.deepEqual(
    done,
    Array.from({ length: all + 10 }, (_, i) => i),
  )
  assert.equal(new Set(seen).size, all + 10)
})

test("a test's fake timers hold up neither the live runtime nor a manual clock, and do not set their time", {
  timeout: 60_000,
}, async (t) => {
  const began = Date.now()
  const live = liveRuntime()
  const { manual, clock, scheduler } = manualRuntime({ startMs: 0, log: { write() {} } })
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: 0 })
  await Promise.all([
    new Promise<void>((resolve) => live.clock.setTimer(1, '', resolve)),
    new Promise<void>((resolve) => live.scheduler.later('', resolve)),
  ])
  assert.ok(live.clock.now() >= began)
  const heard = new Promise<void>((resolve) => clock.setTimer(10, '', () => scheduler.later('', resolve)))
  await manual.advance(10)
  await heard
})
