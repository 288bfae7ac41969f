/** A journal of what was seen from outside: which request made which change, and which component where no log tells. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Holds } from '../../api/journal.ts'
import { readAuditLog } from './audit-log.ts'
import { withCauses } from './causes.ts'
import { recordsOf, type Seen } from './recorded.ts'
import type { SeenState } from './seen.ts'
import { stepsOf } from './steps.ts'
import { byWords } from './words.ts'

const GC = 'system:serviceaccount:kube-system:generic-garbage-collector'

/** A state of a ConfigMap, one second and one revision after the one before. */
function statesOf(
  given: readonly (readonly [type: SeenState['type'], name: string, holds: Holds, resource?: string])[],
) {
  return given.map(
    ([type, name, holds, resource = 'configmaps'], at): SeenState => ({
      type,
      object: { group: '', resource, kind: resource, namespace: 'default', name, uid: name },
      revision: at + 1,
      time: 1000 * (at + 1),
      holds,
    }),
  )
}

const marked = (holds: Holds = {}, deletionGracePeriodSeconds = 0): Holds => ({
  deletionTimestamp: '2026-01-01T00:00:00Z',
  deletionGracePeriodSeconds,
  ...holds,
})

const line = (at: number, verb: string, name: string, more: object = {}, resource = 'configmaps') =>
  JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    stage: 'ResponseComplete',
    auditID: `id-${at}`,
    verb,
    user: { username: 'jane' },
    userAgent: 'kubectl/v1',
    objectRef: { resource, namespace: 'default', name, apiVersion: 'v1' },
    responseStatus: { code: 200 },
    stageTimestamp: new Date(1000 * at).toISOString(),
    ...more,
  })

function told(states: readonly SeenState[], log: readonly string[] = [], events: Seen['events'] = []): string[] {
  const { writes } = readAuditLog(log.join('\n'))
  return recordsOf({ states, audited: writes, events }).map(
    ({ revision, by, verb, auditId = 'none' }) =>
      `${revision} ${verb} ${by.component || 'unknown'} ${auditId} ${by.certainty}`,
  )
}

test('states that change nothing of what holds an object, and those from before, make no records', () => {
  assert.deepEqual(
    told(
      statesOf([
        ['ADDED', 'a', {}],
        ['MODIFIED', 'a', {}],
        ['ADDED', 'b', marked()],
      ]),
    ),
    [],
  )
})

test('by the resourceVersion of an answer the request is known, whatever else was asked at that time', () => {
  const states = statesOf([
    ['ADDED', 'a', { finalizers: ['x'] }],
    ['MODIFIED', 'a', marked({ finalizers: ['x'] })],
    ['DELETED', 'a', marked({ finalizers: ['x'] })],
  ])
  const answered = (version: number) => ({ responseObject: { metadata: { resourceVersion: String(version) } } })
  assert.deepEqual(
    told(states, [line(2, 'delete', 'a', answered(7)), line(3, 'delete', 'a', answered(2)), line(3, 'patch', 'a')]),
    ['2 delete user id-3 known', '3 patch user id-3 known'],
  )
})

test('at other levels it is the one that could have made the change, nearest in time', () => {
  const states = statesOf([
    ['ADDED', 'a', { finalizers: ['foregroundDeletion'] }],
    ['MODIFIED', 'a', marked({ finalizers: ['foregroundDeletion'] })],
    ['DELETED', 'a', marked({ finalizers: ['foregroundDeletion'] })],
  ])
  const collector = { user: { username: GC }, userAgent: 'kube-controller-manager' }
  assert.deepEqual(
    told(states, [
      line(2, 'delete', 'a'),
      line(2.4, 'patch', 'a', {
        objectRef: { resource: 'configmaps', namespace: 'default', name: 'a', subresource: 'status' },
      }),
      line(3, 'patch', 'a', collector),
      line(400, 'patch', 'a'),
    ]),
    ['2 delete user id-2 known', '3 patch generic-garbage-collector id-3 inferred'],
  )
  // Bodies, where the log has them, tell apart what was asked at the same time.
  assert.deepEqual(
    told(states, [
      line(2, 'delete', 'a'),
      line(3, 'patch', 'a', { requestObject: { metadata: { labels: { a: 'b' } } } }),
      line(3.1, 'patch', 'a', { ...collector, requestObject: { metadata: { finalizers: null } } }),
    ]).at(-1),
    '3 patch generic-garbage-collector id-3.1 known',
  )
})

test('of several deletes of one writer each could have been it: the writer is known, of two writers it is not', () => {
  const states = statesOf([
    ['ADDED', 'a', {}],
    ['MODIFIED', 'a', marked()],
  ])
  const collector = { user: { username: GC }, userAgent: 'kube-controller-manager' }
  const log = [line(2, 'delete', 'a', collector), line(2.3, 'delete', 'a', collector)]
  assert.deepEqual(told(states, log), ['2 delete generic-garbage-collector id-2 known'])
  assert.deepEqual(told(states, [...log, line(2.4, 'delete', 'a')]), [
    '2 delete generic-garbage-collector id-2 inferred',
  ])
})

test('an update is known by the object that it asked for', () => {
  const states = statesOf([
    ['ADDED', 'a', { finalizers: ['x', 'y'] }],
    ['MODIFIED', 'a', { finalizers: ['y'] }],
    ['MODIFIED', 'a', {}],
  ])
  const asked = (finalizers: readonly string[]) => ({ requestObject: { metadata: { name: 'a', finalizers } } })
  const log = [
    line(2, 'update', 'a', { ...asked(['x', 'y']), user: { username: 'nosy' } }),
    line(2, 'patch', 'a', {
      objectRef: { resource: 'configmaps', subresource: 'status', namespace: 'default', name: 'a' },
    }),
    // Seen late: nearest in time is not the one that it was.
    line(2.5, 'update', 'a', { ...asked([]), auditID: 'second' }),
    line(4, 'update', 'a', { ...asked(['y']), auditID: 'first' }),
  ]
  assert.deepEqual(told(states, log), ['2 update user first known', '3 update user second known'])
})

test('owners that an update asked for tell it too', () => {
  const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })
  const states = statesOf([
    ['ADDED', 'a', { ownerReferences: [owner('o1'), owner('o2')] }],
    ['MODIFIED', 'a', { ownerReferences: [owner('o2')] }],
  ])
  const asked = (...owners: readonly string[]) => ({
    requestObject: { metadata: { ownerReferences: owners.map(owner) } },
  })
  const log = [
    line(2, 'update', 'a', { ...asked('o1'), auditID: 'other' }),
    line(3, 'update', 'a', { ...asked('o2'), auditID: 'own' }),
  ]
  assert.deepEqual(told(states, log), ['2 update user own known'])
})

test('a log without the stage in which requests end says nothing of them, and how many there are is told', () => {
  const log = [
    line(1, 'delete', 'a', { stage: 'RequestReceived' }),
    line(2, 'delete', 'b', { stage: 'RequestReceived' }),
    line(2, 'delete', 'b'),
    line(3, 'get', 'c', { stage: 'RequestReceived' }),
  ].join('\n')
  const { writes, unanswered } = readAuditLog(log)
  assert.deepEqual([writes.map(({ name }) => name), unanswered], [['b'], 1])
})

test('refused requests, other stages and reads made nothing; impersonated users and evictions did', () => {
  const pod = statesOf([
    ['ADDED', 'p', {}, 'pods'],
    ['MODIFIED', 'p', marked({}, 30), 'pods'],
  ])
  const eviction = { objectRef: { resource: 'pods', subresource: 'eviction', namespace: 'default', name: 'p' } }
  const log = [
    line(2, 'delete', 'p', { responseStatus: { code: 409 } }, 'pods'),
    line(2, 'delete', 'p', { stage: 'RequestReceived' }, 'pods'),
    line(2, 'get', 'p', {}, 'pods'),
  ]
  assert.deepEqual(told(pod, log), ['2 delete unknown none inferred'])
  assert.deepEqual(told(pod, [...log, line(2, 'create', 'p', { ...eviction, impersonatedUser: { username: GC } })]), [
    '2 create generic-garbage-collector id-2 known',
  ])
})

test('what one request marked and removed is one record', () => {
  const states = statesOf([
    ['ADDED', 'p', marked({}, 30), 'pods'],
    ['MODIFIED', 'p', marked({}), 'pods'],
    ['MODIFIED', 'other', {}, 'pods'],
    ['DELETED', 'p', marked({}), 'pods'],
  ])
  const [record, ...more] = recordsOf({ states, audited: [], events: [] })
  assert.deepEqual(more, [])
  assert.deepEqual([record?.revision, record?.between, record?.after], [4, marked({}), undefined])
})

test('without a log the writer is inferred: by finalizers, owners, namespaces, Events; a user stays unknown', () => {
  const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'o', uid: 'o' }] }
  const states = [
    ...statesOf([
      ['ADDED', 'o', {}],
      ['ADDED', 'child', owned],
      ['ADDED', 'scaled', {}, 'pods'],
      ['DELETED', 'o', {}],
      ['DELETED', 'child', owned],
      ['MODIFIED', 'scaled', marked({}, 30), 'pods'],
      ['DELETED', 'scaled', marked({}, 30), 'pods'],
    ]),
  ]
  const event = {
    reason: 'SuccessfulDelete',
    message: 'Deleted pod: scaled',
    component: 'replicaset-controller',
    namespace: 'default',
    name: 'rs',
    kind: 'ReplicaSet',
  }
  assert.deepEqual(told(states, [], [event]), [
    '4 delete unknown none inferred',
    '5 delete generic-garbage-collector none inferred',
    '6 delete replicaset-controller none inferred',
    '7 delete kubelet none inferred',
  ])
})

test('finalizers of others are taken off neither by the node of a pod nor by what deletes it', () => {
  const own = { finalizers: ['x.io/own'], ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'o', uid: 'o' }] }
  const states = statesOf([
    ['ADDED', 'o', {}],
    ['ADDED', 'p', marked(own), 'pods'],
    ['ADDED', 'child', own],
    ['DELETED', 'o', {}],
    ['DELETED', 'p', marked(), 'pods'],
    ['MODIFIED', 'child', { ...own, finalizers: [] }],
  ])
  assert.deepEqual(told(states).slice(1), ['5 update unknown none inferred', '6 update unknown none inferred'])
})

test('finalizers and components of Events may be named as what every object of JavaScript has', () => {
  const states = statesOf([
    ['ADDED', 'a', { finalizers: ['constructor', 'toString'] }],
    ['ADDED', 'p', {}, 'pods'],
    ['MODIFIED', 'a', {}],
    ['DELETED', 'p', {}, 'pods'],
  ])
  const event = { reason: 'Preempted', message: '', namespace: 'default', name: 'p', kind: 'Pod' }
  const deleter = { ...event, reason: 'SuccessfulDelete', message: 'Deleted pod: p', component: 'constructor' }
  const records = recordsOf({ states, audited: [], events: [{ ...event, component: '' }, deleter] })
  assert.deepEqual(
    withCauses(stepsOf(records)).map((step) => `${step.revision} by ${byWords(step)}`),
    ['3 by an unknown writer (inferred)', '4 by constructor (inferred)'],
  )
})

test('a log that is cut off, or holds something else, is read as far as it goes', () => {
  const whole = line(1, 'delete', 'a')
  const text = [whole, '{"kind":"Event"}', 'null', '', whole.slice(0, 50)].join('\n')
  const { writes, unread } = readAuditLog(text)
  assert.equal(writes.length, 1)
  assert.equal(unread, 3)
})
