import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cachedDataVersionTag } from 'node:v8'
import { collectWhenQuiet, thisProcess } from './quiet-collection.ts'
import { simulatedRuntime } from './simulated-runtime.ts'

const MIB = 2 ** 20

/** A process that has done `work` seconds of the processor in each second, had work during `active` of them, and holds `used` of which `live` is no garbage. */
function watched() {
  const runtime = simulatedRuntime(1)
  const process = { work: 0, active: 0, used: 0, live: 0, collections: 0, freed: 1 }
  let seconds = 0
  let active = 0
  const stop = collectWhenQuiet(runtime.machineClock, {
    processorSeconds: () => {
      seconds += process.work
      return seconds
    },
    activeSeconds: () => {
      active += process.active
      return active
    },
    used: () => process.used,
    collect: async () => {
      process.collections++
      process.used -= (process.used - process.live) * process.freed
    },
  })
  return { process, stop, passes: (s: number) => runtime.advance(s * 1000) }
}

/** One that was collected after work, of which all was alive that it holds. */
async function collectedOnce() {
  const it = watched()
  Object.assign(it.process, { work: 0.9, used: 600 * MIB, live: 400 * MIB })
  await it.passes(5)
  it.process.work = 0.1
  await it.passes(12)
  assert.ok(it.process.collections > 0)
  return { ...it, first: it.process.collections }
}

test('what a burst of work left behind is collected once it has been over for ten seconds, and no sooner', async () => {
  const { process, passes } = watched()
  Object.assign(process, { work: 0.9, used: 600 * MIB, live: 200 * MIB })
  await passes(20)
  assert.equal(process.collections, 0)
  process.work = 0.1
  await passes(9)
  assert.equal(process.collections, 0)
  await passes(2)
  assert.equal(process.used, 200 * MIB)
  // The one that freed it, and the one that found no more.
  assert.equal(process.collections, 2)
})

test('a process that others leave little of the processor is not taken to rest while it has work', async () => {
  const { process, passes } = watched()
  Object.assign(process, { work: 0.1, active: 0.95, used: 600 * MIB, live: 200 * MIB })
  await passes(30)
  assert.equal(process.collections, 0)
  process.active = 0.2
  await passes(11)
  assert.ok(process.collections > 0)
})

test('a process that rests and makes little new is left alone', async () => {
  const { process, passes } = watched()
  Object.assign(process, { work: 0.1, used: 200 * MIB, live: 200 * MIB })
  await passes(11)
  const first = process.collections
  assert.ok(first > 0)
  process.used += 49 * MIB
  await passes(100)
  assert.equal(process.collections, first)
  process.used += 2 * MIB
  await passes(2)
  assert.ok(process.collections > first)
})

test('after work there is a collection also where V8 has collected meanwhile and nothing seems to have grown: its room is given back', async () => {
  const { process, passes, first } = await collectedOnce()
  // What was alive is deleted: less than before is in use, most of it garbage.
  Object.assign(process, { work: 0.9, used: 390 * MIB, live: 100 * MIB })
  await passes(60)
  assert.equal(process.collections, first)
  process.work = 0.1
  await passes(12)
  assert.ok(process.collections > first)
  assert.equal(process.used, 100 * MIB)
  // Once more when what is kept for a while after work has become garbage.
  const second = process.collections
  Object.assign(process, { live: 70 * MIB })
  await passes(80)
  assert.equal(process.collections, second)
  await passes(20)
  assert.equal(process.used, 70 * MIB)
  // Rest by itself, however long, is no reason.
  const third = process.collections
  await passes(600)
  assert.equal(process.collections, third)
})

test('no more than three collections in a row, and none within half a minute of the last', async () => {
  const { process, passes } = watched()
  Object.assign(process, { work: 0, used: 1000 * MIB, live: 0, freed: 0.2 })
  await passes(11)
  assert.equal(process.collections, 3)
  process.used = 1000 * MIB
  await passes(25)
  assert.equal(process.collections, 3)
  await passes(6)
  assert.equal(process.collections, 6)
})

test('work pays for a collection of its own, within half a minute of the last too', async () => {
  const { process, passes, first } = await collectedOnce()
  Object.assign(process, { work: 0.9, used: 390 * MIB, live: 100 * MIB })
  await passes(5)
  process.work = 0.1
  await passes(12)
  assert.ok(process.collections > first)
  assert.equal(process.used, 100 * MIB)
})

test('a process whose heap has grown little since its start is never collected, and one that has stopped looking neither', async () => {
  const { process, passes, stop } = watched()
  process.used = 31 * MIB
  await passes(100)
  process.used = 500 * MIB
  stop()
  await passes(100)
  assert.equal(process.collections, 0)
})

test('V8 collects what is old and dropped when it is told to, and has its own settings back', async () => {
  const settings = cachedDataVersionTag()
  // V8 reduces the memory of a process that does nothing by itself, after eight seconds: that is not meant here.
  const setTimer = (_ms: number, _label: string, task: () => void) => {
    const timer = setTimeout(task, 6000)
    return { cancel: () => clearTimeout(timer) }
  }
  const { collect, used } = thisProcess({ setTimer })
  let dropped: unknown[] | undefined = Array.from({ length: 900_000 }, (_, i) => ({ i, text: `old ${i}` }))
  assert.equal(dropped.length, 900_000)
  const before = used()
  dropped = undefined
  const collected = collect()
  assert.notEqual(cachedDataVersionTag(), settings)
  await collected
  assert.ok(before - used() > 40 * MIB, `${before} bytes before, ${used()} after`)
  assert.equal(cachedDataVersionTag(), settings)
})
