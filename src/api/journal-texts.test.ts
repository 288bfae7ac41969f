import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeRecord } from './journal.ts'
import { createJournalTexts, type JournalWrite } from './journal-texts.ts'
import type { ObjectMeta } from './object.ts'

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'o', controller: true }
const write = (name: string, more: Partial<JournalWrite> = {}, metadata: ObjectMeta = {}): JournalWrite => ({
  ...{ time: 1, namespace: 'n', name, uid: `u-${name}`, verb: 'delete', subresource: '', user: 'me', userAgent: 'x/1' },
  before: { metadata: { name, ownerReferences: [{ ...owner }], ...metadata } },
  ...more,
})
const textsOf = (...writes: readonly JournalWrite[]) =>
  writes.map(createJournalTexts({ group: '', resource: 'pods', kind: 'Pod' }))
const decoded = (one: JournalWrite) => {
  const [text] = textsOf(one)
  return decodeRecord(`${text?.shared}${text?.own}`, 7)
}

test('the two parts are one JSON, whatever names and users are', () => {
  const odd = 'a"b\\c\n\u2028\ud800é'
  const { before, ...rest } = write(odd, {
    user: odd,
    uid: odd,
    auditId: odd,
    fieldManager: odd,
    options: { propagationPolicy: odd, gracePeriodSeconds: 0, preconditions: { uid: odd, resourceVersion: '5' } },
  })
  const after = { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 30, finalizers: [odd] } }
  const between = { metadata: {}, own: ['kubernetes'] }
  assert.deepEqual(decoded({ ...rest, before, between, after }), {
    ...{ ...rest, group: '', resource: 'pods', kind: 'Pod', revision: 7 },
    before: { ownerReferences: [owner] },
    between: { finalizers: ['kubernetes'] },
    after: after.metadata,
  })
  assert.deepEqual(decoded(write('a', { options: {} }))?.options, {})
  assert.equal(decoded(write('a'))?.options, undefined)
})

test('records of writes that are alike have one text in common; whatever else differs is never taken from the one before', () => {
  const [first, alike] = textsOf(write('a'), write('b', { time: 2, options: { preconditions: { uid: 'u-b' } } }))
  assert.equal(first?.shared, alike?.shared)
  const holds = (metadata: ObjectMeta) => write('b', {}, metadata)
  const others: readonly JournalWrite[] = [
    ...[{ namespace: 'other' }, { verb: 'update' }, { subresource: 'status' }, { user: 'you' }, { userAgent: 'y' }].map(
      (more) => write('b', more),
    ),
    write('b', { fieldManager: 'm' }),
    write('b', { between: { metadata: {} } }),
    write('b', { after: { metadata: {} } }),
    write('b', { before: { metadata: { ownerReferences: [owner] }, own: ['x'] } }),
    holds({ ownerReferences: [{ ...owner, uid: 'p' }] }),
    holds({ ownerReferences: [{ ...owner, name: 'c' }] }),
    holds({ ownerReferences: [{ ...owner, kind: 'Job' }] }),
    holds({ ownerReferences: [{ ...owner, apiVersion: 'v1' }] }),
    holds({ ownerReferences: [{ ...owner, controller: false }] }),
    holds({ ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }),
    holds({ ownerReferences: [owner, owner] }),
    holds({ ownerReferences: [] }),
    holds({ finalizers: ['f'] }),
    holds({ deletionTimestamp: 't' }),
    holds({ deletionGracePeriodSeconds: 0 }),
  ]
  for (const other of others) {
    const [, afterAnother] = textsOf(write('a'), other)
    const [alone] = textsOf(other)
    assert.deepEqual(afterAnother, alone)
  }
})
