/** Ends that are longer than a recursion, and steps that have one revision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeptRecord } from '../../api/journal.ts'
import { timelineAs } from './ask.ts'
import { readAuditLog } from './audit-log.ts'
import { tellEach } from './timeline-of.ts'

const LINKS = 12_000

/** Each is owned by the one before, and removed after it. */
const link = (at: number): KeptRecord => ({
  revision: at + 1,
  time: at,
  group: '',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespace: 'default',
  name: `c${at}`,
  uid: `${at}`,
  verb: 'delete',
  subresource: '',
  user: at === 0 ? 'jane' : 'system:serviceaccount:kube-system:generic-garbage-collector',
  userAgent: '',
  before:
    at === 0
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: `c${at - 1}`, uid: `${at - 1}` }] },
})

test('a chain of owners as long as a cluster may have is told in every form', () => {
  const told = tellEach(
    Array.from({ length: LINKS }, (_, at) => link(at)),
    'journal',
  )
  assert.equal(told.length, 1)
  const text = timelineAs('text', told, 'v').trimEnd().split('\n')
  assert.match(
    text.at(-1) ?? '',
    /\+1 ms {2}configmaps\/c11999 removed by garbage collector \(known: its owner is gone\)$/,
  )
  assert.match(timelineAs('svg', told, 'v'), /c0/)
  const spans = [...timelineAs('otlp', told, 'v').matchAll(/"traceId": "(\w+)"/g)].map(([, id]) => id)
  assert.deepEqual([spans.length, new Set(spans).size], [LINKS, 1])
})

test('steps of one revision are told apart', () => {
  const records = [0, 1, 2].map((at) => ({ ...link(at), revision: 7 }))
  const ids = tellEach(records, 'recording').flatMap(({ steps }) => steps.map(({ id, cause }) => [id, cause.step]))
  assert.deepEqual(ids, [
    ['7', undefined],
    ['7-2', '7'],
    ['7-3', '7-2'],
  ])
})

test('a body that is too deep to be written again is no event, and the log goes on behind it', () => {
  const event = {
    apiVersion: 'audit.k8s.io/v1',
    stage: 'ResponseComplete',
    verb: 'delete',
    stageTimestamp: '2026-01-01T00:00:00Z',
  }
  const deep = JSON.stringify({ ...event, requestObject: 0 }).replace('0}', `${'['.repeat(9000)}${']'.repeat(9000)}}`)
  const { writes, unread } = readAuditLog([deep, JSON.stringify(event)].join('\n'))
  assert.deepEqual([writes.length, unread], [1, 1])
})
