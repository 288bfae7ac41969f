import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { noParts } from '../../api/parts.ts'
import { checkPreconditions } from './delete-preconditions.ts'
import { deleteStep, shouldDeleteDuringUpdate } from './finalizers-grace-period-and-propagation.ts'
import type { DeleteOptions, Strategy, StrategyContext } from './strategy.ts'

const nowMs = Date.parse('2026-05-05T10:00:00Z')
const context: StrategyContext = {
  user: { name: 'u', groups: [] },
  namespace: 'ns',
  now: '2026-05-05T10:00:00Z',
  nowMs,
  dryRun: false,
  parts: noParts,
  subresource: '',
  namespaceLabels: () => ({}),
}
const object = (metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'o', uid: 'u1', resourceVersion: '7', generation: 1, ...metadata },
})
const plain: Strategy = {}
const graceful: Strategy = { gracePeriod: (_object, options) => options.gracePeriodSeconds ?? 30 }
const step = (strategy: Strategy, metadata: Partial<KubeObject['metadata']>, options: DeleteOptions = {}) =>
  deleteStep(strategy, object(metadata), options, context)

test('an object without finalizers is removed at once', () => {
  assert.equal(step(plain, {}).action, 'remove')
})

test('finalizers keep the object, marked without grace and with a new generation', () => {
  const { action, object: next } = step(plain, { finalizers: ['example.com/f'] })
  assert.equal(action, 'update')
  assert.deepEqual(next.metadata, {
    name: 'o',
    uid: 'u1',
    resourceVersion: '7',
    generation: 2,
    finalizers: ['example.com/f'],
    deletionTimestamp: '2026-05-05T10:00:00Z',
    deletionGracePeriodSeconds: 0,
  })
})

test('each policy sets and swaps the finalizers of the garbage collector', () => {
  const finalizersAfter = (finalizers: readonly string[], options: DeleteOptions, strategy = plain) =>
    step(strategy, { finalizers }, options).object.metadata.finalizers
  assert.deepEqual(finalizersAfter([], { propagationPolicy: 'Orphan' }), ['orphan'])
  assert.deepEqual(finalizersAfter([], { propagationPolicy: 'Foreground' }), ['foregroundDeletion'])
  assert.deepEqual(finalizersAfter(['f/f', 'foregroundDeletion'], { propagationPolicy: 'Orphan' }), ['f/f', 'orphan'])
  // What goes at once is answered as it was.
  assert.deepEqual(finalizersAfter(['orphan'], { propagationPolicy: 'Background' }), ['orphan'])
  assert.equal(step(plain, { finalizers: ['orphan'] }, { propagationPolicy: 'Background' }).action, 'remove')
  assert.deepEqual(finalizersAfter([], {}, { defaultGarbageCollectionPolicy: 'OrphanDependents' }), ['orphan'])
  assert.deepEqual(finalizersAfter([], { orphanDependents: true }), ['orphan'])
  assert.deepEqual(finalizersAfter(['foregroundDeletion'], {}), ['foregroundDeletion'])
  assert.equal(
    step({ defaultGarbageCollectionPolicy: 'Unsupported' }, {}, { propagationPolicy: 'Orphan' }).action,
    'remove',
  )
})

test('a graceful kind is marked for request and grace, then only a shorter grace counts', () => {
  const first = step(graceful, {})
  assert.equal(first.action, 'update')
  assert.equal(first.object.metadata.deletionTimestamp, '2026-05-05T10:00:30Z')
  const marked = { deletionTimestamp: '2026-05-05T10:00:30Z', deletionGracePeriodSeconds: 30 }
  assert.equal(step(graceful, marked).action, 'keep')
  assert.equal(step(graceful, marked, { gracePeriodSeconds: 40 }).action, 'keep')
  const shorter = step(graceful, marked, { gracePeriodSeconds: 5 })
  assert.equal(shorter.object.metadata.deletionTimestamp, '2026-05-05T10:00:05Z')
  assert.equal(shorter.object.metadata.generation, 1)
  assert.equal(step(graceful, marked, { gracePeriodSeconds: 0 }).action, 'update-and-remove')
})

test('grace 0 stored means that an earlier removal failed: it is finished', () => {
  const marked = { deletionTimestamp: '2026-05-05T10:00:00Z', deletionGracePeriodSeconds: 0 }
  assert.equal(step(graceful, marked).action, 'remove')
})

test('a negative grace period is one second', () => {
  assert.equal(step(graceful, {}, { gracePeriodSeconds: -5 }).object.metadata.deletionGracePeriodSeconds, 1)
})

test('preconditions name both values', () => {
  const kind = { group: 'apps', kind: 'Thing' }
  assert.throws(() => checkPreconditions(kind, object(), { uid: 'u2' }), {
    message:
      'Operation cannot be fulfilled on Thing.apps "o": the UID in the precondition (u2) does not match the UID in record (u1). The object might have been deleted and then recreated',
  })
  assert.throws(() => checkPreconditions(kind, object(), { resourceVersion: '3' }), /precondition \(3\).*record \(7\)/)
  checkPreconditions(kind, object(), { uid: 'u1', resourceVersion: '7' })
})

test('the update that takes the last finalizer removes a terminating object whose grace is over', () => {
  const marked = { deletionTimestamp: '2026-05-05T10:00:00Z', deletionGracePeriodSeconds: 0 }
  const old = object({ ...marked, finalizers: ['f/f'] })
  assert.equal(shouldDeleteDuringUpdate(plain, object(marked), old), true)
  assert.equal(shouldDeleteDuringUpdate(plain, object({ ...marked, finalizers: ['f/f'] }), old), false)
  assert.equal(
    shouldDeleteDuringUpdate(plain, object(marked), object({ ...marked, deletionGracePeriodSeconds: 5 })),
    false,
  )
  assert.equal(shouldDeleteDuringUpdate(plain, object(), object({ finalizers: ['f/f'] })), false)
  assert.equal(shouldDeleteDuringUpdate({ mayRemove: () => false }, object(marked), old), false)
})
