import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep } from './clock.ts'
import { manualRuntime } from './manual-clock-runtime.ts'
import { seededInts } from './random.ts'

const START = Date.UTC(2026, 0, 1)

function arrange(options: { readonly outside?: (silenceMs: number) => Promise<void> | undefined } = {}) {
  const moves: number[] = []
  const runtime = manualRuntime({
    startMs: START,
    log: { write() {} },
    onMove: (now) => moves.push(now - START),
    ...options,
  })
  const { clock, manual } = runtime
  const done: string[] = []
  /** Says its name and when it was. */
  const say = (name: string) => done.push(`${name} ${clock.now() - START}`)
  return { ...runtime, clock, manual, moves, done, say }
}

test('what is due now is done by itself, and only later timers wait', async () => {
  const { clock, scheduler, manual, done, say } = arrange()
  clock.setTimer(10, '', () => say('timer'))
  clock.setTimer(0, '', () => say('at once'))
  scheduler.handOver('', () => say('handed over'))
  scheduler.soon(50, '', () => say('soon'))
  await manual.settle()
  assert.deepEqual(done, ['handed over 0', 'at once 0', 'soon 0'])
  await manual.advance(10)
  assert.deepEqual(done.slice(3), ['timer 10'])
})

test('timers fire in order, with everything at rest between them', async () => {
  const { clock, scheduler, manual, done, say, moves } = arrange()
  clock.setTimer(30, '', () => say('c'))
  clock.setTimer(10, '', () => {
    say('a')
    scheduler.later('', () => scheduler.handOver('', () => say('what a leads to')))
    void scheduler.during(new Promise<void>((resolve) => setTimeout(resolve, 20))).then(() => {
      say('its disk')
      clock.setTimer(10, '', () => say('b'))
    })
  })
  clock.setTimer(30, '', () => say('d'))
  await manual.advance(40)
  assert.deepEqual(done, ['a 10', 'what a leads to 10', 'its disk 10', 'b 20', 'c 30', 'd 30'])
  assert.deepEqual(moves, [10, 20, 30, 40])
})

test('a cancelled timer does not fire, and nothing waits for one that was to come soon', async () => {
  const { clock, scheduler, manual, done, say } = arrange()
  const timers = [clock.setTimer(5, '', () => say('a')), clock.setTimer(5, '', () => say('b'))]
  clock.setTimer(5, '', () => timers[1]?.cancel())
  timers[0]?.cancel()
  scheduler.soon(100_000, '', () => say('c')).cancel()
  clock.setTimer(0, '', () => say('d')).cancel()
  clock.setTimer(7, '', () => say('e'), { everyMs: 7 }).cancel()
  await manual.advance(10)
  assert.deepEqual(done, ['b 5'])
})

test('of what recurs only the last turn before another timer is taken, and that at its own time', async () => {
  const { clock, manual, done, say } = arrange()
  const beat = () =>
    void clock.setTimer(
      10,
      'beat',
      () => {
        say('beat')
        beat()
      },
      { everyMs: 10 },
    )
  beat()
  clock.setTimer(35, '', () => say('timer'))
  await manual.advance(100)
  assert.deepEqual(done, ['beat 30', 'timer 35', 'beat 100'])
})

test('a recurring timer has each turn in which it has something to do', async () => {
  const { clock, manual, done, say } = arrange()
  let from = 35
  const look = () =>
    void clock.setTimer(
      10,
      'look',
      () => {
        say('look')
        if (clock.now() - START >= from) from = Number.POSITIVE_INFINITY
        look()
      },
      { everyMs: 10, nothingBefore: () => START + from },
    )
  look()
  await manual.advance(100)
  assert.deepEqual(done, ['look 40', 'look 100'])
})

test('a turn that looks for signs of life finds them', async () => {
  const { clock, manual, done, say } = arrange()
  const recurring = (name: string, everyMs: number, keeps?: string) => {
    const again = () =>
      void clock.setTimer(
        everyMs,
        name,
        () => {
          say(name)
          again()
        },
        { everyMs, ...(keeps === undefined ? {} : { keeps }) },
      )
    again()
  }
  recurring('look', 45)
  recurring('beat', 10, 'it')
  assert.equal(clock.keeps?.('it'), true)
  assert.equal(clock.keeps?.('another'), false)
  await manual.advance(100)
  assert.deepEqual(done, ['beat 90', 'look 90', 'beat 100'])
})

test('what comes of a recurring turn is not overtaken by the others', async () => {
  const { clock, manual, done, say } = arrange()
  clock.setTimer(
    10,
    '',
    () => {
      say('a')
      clock.setTimer(5, '', () => say('of a'))
    },
    { everyMs: 70 },
  )
  clock.setTimer(20, '', () => say('b'), { everyMs: 70 })
  await manual.advance(89)
  assert.deepEqual(done, ['b 20', 'a 80', 'of a 85'])
})

test('until a condition holds, and no further than asked', async () => {
  const { clock, manual } = arrange()
  let count = 0
  void (async () => {
    for (;;) {
      await sleep(clock, 10)
      count++
    }
  })()
  assert.equal(await manual.runUntil(() => count === 3, 1000), true)
  assert.equal(manual.now() - START, 30)
  assert.equal(await manual.runUntil(async () => count === 300, 1000), false)
  assert.equal(manual.now() - START, 1030)
})

test('a cluster is idle that waits for nothing but what recurs', async () => {
  const { clock, manual } = arrange()
  const again = () => void clock.setTimer(10, '', again, { everyMs: 10 })
  again()
  clock.setTimer(500, 'the last', () => {})
  assert.deepEqual(manual.waiting(5), [{ due: START + 500, label: 'the last' }])
  assert.equal(await manual.runUntilIdle(1000), true)
  assert.equal(manual.now() - START, 500)
  assert.deepEqual(manual.waiting(5), [])
})

test('moves wait for each other, time never goes back, and a clock that is stopped moves no more', async () => {
  const { clock, manual, done, say } = arrange()
  clock.setTimer(10, '', () => say('a'))
  await Promise.all([manual.advance(10), manual.advance(10)])
  assert.equal(manual.now() - START, 20)
  await assert.rejects(manual.advanceTo(START), /has passed: the cluster's time does not go back/)
  const again = () => void clock.setTimer(1, '', again)
  again()
  const moving = manual.advance(1e9)
  setImmediate(manual.stop)
  await assert.rejects(moving, /the cluster has stopped/)
  assert.deepEqual(done, ['a 10'])
})

test('those outside are waited for each time, and so is what they do', async () => {
  const heard: string[] = []
  let waits = 0
  const { clock, scheduler, manual, done, say } = arrange({
    outside: (silenceMs) => {
      if (waits === 0) return undefined
      waits--
      heard.push(`${silenceMs}`)
      return new Promise((resolve) =>
        setTimeout(() => {
          if (waits > 0) scheduler.handOver('', () => say('their answer'))
          resolve()
        }, 1),
      )
    },
  })
  clock.setTimer(10, '', () => {
    say('a')
    waits = 2
  })
  clock.setTimer(20, '', () => say('b'))
  await manual.advance(30, { settleMs: 50 })
  assert.deepEqual(done, ['a 10', 'their answer 10', 'b 20'])
  assert.deepEqual(heard, ['50', '50'])
})

test('random timers fire at their times, in order, however the way is divided', async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const ints = seededInts(seed)
    const { clock, manual } = arrange()
    const fired: number[] = []
    const expected: number[] = []
    let left = 60
    const add = () => {
      if (left-- <= 0) return
      const due = clock.now() - START + 1 + (ints() % 500)
      expected.push(due)
      clock.setTimer(due - (clock.now() - START), '', () => {
        assert.equal(clock.now() - START, due)
        fired.push(due)
        if (ints() % 2 === 0) add()
      })
    }
    for (let i = 0; i < 20; i++) add()
    while (manual.waiting(1).length > 0) await manual.advance(ints() % 100)
    assert.deepEqual(
      fired,
      expected.toSorted((a, b) => a - b),
    )
  }
})
