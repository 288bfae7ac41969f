/** What goes by a policy of which chance decides is told as open; what goes by one that is sure is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import { keptPerhaps, openPolicies, sparedPerhaps, withOpenPolicies } from './open-policies.ts'
import type { Going } from './plan.ts'

const going = (uid: string, order: number, cause?: string, certainty: Going['certainty'] = 'goes'): Going => ({
  object: { group: '', resource: 'configmaps', kind: 'ConfigMap', namespace: 'n', name: uid, uid },
  order,
  marked: undefined,
  removed: { least: 0, most: 0 },
  by: '',
  why: '',
  certainty,
  ...(cause === undefined ? {} : { cause }),
})
const step = (uid: string, component: string, ...changes: TimelineStep['changes']) =>
  ({ object: { uid }, changes, by: { component } }) as unknown as TimelineStep
const marked = { type: 'marked', deletionTimestamp: '', gracePeriodSeconds: 0 } as const
const waits = { type: 'finalizer-added', finalizer: 'foregroundDeletion' } as const
const removed = { type: 'removed' } as const
const ownedBy = (uid: string, blockOwnerDeletion?: boolean) => [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: uid,
    uid,
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  },
]

/** owner <- middle <- leaf <- last; the owner is deleted in the foreground. */
function told(
  goes: readonly Going[],
  blocks: boolean | undefined,
  ownerChanges: TimelineStep['changes'] = [marked, waits],
) {
  const open = openedBy(blocks, ownerChanges)
  return withOpenPolicies(goes, open).map(({ object, certainty, isOrderOpen = false }) => [
    object.uid,
    certainty,
    isOrderOpen,
  ])
}

function openedBy(
  blocks: boolean | undefined,
  ownerChanges: TimelineStep['changes'],
  middle: TimelineStep['changes'] = [marked],
) {
  const steps = [
    step('owner', 'user', ...ownerChanges),
    step('middle', 'generic-garbage-collector', ...middle),
    step('leaf', 'generic-garbage-collector', removed),
  ]
  const owners = new Map([
    ['middle', ownedBy('owner', blocks)],
    ['leaf', ownedBy('middle', true)],
  ])
  return openPolicies({ steps, owners })
}

const ALL = [going('owner', 0), going('middle', 1, 'owner'), going('leaf', 2, 'middle'), going('last', 3, 'leaf')]
const SURE = ALL.map(({ object }) => [object.uid, 'goes', false])

test('where the dependent goes, it and its owner, and what it owns and itself, go in either order', () => {
  const open = SURE.map(([uid, certainty]) => [uid, certainty, uid === 'middle' || uid === 'leaf'])
  assert.deepEqual(told(ALL, false), open)
  assert.deepEqual(told(ALL, undefined), open)
})

test('where the dependent is held, what it owns goes perhaps, and what that takes with it', () => {
  const held = ALL.filter(({ object }) => object.uid !== 'middle')
  assert.deepEqual(told(held, false), [
    ['owner', 'goes', false],
    ['leaf', 'either', false],
    ['last', 'either', false],
  ])
})

test('where the owner is held, the dependent is spared perhaps, and what it would take with it', () => {
  const held = ALL.filter(({ object }) => object.uid !== 'owner')
  assert.deepEqual(told(held, false), [
    ['middle', 'either', false],
    ['leaf', 'either', false],
    ['last', 'either', false],
  ])
  const open = openedBy(false, [marked, waits])
  assert.deepEqual([...sparedPerhaps(open, held)], ['middle'])
  assert.deepEqual([...sparedPerhaps(open, ALL)], [])
})

test('a reference that blocks no more, as the garbage collector makes it in a cycle, is one that does not block', () => {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner', blockOwnerDeletion: false }
  const changed = openedBy(true, [marked, waits], [{ type: 'owner-changed', owner }, removed])
  assert.deepEqual([...changed.keys()], ['middle'])
})

test('what goes only when others act stays that', () => {
  const late = [going('owner', 0), going('leaf', 1, 'middle', 'if others act')]
  assert.deepEqual(told(late, false)[1]?.slice(0, 2), ['leaf', 'if others act'])
})

test('an owner that waits for the dependent, or for nothing, leaves no choice', () => {
  assert.deepEqual(told(ALL, true), SURE)
  assert.deepEqual(told(ALL, false, [removed]), SURE)
})

test('causes that go in a circle end', () => {
  const circle = [going('middle', 0, 'leaf'), going('leaf', 1, 'middle')]
  assert.equal(told(circle, false).length, 2)
})

test('a dependent may keep an owner that does not wait for it, and is held by another finalizer', () => {
  const waitsNoMore = { type: 'finalizer-removed', finalizer: 'foregroundDeletion' } as const
  const kept = (blocks: boolean, certainty: Going['certainty'], ended: TimelineStep['changes'] = [waitsNoMore]) => {
    const owners = new Map([['middle', ownedBy('owner', blocks)]])
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner' }
    const steps = [
      step('owner', 'user', marked, waits),
      step('owner', 'generic-garbage-collector', ...ended),
      step('middle', 'generic-garbage-collector', { type: 'owner-removed', owner }),
    ]
    return [...keptPerhaps({ steps, owners }, [going('owner', 0, undefined, certainty)])]
  }
  assert.deepEqual(kept(false, 'if others act'), ['middle'])
  assert.deepEqual(kept(true, 'if others act'), [])
  assert.deepEqual(kept(false, 'goes'), [])
  // One that waits for others for ever is never like any other owner.
  assert.deepEqual(kept(false, 'if others act', []), [])
})
