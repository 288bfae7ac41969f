/** Corners of patches, watches and paths, as a Kubernetes v1.37.1 answered on 2026-11-27. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { startTestApi } from './harness.ts'

const CM = '/api/v1/namespaces/n/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

type Api = Awaited<ReturnType<typeof startTestApi>>

/** What waits three seconds for a version to come waits for none. */
async function withApi(run: (api: Api) => Promise<void>): Promise<void> {
  const runtime = liveRuntime()
  const { clock } = runtime
  const setTimer: typeof clock.setTimer = (ms, ...more) => clock.setTimer(ms === 3000 ? 0 : ms, ...more)
  const api = await startTestApi({ ...runtime, clock: { ...clock, now: () => clock.now(), setTimer } })
  try {
    await api.namespace('n')
    await api.request('POST', CM, { metadata: { name: 'a' }, data: { x: '1' } })
    await run(api)
  } finally {
    await api.stop()
  }
}

test('keys that a patch has twice are warned of, and refused where that is asked', () =>
  withApi(async (api) => {
    const twice = '{"data":{"a":"1","a":"2"},"zz":1}'
    const operations = '[{"op":"add","path":"/data/a","value":"1","value":"2"},{"op":"add","path":"/zz","value":1}]'
    const unknown = 'unknown field "zz"'
    for (const [headers, body, duplicate] of [
      [MERGE, twice, 'duplicate field "data.a"'],
      [STRATEGIC, twice, 'duplicate field "data.a"'],
      [JSON_PATCH, operations, 'json patch duplicate field "[0].value"'],
    ] as const) {
      const warned = await api.request('PATCH', `${CM}/a`, body, headers)
      assert.equal(warned.code, 200)
      assert.equal(warned.body.data.a, '2')
      const quoted = [duplicate, unknown].map((text) => `299 - ${JSON.stringify(text)}`)
      assert.deepEqual([warned.headers['warning']].flat(), quoted)
      const refused = await api.request('PATCH', `${CM}/a?fieldValidation=Strict`, body, headers)
      assert.equal(refused.code, 422)
      assert.ok(refused.body.message.endsWith(`strict decoding error: ${duplicate}, ${unknown}`))
      const ignored = await api.request('PATCH', `${CM}/a?fieldValidation=Ignore`, body, headers)
      assert.equal(ignored.headers['warning'], undefined)
    }
  }))

test('conflicts of an apply are told by the names of those who have the fields', () =>
  withApi(async (api) => {
    const apply = (manager: string, k: string) =>
      api.request(
        'PATCH',
        `${CM}/a?fieldManager=${manager}`,
        { apiVersion: 'v1', kind: 'ConfigMap', data: { k } },
        APPLY,
      )
    for (const manager of ['m4', 'm2']) await apply(manager, '1')
    const { body } = await apply('m3', '2')
    const each = 'conflicts with "m2":\n- .data.k\nconflicts with "m4":\n- .data.k'
    assert.equal(body.message, `Apply failed with 2 conflicts: ${each}`)
  }))

test('what is applied and is no YAML is told of by the step that fails', () =>
  withApi(async (api) => {
    const message = async (text: string) =>
      (await api.request('PATCH', `${CM}/a?fieldManager=m`, text, APPLY)).body.message as string
    assert.equal(await message('a: b: c'), 'error encoding patch: yaml: mapping values are not allowed in this context')
    assert.equal(
      await message('{a: b'),
      "error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected ',' or '}'",
    )
  }))

test('a watch that is to last no second is as long as any, one of less ends at once and shows nothing', () =>
  withApi(async (api) => {
    const { signal } = new AbortController()
    const short = await api.watch(`${CM}?watch=1&timeoutSeconds=-5`, signal)
    for await (const event of short) assert.fail(`an event: ${event.type}`)
    const ended = new AbortController()
    const seen: string[] = []
    for await (const { type } of await api.watch(`${CM}?watch=1&timeoutSeconds=0`, ended.signal)) {
      seen.push(type)
      if (seen.length === 1) await api.request('PATCH', `${CM}/a`, { data: { y: '1' } }, MERGE)
      if (seen.length === 2) ended.abort()
    }
    assert.deepEqual(seen, ['ADDED', 'MODIFIED'])
  }))

test('a watch of the objects from a version that does not come has begun when it fails', () =>
  withApi(async (api) => {
    const asked = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=9999999'
    const { signal } = new AbortController()
    const events = []
    for await (const { type, object } of await api.watch(`${CM}?${asked}`, signal)) events.push([type, object])
    assert.equal(events.length, 1)
    const [type, status] = events[0] as [string, { code: number; reason: string }]
    assert.deepEqual([type, status.code, status.reason], ['ERROR', 504, 'Timeout'])
    const { body } = await api.request('GET', `${CM}?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact`)
    const wrong = body.details.causes.map(({ reason }: { reason: string }) => reason)
    assert.deepEqual(wrong, ['FieldValueForbidden', 'FieldValueNotSupported'])
  }))

test('an empty list of managers clears them, by a patch and by a replacement', () =>
  withApi(async (api) => {
    const managers = async (method: string, body: object, headers = {}) =>
      (await api.request(method, `${CM}/a`, body, headers)).body.metadata.managedFields
    assert.equal(await managers('PATCH', { metadata: { managedFields: [] } }, MERGE), undefined)
    assert.equal(await managers('PATCH', { data: { y: '1' } }, MERGE), undefined)
    const made = await api.request('POST', CM, { metadata: { name: 'b', managedFields: [] }, data: { x: '1' } })
    assert.equal(made.body.metadata.managedFields.length, 1)
    const put = { metadata: { name: 'b', managedFields: [] }, data: { x: '1' } }
    const replaced = await api.request('PUT', `${CM}/b`, put)
    assert.deepEqual([replaced.code, replaced.body.metadata.managedFields], [200, undefined])
  }))

test('of a built-in object that a patch leaves without a version no field is known', () =>
  withApi(async (api) => {
    const unnamed = 'the name of the object (a based on URL) was undeterminable: name must be provided'
    for (const [body, headers] of [
      [{ apiVersion: null, data: { x: '2' } }, MERGE],
      [{ apiVersion: '', kind: '' }, MERGE],
      [[{ op: 'remove', path: '/apiVersion' }], JSON_PATCH],
    ] as const) {
      const { code, body: refused } = await api.request('PATCH', `${CM}/a`, body, headers)
      assert.deepEqual([code, refused.message], [400, unnamed])
    }
    const strict = await api.request('PATCH', `${CM}/a?fieldValidation=Strict`, { apiVersion: null, foo: 1 }, MERGE)
    const unknown = ['data', 'foo', 'metadata'].map((path) => `unknown field "${path}"`).join(', ')
    assert.equal(strict.code, 422)
    assert.ok(strict.body.message.endsWith(`strict decoding error: ${unknown}`))
    assert.equal((await api.request('PATCH', `${CM}/a`, { apiVersion: null }, STRATEGIC)).code, 200)
  }))

test('what is wrong with the finalizers of a namespace is told of the list where it is made, of each where it is finalized', () =>
  withApi(async (api) => {
    const wrong = { metadata: { name: 'm' }, spec: { finalizers: ['kubernetes', 'foo'] } }
    const fieldOf = async (method: string, path: string, metadata: object) =>
      (await api.request(method, path, { ...wrong, metadata })).body.details.causes[0].field
    assert.equal(await fieldOf('POST', '/api/v1/namespaces', { name: 'm' }), 'spec.finalizers')
    assert.equal(await fieldOf('PUT', '/api/v1/namespaces/n/finalize', { name: 'n' }), 'spec.finalizers[1]')
  }))

test('the only container of a pod needs no name, whatever init and ephemeral containers stand beside it', () =>
  withApi(async (api) => {
    const pods = '/api/v1/namespaces/n/pods'
    const container = (name: string) => ({ name, image: 'i' })
    const pod = (name: string, containers: string[]) => ({
      metadata: { name },
      spec: { initContainers: [container('init')], containers: containers.map(container) },
    })
    await api.request('POST', pods, pod('one', ['c']))
    await api.request('POST', pods, pod('two', ['c', 'd']))
    const one = await api.request('GET', `${pods}/one/exec?command=ls`)
    assert.equal(one.body.message, 'pod one does not have a host assigned')
    const two = await api.request('GET', `${pods}/two/exec?command=ls`)
    assert.equal(two.body.message, 'a container name must be specified for pod two, choose one of: [init c d]')
  }))

test('a path that names nothing to watch or to proxy is no request for a resource at all', () =>
  withApi(async (api) => {
    for (const path of ['/api/v1/watch', '/api/v1/proxy', '/apis/apps/v1/watch/', '/apis/nope/v1/watch']) {
      const { code, text } = await api.request('GET', path)
      const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${path}`
      assert.deepEqual([code, text], [500, `Internal Server Error: "${path}": ${why}\n`])
    }
  }))

test('pretty without a value says nothing of it', () =>
  withApi(async (api) => {
    const lines = async (query: string, agent: string) =>
      (await api.request('GET', `${CM}/a${query}`, undefined, { 'user-agent': agent })).text.split('\n').length
    assert.ok((await lines('?pretty=', 'curl/8')) > 2)
    assert.ok((await lines('?pretty=', 'probe/1')) <= 2)
    assert.ok((await lines('?pretty=0', 'curl/8')) <= 2)
  }))

const definition = {
  metadata: { name: 'foos.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
    versions: ['v1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      deprecated: name === 'v1beta1',
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
}

test('custom resources: no object without a namespace, no apply without a name, and warnings of what is not served', () =>
  withApi(async (api) => {
    await api.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    const ended = new AbortController()
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1'
    for await (const { object } of await api.watch(definitions, ended.signal))
      if (JSON.stringify(object['status'] ?? {}).includes('"Established","status":"True"')) break
    ended.abort()
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo' }
    for (const [method, path] of [
      ['POST', 'foos'],
      ['DELETE', 'foos'],
      ['GET', 'foos/a'],
    ] as const) {
      const { code, text } = await api.request(method, `/apis/example.com/v1/${path}`, {
        ...foo,
        metadata: { name: 'a' },
      })
      assert.deepEqual([code, text], [404, '404 page not found\n'])
    }
    const applied = await api.request('PATCH', '/apis/example.com/v1/namespaces/n/foos/a?fieldManager=m', foo, APPLY)
    const message = 'the name of the object (a based on URL) was undeterminable: name must be provided'
    assert.deepEqual([applied.code, applied.body.message], [400, message])
    await api.request('POST', '/apis/example.com/v1/namespaces/n/foos', { ...foo, metadata: { name: 'a' } })
    const scale = await api.request('GET', '/apis/example.com/v1beta1/namespaces/n/foos/a/scale')
    assert.equal(scale.code, 404)
    assert.match(String(scale.headers['warning']), /example\.com\/v1beta1 Foo is deprecated/)
  }))
