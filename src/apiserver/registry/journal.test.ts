import assert from 'node:assert/strict'
import { test } from 'node:test'
import { journalOf, startTestApi, type TestApi } from '../../../test/harness.ts'
import { decodeRecord, type Holds } from '../../api/journal.ts'

const path = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
})

const recordsOf = ({ storage }: TestApi) => journalOf(storage)

/** `deletionTimestamp` is there or not; all else as it is. */
const short = (holds: Holds | undefined) =>
  holds && { ...holds, ...(holds.deletionTimestamp === undefined ? {} : { deletionTimestamp: 'set' }) }

async function withApi(body: (api: TestApi) => Promise<void>): Promise<void> {
  const api = await startTestApi()
  try {
    await api.namespace('default')
    await body(api)
  } finally {
    await api.stop()
  }
}

test('creates and updates of other fields leave nothing in the journal', () =>
  withApi(async (api) => {
    await api.request('POST', path, configMap('a', { finalizers: ['example.com/x'] }))
    const merge = { 'content-type': 'application/merge-patch+json' }
    await api.request('PATCH', `${path}/a`, { data: { k: 'v' }, metadata: { labels: { a: 'b' } } }, merge)
    await api.request('DELETE', `${path}/a?dryRun=All`)
    await api.request('DELETE', `${path}/none`)
    assert.deepEqual(await recordsOf(api), [])
  }))

test('marks, changes of finalizers and owners, and removals leave a record of who asked for what', () =>
  withApi(async (api) => {
    const { body: owner } = await api.request('POST', path, configMap('owner'))
    const { uid } = owner.metadata
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true }
    const { body: made } = await api.request('POST', path, configMap('a', { ownerReferences: [reference] }))
    const merge = { 'content-type': 'application/merge-patch+json' }
    const set = (metadata: object, query = '') => api.request('PATCH', `${path}/a${query}`, { metadata }, merge)
    await set({ finalizers: ['example.com/x'] }, '?fieldManager=operator')
    await set({ ownerReferences: null })
    await api.request('DELETE', `${path}/a`, {
      preconditions: { uid: made.metadata.uid },
      propagationPolicy: 'Background',
    })
    await set({ finalizers: null })
    const records = await recordsOf(api)
    assert.deepEqual(
      records.map(({ verb, fieldManager, before, after }) => [verb, fieldManager, short(before), short(after)]),
      [
        [
          'patch',
          'operator',
          { ownerReferences: [reference] },
          { finalizers: ['example.com/x'], ownerReferences: [reference] },
        ],
        [
          'patch',
          'probe',
          { finalizers: ['example.com/x'], ownerReferences: [reference] },
          { finalizers: ['example.com/x'] },
        ],
        [
          'delete',
          undefined,
          { finalizers: ['example.com/x'] },
          { deletionTimestamp: 'set', deletionGracePeriodSeconds: 0, finalizers: ['example.com/x'] },
        ],
        [
          'patch',
          'probe',
          { deletionTimestamp: 'set', deletionGracePeriodSeconds: 0, finalizers: ['example.com/x'] },
          undefined,
        ],
      ],
    )
    const [, , mark] = records
    assert.deepEqual(mark?.options, {
      propagationPolicy: 'Background',
      preconditions: { uid: made.metadata.uid },
    })
    assert.equal(
      mark?.revision,
      Number((await api.request('GET', '/api/v1/configmaps')).body.metadata.resourceVersion) - 1,
    )
    for (const record of records) {
      const { group, resource, kind, namespace, name } = record
      assert.deepEqual([group, resource, kind, namespace, name], ['', 'configmaps', 'ConfigMap', 'default', 'a'])
      assert.equal(record.uid, made.metadata.uid)
      assert.deepEqual([record.user, record.userAgent], ['kubernetes-admin', 'probe/1'])
      assert.ok(record.time > 1.7e12)
    }
  }))

test('a pod that is marked and removed in one go has one record, with what was in between', () =>
  withApi(async (api) => {
    const pods = '/api/v1/namespaces/default/pods'
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }
    await api.request('POST', pods, pod)
    await api.request('DELETE', `${pods}/p`)
    const [record, ...more] = await recordsOf(api)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [short(record?.before), short(record?.between), record?.after],
      [{}, { deletionTimestamp: 'set', deletionGracePeriodSeconds: 0 }, undefined],
    )
  }))

test('each object of a collection has its own record; a namespace has the finalizers of its spec; Events have none', () =>
  withApi(async (api) => {
    await api.request('POST', path, configMap('a'))
    await api.request('POST', path, configMap('b'))
    await api.request('DELETE', path)
    const event = { ...configMap('e'), kind: 'Event', involvedObject: { namespace: 'default' } }
    await api.request('POST', '/api/v1/namespaces/default/events', event)
    assert.equal((await api.request('DELETE', '/api/v1/namespaces/default/events/e')).code, 200)
    await api.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
    await api.request('DELETE', '/api/v1/namespaces/n')
    const { body } = await api.request('GET', '/api/v1/namespaces/n')
    await api.request('PUT', '/api/v1/namespaces/n/finalize', { ...body, spec: {} })
    assert.deepEqual(
      (await recordsOf(api)).map(({ verb, subresource, name, before, after }) => [
        verb,
        subresource,
        name,
        before.finalizers,
        after?.finalizers,
      ]),
      [
        ['deletecollection', '', 'a', undefined, undefined],
        ['deletecollection', '', 'b', undefined, undefined],
        ['delete', '', 'n', ['kubernetes'], ['kubernetes']],
        ['update', 'finalize', 'n', ['kubernetes'], undefined],
      ],
    )
  }))

test('of what clients make as long as they like only a part is kept', () =>
  withApi(async (api) => {
    const finalizers = Array.from({ length: 100 }, (_, at) => `example.com/${at}`)
    const references = Array.from({ length: 100 }, (_, at) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'n'.repeat(5000),
      uid: `u${at}`,
    }))
    await api.request('POST', path, configMap('a', { finalizers, ownerReferences: references }))
    await api.request('DELETE', `${path}/a`, undefined, { 'user-agent': 'x'.repeat(100_000) })
    const [{ value } = { value: '' }] = await api.storage.journal(0)
    const record = decodeRecord(value, 1)
    assert.equal(record?.after?.finalizers?.length, 32)
    assert.ok(value.length < 64 << 10, `${value.length} bytes`)
  }))
