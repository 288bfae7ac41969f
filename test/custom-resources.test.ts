/** Custom resources through a whole API server: established, served, converted, judged, gone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startHookServer } from '../conformance/hook/server.ts'
import type { ApiResponse } from '../src/api/request.ts'
import { ADMIN, startTestApi, type TestApi } from './harness.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const MERGE = { 'content-type': 'application/merge-patch+json' }

const definition = (plural: string, kind: string, more: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.t.example.com` },
  spec: {
    group: 't.example.com',
    scope: 'Cluster',
    names: { plural, kind },
    versions: ['v1', 'v1beta1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      selectableFields: [{ jsonPath: '.spec.mode' }],
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                size: {
                  type: 'integer',
                  default: 1,
                  'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'only grows' }],
                },
                mode: { type: 'string' },
              },
            },
            status: { type: 'object', properties: { size: { type: 'integer' } } },
          },
        },
      },
    })),
    ...more,
  },
})

/** Asks until the definition is so: the server is in this process, and comes on with every turn of the event loop. */
async function until(
  api: TestApi,
  name: string,
  done: (definition: { status?: { conditions?: { type: string; status: string }[] } } | undefined) => boolean,
) {
  for (let turn = 0; turn < 2000; turn++) {
    const answer = await api.request('GET', `${DEFINITIONS}/${name}`)
    if (done(answer.code === 404 ? undefined : answer.body)) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.fail(`${name} did not get there`)
}

const established = (one?: { status?: { conditions?: { type: string; status: string }[] } }) =>
  one?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true

async function withApi(run: (api: TestApi) => Promise<void>) {
  const api = await startTestApi()
  try {
    await run(api)
  } finally {
    await api.stop()
  }
}

type Kind = ApiResponse['kind']

async function answer<K extends Kind>(api: TestApi, path: string, kind: K): Promise<Extract<ApiResponse, { kind: K }>> {
  const { signal } = new AbortController()
  const headers = { 'user-agent': 'probe/1', accept: 'application/json' }
  const response = await api.handler({
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers,
    user: ADMIN,
    signal,
  })
  assert.equal(response.kind, kind)
  return response as Extract<ApiResponse, { kind: K }>
}

const thing = (spec: object, version = 'v1') => ({
  apiVersion: `t.example.com/${version}`,
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
})

test('an established definition serves its resource in all versions, with defaults, status and scale', () =>
  withApi(async (api) => {
    assert.equal((await api.request('POST', DEFINITIONS, definition('things', 'Thing'))).code, 201)
    await until(api, 'things.t.example.com', established)
    const made = await api.request('POST', '/apis/t.example.com/v1/things', thing({ mode: 'x', bogus: 1 }))
    assert.equal(made.code, 201)
    assert.deepEqual(made.body.spec, { mode: 'x', size: 1 })
    const other = await api.request('GET', '/apis/t.example.com/v1beta1/things/a')
    assert.equal(other.body.apiVersion, 't.example.com/v1beta1')
    const status = await api.request(
      'PATCH',
      '/apis/t.example.com/v1/things/a/status',
      { spec: { size: 7 }, status: { size: 2 } },
      MERGE,
    )
    assert.deepEqual([status.body.spec.size, status.body.status.size], [1, 2])
    const scaled = await api.request('PATCH', '/apis/t.example.com/v1/things/a/scale', { spec: { replicas: 3 } }, MERGE)
    assert.deepEqual([scaled.body.spec.replicas, scaled.body.status.replicas], [3, 2])
    const grown = await api.request('GET', '/apis/t.example.com/v1/things?fieldSelector=spec.mode%3Dx')
    assert.deepEqual([grown.body.items[0].kind, grown.body.items[0].metadata.generation], ['Thing', 2])
    const shrunk = await api.request('PATCH', '/apis/t.example.com/v1/things/a', { spec: { size: 1 } }, MERGE)
    assert.match(shrunk.body.message, /spec.size: Invalid value: 1: only grows/)
    const discovery = await api.request('GET', '/apis/t.example.com/v1')
    assert.deepEqual(
      discovery.body.resources.map(({ name }: { name: string }) => name),
      ['things', 'things/status', 'things/scale'],
    )
  }))

test('a path of a custom resource is answered by the verb that it stands for, with or without a name', () =>
  withApi(async (api) => {
    await api.request('POST', DEFINITIONS, definition('things', 'Thing'))
    await until(api, 'things.t.example.com', established)
    const all = '/apis/t.example.com/v1/things'
    const ask = async (method: string, path: string, body?: object, headers = {}) => {
      const answer = await api.request(method, `${all}${path}`, body, headers)
      return [answer.code, answer.body?.message]
    }
    const unsupported = (verb: string) => `${verb} is not supported on resources of kind "things.t.example.com"`
    assert.deepEqual(await ask('POST', '/zz', thing({})), [201, undefined])
    assert.deepEqual(await ask('POST', '/zz', thing({})), [409, 'things.t.example.com "a" already exists'])
    assert.deepEqual(await ask('PUT', '', thing({})), [400, 'name must be provided'])
    assert.deepEqual(await ask('PATCH', '', {}, MERGE), [400, 'name must be provided'])
    assert.deepEqual(await ask('PUT', '//status', thing({})), [400, 'name must be provided'])
    assert.deepEqual(await ask('GET', '/a/status/more'), [200, undefined])
    assert.deepEqual(await ask('GET', '//status'), [405, unsupported('list')])
    assert.deepEqual(await ask('DELETE', '/a/scale/more'), [405, unsupported('delete')])
    assert.deepEqual(await ask('GET', '/a/more'), [404, 'things.t.example.com "a" not found'])
    assert.deepEqual(await ask('OPTIONS', '/a'), [405, unsupported('')])
    assert.deepEqual((await ask('HEAD', '/a'))[0], 200)
    const watched = async (path: string) =>
      (await api.request('GET', `/apis/t.example.com/v1/watch/things${path}`)).body.message
    assert.equal(await watched('/a/status'), unsupported('watch'))
    assert.equal(await watched('/a/more'), 'things.t.example.com "a" not found')
    const elsewhere = await api.request('GET', '/apis/t.example.com/v1/namespaces/n/things')
    assert.deepEqual([elsewhere.code, elsewhere.text], [404, '404 page not found\n'])
  }))

test('what several rules of a definition tell alike is said once, with a cause for each', () =>
  withApi(async (api) => {
    const rules = ['false', '!true', '1 > 2'].map((rule, i) => ({ rule, message: i < 2 ? 'never' : 'nor so' }))
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-validations': rules } }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    await api.request('POST', DEFINITIONS, definition('things', 'Thing', { versions }))
    await until(api, 'things.t.example.com', established)
    const { body } = await api.request('POST', '/apis/t.example.com/v1/things', thing({}))
    assert.match(body.message, /: \[<nil>: Invalid value: never, <nil>: Invalid value: nor so\]$/)
    assert.deepEqual(
      body.details.causes.map(({ message }: { message: string }) => message),
      ['Invalid value: never', 'Invalid value: never', 'Invalid value: nor so'],
    )
  }))

test('what metadata lacks hinders rules, and a finalizer without a domain is told of when it is added', () =>
  withApi(async (api) => {
    await api.request('POST', DEFINITIONS, definition('things', 'Thing'))
    await until(api, 'things.t.example.com', established)
    const path = '/apis/t.example.com/v1/things'
    const withMetadata = (metadata: object) => ({ ...thing({ size: 3 }), metadata: { name: 'a', ...metadata } })
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'x' }
    const refused = await api.request('POST', path, withMetadata({ ownerReferences: [owner] }))
    assert.match(
      refused.body.message,
      /\.uid: Required value: must not be empty, <nil>: Invalid value: null: some validation rules were not checked/,
    )
    const told = (name: string) => `299 - "metadata.finalizers: \\"${name}\\": prefer a domain-qualified`
    const made = await api.request('POST', path, withMetadata({ finalizers: ['bad', 'orphan', 'a.b/c'] }))
    assert.equal(made.code, 201)
    assert.ok(String(made.headers['warning']).startsWith(told('bad')), String(made.headers['warning']))
    const finalizers = ['bad', 'worse', 'orphan', 'a.b/c']
    const changed = await api.request('PATCH', `${path}/a`, { metadata: { finalizers } }, MERGE)
    assert.ok(String(changed.headers['warning']).startsWith(told('worse')), String(changed.headers['warning']))
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] }
    const named = { ...role, metadata: { name: 'r', finalizers: ['bad'] } }
    assert.equal((await api.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', named)).code, 422)
  }))

test('a name that is taken is not accepted, and is when it is given up', () =>
  withApi(async (api) => {
    await api.request('POST', DEFINITIONS, definition('things', 'Thing'))
    await until(api, 'things.t.example.com', established)
    await api.request('POST', DEFINITIONS, definition('others', 'Thing'))
    await until(
      api,
      'others.t.example.com',
      (one) =>
        one?.status?.conditions?.some(({ type, status }) => type === 'NamesAccepted' && status === 'False') === true,
    )
    await api.request(
      'PATCH',
      `${DEFINITIONS}/others.t.example.com`,
      { spec: { names: { kind: 'Other', listKind: 'OtherList', singular: 'other' } } },
      MERGE,
    )
    await until(api, 'others.t.example.com', established)
  }))

test('a definition that is deleted stays for an object that is held, and takes no new one', () =>
  withApi(async (api) => {
    await api.request('POST', DEFINITIONS, definition('things', 'Thing'))
    await until(api, 'things.t.example.com', established)
    await api.request('POST', '/apis/t.example.com/v1/things', {
      ...thing({}),
      metadata: { name: 'a', finalizers: ['x.example.com/f'] },
    })
    const deleted = await api.request('DELETE', `${DEFINITIONS}/things.t.example.com`)
    assert.deepEqual(deleted.body.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io'])
    const refused = await api.request('POST', '/apis/t.example.com/v1/things', {
      ...thing({}),
      metadata: { name: 'b' },
    })
    assert.match(refused.body.message, /create not allowed while custom resource definition is terminating/)
    await until(api, 'things.t.example.com', (one) => JSON.stringify(one).includes('InstanceDeletionInProgress'))
    await api.request('PATCH', '/apis/t.example.com/v1/things/a', { metadata: { finalizers: null } }, MERGE)
    assert.equal((await api.request('GET', '/apis/t.example.com/v1/things/a')).code, 404)
  }))

test('a conversion webhook that cannot be reached is an error, not a wrong answer', () =>
  withApi(async (api) => {
    const webhook = { clientConfig: { url: 'https://127.0.0.1:1/convert' }, conversionReviewVersions: ['v1'] }
    await api.request(
      'POST',
      DEFINITIONS,
      definition('things', 'Thing', { conversion: { strategy: 'Webhook', webhook } }),
    )
    await until(api, 'things.t.example.com', established)
    assert.equal((await api.request('POST', '/apis/t.example.com/v1/things', thing({}))).code, 201)
    const other = await api.request('GET', '/apis/t.example.com/v1beta1/things/a')
    assert.equal(other.code, 500)
    assert.match(other.body.message, /conversion webhook for t.example.com\/v1, Kind=Thing failed/)
  }))

test('bytes of one revision are made once for GET, LIST and watch, in every version that needs no webhook', () =>
  withApi(async (api) => {
    const clientConfig = { url: 'https://127.0.0.1:1/convert' }
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] }
    await api.request('POST', DEFINITIONS, definition('things', 'Thing'))
    await api.request(
      'POST',
      DEFINITIONS,
      definition('hooks', 'Hook', { conversion: { strategy: 'Webhook', webhook } }),
    )
    for (const [plural, kind, versions] of [
      ['things', 'Thing', ['v1', 'v1beta1']],
      ['hooks', 'Hook', ['v1']],
    ] as const) {
      await until(api, `${plural}.t.example.com`, established)
      await api.request('POST', `/apis/t.example.com/v1/${plural}`, { ...thing({ mode: 'x' }), kind })
      for (const version of versions) {
        const path = `/apis/t.example.com/${version}/${plural}`
        const place = `${path} at `
        const got = await answer(api, `${path}/a`, 'bytes')
        const [bytes] = got.bytes as readonly Buffer[]
        assert.equal((await answer(api, `${path}/a`, 'bytes')).bytes[0], bytes, `${place}GET`)
        assert.equal(JSON.parse(String(bytes)).apiVersion, `t.example.com/${version}`)
        const [item] = (await answer(api, path, 'list')).items
        const listed = item?.json('full')
        assert.ok(listed?.buffer === bytes?.buffer && listed?.byteOffset === bytes?.byteOffset, `${place}LIST`)
        const stop = new AbortController()
        const watches = await Promise.all([
          api.watch(`${path}?watch=1`, stop.signal),
          api.watch(`${path}?watch=1`, stop.signal),
        ])
        const readers = watches.map((events) => events[Symbol.asyncIterator]())
        for (const reader of readers) assert.equal((await reader.next()).value.type, 'ADDED')
        await api.request('PATCH', `/apis/t.example.com/v1/${plural}/a`, { spec: { mode: version } }, MERGE)
        const lines = []
        for (const reader of readers) lines.push((await reader.next()).value.json())
        assert.equal(lines[0], lines[1], `${place}watch`)
        assert.equal(JSON.parse(String(lines[0])).object.apiVersion, `t.example.com/${version}`)
        stop.abort()
      }
    }
  }))

test('a request is judged in its own version, and stored in the one that is stored', () =>
  withApi(async (api) => {
    const hook = await startHookServer()
    const schema = (spec: object) => ({ openAPIV3Schema: { type: 'object', properties: { spec } } })
    const integer = { type: 'integer', maximum: 9 }
    const clientConfig = { url: `${hook.url}/convert/well`, caBundle: hook.ca }
    const versions = [
      { name: 'v1', served: true, storage: true, schema: schema({ type: 'object', properties: { size: integer } }) },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: schema({
          type: 'object',
          required: ['scale'],
          properties: { scale: { type: 'object', properties: { size: integer } } },
        }),
      },
    ]
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
    await api.request('POST', DEFINITIONS, definition('things', 'Thing', { versions, conversion }))
    await until(api, 'things.t.example.com', established)
    const path = '/apis/t.example.com/v2/things'
    const unfit = await api.request('POST', path, thing({ size: 3 }, 'v2'))
    assert.match(unfit.body.message, /spec.scale: Required value/)
    const made = await api.request('POST', path, thing({ scale: { size: 3 } }, 'v2'))
    assert.deepEqual([made.code, made.body.spec], [201, { scale: { size: 3 } }])
    assert.deepEqual((await api.request('GET', '/apis/t.example.com/v1/things/a')).body.spec, { size: 3 })
    const grown = await api.request('PATCH', `${path}/a`, { spec: { scale: { size: 99 } } }, MERGE)
    assert.match(grown.body.message, /spec.scale.size in body should be less than or equal to 9/)
    assert.equal((await api.request('DELETE', `${path}/a`)).code, 200)
    hook.close()
  }))

test('an apply in another version than the last gives fields up, where the webhook converts what is left without metadata', () =>
  withApi(async (api) => {
    const hook = await startHookServer()
    const object = (properties: object) => ({ type: 'object', properties })
    const size = { size: { type: 'integer' } }
    const version = (name: string, spec: object) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: object({ spec: object(spec), note: object({ text: { type: 'string' } }) }) },
    })
    const versions = [version('v1', size), version('v2', { scale: object(size) })]
    const clientConfig = { url: `${hook.url}/convert/well`, caBundle: hook.ca }
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
    await api.request('POST', DEFINITIONS, definition('things', 'Thing', { versions, conversion }))
    await until(api, 'things.t.example.com', established)
    const apply = (manager: string, of: string, labels: object, rest: object) =>
      api.request(
        'PATCH',
        `/apis/t.example.com/${of}/things/a?fieldManager=${manager}`,
        { apiVersion: `t.example.com/${of}`, kind: 'Thing', metadata: { name: 'a', labels }, ...rest },
        { 'content-type': 'application/apply-patch+yaml' },
      )
    assert.equal((await apply('m', 'v2', { k: 'z', l: 'x' }, { spec: { scale: { size: 3 } } })).code, 201)
    // Nothing is left of the object for a moment: such a one is not asked about.
    const fewer = await apply('m', 'v1', { l: 'x' }, { spec: { size: 3 } })
    assert.deepEqual([fewer.code, fewer.body.metadata?.labels, fewer.body.spec], [200, { l: 'x' }, { size: 3 }])
    assert.equal((await apply('n', 'v2', {}, { note: { text: 'T' } })).code, 200)
    const refused = await apply('m', 'v2', {}, { spec: { scale: { size: 3 } } })
    assert.deepEqual(
      [refused.code, refused.body.message],
      [
        500,
        'failed to prune fields: failed add back owned items: failed to convert pruned object at version t.example.com/v2: ' +
          'conversion webhook for t.example.com/v1, Kind=Thing returned invalid metadata: missing metadata in converted object',
      ],
    )
    hook.close()
  }))

test('field selectors of a version that a webhook gives ask for the fields of that version', () =>
  withApi(async (api) => {
    const hook = await startHookServer()
    const schema = (spec: object) => ({ openAPIV3Schema: { type: 'object', properties: { spec } } })
    const integer = { type: 'integer' }
    const clientConfig = { url: `${hook.url}/convert/well`, caBundle: hook.ca }
    const scaled = { type: 'object', properties: { scale: { type: 'object', properties: { size: integer } } } }
    const versions = [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: schema({ type: 'object', properties: { size: integer } }),
        selectableFields: [{ jsonPath: '.spec.size' }],
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: schema(scaled),
        selectableFields: [{ jsonPath: '.spec.scale.size' }],
      },
    ]
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
    await api.request('POST', DEFINITIONS, definition('things', 'Thing', { versions, conversion }))
    await until(api, 'things.t.example.com', established)
    const v1 = '/apis/t.example.com/v1/things'
    const v2 = '/apis/t.example.com/v2/things'
    const named = (name: string, size: number) => ({ ...thing({ size }), metadata: { name, labels: { is: name } } })
    for (const [name, size] of [
      ['a', 3],
      ['b', 4],
      ['c', 3],
      ['d', 3],
    ] as const)
      assert.equal((await api.request('POST', v1, named(name, size))).code, 201)
    const names = async (query: string) => {
      const { code, body } = await api.request('GET', `${v2}?${query}`)
      assert.equal(code, 200, body.message)
      for (const { apiVersion, spec } of body.items)
        assert.deepEqual([apiVersion, Object.keys(spec)], ['t.example.com/v2', ['scale']])
      return [
        body.items.map((item: { metadata: { name: string } }) => item.metadata.name).join(),
        body.metadata.continue,
      ]
    }
    assert.deepEqual(await names('fieldSelector=spec.scale.size=3'), ['a,c,d', ''])
    assert.deepEqual(await names('fieldSelector=spec.scale.size!=3'), ['b', ''])
    assert.deepEqual(await names('fieldSelector=spec.scale.size=3,metadata.name=c'), ['c', ''])
    assert.deepEqual(await names('fieldSelector=spec.scale.size=3&labelSelector=is!=c'), ['a,d', ''])
    const [first, token] = await names('fieldSelector=spec.scale.size=3&limit=2')
    assert.equal(first, 'a,c')
    assert.deepEqual(await names(`fieldSelector=spec.scale.size=3&limit=2&continue=${encodeURIComponent(token)}`), [
      'd',
      '',
    ])
    assert.equal((await api.request('GET', `${v2}?fieldSelector=spec.size=3`)).code, 400)

    const stop = new AbortController()
    const watching = await api.watch(`${v2}?watch=1&fieldSelector=spec.scale.size=3&labelSelector=is=b`, stop.signal)
    const events = watching[Symbol.asyncIterator]()
    const told = async () => {
      const { type, object } = (await events.next()).value
      return [type, object.apiVersion, object.spec.scale.size, object.metadata.resourceVersion]
    }
    const change = async (object: object) =>
      (await api.request('PATCH', `${v1}/b`, object, MERGE)).body.metadata.resourceVersion
    const added = await change({ spec: { size: 3 } })
    const modified = await change({ metadata: { annotations: { k: 'v' } } })
    const left = await change({ spec: { size: 5 } })
    await change({ spec: { size: 6 } })
    const back = await change({ spec: { size: 3 } })
    const unlabelled = await change({ metadata: { labels: { is: 'x' } } })
    const wanted = [
      ['ADDED', 3, added],
      ['MODIFIED', 3, modified],
      ['DELETED', 3, left],
      ['ADDED', 3, back],
      ['DELETED', 3, unlabelled],
    ]
    for (const [type, size, version] of wanted)
      assert.deepEqual(await told(), [type, 't.example.com/v2', size, version])
    stop.abort()
    assert.equal((await api.request('DELETE', `${v2}?fieldSelector=spec.scale.size=3`)).code, 200)
    assert.equal((await names(''))[0], '')
    hook.close()
  }))
