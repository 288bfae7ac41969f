import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Change } from '../cache/event-log.ts'
import { type LoopOptions, startKeyedLoop, startSettlingLoop } from './settling.ts'

const SETTLE_MS = 20
const RETRY_MS = 5_000
const EVERY_MS = 30_000

/** A loop whose turns are noted by their time since the start, and how each of them ends. */
function begun(outcomes: readonly ('fails' | 'waits')[] = [], everyMs?: number, stopping = new AbortController()) {
  const runtime = simulatedRuntime(1)
  const start = runtime.clock.now()
  const turns: number[] = []
  const listeners = new Set<() => void>()
  let finish = () => {}
  startSettlingLoop({
    runtime,
    name: 'things',
    work: async () => {
      const outcome = outcomes[turns.length]
      turns.push(runtime.clock.now() - start)
      if (outcome === 'fails') throw new Error('not now')
      if (outcome === 'waits')
        await new Promise<void>((done) => {
          finish = done
        })
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    signal: stopping.signal,
    settleMs: SETTLE_MS,
    retryMs: RETRY_MS,
    ...(everyMs === undefined ? {} : { everyMs }),
  })
  const change = () => {
    for (const listener of listeners) listener()
  }
  return { runtime, turns, change, finish: () => finish(), stopping, listeners }
}

test('changes that come one after another do not put off the turn that the first of them asked for', async () => {
  const { runtime, turns, change } = begun()
  await runtime.advance(100)
  for (let i = 0; i < 5; i++) {
    change()
    await runtime.advance(SETTLE_MS / 4)
  }
  await runtime.advance(1_000)
  assert.deepEqual(turns, [0, 120, 140])
})

test('a change during a turn brings one more turn, not a second one at the same time', async () => {
  const { runtime, turns, change, finish } = begun(['waits'])
  await runtime.advance(10)
  change()
  change()
  await runtime.advance(1_000)
  assert.deepEqual(turns, [0])
  finish()
  await runtime.advance(1_000)
  assert.deepEqual(turns, [0, 1_010 + SETTLE_MS])
})

test('a turn that failed is done again later, and a change brings it forward', async () => {
  const { runtime, turns, change } = begun(['fails', 'fails'])
  await runtime.advance(RETRY_MS)
  assert.deepEqual(turns, [0, RETRY_MS])
  await runtime.advance(1_000)
  change()
  await runtime.advance(60_000)
  assert.deepEqual(turns, [0, RETRY_MS, RETRY_MS + 1_000 + SETTLE_MS])
})

test('where nothing changes, a loop with a period turns again after it', async () => {
  const { runtime, turns } = begun([], EVERY_MS)
  await runtime.advance(2 * EVERY_MS)
  assert.deepEqual(turns, [0, EVERY_MS, 2 * EVERY_MS])
})

test('a loop that is ended turns no more and listens to nobody', async () => {
  const { runtime, turns, change, stopping, listeners } = begun([], EVERY_MS)
  await runtime.advance(100)
  change()
  stopping.abort()
  await runtime.advance(2 * EVERY_MS)
  assert.deepEqual(turns, [0])
  assert.equal(listeners.size, 0)
})

test('who was stopped before he began does nothing, and listens to nothing', async () => {
  const stopped = new AbortController()
  stopped.abort()
  const { runtime, turns, listeners } = begun([], EVERY_MS, stopped)
  await runtime.advance(EVERY_MS)
  assert.deepEqual([turns, listeners.size], [[], 0])
})

test('a loop over keys looks at all of them once, then at those that changes concern, and again at those that failed', async () => {
  const runtime = simulatedRuntime(1)
  const worked: string[] = []
  const failing = new Set(['b'])
  let tell: (change: Change) => void = () => {}
  const follow: LoopOptions['follow'] = (_prefixes, listener) => {
    tell = listener
    return () => {}
  }
  const options = { runtime, follow, signal: new AbortController().signal } as unknown as LoopOptions
  startKeyedLoop(options, {
    name: 'things',
    followed: ['things'],
    all: () => ['a', 'b', 'c'],
    concerned: ({ key }) => (key === 'nothing' ? [] : [key]),
    work: async (key) => {
      worked.push(key)
      if (failing.has(key)) throw new Error('not now')
    },
    settleMs: SETTLE_MS,
    retryMs: RETRY_MS,
  })
  const change = (key: string) => tell({ key } as Change)
  await runtime.advance(100)
  assert.deepEqual(worked.splice(0), ['a', 'b', 'c'])
  change('nothing')
  await runtime.advance(1_000)
  assert.deepEqual(worked.splice(0), [])
  failing.clear()
  change('c')
  change('c')
  await runtime.advance(SETTLE_MS)
  assert.deepEqual(worked.splice(0), ['b', 'c'])
  await runtime.advance(RETRY_MS * 2)
  assert.deepEqual(worked, [])
})
