import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { CUSTOM_FORM, createDocuments } from './documents.ts'
import { createOpenApi } from './handler.ts'
import { encodeV3 } from './protobuf-v3.ts'

/** SHA-256 of each document of Kubernetes v1.37.1, in the form that `fingerprint` gives it. */
const recorded: Record<string, string> = JSON.parse(
  readFileSync(new URL('./openapi-recorded.json', import.meta.url), 'utf8'),
)

/** Keys sorted, descriptions left out (but not properties that are named so). */
function bare(value: Json | undefined, named = false): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => bare(item) as Json)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(
    ([key, inner]) => named || key !== 'description' || typeof inner !== 'string',
  )
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const names = new Set(['properties', 'schemas', 'definitions'])
  return Object.fromEntries(entries.map(([key, inner]) => [key, bare(inner, !named && names.has(key))]))
}

function fingerprint(document: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(bare(document)))
    .digest('hex')
}

const clock = { now: () => Date.UTC(2026, 10, 21, 11, 26, 1), monotonic: () => 0, setTimer: () => ({ cancel() {} }) }

function ask(
  url: string,
  headers: ApiRequest['headers'] = {},
  scheme = createScheme(),
): ApiResponse & { kind: 'bytes' } {
  const { pathname, searchParams } = new URL(url, 'https://localhost')
  const request = { method: 'GET', path: pathname, query: searchParams, headers, signal: new AbortController().signal }
  const answer = createOpenApi({ scheme, clock })(request)
  assert.ok(answer?.kind === 'bytes')
  return answer
}

const textOf = (answer: ApiResponse & { kind: 'bytes' }) => Buffer.concat(answer.bytes).toString()

test('every document equals the one of Kubernetes but for descriptions', () => {
  const documents = createDocuments(createScheme(), () => undefined)
  const ours = Object.fromEntries([...documents.index().keys()].map((name) => [name, documents.v3(name) as JsonObject]))
  const fingerprints = Object.fromEntries(
    Object.entries({ ...ours, 'openapi/v2': documents.v2() }).map(([name, one]) => [name, fingerprint(one)]),
  )
  assert.deepEqual(fingerprints, recorded)
})

test('a URL out of the index may be kept for a year, and one with an old hash leads to the new one', () => {
  const { paths } = JSON.parse(textOf(ask('/openapi/v3')))
  const url: string = paths['apis/apps/v1'].serverRelativeURL
  const kept = ask(url)
  assert.equal(kept.headers?.['cache-control'], 'public, immutable')
  assert.equal(kept.headers?.['expires'], 'Sun, 21 Nov 2027 11:26:01 UTC')
  const old = ask('/openapi/v3/apis/apps/v1?hash=OLD')
  assert.equal(old.status, 301)
  assert.equal(old.headers?.['location'], url)
})

test('the index is not said to be unchanged within the second in which it may have changed', () => {
  let now = Date.UTC(2026, 0, 2, 3, 4, 5, 100)
  const openApi = createOpenApi({ scheme: createScheme(), clock: { ...clock, now: () => now } })
  const statusOf = (since: number) => {
    const headers = { 'if-modified-since': new Date(since).toUTCString() }
    const request = { method: 'GET', path: '/openapi/v3', query: new URLSearchParams(), headers }
    const answer = openApi({ ...request, signal: new AbortController().signal })
    return answer?.kind === 'bytes' ? answer.status : undefined
  }
  assert.equal(statusOf(now), 200)
  now += 500
  assert.equal(statusOf(now), 200)
  now += 1000
  assert.equal(statusOf(now), 304)
  assert.equal(statusOf(now - 1000), 200)
})

test('a document that the client has is not sent again', () => {
  for (const path of ['/openapi/v2', '/openapi/v3/version']) {
    const first = ask(path)
    const again = ask(path, { 'if-none-match': String(first.headers?.['etag']) })
    assert.deepEqual([first.status, again.status, again.bytes.length], [200, 304, 0])
  }
})

test('documents that are not there, and forms that are not spoken, have no body', () => {
  assert.deepEqual([ask('/openapi/v3/nope').status, ask('/openapi/v3/').status], [404, 404])
  const yaml = ask('/openapi/v2', { accept: 'application/yaml' })
  assert.deepEqual([yaml.status, yaml.bytes], [406, []])
  for (const accept of ['*', 'application/*']) assert.equal(ask('/openapi/v2', { accept }).status, 200)
})

test('a custom resource has a document of its own and stands in OpenAPI v2', () => {
  const scheme = createScheme()
  const configMap = scheme.find('', 'v1', 'configmaps') as ResourceRow
  const custom = { selectableFields: ['.spec.mode'] } as unknown as NonNullable<ResourceRow['custom']>
  const names = { resource: 'gizmos', kind: 'Gizmo', listKind: 'GizmoList' }
  const row = { ...configMap, group: 'stable.example.com', ...names, custom }
  scheme.addRows([row])
  const spec = { type: 'object', properties: { spec: { type: 'string' } } }
  const documents = createDocuments(scheme, () => spec)
  const document = documents.v3('apis/stable.example.com/v1') as { paths: object; components: { schemas: JsonObject } }
  assert.deepEqual(Object.keys(document.paths), [
    '/apis/stable.example.com/v1/gizmos',
    '/apis/stable.example.com/v1/namespaces/{namespace}/gizmos',
    '/apis/stable.example.com/v1/namespaces/{namespace}/gizmos/{name}',
  ])
  for (const kind of ['Gizmo', 'GizmoList']) {
    const schema = document.components.schemas[`com.example.stable.v1.${kind}`] as JsonObject
    assert.deepEqual(schema['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.mode' }])
    const properties = schema['properties'] as Record<string, JsonObject>
    assert.match(String(properties['apiVersion']?.['description']), /^APIVersion defines/)
    assert.match(String(properties['kind']?.['description']), /^Kind names/)
    assert.match(String(properties['metadata']?.['description']), /^Standard (object's|list) metadata of the Gizmo/)
  }
  const list = document.components.schemas['com.example.stable.v1.GizmoList'] as JsonObject
  assert.match(String(list['description']), /\bkind Gizmo\b/)
  assert.match(
    String((list['properties'] as Record<string, JsonObject>)['items']?.['description']),
    /^The Gizmo objects/,
  )
  const v2 = documents.v2() as { definitions: JsonObject }
  assert.ok('com.example.stable.v1.GizmoList' in v2.definitions)
})

function customRow(group: string, resource: string, digest: string): ResourceRow {
  const configMap = createScheme().find('', 'v1', 'configmaps') as ResourceRow
  const custom = { selectableFields: [], digest } as unknown as NonNullable<ResourceRow['custom']>
  return { ...configMap, group, resource, kind: `Kind-${resource}`, listKind: `Kind-${resource}List`, custom }
}

test("a definition's change changes the hashes of its group and of v2, and no document is made for it", () => {
  const scheme = createScheme()
  let made = 0
  const documents = createDocuments(scheme, () => {
    made++
    return { type: 'object' }
  })
  scheme.addRows([customRow('a.org', 'as', '1'), customRow('b.org', 'bs', '1')])
  const before = { index: documents.index(), v2: documents.v2Hash() }
  assert.equal(documents.index(), before.index)
  scheme.addRows([customRow('a.org', 'as', '2')])
  const after = { index: documents.index(), v2: documents.v2Hash() }
  const changed = [...after.index].filter(([name, hash]) => before.index.get(name) !== hash).map(([name]) => name)
  assert.deepEqual(changed, ['apis/a.org/v1'])
  assert.notEqual(after.v2, before.v2)
  scheme.addRows([customRow('a.org', 'as', '1')])
  assert.deepEqual(documents.index(), before.index)
  assert.equal(documents.v2Hash(), before.v2)
  scheme.addRows([customRow('a.org', 'cs', '1')])
  assert.notEqual(documents.index().get('apis/a.org/v1'), before.index.get('apis/a.org/v1'))
  scheme.removeRows(scheme.groups().get('b.org')?.rows('v1') ?? [])
  assert.ok(!documents.index().has('apis/b.org/v1'))
  assert.equal(made, 0)
})

test('a group that has built-in kinds and custom ones is hashed as a whole', () => {
  const scheme = createScheme()
  const documents = createDocuments(scheme, () => ({ type: 'object' }))
  const before = documents.index().get('apis/apps/v1')
  scheme.addRows([customRow('apps', 'as', '1')])
  const hash = createHash('sha512')
    .update(JSON.stringify(documents.v3('apis/apps/v1')))
    .digest('hex')
    .toUpperCase()
  assert.equal(documents.index().get('apis/apps/v1'), hash)
  assert.notEqual(hash, before)
})

// Its hash does not come from its text: who changes what it says must say so by another form.
test("a custom resource's document has the form that goes into its hash", () => {
  const scheme = createScheme()
  scheme.addRows([customRow('a.org', 'as', '1')])
  const properties = { port: { 'x-kubernetes-int-or-string': true }, whole: { 'x-kubernetes-embedded-resource': true } }
  const documents = createDocuments(scheme, () => ({ type: 'object', properties }))
  const text = JSON.stringify(documents.v3('apis/a.org/v1'))
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  assert.deepEqual([CUSTOM_FORM, hash], [1, '9bdd6ac4ba46945c'])
})

test('client-go gets its protobuf: field numbers of gnostic, extensions as YAML, references apart', () => {
  const document = {
    openapi: '3.0.0',
    paths: { '/a': { get: { operationId: 'x', 'x-kubernetes-action': 'list' } } },
    components: { schemas: { S: { properties: { p: { $ref: '#/r' }, q: { type: 'string', default: '' } } } } },
  }
  const ours = Buffer.from(encodeV3(document))
  assert.ok(ours.subarray(0, 8).equals(Buffer.from([0x0a, 5, ...Buffer.from('3.0.0'), 0x22])))
  assert.ok(ours.includes(Buffer.from([0x12, 5, ...Buffer.from('list\n')])), 'an extension is YAML')
  // A SchemaOrReference of the reference: 2 { _ref: "#/r" }.
  assert.ok(ours.includes(Buffer.from([0x12, 5, 0x0a, 3, ...Buffer.from('#/r')])))
  // A default that is empty is still a default: 33 { string: "" }.
  assert.ok(ours.includes(Buffer.from([0x8a, 2, 2, 0x1a, 0])))
  const answer = ask('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' })
  assert.equal(answer.contentType, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  assert.ok(
    Buffer.concat(answer.bytes)
      .subarray(0, 7)
      .equals(Buffer.from([0x0a, 3, ...Buffer.from('2.0'), 0x12, 18])),
  )
})
