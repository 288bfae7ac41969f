import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createWriter } from '../../api/codec/protobuf-wire.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { createScheme } from '../../api/scheme/scheme.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { stepsAtOnce } from '../../base/turns.ts'
import { builtinStrategies } from '../strategies/builtin.ts'
import { builtinStrategy } from '../strategies/index.ts'
import { CUSTOM_FORM, createDocuments, type Documents } from './documents-by-group-version.ts'
import { createOpenApi } from './handler.ts'
import { jsonInSteps } from './json-in-steps.ts'
import { encodeForm, message, named, text } from './protobuf.ts'
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

type Bytes = ApiResponse & { kind: 'bytes' }

const clock = { now: () => Date.UTC(2026, 10, 21, 11, 26, 1), monotonic: () => 0, setTimer: () => ({ cancel() {} }) }

async function ask(url: string, headers: ApiRequest['headers'] = {}, scheme = createScheme()): Promise<Bytes> {
  const { pathname, searchParams } = new URL(url, 'https://localhost')
  const request = { method: 'GET', path: pathname, query: searchParams, headers, signal: new AbortController().signal }
  const answer = await createOpenApi({ scheme, runtime: { ...simulatedRuntime(1), clock } })(request)
  assert.ok(answer?.kind === 'bytes')
  return answer
}

const textOf = (answer: Bytes) => Buffer.concat(answer.bytes).toString()

const v3Of = (documents: Documents, name: string): JsonObject => stepsAtOnce(documents.v3(name) ?? assert.fail(name))
const indexOf = (documents: Documents) => stepsAtOnce(documents.index())
const v2HashOf = (documents: Documents) => documents.v2Hash(indexOf(documents))

test('every document equals the one of Kubernetes but for descriptions', () => {
  const strategies = builtinStrategies()
  const returnsDeleted = (row: ResourceRow) => builtinStrategy(row, strategies).returnDeletedObject === true
  const documents = createDocuments(createScheme(), () => undefined, returnsDeleted)
  const names = [...indexOf(documents).keys()]
  const ours = Object.fromEntries(names.map((name) => [name, v3Of(documents, name)]))
  const v2 = stepsAtOnce(documents.v2())
  const fingerprints = Object.fromEntries(
    Object.entries({ ...ours, 'openapi/v2': v2 }).map(([name, one]) => [name, fingerprint(one)]),
  )
  assert.deepEqual(fingerprints, recorded)
})

test('a URL out of the index may be kept for a year, and one with an old hash leads to the new one', async () => {
  const { paths } = JSON.parse(textOf(await ask('/openapi/v3')))
  const url: string = paths['apis/apps/v1'].serverRelativeURL
  const kept = await ask(url)
  assert.equal(kept.headers?.['cache-control'], 'public, immutable')
  assert.equal(kept.headers?.['expires'], 'Sun, 21 Nov 2027 11:26:01 UTC')
  const old = await ask('/openapi/v3/apis/apps/v1?hash=OLD')
  assert.equal(old.status, 301)
  assert.equal(old.headers?.['location'], url)
})

test('the index is not said to be unchanged within the second in which it may have changed', async () => {
  let now = Date.UTC(2026, 0, 2, 3, 4, 5, 100)
  const runtime = { ...simulatedRuntime(1), clock: { ...clock, now: () => now } }
  const openApi = createOpenApi({ scheme: createScheme(), runtime })
  const statusOf = async (since: number) => {
    const headers = { 'if-modified-since': new Date(since).toUTCString() }
    const request = { method: 'GET', path: '/openapi/v3', query: new URLSearchParams(), headers }
    const answer = await openApi({ ...request, signal: new AbortController().signal })
    return answer?.kind === 'bytes' ? answer.status : undefined
  }
  assert.equal(await statusOf(now), 200)
  now += 500
  assert.equal(await statusOf(now), 200)
  now += 1000
  assert.equal(await statusOf(now), 304)
  assert.equal(await statusOf(now - 1000), 200)
})

test('a document that the client has is not sent again', async () => {
  for (const path of ['/openapi/v2', '/openapi/v3/version']) {
    const first = await ask(path)
    const again = await ask(path, { 'if-none-match': String(first.headers?.['etag']) })
    assert.deepEqual([first.status, again.status, again.bytes.length], [200, 304, 0])
  }
})

test('documents that are not there, and forms that are not spoken, have no body', async () => {
  assert.deepEqual([(await ask('/openapi/v3/nope')).status, (await ask('/openapi/v3/')).status], [404, 404])
  const yaml = await ask('/openapi/v2', { accept: 'application/yaml' })
  assert.deepEqual([yaml.status, yaml.bytes], [406, []])
  for (const accept of ['*', 'application/*']) assert.equal((await ask('/openapi/v2', { accept })).status, 200)
})

test('a custom resource has a document of its own and stands in OpenAPI v2', () => {
  const scheme = createScheme()
  const configMap = scheme.find('', 'v1', 'configmaps') as ResourceRow
  const openApi = {
    definition: 'com.example.stable.v1.Gizmo',
    byDefinition: { digest: '', selectableFields: ['.spec.mode'] },
  }
  const names = { resource: 'gizmos', kind: 'Gizmo', listKind: 'GizmoList' }
  const row = { ...configMap, group: 'stable.example.com', ...names, openApi }
  scheme.addRows([row])
  const spec = { type: 'object', properties: { spec: { type: 'string' } } }
  const documents = createDocuments(scheme, () => spec)
  const document = v3Of(documents, 'apis/stable.example.com/v1') as {
    paths: object
    components: { schemas: JsonObject }
  }
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
  const v2 = stepsAtOnce(documents.v2()) as { definitions: JsonObject }
  assert.ok('com.example.stable.v1.GizmoList' in v2.definitions)
})

function customRow(group: string, resource: string, digest: string): ResourceRow {
  const configMap = createScheme().find('', 'v1', 'configmaps') as ResourceRow
  const kind = `Kind-${resource}`
  const definition = [...group.split('.').reverse(), 'v1', kind].join('.')
  const openApi = { definition, byDefinition: { digest, selectableFields: [] } }
  return { ...configMap, group, resource, kind, listKind: `${kind}List`, openApi }
}

test("a definition's change changes the hashes of its group and of v2, and no document is made for it", () => {
  const scheme = createScheme()
  let made = 0
  const documents = createDocuments(scheme, () => {
    made++
    return { type: 'object' }
  })
  scheme.addRows([customRow('a.org', 'as', '1'), customRow('b.org', 'bs', '1')])
  const before = { index: indexOf(documents), v2: v2HashOf(documents) }
  assert.equal(indexOf(documents), before.index)
  scheme.addRows([customRow('a.org', 'as', '2')])
  const after = { index: indexOf(documents), v2: v2HashOf(documents) }
  const changed = [...after.index].filter(([name, hash]) => before.index.get(name) !== hash).map(([name]) => name)
  assert.deepEqual(changed, ['apis/a.org/v1'])
  assert.notEqual(after.v2, before.v2)
  scheme.addRows([customRow('a.org', 'as', '1')])
  assert.deepEqual(indexOf(documents), before.index)
  assert.equal(v2HashOf(documents), before.v2)
  scheme.addRows([customRow('a.org', 'cs', '1')])
  assert.notEqual(indexOf(documents).get('apis/a.org/v1'), before.index.get('apis/a.org/v1'))
  scheme.removeRows(scheme.groups().get('b.org')?.rows('v1') ?? [])
  assert.ok(!indexOf(documents).has('apis/b.org/v1'))
  assert.equal(made, 0)
})

test('a group that has built-in kinds and custom ones is hashed as a whole', () => {
  const scheme = createScheme()
  const documents = createDocuments(scheme, () => ({ type: 'object' }))
  const before = indexOf(documents).get('apis/apps/v1')
  scheme.addRows([customRow('apps', 'as', '1')])
  const hash = createHash('sha512')
    .update(JSON.stringify(v3Of(documents, 'apis/apps/v1')))
    .digest('hex')
    .toUpperCase()
  assert.equal(indexOf(documents).get('apis/apps/v1'), hash)
  assert.notEqual(hash, before)
})

// Its hash does not come from its text: a change of what it says must be told by another form.
test("a custom resource's document has the form that goes into its hash", () => {
  const scheme = createScheme()
  scheme.addRows([customRow('a.org', 'as', '1')])
  const properties = { port: { 'x-kubernetes-int-or-string': true }, whole: { 'x-kubernetes-embedded-resource': true } }
  const documents = createDocuments(scheme, () => ({ type: 'object', properties }))
  const text = JSON.stringify(v3Of(documents, 'apis/a.org/v1'))
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  assert.deepEqual([CUSTOM_FORM, hash], [1, '9bdd6ac4ba46945c'])
})

test('client-go gets its protobuf: field numbers of gnostic, extensions as YAML, references apart', async () => {
  const document = {
    openapi: '3.0.0',
    paths: { '/a': { get: { operationId: 'x', 'x-kubernetes-action': 'list' } } },
    components: { schemas: { S: { properties: { p: { $ref: '#/r' }, q: { type: 'string', default: '' } } } } },
  }
  const ours = Buffer.concat(stepsAtOnce(encodeV3(document)))
  assert.ok(ours.subarray(0, 8).equals(Buffer.from([0x0a, 5, ...Buffer.from('3.0.0'), 0x22])))
  assert.ok(ours.includes(Buffer.from([0x12, 5, ...Buffer.from('list\n')])), 'an extension is YAML')
  // A SchemaOrReference of the reference: 2 { _ref: "#/r" }.
  assert.ok(ours.includes(Buffer.from([0x12, 5, 0x0a, 3, ...Buffer.from('#/r')])))
  // A default that is empty is still a default: 33 { string: "" }.
  assert.ok(ours.includes(Buffer.from([0x8a, 2, 2, 0x1a, 0])))
  const answer = await ask('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' })
  assert.equal(answer.contentType, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
  assert.ok(
    Buffer.concat(answer.bytes)
      .subarray(0, 7)
      .equals(Buffer.from([0x0a, 3, ...Buffer.from('2.0'), 0x12, 18])),
  )
})

/** Forty definitions in two groups, each with a schema. */
function manyDefinitions() {
  const scheme = createScheme()
  for (let at = 0; at < 40; at++) scheme.addRows([customRow(`g${at % 2}.org`, `r${at}`, String(at))])
  const spec = { type: 'object', properties: { a: { type: 'string' }, b: { 'x-kubernetes-int-or-string': true } } }
  return { scheme, customSchema: () => ({ type: 'object', properties: { spec } }) }
}

/** A runtime whose clock goes on by a millisecond whenever it is looked at, and how often others had their turn. */
function hurried() {
  const simulated = simulatedRuntime(1)
  const counted = { turns: 0 }
  let now = 0
  const runtime = {
    ...simulated,
    machineClock: { ...simulated.clock, monotonic: () => now++ },
    scheduler: {
      ...simulated.scheduler,
      later(label: string, task: () => void) {
        counted.turns++
        simulated.scheduler.later(label, task)
      },
    },
  }
  return { runtime, counted, complete: simulated.complete }
}

const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

for (const [path, accept] of [
  ['/openapi/v3', undefined],
  ['/openapi/v3/apis/g0.org/v1', undefined],
  ['/openapi/v2', undefined],
  ['/openapi/v2', V2_PROTOBUF],
] as const)
  test(`${path} as ${accept ?? 'JSON'} is made in pieces with turns for others, and is what it would be at once`, async () => {
    const { scheme, customSchema } = manyDefinitions()
    const { runtime, counted, complete } = hurried()
    const request = {
      method: 'GET',
      path,
      query: new URLSearchParams(),
      headers: accept === undefined ? {} : { accept },
      signal: new AbortController().signal,
    }
    const answer = createOpenApi({ scheme, runtime, customSchema })(request)
    const inPieces = (await complete(answer ?? assert.fail())) as Bytes
    assert.ok(counted.turns >= 5, `${counted.turns} turns`)
    const atOnce = await createOpenApi({ scheme, runtime: { ...simulatedRuntime(1), clock }, customSchema })(request)
    assert.ok(Buffer.concat(inPieces.bytes).equals(Buffer.concat((atOnce as Bytes).bytes)))
  })

test('the pieces of a document are the text and the message that its encoders write at once', () => {
  const { scheme, customSchema } = manyDefinitions()
  const documents = createDocuments(scheme, customSchema)
  const v2 = stepsAtOnce(documents.v2())
  const v3 = v3Of(documents, 'apis/g0.org/v1')
  for (const document of [v2, v3, {}, { a: {}, b: [], c: undefined, d: null }])
    assert.equal(Buffer.concat(stepsAtOnce(jsonInSteps(document))).toString(), JSON.stringify(document))
  const inner = named(text)
  const form = message(() => ({
    fields: { paths: [8, inner], swagger: [1, text], deep: [9, message(() => ({ fields: { more: [2, inner] } }))] },
    extensions: 31,
  }))
  const document = { paths: { b: '1', a: '2' }, 'x-k': 1, deep: { more: { c: '3' } }, swagger: '2.0' }
  const writer = createWriter()
  form(writer, 1, document)
  const [, , ...atOnce] = writer.finish()
  assert.deepEqual([...Buffer.concat(stepsAtOnce(encodeForm(form, document)))], atOnce)
})

test('a definition that changes while a document is made does not get into it: the document is that of its hash', async () => {
  const { scheme, customSchema } = manyDefinitions()
  const { runtime, complete } = hurried()
  let schema: JsonObject = customSchema()
  const path = '/openapi/v3/apis/g0.org/v1'
  const openApi = createOpenApi({ scheme, runtime, customSchema: () => schema })
  const request = {
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers: {},
    signal: new AbortController().signal,
  }
  const before = (await complete(openApi(request) ?? assert.fail())) as Bytes
  const again = openApi(request) ?? assert.fail()
  schema = { type: 'object', properties: { other: { type: 'string' } } }
  const after = (await complete(again)) as Bytes
  assert.equal(after.headers?.['etag'], before.headers?.['etag'])
  assert.ok(Buffer.concat(after.bytes).equals(Buffer.concat(before.bytes)))
})
