/** The forms in which objects are read: Tables, metadata alone, protobuf; of lists, watches, scales and components. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { decodeProtobuf } from '../src/api/codec/protobuf.ts'
import { builtinScheme } from '../src/api/scheme/scheme.ts'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { startTestApi } from './harness.ts'

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const METADATA = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }
const METADATA_LIST = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

type Api = Awaited<ReturnType<typeof startTestApi>>

/** Its clock stands still, so that objects are of one age however often they are read. */
async function withApi(run: (api: Api) => Promise<void>, options: Parameters<typeof startTestApi>[1] = {}) {
  const runtime = liveRuntime()
  const now = runtime.clock.now()
  const clock = { ...runtime.clock, now: () => now }
  const api = await startTestApi({ ...runtime, clock, machineClock: clock }, { decodeProtobuf, ...options })
  try {
    await api.namespace('n')
    await run(api)
  } finally {
    await api.stop()
  }
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'foos.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
      { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
    ],
  },
}

/** Resolves when the definition's resource is served. */
async function define(api: Api): Promise<void> {
  await api.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  const ended = new AbortController()
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1&resourceVersion=0'
  for await (const { object } of await api.watch(path, ended.signal)) {
    const conditions: readonly { type: string; status: string }[] = object['status']?.conditions ?? []
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break
  }
  ended.abort()
}

test('the metadata of custom resources is listed in protobuf, as garbage collectors ask for it', () =>
  withApi(async (api) => {
    await define(api)
    const foos = '/apis/example.com/v1/namespaces/n/foos'
    const made = await api.request('POST', foos, { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' } })
    assert.equal(made.code, 201, made.text)
    for (const version of ['v1', 'v2']) {
      const path = `/apis/example.com/${version}/namespaces/n/foos`
      const answer = await api.request('GET', path, undefined, { accept: METADATA_LIST })
      assert.equal(answer.code, 200, answer.text)
      assert.match(answer.text, /^k8s\0.*PartialObjectMetadataList.*\ba\b/s)
    }
  }))

test('a list of custom resources always says whether it goes on', () =>
  withApi(async (api) => {
    await define(api)
    const { body } = await api.request('GET', '/apis/example.com/v1/namespaces/n/foos')
    assert.equal(body.metadata.continue, '')
  }))

test('custom resources have no strategic merge', () =>
  withApi(async (api) => {
    await define(api)
    const type = { 'content-type': 'application/strategic-merge-patch+json' }
    const answer = await api.request('PATCH', '/apis/example.com/v1/namespaces/n/foos/a', {}, type)
    assert.equal(answer.code, 415)
    assert.match(answer.body.message, /application\/merge-patch\+json, application\/apply-patch\+yaml$/)
  }))

test('events are selected by the field names of the group they are asked of', () =>
  withApi(async (api) => {
    const event = {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
      reason: 'Started',
    }
    assert.equal((await api.request('POST', '/api/v1/namespaces/n/events', event)).code, 201)
    const names = async (path: string, field: string) => {
      const { body } = await api.request('GET', `${path}/namespaces/n/events?fieldSelector=${field}%3Dp`)
      return body.items?.map((item: { metadata: { name: string } }) => item.metadata.name) ?? body.message
    }
    assert.deepEqual(await names('/api/v1', 'involvedObject.name'), ['e'])
    assert.deepEqual(await names('/apis/events.k8s.io/v1', 'regarding.name'), ['e'])
    assert.equal(
      await names('/apis/events.k8s.io/v1', 'involvedObject.name'),
      'field label not supported: involvedObject.name',
    )
  }))

test('a watch of Tables tells where its beginning ends in the row of its bookmark, for every kind', () =>
  withApi(async (api) => {
    const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watched = builtinScheme()
      .rows()
      .filter(({ verbs }) => verbs.includes('watch'))
    // Each lasts a second, the shortest that shows anything.
    const lookAt = async (row: (typeof watched)[number]) => {
      const base = row.group === '' ? '/api/v1' : `/apis/${row.group}/${row.version}`
      const path = `${base}/${row.resource}?${initial}&timeoutSeconds=1&labelSelector=none%3Dsuch`
      const { text } = await api.request('GET', path, undefined, TABLE)
      const event = JSON.parse(text.trim().split('\n').at(-1) as string)
      assert.equal(event.type, 'BOOKMARK', path)
      const { annotations } = event.object.rows[0].object.metadata
      assert.deepEqual(annotations, { 'k8s.io/initial-events-end': 'true' }, path)
    }
    await Promise.all(watched.map(lookAt))
  }))

test('a watch of Tables whose rows are to hold what there is not never begins', () =>
  withApi(async (api) => {
    for (const accept of [TABLE.accept, TABLE.accept.replace('json', 'yaml')])
      for (const path of ['/api/v1/namespaces?watch=1', '/api/v1/watch/namespaces?resourceVersion=0']) {
        const answer = await api.request('GET', `${path}&timeoutSeconds=1&includeObject=none`, undefined, { accept })
        assert.equal(answer.code, 400, accept)
        assert.match(
          answer.text,
          /Unable to convert to Table as requested: includeObject: Invalid value: \\?"none\\?": must be 'Metadata', 'Object', 'None', or empty/,
        )
      }
  }))

test('a Scale is also a Table and metadata', () =>
  withApi(async (api) => {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const template = { metadata: { labels: { a: 'b' } }, spec }
    const selector = { matchLabels: { a: 'b' } }
    const deployments = '/apis/apps/v1/namespaces/n/deployments'
    const made = await api.request('POST', deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { replicas: 2, selector, template },
    })
    assert.equal(made.code, 201, made.text)
    const { body: table } = await api.request('GET', `${deployments}/d/scale`, undefined, TABLE)
    assert.deepEqual(
      table.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Desired', 'Available', 'Age'],
    )
    assert.deepEqual(table.rows[0].cells.slice(0, 3), ['d', 2, 0])
    const { body: metadata } = await api.request('GET', `${deployments}/d/scale`, undefined, METADATA)
    assert.equal(metadata.kind, 'PartialObjectMetadata')
  }))

test('components tell how they are when they are asked for', () =>
  withApi(
    async (api) => {
      const { body } = await api.request('GET', '/api/v1/componentstatuses')
      assert.deepEqual(body.items, [
        { metadata: { name: 'x' }, conditions: [{ type: 'Healthy', status: 'False', message: 'gone' }] },
      ])
      assert.deepEqual(body.metadata, {})
      const { body: table } = await api.request('GET', '/api/v1/componentstatuses', undefined, TABLE)
      assert.deepEqual(table.rows[0].cells, ['x', 'Unhealthy', 'gone', ''])
      const missing = await api.request('GET', '/api/v1/componentstatuses/y')
      assert.equal(missing.body.message, 'componentstatus "y" not found')
    },
    { components: () => [{ name: 'x', healthy: false, message: 'gone' }] },
  ))

test('who deletes jobs without saying what becomes of their pods is warned, be there jobs or not', () =>
  withApi(async (api) => {
    for (const path of ['jobs', 'jobs/none'])
      for (const [query, warned] of [
        ['', true],
        ['?propagationPolicy=Orphan', false],
      ] as const) {
        const { headers } = await api.request('DELETE', `/apis/batch/v1/namespaces/n/${path}${query}`)
        assert.equal(String(headers['warning']).includes('child pods are preserved'), warned, path + query)
      }
  }))

test('a pod that is on no node yet cannot be reached', () =>
  withApi(async (api) => {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    assert.equal((await api.request('POST', '/api/v1/namespaces/n/pods', pod)).code, 201)
    const answer = await api.request('GET', '/api/v1/namespaces/n/pods/p/exec?command=x')
    assert.deepEqual([answer.code, answer.body.message], [400, 'pod p does not have a host assigned'])
  }))

test('a list of many objects, made while it is sent, says what its pages say', () =>
  withApi(async (api) => {
    const configMaps = '/api/v1/namespaces/n/configmaps'
    const object = (index: number) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `m${String(index).padStart(3, '0')}`, labels: { third: String(index % 3) } },
      data: { text: `line\n- ${index}` },
    })
    await Promise.all(Array.from({ length: 620 }, (_, index) => api.request('POST', configMaps, object(index))))
    const read = async (query: string, accept: string) => {
      const answer = await api.request('GET', `${configMaps}${query}`, undefined, { accept })
      assert.equal(answer.code, 200, answer.text)
      return answer
    }
    const forms = [
      { accept: TABLE.accept, field: 'rows' },
      { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', field: 'items' },
      { accept: 'application/json', field: 'items', pretty: true },
    ]
    for (const { accept, field, pretty } of forms) {
      const more = pretty ? '&pretty=1' : ''
      const whole = (await read(`?resourceVersion=0${more}`, accept)).body
      const first = (await read(`?limit=400${more}`, accept)).body
      const next = encodeURIComponent(first.metadata.continue)
      const second = (await read(`?limit=400&continue=${next}${more}`, accept)).body
      const { continue: _, remainingItemCount: __, ...metadata } = first.metadata
      assert.deepEqual(whole, { ...first, metadata, [field]: [...first[field], ...second[field]] })
      assert.equal(whole[field].length, 620)
    }
    const yaml = parse((await read('?resourceVersion=0', 'application/yaml')).text)
    const json = (await read('?resourceVersion=0', 'application/json')).body
    assert.deepEqual(yaml, json)
  }))

test('a Table of flow schemas has its rows in the order in which requests meet them, page by page', () =>
  withApi(async (api) => {
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
    for (const [name, matchingPrecedence] of Object.entries({ a: 9000, b: 1500, c: 9000, d: 2500 }))
      await api.request('POST', path, {
        apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
        kind: 'FlowSchema',
        metadata: { name, labels: { t: 'x' } },
        spec: { matchingPrecedence, priorityLevelConfiguration: { name: 'catch-all' } },
      })
    const names = async (query: string) => {
      const { body } = await api.request('GET', `${path}?labelSelector=t%3Dx${query}`, undefined, TABLE)
      return body['rows'].map(({ cells }: { cells: readonly string[] }) => cells[0])
    }
    assert.deepEqual(await names(''), ['b', 'd', 'a', 'c'])
    assert.deepEqual(await names('&limit=3'), ['b', 'a', 'c'])
  }))

test('the default storage class is marked in a Table of few', () =>
  withApi(async (api) => {
    const path = '/apis/storage.k8s.io/v1/storageclasses'
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    for (const metadata of [{ name: 'a' }, { name: 'b', annotations }])
      await api.request('POST', path, {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata,
        provisioner: 'p',
      })
    const { body } = await api.request('GET', path, undefined, TABLE)
    assert.deepEqual(
      body['rows'].map(({ cells }: { cells: readonly string[] }) => cells[0]),
      ['a', 'b (default)'],
    )
  }))
