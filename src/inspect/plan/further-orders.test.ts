/** What goes otherwise when controllers come in another order is open, and the rest is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import { openIn } from './further-orders.ts'
import type { Going } from './plan.ts'

const going = (uid: string, order: number, certainty: Going['certainty'], cause?: string): Going => ({
  object: { group: '', resource: 'configmaps', kind: 'ConfigMap', namespace: 'n', name: uid, uid },
  order,
  marked: undefined,
  removed: { least: 0, most: 0 },
  by: 'user',
  why: '',
  certainty,
  ...(cause === undefined ? {} : { cause }),
})
/** In the order in which they go. */
const removals = (...all: readonly (readonly [uid: string, isLate?: 'late'])[]) =>
  new Map(
    all.map(([uid, late], place) => [
      uid,
      { place, first: undefined as unknown as TimelineStep, isLate: late === 'late' },
    ]),
  )

test('what stays, or goes only when others act, in one order is either; an order that turns is open', () => {
  const goes = [
    going('owner', 0, 'goes'),
    going('sure', 1, 'goes', 'owner'),
    going('turns', 2, 'goes', 'owner'),
    going('stays', 3, 'goes', 'owner'),
    going('waits', 4, 'goes', 'owner'),
    going('held', 5, 'if others act', 'owner'),
  ]
  const same = removals(['owner'], ['sure'], ['turns'], ['stays'], ['waits'], ['held', 'late'])
  const other = removals(['turns'], ['owner'], ['sure'], ['waits', 'late'], ['held', 'late'])
  assert.deepEqual(openIn(goes, [same]), goes)
  assert.deepEqual(
    openIn(goes, [same, other]).map(({ object, certainty, isOrderOpen = false }) => [
      object.uid,
      certainty,
      isOrderOpen,
    ]),
    [
      ['owner', 'goes', false],
      ['sure', 'goes', false],
      ['turns', 'goes', true],
      ['stays', 'either', false],
      ['waits', 'either', false],
      ['held', 'if others act', false],
    ],
  )
})
