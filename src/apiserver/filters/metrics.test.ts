import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse, StoredObject } from '../../api/request.ts'
import { notFound } from '../../api/status.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { createMetrics } from '../../base/metrics.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { Stream } from '../../base/stream.ts'
import { requestInfoOf } from '../request/info.ts'
import { labelsOfPath, type RequestLabels, type RequestSeries, requestSeries } from '../request/request-series.ts'
import { servedAnew } from '../request/served.ts'
import type { ServerRequest } from '../request/server-request.ts'
import { requestMetrics } from './metrics.ts'

function counted() {
  const metrics = createMetrics()
  const filter = requestMetrics(simulatedRuntime(1).clock, metrics)
  /** Values of a metric's series, by what `label` says. */
  const values = (metric: string, label: string) =>
    Object.fromEntries(
      metrics
        .text()
        .split('\n')
        .filter((line) => line.startsWith(`${metric}{`))
        .map((line) => [new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1], Number(line.split(' ').at(-1))]),
    )
  return { filter, values, requestFor: requestsOf() }
}

const PODS = { component: 'apiserver', group: '', resource: 'pods', scope: 'cluster', subresource: '', version: 'v1' }
const WATCHED: RequestLabels = { ...PODS, verb: 'WATCH' }
const LOGGED: RequestLabels = { ...PODS, scope: 'resource', subresource: 'log', verb: 'CONNECT' }

const requestsOf = () => {
  const ofLabels = new Map<RequestLabels, RequestSeries>()
  return (path: string, query = '', signal = new AbortController().signal, as?: RequestLabels) => {
    const parameters = new URLSearchParams(query)
    const info = requestInfoOf('GET', path, parameters)
    const served = {
      ...servedAnew(),
      series: as && getOrInsertComputed(ofLabels, as, (labels) => requestSeries(labels)),
    }
    const connection = { remoteAddress: '' }
    return {
      method: 'GET',
      path,
      query: parameters,
      headers: {},
      signal,
      info,
      served,
      connection,
    } satisfies ServerRequest
  }
}

const bytes: ApiResponse = { kind: 'bytes', status: 200, contentType: '', bytes: [] }

test('a watch that is refused is counted by its code, whether it is told at once or later', async () => {
  const { filter, values, requestFor } = counted()
  const refused = notFound({ group: '', resource: 'pods' }, 'a')
  const watch = requestFor('/api/v1/pods', 'watch=1', undefined, WATCHED)
  const atOnce = filter(() => {
    throw refused
  })
  assert.throws(() => atOnce(watch), refused)
  await assert.rejects(async () => filter(async () => Promise.reject(refused))(watch), refused)
  assert.deepEqual(values('apiserver_request_total', 'code'), { 404: 2 })
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), {})
})

test('a watch runs until its signal says so; a log that is answered whole does not run on', () => {
  const { filter, values, requestFor } = counted()
  const controller = new AbortController()
  const watching: ApiResponse = {
    kind: 'watch',
    status: 200,
    contentType: '',
    events: new Stream<never>(),
    encode: () => new Uint8Array(),
  }
  filter(() => watching)(requestFor('/api/v1/pods', 'watch=1', controller.signal, WATCHED))
  filter(() => bytes)(requestFor('/api/v1/namespaces/a/pods/b/log', '', undefined, LOGGED))
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), { WATCH: 1 })
  controller.abort()
  assert.deepEqual(values('apiserver_longrunning_requests', 'verb'), { WATCH: 0 })
  assert.deepEqual(values('apiserver_request_total', 'verb'), { WATCH: 1, CONNECT: 1 })
})

test("what nothing answers is not counted: who is turned away, and paths that are nobody's", () => {
  const { filter, values, requestFor } = counted()
  assert.throws(() =>
    filter(() => {
      throw notFound({ group: '', resource: 'pods' }, 'a')
    })(requestFor('/api/v1/nope')),
  )
  filter(() => bytes)(requestFor('/version'))
  assert.deepEqual(values('apiserver_request_total', 'code'), {})
})

test("answers to reads and bodies of writes are measured, and the time of webhooks is not the server's own", () => {
  const { filter, values, requestFor } = counted()
  const get: RequestLabels = { ...PODS, scope: 'resource', verb: 'GET' }
  filter(() => ({ ...bytes, bytes: [Buffer.alloc(700), Buffer.alloc(800)] }))(requestFor('/x', '', undefined, get))
  const post: RequestLabels = { ...get, verb: 'POST' }
  const body = { kind: 'bytes', bytes: new Uint8Array(60_000), contentType: 'application/json' } as const
  const written = { ...requestFor('/x', '', undefined, post), body }
  filter((request) => {
    if (request.served !== undefined) request.served.webhookMs = -2000
    return bytes
  })(written)
  assert.deepEqual(values('apiserver_response_sizes_sum', 'verb'), { GET: 1500 })
  assert.deepEqual(values('apiserver_request_body_size_bytes_sum', 'verb'), { create: 60_000 })
  assert.deepEqual(values('apiserver_request_sli_duration_seconds_sum', 'verb'), { GET: 0, POST: 2 })
})

test('paths of no resource are counted where they are of health or of documents, by methods that there are', () => {
  assert.deepEqual(labelsOfPath('BREW', '/readyz'), labelsOfPath('SIP', '/readyz'))
  assert.deepEqual([labelsOfPath('GET', '/version'), labelsOfPath('GET', '/openapi/v2')], [undefined, undefined])
  assert.equal(labelsOfPath('GET', '/openapi/v3/apis/apps/v1')?.subresource, 'openapi/v3/')
})

test('what is asked with a dryRun of its own making is counted as one', () => {
  const { filter, values, requestFor } = counted()
  const as: RequestLabels = { ...PODS, scope: 'resource', verb: 'POST' }
  for (const query of ['dryRun=a', 'dryRun=b', 'dryRun=All&dryRun=c', 'dryRun=All', 'dryRun=All&dryRun=All', ''])
    filter(() => bytes)(requestFor('/x', query, undefined, as))
  assert.deepEqual(values('apiserver_request_total', 'dry_run'), { invalid: 3, All: 2, '': 1 })
})

test('what components of this process are given has no size, and a list is not written for its size', () => {
  const { filter, values, requestFor } = counted()
  const as: RequestLabels = { ...PODS, verb: 'LIST' }
  const item: StoredObject = {
    key: '',
    revision: 1,
    object: { apiVersion: 'v1', kind: 'Pod', metadata: {} },
    size: 40,
    json: () => assert.fail('written'),
  }
  const answer: ApiResponse = { kind: 'list', status: 200, list: item.object, items: [item, item] }
  const { connection: _, ...inProcess } = requestFor('/x', '', undefined, as)
  filter(() => answer)(inProcess)
  assert.deepEqual(values('apiserver_response_sizes_count', 'verb'), {})
  filter(() => answer)(requestFor('/x', '', undefined, as))
  assert.deepEqual(values('apiserver_response_sizes_sum', 'verb'), { LIST: 80 })
})

test('a failure that is no Status is the code that it is answered with, whatever code it has of its own', async () => {
  const { filter, values, requestFor } = counted()
  const as: RequestLabels = { ...PODS, verb: 'LIST' }
  const gone = new AbortController()
  gone.abort()
  const broken = filter(() => Promise.reject(Object.assign(new Error('socket'), { code: 'ECONNRESET' })))
  await assert.rejects(async () => broken(requestFor('/x', '', undefined, as)))
  await assert.rejects(async () => broken(requestFor('/x', '', gone.signal, as)))
  assert.deepEqual(values('apiserver_request_total', 'code'), { 500: 1, 504: 1 })
})

test('what was not observed has no series: times of a watch, sizes of what components of the process get', () => {
  const { filter, values, requestFor } = counted()
  const controller = new AbortController()
  const got: RequestLabels = { ...PODS, verb: 'LIST' }
  filter(() => bytes)(requestFor('/api/v1/pods', 'watch=1', controller.signal, WATCHED))
  const { connection: _, ...inside } = requestFor('/api/v1/pods', '', undefined, got)
  filter(() => bytes)(inside)
  assert.deepEqual(values('apiserver_request_duration_seconds_count', 'verb'), { LIST: 1 })
  assert.deepEqual(values('apiserver_request_sli_duration_seconds_count', 'verb'), { LIST: 1 })
  assert.deepEqual(values('apiserver_response_sizes_count', 'verb'), {})
  assert.deepEqual(values('apiserver_request_body_size_bytes_count', 'verb'), {})
  filter(() => bytes)(requestFor('/api/v1/pods', '', undefined, got))
  assert.deepEqual(values('apiserver_response_sizes_count', 'verb'), { LIST: 1 })
})
