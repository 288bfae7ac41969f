/** What a drain comes to sooner or later in another order is marked, and takes what hangs on it along, as much sooner or later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDeedTurns } from './deed-turns.ts'
import { withKwokTurns } from './kwok-turns.ts'
import type { Going } from './plan.ts'

const going = (uid: string, at: number, cause?: string): Going => ({
  object: { group: '', resource: 'pods', kind: 'Pod', namespace: 'n', name: uid, uid },
  order: 0,
  marked: { least: at, most: at },
  removed: { least: at + 100, most: at + 200 },
  by: '',
  why: '',
  ...(cause === undefined ? {} : { cause }),
  certainty: 'goes',
})
const goes = [
  going('first', 0),
  going('second', 6000),
  going('claim', 6200, 'second'),
  going('volume', 6300, 'claim'),
  going('other', 50),
]
const turns = new Map([
  ['first', [5000]],
  ['second', [-5000, 7000]],
])
const spans = (all: readonly Going[]) =>
  Object.fromEntries(all.map(({ object, marked, removed }) => [object.uid, { marked, removed }]))

test('marks span the turns as removals do, and so do those of what goes by the end of it', () => {
  const found = withDeedTurns(goes, turns)
  assert.deepEqual(spans(found), {
    first: { marked: { least: 0, most: 5000 }, removed: { least: 100, most: 5200 } },
    second: { marked: { least: 1000, most: 13_000 }, removed: { least: 1100, most: 13_200 } },
    claim: { marked: { least: 1200, most: 13_200 }, removed: { least: 1300, most: 13_400 } },
    volume: { marked: { least: 1300, most: 13_300 }, removed: { least: 1400, most: 13_500 } },
    other: { marked: { least: 50, most: 50 }, removed: { least: 150, most: 250 } },
  })
  for (const { marked, removed } of found) assert.ok(marked && marked.least <= removed.least)
})

test('a pod of KWOK has its turn after the latest mark', () => {
  const [, second] = withKwokTurns(withDeedTurns(goes, turns), (uid) => uid === 'second')
  assert.equal(second?.removed.most, 14_000)
})

test('causes in a circle have no turns', () => {
  const circle = [going('a', 0, 'b'), going('b', 0, 'a')]
  assert.deepEqual(withDeedTurns(circle, turns), circle)
})
