import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createZones } from './eviction-rate-by-zone.ts'

const zone = (ready: number, unready: number) => [
  ...Array<boolean>(ready).fill(true),
  ...Array<boolean>(unready).fill(false),
]

test('one node in ten seconds is tainted in a zone that is mostly well', async () => {
  const runtime = simulatedRuntime(1)
  const zones = createZones(runtime.clock)
  zones.update(new Map([['a', zone(8, 2)]]))
  zones.condemn('n1', 'a')
  zones.condemn('n2', 'a')
  assert.deepEqual(zones.due(), ['n1'])
  await runtime.advance(9000)
  assert.deepEqual(zones.due(), [])
  await runtime.advance(1100)
  assert.deepEqual(zones.due(), ['n2'])
})

test('a small zone of which most is down is left alone, a large one is slow', async () => {
  const runtime = simulatedRuntime(1)
  const zones = createZones(runtime.clock)
  zones.update(
    new Map([
      ['small', zone(4, 6)],
      ['large', zone(40, 60)],
    ]),
  )
  for (const name of ['small', 'large']) for (const index of [1, 2]) zones.condemn(`${name}-${index}`, name)
  zones.due()
  await runtime.advance(50_000)
  assert.deepEqual(zones.due(), [])
  await runtime.advance(51_000)
  assert.deepEqual(zones.due(), ['large-2'])
})

test('when every zone is down nobody is tainted, until one is back', () => {
  const runtime = simulatedRuntime(1)
  const zones = createZones(runtime.clock)
  assert.equal(zones.update(new Map([['a', zone(0, 1)]])), 'stopped')
  zones.condemn('n1', 'a')
  assert.deepEqual(zones.due(), [])
  assert.equal(zones.update(new Map([['a', zone(1, 1)]])), 'resumed')
  assert.equal(zones.pending, false)
})
