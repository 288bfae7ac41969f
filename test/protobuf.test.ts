/** Answers in protobuf say what those in JSON do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBody } from '../src/api/codec/decode.ts'
import { decodeProtobuf, openProtobuf } from '../src/api/codec/protobuf.ts'
import { parseApiVersion } from '../src/api/object.ts'
import { messageForm } from '../src/apiserver/handlers/protobuf.ts'
import { liveRuntime } from '../src/base/live-runtime.ts'
import { ADMIN, startTestApi, type TestApi, textOf } from './harness.ts'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const META = 'g=meta.k8s.io;v=v1'
const PODS = '/api/v1/namespaces/n/pods'
const pod = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'a' }, annotations: { a: 'é"\n' } },
  spec: {
    containers: [
      { name: 'c', image: 'i', resources: { limits: { cpu: '1500m' } }, ports: [{ containerPort: 80, name: 'http' }] },
    ],
    ...more,
  },
})

interface Bytes {
  readonly code: number
  readonly type: string
  readonly bytes: Buffer
}

async function ask(api: TestApi, method: string, url: string, accept: string, body?: object): Promise<Bytes> {
  const { pathname, searchParams } = new URL(url, 'https://localhost')
  const response = await api.handler({
    method,
    path: pathname,
    query: searchParams,
    headers: { accept },
    user: ADMIN,
    connection: { remoteAddress: '' },
    signal: new AbortController().signal,
    ...(body === undefined
      ? {}
      : { body: { kind: 'bytes', bytes: Buffer.from(JSON.stringify(body)), contentType: 'application/json' } }),
  })
  if (response.kind === 'bytes')
    return { code: response.status, type: response.contentType, bytes: Buffer.concat(response.bytes) }
  if (response.kind !== 'watch')
    return { code: response.status, type: 'application/json', bytes: Buffer.from(await textOf(response)) }
  const event = await response.events.next()
  response.events.close()
  assert.ok(event !== undefined)
  return { code: 200, type: response.contentType, bytes: Buffer.from(response.encode(event)) }
}

/** The object in the form that JSON answers have. */
function opened(bytes: Uint8Array) {
  const { apiVersion, kind } = openProtobuf(bytes)
  const { schema } = messageForm(apiVersion, kind)
  const { group, version } = parseApiVersion(apiVersion)
  const body = { kind: 'bytes', bytes, contentType: PROTOBUF } as const
  return decodeBody(body, { group, version, kind, schema }, { fieldValidation: 'Ignore', decodeProtobuf }).object
}

async function withApi(run: (api: TestApi) => Promise<void>): Promise<void> {
  const api = await startTestApi(liveRuntime())
  try {
    await api.namespace('n')
    await run(api)
  } finally {
    await api.stop()
  }
}

test('what is created, read, patched and deleted is answered whole', () =>
  withApi(async (api) => {
    const created = await ask(api, 'POST', PODS, PROTOBUF, pod('a'))
    assert.deepEqual([created.code, created.type], [201, PROTOBUF])
    const { body } = await api.request('GET', `${PODS}/a`)
    assert.deepEqual(opened(created.bytes), body)
    assert.deepEqual(opened((await ask(api, 'GET', `${PODS}/a`, PROTOBUF)).bytes), body)
    const deleted = await ask(api, 'DELETE', `${PODS}/a`, PROTOBUF)
    assert.equal(opened(deleted.bytes).kind, 'Pod')
  }))

test('lists hold what lists in JSON hold, paged or not, and as metadata', () =>
  withApi(async (api) => {
    for (const name of ['a', 'b', 'c']) await api.request('POST', PODS, pod(name))
    for (const url of [PODS, `${PODS}?limit=2`, `${PODS}?labelSelector=app%3Dnone`, '/api/v1/pods']) {
      const { type, bytes } = await ask(api, 'GET', url, PROTOBUF)
      assert.equal(type, PROTOBUF)
      const list = opened(bytes)
      assert.deepEqual({ ...list, items: list['items'] ?? [] }, (await api.request('GET', url)).body, url)
    }
    const metadata = `as=PartialObjectMetadataList;${META}`
    const partial = await ask(api, 'GET', PODS, `${PROTOBUF};${metadata}`)
    const json = await api.request('GET', PODS, undefined, { accept: `application/json;${metadata}` })
    assert.deepEqual(
      (opened(partial.bytes) as unknown as { items: { metadata: object }[] }).items.map((item) => item.metadata),
      json.body.items.map((item: { metadata: object }) => item.metadata),
    )
  }))

test('a kind in another than its stored version is answered in the version asked for', () =>
  withApi(async (api) => {
    const scaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 's' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    }
    await api.request('POST', '/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers', scaler)
    for (const version of ['v1', 'v2']) {
      const url = `/apis/autoscaling/${version}/namespaces/n/horizontalpodautoscalers/s`
      assert.deepEqual(opened((await ask(api, 'GET', url, PROTOBUF)).bytes), (await api.request('GET', url)).body)
    }
  }))

test('a watch is frames of objects, errors and metadata', () =>
  withApi(async (api) => {
    await api.request('POST', PODS, pod('a'))
    const framesOf = async (accept: string) => {
      const { type, bytes } = await ask(api, 'GET', `${PODS}?watch=1`, accept)
      const text = bytes.toString('latin1')
      return [type, bytes.readUInt32BE(0) === bytes.length - 4, /ADDED/.test(text), /Pod\b/.test(text)]
    }
    const stream = `${PROTOBUF};stream=watch`
    assert.deepEqual(await framesOf(PROTOBUF), [stream, true, true, true])
    assert.deepEqual(await framesOf(`${PROTOBUF};as=PartialObjectMetadata;${META}`), [stream, true, true, false])
  }))

test('an error is a Status in protobuf, and what protobuf cannot say is said in JSON if that may be', () =>
  withApi(async (api) => {
    const missing = await ask(api, 'GET', `${PODS}/none`, `${PROTOBUF},application/json`)
    assert.deepEqual([missing.code, missing.type], [404, PROTOBUF])
    assert.deepEqual(opened(missing.bytes), (await api.request('GET', `${PODS}/none`)).body)
    const table = await ask(api, 'GET', PODS, `${PROTOBUF};as=Table;${META},application/json`)
    assert.deepEqual(
      [table.code, table.type, JSON.parse(table.bytes.toString()).kind],
      [200, 'application/json', 'PodList'],
    )
    const only = await ask(api, 'GET', PODS, `${PROTOBUF};as=Table;${META}`)
    assert.deepEqual([only.code, only.type], [406, 'application/json'])
  }))

test('discovery speaks protobuf', () =>
  withApi(async (api) => {
    for (const path of ['/api', '/apis', '/apis/apps', '/apis/apps/v1', '/api/v1']) {
      const { type, bytes } = await ask(api, 'GET', path, PROTOBUF)
      assert.equal(type, PROTOBUF)
      assert.deepEqual(openProtobuf(bytes).kind, (await api.request('GET', path)).body.kind)
    }
  }))
