import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeptRecord } from '../../api/journal.ts'
import type { OwnerReference } from '../../api/object.ts'
import { createCauses } from '../timeline/causes.ts'
import { stepsOf } from '../timeline/steps.ts'
import { createOwnersAbove, createRelations } from './comes-of-the-deed.ts'

const owner = (kind: string, name: string): OwnerReference => ({ apiVersion: 'v1', kind, name, uid: name })
const CONTROLLER = 'system:serviceaccount:kube-system:'
const MARK = { deletionTimestamp: '2026-01-01T00:00:30Z' }

/** What is told of the writes of one cluster, one after the other. `above`: the owners of what was there. */
function createTold(above: Readonly<Record<string, readonly OwnerReference[]>> = {}) {
  const relations = createRelations(createOwnersAbove((uid) => above[uid]))
  const causeOf = createCauses()
  let revision = 0
  const write = (
    by: string,
    kind: string,
    name: string,
    before: KeptRecord['before'],
    after?: KeptRecord['after'],
  ): string => {
    const record: KeptRecord = {
      ...{ time: revision, group: '', resource: `${kind.toLowerCase()}s`, kind, namespace: 'a', name, uid: name },
      ...{ verb: after === undefined ? 'delete' : 'update', subresource: '', userAgent: '' },
      ...{ user: by === 'user' ? 'kubernetes-admin' : `${CONTROLLER}${by}`, before, revision: ++revision },
      ...(after === undefined ? {} : { after }),
    }
    const news = stepsOf([record]).map((step) => relations.add(step, causeOf(step)))
    return `${relations.relationOf(name)}${news.includes(true) ? ', news' : ''}`
  }
  return { ...relations, open: () => relations.open, write }
}

test('what the deed touches, what belongs to that, and what they lead to come of the deed', () => {
  const { touch, write } = createTold({ rs: [owner('Deployment', 'web')], pod: [owner('ReplicaSet', 'rs')] })
  touch('web')
  const pod = { ownerReferences: [owner('ReplicaSet', 'rs')] }
  assert.equal(write('replicaset-controller', 'Pod', 'pod', pod, { ...pod, ...MARK }), 'of-the-deed, news')
  assert.equal(write('user', 'ConfigMap', 'b', {}), 'of-the-deed, news')
  const dependent = { ownerReferences: [owner('ConfigMap', 'b')] }
  assert.equal(write('generic-garbage-collector', 'ConfigMap', 'c', dependent), 'of-the-deed, news')
})

test('what Jobs and CronJobs do by themselves is no news, but what the deed does to their pods is', () => {
  const { touch, write } = createTold({ job: [owner('CronJob', 'often')] })
  const pod = { ownerReferences: [owner('Job', 'job')], finalizers: ['batch.kubernetes.io/job-tracking'] }
  const released = { ownerReferences: pod.ownerReferences }
  assert.equal(write('job-controller', 'Pod', 'one', pod, released), 'by-time')
  assert.equal(write('cronjob-controller', 'Job', 'job', { ownerReferences: [owner('CronJob', 'often')] }), 'by-time')
  assert.equal(write('generic-garbage-collector', 'Pod', 'one', released), 'by-time')
  touch('two')
  assert.equal(write('job-controller', 'Pod', 'two', pod, released), 'of-the-deed, news')
  // The scheduler ends pods of Jobs for what the deed made.
  assert.equal(write('node-controller', 'Pod', 'three', pod, { ...pod, ...MARK }), 'elsewhere, news')
})

test('an owner elsewhere is news in one pause, and open in the next', () => {
  const { write, endWhile, open } = createTold({ rs: [owner('Deployment', 'busy')] })
  const pod = { ownerReferences: [owner('ReplicaSet', 'rs')] }
  assert.equal(write('replicaset-controller', 'Pod', 'one', pod), 'elsewhere, news')
  assert.equal(write('replicaset-controller', 'Pod', 'two', pod), 'elsewhere, news')
  endWhile()
  assert.deepEqual(open(), [])
  assert.equal(write('replicaset-controller', 'Pod', 'three', pod), 'elsewhere')
  assert.deepEqual(open(), [['rs', 'busy']])
  // What has no owner cannot be made again and again.
  assert.equal(write('pod-garbage-collector', 'Pod', 'lone', {}), 'elsewhere, news')
  endWhile()
  assert.deepEqual(open(), [])
})
