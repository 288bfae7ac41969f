import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createCreationPace } from './creation-pace.ts'

test('an owner whose pods keep ending waits longer and longer, and one whose pods are deleted now and then never does', async () => {
  const { clock, advance } = simulatedRuntime(1)
  const pace = createCreationPace(clock)
  const make = (key: string, times: number) => {
    for (let i = 0; i < times; i++) {
      assert.equal(pace.wait(key), 0)
      pace.made(key, 1, 1)
    }
  }
  make('n/many', 54)
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    make('n/many', 1)
    waits.push(pace.wait('n/many'))
    await advance(waits.at(-1) ?? 0)
  }
  assert.deepEqual(waits, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000])
  await advance(5000)
  make('n/many', 25)
  pace.made('n/many', 1, 1)
  assert.equal(pace.wait('n/many'), 10_000)
  await advance(60_000)
  make('n/many', 55)
  assert.equal(pace.wait('n/many'), 200)
  for (let i = 0; i < 300; i++) {
    make('n/now-and-then', 1)
    await advance(250)
  }
  assert.equal(pace.wait('n/other'), 0)
  pace.forget('n/many')
  assert.equal(pace.wait('n/many'), 0)
})

test('all replicas may be made at once, several times', () => {
  const pace = createCreationPace(simulatedRuntime(1).clock)
  for (let i = 0; i < 4; i++) pace.made('n/big', 5000, 5000)
  assert.equal(pace.wait('n/big'), 0)
})
