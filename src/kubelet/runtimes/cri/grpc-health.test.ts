/** What a kubelet v1.37.1 said on 2026-11-28 of servers that answer a gRPC probe in these ways. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createWebServer } from 'node:http'
import { createServer as createHttp2Server, type OutgoingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer, type Server as PlainServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js'
import { liveRuntime } from '../../../base/live-runtime.ts'
import { grpcHealth } from './grpc-health.ts'

const { clock } = liveRuntime()
const asIs = (bytes: Buffer) => bytes
const CHECK = {
  path: '/grpc.health.v1.Health/Check',
  ...{ requestStream: false, responseStream: false },
  ...{ requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs },
} as const

async function asked(t: TestContext, answer: handleUnaryCall<Buffer, Buffer> | undefined, timeoutMs = 60_000) {
  const server = new Server()
  t.after(() => server.forceShutdown())
  if (answer !== undefined) server.addService({ Check: CHECK }, { Check: answer })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  )
  return probe(port, timeoutMs)
}

async function probe(port: number, timeoutMs: number) {
  const place = { host: '127.0.0.1', port, service: 's' }
  const { success, output } = await grpcHealth(clock, place, timeoutMs, new AbortController().signal)
  return success || output
}

const refuses = (t: TestContext, code: status, details: string) => asked(t, (_, answer) => answer({ code, details }))
const serving = (t: TestContext, number: number) => asked(t, (_, answer) => answer(null, Buffer.from([8, number])))

test('gRPC’s health check tells what the server answered, with the code of what it refused', async (t) => {
  const failed = 'error: health rpc probe failed: rpc error: code ='
  const lacks = 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health):'
  const unhealthy = (answer: string) => `service unhealthy (responded with "${answer}")`
  for (const [seen, expected] of [
    [serving(t, 1), true],
    [serving(t, 0), unhealthy('UNKNOWN')],
    [serving(t, 2), unhealthy('NOT_SERVING')],
    [serving(t, 7), unhealthy('7')],
    [refuses(t, status.NOT_FOUND, 'unknown service'), `${failed} NotFound desc = unknown service`],
    [refuses(t, status.UNAUTHENTICATED, ''), `${failed} Unauthenticated desc = `],
    [refuses(t, status.UNAVAILABLE, 'busy'), `${failed} Unavailable desc = busy`],
    [refuses(t, status.UNIMPLEMENTED, 'not me'), `${lacks} not me`],
    [asked(t, undefined), `${lacks} The server does not implement the method /grpc.health.v1.Health/Check`],
    [refuses(t, status.DEADLINE_EXCEEDED, 'own'), 'timeout: health rpc did not complete within 1m0s'],
    [asked(t, () => {}, 500), 'timeout: health rpc did not complete within 500ms'],
  ] as const)
    assert.equal(await seen, expected)
})

test('codes without a name, headers and messages that are none, and answers of HTTP alone are told of as by Go’s gRPC', async (t) => {
  const grpc = { ':status': 200, 'content-type': 'application/grpc' }
  const answers: readonly (readonly [answer: OutgoingHttpHeaders, body: Buffer | undefined, code: string])[] = [
    [{ ...grpc, 'grpc-status': '17', 'grpc-message': 'seventeen' }, undefined, 'Code(17) desc = seventeen'],
    [{ ...grpc, 'grpc-status': '-1' }, undefined, 'Code(4294967295) desc = '],
    [
      { ...grpc, 'grpc-status': 'abc' },
      undefined,
      'Unknown desc = transport: malformed grpc-status: strconv.ParseInt: parsing "abc": invalid syntax',
    ],
    [
      { ...grpc, 'grpc-status': '4294967296' },
      undefined,
      'Unknown desc = transport: malformed grpc-status: strconv.ParseInt: parsing "4294967296": value out of range',
    ],
    [grpc, undefined, 'Unknown desc = '],
    [{ ...grpc, 'grpc-status': '2', 'grpc-message': 'a%20b%0Ac%zz' }, undefined, 'Unknown desc = a b\nc%zz'],
    [
      { ...grpc, 'grpc-status': '0' },
      undefined,
      'Internal desc = cardinality violation: received no response message from non-server-streaming RPC',
    ],
    [
      { ...grpc, 'grpc-status': '0' },
      Buffer.from([0, 0, 0, 0, 1, 8]),
      'Internal desc = grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
    ],
    [
      { ':status': 503, 'content-type': 'text/html' },
      Buffer.from('hey'),
      'Unavailable desc = unexpected HTTP status code received from server: 503 (Service Unavailable); transport: received unexpected content-type "text/html"\ndata: "hey"',
    ],
    [
      { ':status': 200, 'content-type': 'text/plain' },
      Buffer.from('hey'),
      'Unknown desc = unexpected HTTP status code received from server: 200 (OK); transport: received unexpected content-type "text/plain"\ndata: "hey"',
    ],
  ]
  let at: (typeof answers)[number] = [{ ':status': 404 }, undefined, '']
  const server = createHttp2Server().on('stream', (stream) => {
    stream.respond(at[0], { endStream: at[1] === undefined })
    if (at[1] !== undefined) stream.end(at[1])
  })
  t.after(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const missing =
    'unexpected HTTP status code received from server: 404 (Not Found); malformed header: missing HTTP content-type'
  assert.equal(
    await probe(port, 60_000),
    `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${missing}`,
  )
  for (at of answers)
    assert.equal(await probe(port, 60_000), `error: health rpc probe failed: rpc error: code = ${at[2]}`)
})

test('what takes connections and does not speak gRPC is not connected to', async (t) => {
  for (const server of [
    createServer((socket) => void socket.resume()),
    createServer((socket) => void socket.destroy()),
    createWebServer((_, response) => response.end('hi')),
  ] satisfies PlainServer[]) {
    t.after(() => void server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const within = `timeout: failed to connect service "127.0.0.1:${port}" within 500ms: context deadline exceeded`
    assert.equal(await probe(port, 500), within)
  }
})
