import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import type { ResourceVerb, StoredObject } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { createEntry, encodeStored } from '../cache/entry.ts'
import { createEntryMemory } from '../cache/entry-memory.ts'
import { rowsOf } from '../customresources/rows.ts'
import { requestInfoOf } from '../request/info.ts'
import { builtinStrategies } from '../strategies/builtin.ts'
import { createEndpoints } from './endpoints.ts'

const asked: string[] = []
const endpointOf = createEndpoints(builtinScheme(), builtinStrategies(), async (_row, objects, apiVersion) => {
  asked.push(apiVersion)
  return objects.map((object) => ({ ...object, apiVersion }))
})

const text = (type: object = {}) => ({ type: 'string', ...type })
const schemaOf = (properties: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
})

/** Of versions v1 (stored), v2 (the same schema) and v3 (without `b`). */
function rows(more: Fields = {}): readonly ResourceRow[] {
  const full = { a: text({ default: 'a' }), b: text() }
  const versions = [full, { b: text({ description: 'b' }), a: text() }, { a: text() }].map((properties, i) => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: schemaOf(properties),
  }))
  const definition: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'as.t.org' },
    spec: { group: 't.org', scope: 'Cluster', names: { plural: 'as', kind: 'A' }, versions, ...more },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  }
  return rowsOf(definition, { replaced: new AbortController().signal, digest: '' })
}

const entryOf = (spec: Fields, apiVersion = 't.org/v1') => {
  const object: KubeObject = { kind: 'A', apiVersion, metadata: { name: 'x' }, spec }
  return createEntry('/registry/t.org/as/x', 7, encodeStored(object), { freeze: false, memory: createEntryMemory() })
}
const json = (entry: StoredObject | Promise<StoredObject>) => {
  assert.ok(!(entry instanceof Promise))
  return Buffer.from(entry.json('full')).toString()
}

test('a built-in kind in its storage version is the entry itself; in another it is converted once', () => {
  const scheme = builtinScheme()
  const row = (group: string, version: string, resource: string) => scheme.find(group, version, resource) as ResourceRow
  const event: KubeObject = { kind: 'Event', apiVersion: 'v1', metadata: { name: 'e' }, reason: 'R', message: 'm' }
  const entry = createEntry('/registry/events/n/e', 3, encodeStored(event), {
    freeze: false,
    memory: createEntryMemory(),
  })
  const core = endpointOf(row('', 'v1', 'events'))
  const named = endpointOf(row('events.k8s.io', 'v1', 'events'))
  assert.equal(core.served.entry(entry), entry)
  const other = named.served.entry(entry)
  assert.match(json(other), /"apiVersion":"events.k8s.io\/v1".*"note":"m"/)
  assert.equal(named.served.entry(entry), other)
  assert.equal(endpointOf(row('', 'v1', 'events')), core)
})

test('an action has one plan, of a built-in kind as of a custom resource: its handler, and as what it is counted', () => {
  const all = [builtinScheme().find('', 'v1', 'configmaps') as ResourceRow, rows()[0] as ResourceRow]
  for (const row of all) {
    const { planOf } = endpointOf(row)
    const plan = (action: ResourceVerb, namespace = '') =>
      planOf(
        { row, subresource: undefined, action },
        { ...requestInfoOf('GET', '/', new URLSearchParams()), namespace },
      )
    assert.equal(plan('get', 'a'), plan('get', 'b'))
    assert.notEqual(plan('list'), plan('list', 'a'))
    assert.equal(plan('list', 'b'), plan('list', 'a'))
    assert.notEqual(plan('get').handler, plan('list').handler)
    const { group, resource, version } = row
    const labels = { component: 'apiserver', group, resource, version, subresource: '' }
    assert.deepEqual(plan('list', 'a').series.labels, { ...labels, scope: 'namespace', verb: 'LIST' })
    assert.deepEqual(plan('patch').series.labels, { ...labels, scope: 'resource', verb: 'PATCH' })
    assert.deepEqual(plan('patch').appliedSeries.labels, { ...labels, scope: 'resource', verb: 'APPLY' })
  }
})

test('columns of a Table are read once, at the first Table', () => {
  const [v1] = rows({}).map(endpointOf)
  assert.ok(v1)
  assert.equal(v1.printer(), v1.printer())
  assert.deepEqual(
    v1.printer().columns.map((column) => (column as Fields)['name']),
    ['Name', 'Age'],
  )
})

test('a custom resource is served from its own bytes, in a version with the same fields with another beginning', () => {
  const [v1, v2, v3] = rows().map(endpointOf)
  const entry = entryOf({ a: 'x', b: 'y' })
  assert.equal(v1?.served.entry(entry), entry)
  const renamed = v2?.served.entry(entry) as StoredObject
  assert.equal(json(renamed), json(entry).replace('t.org/v1', 't.org/v2'))
  assert.equal(v2?.served.entry(entry), renamed)
  // Nothing is parsed for it.
  assert.deepEqual([v2?.served.form?.like?.form, v3?.served.form?.like], [v1?.served.form, undefined])
  assert.match(json(v3?.served.entry(entry) as StoredObject), /"apiVersion":"t.org\/v3".*"spec":\{"a":"x"\}/)
})

test('what was stored by an older schema is served as the schema is now: defaulted, pruned and in order', () => {
  const [v1, v2] = rows().map(endpointOf)
  const entry = entryOf({ b: 'y', gone: 1 })
  assert.match(json(v1?.served.entry(entry) as StoredObject), /"spec":\{"a":"a","b":"y"\}\}$/)
  assert.match(json(v2?.served.entry(entry) as StoredObject), /"apiVersion":"t.org\/v2".*"spec":\{"a":"a","b":"y"\}\}$/)
})

test('a webhook is asked only for what is stored in another version, once for a list', async () => {
  const [v1, v2] = rows({ conversion: { strategy: 'Webhook' } }).map(endpointOf)
  const own = entryOf({ a: 'x', b: 'y' })
  const older = entryOf({ a: 'x' }, 't.org/v2')
  assert.equal(v1?.served.entry(own), own)
  assert.deepEqual(asked, [])
  const shown = await v2?.served.entries([own, older, own])
  assert.deepEqual(asked, ['t.org/v2'])
  assert.deepEqual(
    shown?.map((entry) => entry.object.apiVersion),
    ['t.org/v2', 't.org/v2', 't.org/v2'],
  )
  assert.equal(shown?.[1], older)
})
