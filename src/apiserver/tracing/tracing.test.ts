import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type GrpcObject,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  type sendUnaryData,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { ApiResponse } from '../../api/request.ts'
import { liveRuntime } from '../../base/live-runtime.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { filterChain } from '../filters/chain.ts'
import { statusCodeOf } from '../filters/errors.ts'
import { requestSpans } from '../filters/request-spans.ts'
import type { Filter, ServerHandler, ServerRequest } from '../request/server-request.ts'
import { parseTracingConfiguration } from './configuration.ts'
import { bounded, exportSpans } from './export.ts'
import { type FinishedSpan, rootContext } from './span.ts'

const MILLION = 1_000_000
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const passing: Filter = (next) => (request) => next(request)
const OK: ApiResponse = { kind: 'bytes', status: 200, contentType: '', bytes: [Buffer.from('ok')] }

async function spansOf(
  given: Partial<ServerRequest>,
  groups: readonly string[],
  perMillion = MILLION,
  answer = OK,
  isRemote = true,
) {
  const runtime = simulatedRuntime(1)
  const told: FinishedSpan[] = []
  const spans = requestSpans(runtime, perMillion, (span) => told.push(span), statusCodeOf)
  const authentication: Filter = (next) => (request) => next({ ...request, user: { name: 'x', groups } })
  const filters = { authentication, audit: passing, impersonation: passing, overload: passing, authorization: passing }
  const chain = filterChain(runtime, filters, undefined, { spans }).reduceRight<ServerHandler>(
    (next, filter) => filter(next),
    () => answer,
  )
  await chain({
    method: 'GET',
    path: '/api/v1/namespaces/default/pods/x/log',
    query: new URLSearchParams(),
    headers: { host: '127.0.0.1:6443', 'user-agent': 'test' },
    signal: new AbortController().signal,
    auditId: 'id',
    ...(isRemote ? { connection: { remoteAddress: '127.0.0.1' } } : {}),
    ...given,
  })
  return told.reverse()
}

const nested = (spans: readonly FinishedSpan[]) =>
  spans.map(({ name, parent }) => {
    const above = spans.find(({ context }) => context === parent)
    return above === undefined ? name : `${name} in ${above.name}`
  })

test('a request’s spans are named and nested as kube-apiserver’s', async () => {
  const spans = await spansOf({}, ['system:masters'])
  const route = 'GET /api/v1/namespaces/{:namespace}/pods/{:name}/log'
  assert.deepEqual(nested(spans), [
    'authentication',
    `${route} in authentication`,
    `audit in ${route}`,
    'constrainedimpersonation in audit',
    'priorityandfairness in constrainedimpersonation',
    'authorization in priorityandfairness',
    'Get in authorization',
  ])
  assert.deepEqual(spans[1]?.attributes, {
    'server.address': '127.0.0.1',
    'http.request.method': 'GET',
    'url.scheme': 'https',
    'server.port': 6443,
    'network.peer.address': '127.0.0.1',
    'user_agent.original': 'test',
    'client.address': '127.0.0.1',
    'url.path': '/api/v1/namespaces/default/pods/x/log',
    'http.target': '/api/v1/namespaces/default/pods/x/log',
    'audit-id': 'id',
    'http.response.body.size': 2,
    'http.response.status_code': 200,
  })
  assert.equal(spans.at(-1)?.attributes['subresource'], 'log')
  const many = await spansOf({ path: '/apis/apps/v1/deployments' }, ['system:masters'])
  assert.equal(many[1]?.name, 'GET /apis/apps/v1/deployments')
  assert.deepEqual([many.at(-1)?.name, many.at(-1)?.attributes['scope']], ['List', 'cluster'])
  const health = await spansOf({ path: '/healthz' }, ['system:masters'])
  assert.deepEqual([health[1]?.name, health.at(-1)?.name], ['GET', 'authorization'])
})

test('the trace of privileged users goes on, and is not told of where it is not; others begin their own', async () => {
  const headers = { traceparent: PARENT, tracestate: 'a=b' }
  for (const group of ['system:masters', 'system:monitoring']) {
    const [span, ...inner] = (await spansOf({ headers }, [group])).filter(({ name }) => name !== 'authentication')
    assert.equal(Buffer.from(span?.parent?.spanId ?? []).toString('hex'), 'b7ad6b7169203331')
    for (const { context } of inner)
      assert.deepEqual(
        [Buffer.from(context.traceId).toString('hex'), context.state],
        ['0af7651916cd43dd8448eb211c80319c', 'a=b'],
      )
  }
  const unsampled = { traceparent: PARENT.replace(/01$/, '00') }
  assert.deepEqual(nested(await spansOf({ headers: unsampled }, ['system:masters'])), ['authentication'])
  const [, other] = await spansOf({ headers }, ['developers'])
  assert.equal(other?.parent, undefined)
  assert.notEqual(Buffer.from(other?.context.traceId ?? []).toString('hex'), '0af7651916cd43dd8448eb211c80319c')
})

test('of those that belong to no trace a share is told of, and in-process requests have none', async () => {
  assert.deepEqual(await spansOf({}, [], 0), [])
  const runtime = simulatedRuntime(2)
  const sampled = Array.from({ length: 1000 }, () => rootContext(runtime.random, MILLION / 4)).filter(
    ({ isSampled }) => isSampled,
  ).length
  assert.ok(200 < sampled && sampled < 300, String(sampled))
  assert.deepEqual(await spansOf({}, ['system:masters'], MILLION, OK, false), [])
})

test('spans reach a collector by OTLP, in batches, and the rest at the end', async (t) => {
  const file = fileURLToPath(new URL('./protos/otlp-traces.proto', import.meta.url))
  const loaded = loadPackageDefinition(loadSync(file, { keepCase: true, longs: String }))
  const { service } = 'opentelemetry.proto.collector.trace.v1.TraceService'
    .split('.')
    .reduce<unknown>((at, part) => (at as GrpcObject)[part], loaded) as ServiceClientConstructor
  const taken: { readonly request: unknown }[] = []
  const server = new Server()
  server.addService(service, {
    Export(call: { readonly request: unknown }, done: sendUnaryData<object>) {
      taken.push(call)
      done(null, {})
    },
  })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  t.after(() => server.forceShutdown())
  const exporter = exportSpans(liveRuntime(), `127.0.0.1:${port}`, 'apiserver-x')
  for (const span of await spansOf({ headers: { traceparent: PARENT } }, ['system:masters'])) exporter.tell(span)
  await exporter.close()
  const text = JSON.stringify(taken[0]?.request)
  assert.match(text, /"service.name","value":\{"string_value":"apiserver"/)
  assert.match(text, /"name":"GET \/api\/v1\/namespaces\/\{:namespace\}\/pods\/\{:name\}\/log","kind":2,/)
  assert.match(text, /"flags":769/)
  assert.match(text, /"key":"http.response.status_code","value":\{"int_value":"200"\}/)
})

test('a collector that takes the connection and stays silent holds a stop no longer than two seconds; later spans are dropped', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const timers: [ms: number, label: string, task: () => void][] = []
  const { machineClock: clock, log } = liveRuntime()
  const setTimer = (ms: number, label: string, task: () => void) => {
    timers.push([ms, label, task])
    return { cancel() {} }
  }
  const { port } = silent.address() as AddressInfo
  const exporter = exportSpans({ machineClock: { ...clock, setTimer }, log }, `127.0.0.1:${port}`, 'apiserver-x')
  const [span] = await spansOf({}, ['system:masters'])
  assert.ok(span)
  exporter.tell(span)
  const closed = exporter.close()
  const last = timers.find(([, label]) => label === 'close the exporter of spans')
  assert.equal(last?.[0], 2000)
  last[2]()
  await closed
  const before = timers.length
  exporter.tell(span)
  assert.equal(timers.length, before)
})

test('of a client’s long headers a span keeps the beginning', async () => {
  const headers = { host: '127.0.0.1', 'user-agent': 'x'.repeat(1 << 20) }
  const [span] = await spansOf({ headers }, ['system:masters'])
  assert.ok(span)
  assert.equal(JSON.stringify(bounded(span)).length < 10_000, true)
})

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n'
// What a kube-apiserver v1.37.1 said of these (2026-11-27).
for (const [text, words] of [
  [
    `${HEAD}samplingRatePerMillion: -1\n`,
    'failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive',
  ],
  [
    `${HEAD}samplingRatePerMillion: 1000001\n`,
    'failed to validate tracing configuration: samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million',
  ],
  [
    `${HEAD}endpoint: 'a b'\n`,
    'failed to validate tracing configuration: endpoint: Invalid value: "dns://a b": parse "dns://a b": invalid character " " in host name',
  ],
  [
    `${HEAD}endpoint: http://x:1\n`,
    'failed to validate tracing configuration: endpoint: Invalid value: "http://x:1": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md',
  ],
  [
    `${HEAD}endpoint: ':x'\n`,
    'failed to validate tracing configuration: endpoint: Invalid value: "dns://:x": parse "dns://:x": invalid port ":x" after host',
  ],
  [
    `${HEAD}endpoint: 3\n`,
    'failed to read tracing config: unable to decode tracing configuration data: json: cannot unmarshal number into Go struct field TracingConfiguration.TracingConfiguration.endpoint of type string',
  ],
  [
    `${HEAD}bogus: 1\n`,
    'failed to read tracing config: unable to decode tracing configuration data: strict decoding error: unknown field "bogus"',
  ],
  [
    'apiVersion: apiserver.config.k8s.io/v2\nkind: TracingConfiguration\n',
    'failed to read tracing config: unable to decode tracing configuration data: no kind "TracingConfiguration" is registered for version "apiserver.config.k8s.io/v2" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    `${HEAD}samplingRatePerMillion: 1.5\n`,
    'failed to read tracing config: unable to decode tracing configuration data: json: cannot unmarshal number 1.5 into Go struct field TracingConfiguration.TracingConfiguration.samplingRatePerMillion of type int32',
  ],
] as const)
  test(`a tracing configuration is refused: ${words.slice(0, 120)}`, () => {
    assert.throws(() => parseTracingConfiguration(text), { message: words })
  })

test('a tracing configuration may leave out everything', () => {
  for (const text of ['', HEAD, 'apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\n'])
    assert.deepEqual(parseTracingConfiguration(text), { endpoint: 'localhost:4317', samplingRatePerMillion: 0 })
})
