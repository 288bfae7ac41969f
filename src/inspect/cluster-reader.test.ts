import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../api/request.ts'
import { StatusError } from '../api/status.ts'
import { simulatedRuntime } from '../base/simulated-runtime.ts'
import { createClusterReader, type ReaderOptions } from './cluster-reader.ts'
import { readKinds } from './kinds.ts'

const PODS = { group: '', version: 'v1', resource: 'pods' }
const OPTIONS: ReaderOptions = { budget: 200, requestMs: 1000, totalMs: 10_000, userAgent: 'test' }

/** A server that answers as `answer` says. */
function readerOf(answer: (request: ApiRequest) => object | Promise<object>, options: Partial<ReaderOptions> = {}) {
  const runtime = simulatedRuntime(1)
  const seen: ApiRequest[] = []
  const transport = {
    inProcess: false,
    async send(request: ApiRequest): Promise<ApiResponse> {
      seen.push(request)
      const bytes = [Buffer.from(JSON.stringify(await answer(request)))]
      return { kind: 'bytes', status: 200, contentType: 'application/json', bytes }
    },
  }
  return { runtime, seen, reader: createClusterReader(runtime.clock, transport, { ...OPTIONS, ...options }) }
}

const list = (...names: readonly string[]) => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: {},
  items: names.map((name) => ({ metadata: { name, namespace: name } })),
})

test('the same question is asked once, and one namespace is found in a list of all', async () => {
  const { reader, seen } = readerOf(() => list('a', 'b'))
  await reader.list(PODS, { metadataOnly: true })
  await reader.list(PODS, { metadataOnly: true })
  const own = await reader.list(PODS, { metadataOnly: true, namespace: 'b' })
  assert.equal(seen.length, 1)
  assert.deepEqual(own.state === 'found' && own.value.map(({ metadata }) => metadata.name), ['b'])
})

test('when the budget is spent nothing more is asked, and it is said', async () => {
  const { reader, seen } = readerOf(() => list(), { budget: 3 })
  const reads = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => reader.get(PODS, 'default', name)))
  assert.deepEqual([seen.length, reader.requests], [3, 3])
  assert.deepEqual(
    reads.map(({ state }) => state),
    ['found', 'found', 'found', 'not-asked', 'not-asked'],
  )
  assert.deepEqual(
    reader.unseen.map(({ what }) => what),
    ['pods/d in namespace default', 'pods/e in namespace default'],
  )
})

test('a server that does not answer is waited for only so long', async () => {
  const { reader, runtime } = readerOf(
    (request) =>
      new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason))),
  )
  const reading = reader.get(PODS, 'default', 'a')
  await runtime.advance(1000)
  assert.deepEqual(await reading, { state: 'failed', code: 0, message: 'no answer within 1000 ms' })
})

test('what is missing, forbidden and failed is told apart; admission forbids in other words than authorization', async () => {
  const errors: Readonly<Record<string, StatusError>> = {
    missing: new StatusError(404, 'NotFound', 'pods "missing" not found'),
    forbidden: new StatusError(403, 'Forbidden', 'pods "forbidden" is forbidden: User "u" cannot get resource "pods"'),
    refused: new StatusError(403, 'Forbidden', 'admission webhook "w" denied the request: no'),
    failed: new StatusError(500, 'InternalError', 'Internal error occurred: x'),
  }
  const { reader } = readerOf((request) => {
    throw errors[request.path.split('/').at(-1) ?? '']
  })
  const states = await Promise.all(Object.keys(errors).map(async (name) => (await reader.get(PODS, 'n', name)).state))
  assert.deepEqual(states, ['missing', 'forbidden', 'failed', 'failed'])
})

test('reviews and patches leave as dry runs', async () => {
  const { reader, seen } = readerOf(() => ({ kind: 'Pod', apiVersion: 'v1', metadata: {}, status: { allowed: true } }))
  const question = { user: 'u', groups: [], verb: 'patch', group: '', resource: 'pods', namespace: 'n' }
  assert.deepEqual(await reader.mayDo(question), { state: 'found', value: true })
  await reader.tryPatch(PODS, 'n', 'a', [])
  assert.deepEqual(
    seen.map(({ method, query }) => [method, query.get('dryRun')]),
    [
      ['POST', 'All'],
      ['PATCH', 'All'],
    ],
  )
  assert.equal(reader.dryRuns, 2)
})

const entry = (name: string, kind: string, more: object = {}) => ({
  name,
  kind,
  singularName: kind.toLowerCase(),
  namespaced: true,
  verbs: ['get', 'list', 'delete'],
  ...more,
})

test('kinds are known from servers with the old form of discovery alone, but for those that do not answer', async () => {
  const documents: Readonly<Record<string, object>> = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': { resources: [entry('pods', 'Pod', { shortNames: ['po'] }), entry('pods/log', 'Pod')] },
    '/apis': {
      kind: 'APIGroupList',
      groups: [
        { name: 'apps', versions: [{ version: 'v1beta1' }, { version: 'v1' }], preferredVersion: { version: 'v1' } },
        { name: 'down.test', versions: [{ version: 'v1' }] },
      ],
    },
    '/apis/apps/v1': { resources: [entry('deployments', 'Deployment', { shortNames: ['deploy'] })] },
    '/apis/apps/v1beta1': { resources: [entry('deployments', 'Deployment')] },
  }
  const { reader } = readerOf(({ path }) => {
    const document = documents[path]
    if (document === undefined) throw new StatusError(503, 'ServiceUnavailable', 'down')
    return document
  })
  const kinds = await readKinds(reader)
  assert.deepEqual(kinds.stale, ['down.test/v1'])
  assert.equal(kinds.resources.length, 2)
  const found = (kind: string) => kinds.find(kind) && `${kinds.find(kind)?.resource} ${kinds.find(kind)?.version}`
  for (const kind of ['po', 'pod', 'Pods', 'POD', 'pods.v1.']) assert.equal(found(kind), 'pods v1', kind)
  for (const kind of ['deploy', 'deployments.apps', 'Deployment.v1.apps'])
    assert.equal(found(kind), 'deployments v1', kind)
  assert.equal(found('deployments.v1beta1.apps'), 'deployments v1beta1')
  for (const kind of ['pods/log', 'log', 'deployments.batch', '.', '']) assert.equal(found(kind), undefined, kind)
})

test('of Secrets the metadata alone is asked for, and nothing else of what comes is passed on', async () => {
  const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
  const annotations = { kept: 'yes', 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"k":"aGlkZGVu"}}' }
  const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 's', annotations }, data: { k: 'aGlkZGVu' } }
  const { reader, seen } = readerOf(({ path, method }) =>
    path.endsWith('/secrets') && method === 'GET' ? { ...list(), items: [secret] } : secret,
  )
  const read = [
    await reader.get(SECRETS, 'n', 's'),
    await reader.list(SECRETS, { namespace: 'n' }),
    await reader.tryPatch(SECRETS, 'n', 's', []),
  ]
  assert.doesNotMatch(JSON.stringify(read), /aGlkZGVu/)
  assert.match(JSON.stringify(read), /"kept":"yes"/)
  assert.ok(
    seen.every(({ headers }) => /^application\/json;as=PartialObjectMetadata/.test(String(headers['accept']))),
    JSON.stringify(seen.map(({ headers }) => headers)),
  )
})
