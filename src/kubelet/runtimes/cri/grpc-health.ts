/**
 * The health checking protocol of gRPC (grpc.health.v1.Health/Check), asked as a probe, in a kubelet's words. By HTTP/2 itself: what a probe
 * has begun ends with it, also a connection to what says nothing.
 */
import { STATUS_CODES } from 'node:http'
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { status } from '@grpc/grpc-js'
import { type Clock, sleep } from '../../../base/clock.ts'
import { messageOf } from '../../../base/errors.ts'
import { goDurationTextMs } from '../../../base/go-duration.ts'
import type { ProbeResult } from '../runtime.ts'
import { codeName } from './connection.ts'

interface Place {
  readonly host: string
  readonly port: number
  readonly service: string
}

const RETRY_MS = 1_000
const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']
const MOST_BYTES = 64 * 1024
/** Of what is no answer of gRPC. */
const MOST_TOLD_BYTES = 1024

class Refusal extends Error {
  readonly code: status

  constructor(code: status, details: string) {
    super(details)
    this.code = code
  }
}

/** To connect may take `timeoutMs`, and the answer as long again. Rejects with the signal's reason alone. */
export async function grpcHealth(
  clock: Clock,
  { host, port, service }: Place,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const failed = (output: string): ProbeResult => ({ success: false, output })
  const limited = async <T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const limit = new AbortController()
    const timer = clock.setTimer(timeoutMs, 'gRPC probe', () =>
      limit.abort(new Refusal(status.DEADLINE_EXCEEDED, 'context deadline exceeded')),
    )
    try {
      return await task(AbortSignal.any([signal, limit.signal]))
    } finally {
      timer.cancel()
    }
  }
  let session: ClientHttp2Session | undefined
  try {
    try {
      session = await limited((until) => connected(clock, `http://${at}`, until))
    } catch {
      if (signal.aborted) throw signal.reason
      const within = goDurationTextMs(timeoutMs)
      return failed(
        `timeout: failed to connect service ${JSON.stringify(at)} within ${within}: context deadline exceeded`,
      )
    }
    const ready = session
    const answer = await limited((until) => check(ready, service, until))
    if (answer === 'SERVING') return { success: true, output: '' }
    return failed(`service unhealthy (responded with ${JSON.stringify(answer)})`)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return failed(refusalText(error, timeoutMs))
  } finally {
    session?.destroy()
  }
}

/** Tried again until the signal is aborted. Rejects with its reason. */
async function connected(clock: Clock, url: string, signal: AbortSignal): Promise<ClientHttp2Session> {
  for (;;) {
    signal.throwIfAborted()
    const session = await new Promise<ClientHttp2Session | undefined>((resolve) => {
      const made = connect(url)
      const settle = (found?: ClientHttp2Session) => {
        signal.removeEventListener('abort', stop)
        if (found === undefined) made.destroy()
        resolve(found)
      }
      const stop = () => settle()
      signal.addEventListener('abort', stop, { once: true })
      // Told of by 'close' too, once it is there.
      made.on('error', stop)
      made.once('close', stop)
      made.once('remoteSettings', () => settle(made))
    })
    if (session !== undefined) return session
    await sleep(clock, RETRY_MS, signal)
  }
}

/** The name of the status, or its number where it has none. @throws Refusal, or the signal's reason */
function check(session: ClientHttp2Session, service: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'kube-probe/1.37',
    })
    const stop = () => {
      reject(signal.reason)
      stream.destroy()
    }
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    const chunks: Buffer[] = []
    let size = 0
    let last: IncomingHttpHeaders = {}
    const take = (headers: IncomingHttpHeaders) => {
      last = { ...last, ...headers }
    }
    stream.on('response', take)
    stream.on('trailers', take)
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MOST_BYTES) chunks.push(chunk)
    })
    stream.on('error', (error) => reject(new Refusal(status.UNAVAILABLE, messageOf(error))))
    stream.on('close', () => {
      signal.removeEventListener('abort', stop)
      try {
        resolve(answered(last, Buffer.concat(chunks)))
      } catch (error) {
        reject(error)
      }
    })
    stream.end(framed(service))
  })
}

function answered(headers: IncomingHttpHeaders, body: Buffer): string {
  const { 'content-type': type } = headers
  const http = headers[':status'] === undefined ? undefined : Number(headers[':status'])
  const given = String(headers['grpc-status'] ?? status.UNKNOWN)
  if (http === undefined) throw new Refusal(status.UNAVAILABLE, 'error reading from server: EOF')
  const isGrpc = /^application\/grpc(?:[+;]|$)/i.test(type ?? '')
  if (http !== 200 || !isGrpc) throw notGrpc(http, isGrpc ? undefined : { type, body })
  const code = Number(given)
  if (!/^[+-]?\d+$/.test(given) || code !== (code | 0)) throw malformedStatus(given)
  if (code !== status.OK) throw new Refusal(code, decoded(String(headers['grpc-message'] ?? '')))
  // A frame has a head of a flag and a length.
  if (body.length < 5)
    throw new Refusal(
      status.INTERNAL,
      'cardinality violation: received no response message from non-server-streaming RPC',
    )
  const message = body.subarray(5)
  // The one field: a varint under the key 8. Absent: its first value.
  const [, number] = message[0] === 8 ? message : [8, 0]
  if (number === undefined)
    throw new Refusal(
      status.INTERNAL,
      'grpc: failed to unmarshal the received message: proto: cannot parse invalid wire-format data',
    )
  return STATUSES[number] ?? String(number)
}

/** By the status of HTTP what gRPC's is. */
const OF_HTTP: Readonly<Record<number, status>> = {
  400: status.INTERNAL,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.UNIMPLEMENTED,
  429: status.UNAVAILABLE,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
  504: status.UNAVAILABLE,
}

function notGrpc(
  http: number,
  other: { readonly type: string | undefined; readonly body: Buffer } | undefined,
): Refusal {
  let said = `unexpected HTTP status code received from server: ${http} (${STATUS_CODES[http] ?? ''})`
  if (other !== undefined) {
    const { type, body } = other
    said +=
      type === undefined
        ? '; malformed header: missing HTTP content-type'
        : `; transport: received unexpected content-type ${JSON.stringify(type)}`
    if (body.length > 0) said += `\ndata: ${JSON.stringify(body.subarray(0, MOST_TOLD_BYTES).toString())}`
  }
  return new Refusal(OF_HTTP[http] ?? status.UNKNOWN, said)
}

function malformedStatus(given: string): Refusal {
  const why = /^[+-]?\d+$/.test(given) ? 'value out of range' : 'invalid syntax'
  const said = `transport: malformed grpc-status: strconv.ParseInt: parsing ${JSON.stringify(given)}: ${why}`
  return new Refusal(status.UNKNOWN, said)
}

/** What is no escape stays as it is. */
function decoded(text: string): string {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** The request's message, with gRPC's head of a flag and a length. */
function framed(service: string): Buffer {
  const name = Buffer.from(service)
  const length: number[] = []
  for (let left = name.length; ; left >>>= 7) {
    if (left < 128) {
      length.push(left)
      break
    }
    length.push((left & 127) | 128)
  }
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([10, ...length]), name])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

function refusalText(error: unknown, timeoutMs: number): string {
  const { code, message } = error instanceof Refusal ? error : new Refusal(status.UNKNOWN, messageOf(error))
  switch (code) {
    case status.UNIMPLEMENTED:
      return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`
    case status.DEADLINE_EXCEEDED:
      return `timeout: health rpc did not complete within ${goDurationTextMs(timeoutMs)}`
    default:
      return `error: health rpc probe failed: rpc error: code = ${codeName(code)} desc = ${message}`
  }
}
