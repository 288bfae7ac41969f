/**
 * The health checking protocol of gRPC (grpc.health.v1.Health/Check), asked as a probe, in a kubelet's words. By HTTP/2 itself: what a probe
 * has begun ends with it, also a connection to what says nothing.
 */
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
  const given = headers['grpc-status']
  if (given === undefined) {
    if (headers[':status'] === undefined) throw new Refusal(status.UNAVAILABLE, 'error reading from server: EOF')
    throw new Refusal(status.UNKNOWN, `unexpected HTTP status code received from server: ${headers[':status']}`)
  }
  if (given !== '0') throw new Refusal(Number(given), decoded(String(headers['grpc-message'] ?? '')))
  // A frame's head, then the one field: a varint under the key 8. Absent: its first value.
  const number = body.length > 6 && body[5] === 8 ? (body[6] ?? 0) : 0
  return STATUSES[number] ?? String(number)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
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
