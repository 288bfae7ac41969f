import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeRecord } from './journal.ts'
import { createJournalTexts, type JournalWrite } from './journal-texts.ts'
import type { JsonObject, ObjectMeta } from './object.ts'

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

test('the two parts are one record, whatever names and users are', () => {
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
  for (const name of ['a\nb', '[', 'a\rb', '']) {
    assert.equal(decoded(write(name))?.name, name)
    assert.deepEqual([decoded(write(name, { auditId: name }))].map((record) => [record?.name, record?.auditId])[0], [
      name,
      name,
    ])
  }
})

test("preconditions that ask for the object's own uid are common to all that ask for theirs; no others are", () => {
  const asking = (name: string, preconditions: JsonObject) => write(name, { options: { preconditions } })
  const [first, second, other, both] = textsOf(
    asking('a', { uid: 'u-a' }),
    asking('b', { uid: 'u-b' }),
    asking('b', { uid: 'u-a' }),
    asking('b', { uid: 'u-b', resourceVersion: '5' }),
  )
  assert.equal(first?.shared, second?.shared)
  const read = [first, second, other, both].map((text) => decodeRecord(`${text?.shared}${text?.own}`, 7)?.options)
  assert.deepEqual(
    read.map((options) => options?.preconditions),
    [{ uid: 'u-a' }, { uid: 'u-b' }, { uid: 'u-a' }, { uid: 'u-b', resourceVersion: '5' }],
  )
})

test('a record of an older version is one JSON object', () => {
  const { before, ...rest } = write('a', { options: { preconditions: { uid: 'u-a' } } })
  const record = { ...rest, group: '', resource: 'pods', kind: 'Pod', before: before.metadata }
  assert.deepEqual(decodeRecord(JSON.stringify(record), 7), { ...record, revision: 7 })
  for (const text of ['', '\n', '{}', '{"before":{}}', '{}\n1\na\nu', 'x\n1\na\nu'])
    assert.equal(decodeRecord(text, 7), undefined)
})

test('records of writes that are alike have one text in common; whatever else differs is never taken from the one before', () => {
  const [first, alike] = textsOf(write('a'), write('b', { time: 2, auditId: 'x' }))
  assert.equal(first?.shared, alike?.shared)
  const holds = (metadata: ObjectMeta) => write('b', {}, metadata)
  const others: readonly JournalWrite[] = [
    ...[{ namespace: 'other' }, { verb: 'update' }, { subresource: 'status' }, { user: 'you' }, { userAgent: 'y' }].map(
      (more) => write('b', more),
    ),
    write('b', { fieldManager: 'm' }),
    ...[{}, { propagationPolicy: 'Orphan' }, { gracePeriodSeconds: 0 }, { preconditions: { uid: 'x' } }].map(
      (options) => write('b', { options }),
    ),
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
