/** Pods of KWOK go four at a time; what is no such pod goes when it goes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withKwokTurns } from './kwok-turns.ts'
import type { Going } from './plan.ts'

const going = (uid: string, marked: number | undefined, removed: number): Going => ({
  object: { group: '', resource: 'pods', kind: 'Pod', namespace: 'n', name: uid, uid },
  order: 0,
  marked: marked === undefined ? undefined : { least: marked, most: marked },
  removed: { least: removed, most: removed },
  by: '',
  why: '',
  certainty: 'goes',
})
const latest = (goes: readonly Going[]) =>
  withKwokTurns(goes, (uid) => uid.startsWith('kwok')).map(({ object, removed }) => [object.uid, removed.most])

test('the fifth of five pods waits for one of the first four', () => {
  const five = Array.from({ length: 5 }, (_, index) => going(`kwok-${index}`, 100, 100))
  assert.deepEqual(
    latest(five).map(([, most]) => most),
    [1100, 1100, 1100, 1100, 2100],
  )
  assert.deepEqual(
    withKwokTurns(five, () => true).map(({ removed }) => removed.least),
    [100, 100, 100, 100, 100],
  )
})

test('turns go by when pods were marked, and a pod that comes later finds them free', () => {
  const early = Array.from({ length: 4 }, (_, index) => going(`kwok-${index}`, 0, 0))
  assert.deepEqual(latest([going('kwok-late', 60_000, 60_000), going('kwok-next', 500, 500), ...early]).slice(0, 2), [
    ['kwok-late', 61_000],
    ['kwok-next', 2000],
  ])
})

test('what waits for something else, is no pod of KWOK, or is removed at once stays as it is', () => {
  assert.deepEqual(
    latest([going('kwok-held', 0, 90_000), going('real', 0, 30_000), going('kwok-forced', undefined, 5)]),
    [
      ['kwok-held', 90_000],
      ['real', 30_000],
      ['kwok-forced', 5],
    ],
  )
})
