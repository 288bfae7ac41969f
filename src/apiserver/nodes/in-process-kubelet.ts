/** A kubelet of this very process, asked as any other is, but without sockets: what it answers comes as an answer of HTTP does. */
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse, Handler, RequestBody } from '../../api/request.ts'
import type { HttpsAnswer, HttpsClient, HttpsRequest, Upgraded } from '../../http/client.ts'
import { duplexPair } from '../../http/duplex-pair.ts'

export function inProcessKubelet(handler: Handler): HttpsClient {
  async function ask(request: HttpsRequest): Promise<ApiResponse> {
    request.signal?.throwIfAborted()
    return handler(requestOf(request))
  }
  return {
    async send(request) {
      return answerOf(await ask(request))
    },
    async upgrade(request): Promise<Upgraded | HttpsAnswer> {
      const response = await ask(request)
      if (response.kind !== 'upgrade') return answerOf(response)
      const [near, far] = duplexPair()
      near.on('error', () => {})
      request.signal?.addEventListener('abort', () => near.destroy(), { once: true })
      response.takeOver(far, new Uint8Array())
      return upgradedOf(near)
    },
    retire: () => {},
    inUse: false,
    close: () => {},
  }
}

function requestOf({ method, path, headers = {}, body, signal }: HttpsRequest): ApiRequest {
  const { pathname, searchParams } = new URL(path, 'https://kubelet')
  const single: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    single[name] = typeof value === 'string' ? value : value.join(', ')
  return {
    method,
    path: pathname,
    query: searchParams,
    headers: single,
    ...(body === undefined ? {} : { body: bytesOf(body, single['content-type']) }),
    signal: signal ?? new AbortController().signal,
  }
}

const bytesOf = (body: Uint8Array | string, contentType = ''): RequestBody => ({
  kind: 'bytes',
  bytes: typeof body === 'string' ? Buffer.from(body) : body,
  contentType,
})

function answerOf(response: ApiResponse): HttpsAnswer {
  if (response.kind !== 'bytes' && response.kind !== 'stream')
    throw new Error(`a kubelet's answer cannot be a ${response.kind}`)
  const { status, contentType } = response
  async function* chunks() {
    if (response.kind === 'bytes') yield* response.bytes
    else if (response.kind === 'stream') yield* response.chunks
  }
  const headers = { ...(response.headers ?? {}), ...(contentType === '' ? {} : { 'content-type': contentType }) }
  return {
    status,
    headers,
    chunks,
    bytes: async () => Buffer.concat(await Array.fromAsync(chunks())),
  }
}

/** Of what stands before the other protocol. */
const LONGEST_HEAD = 64 * 1024

/** Reads the head of the answer 101. */
async function upgradedOf(socket: Duplex): Promise<Upgraded> {
  let read: Buffer = Buffer.alloc(0)
  for (;;) {
    const end = read.indexOf('\r\n\r\n')
    if (end >= 0) return upgraded(socket, read.toString('latin1', 0, end), read.subarray(end + 4))
    const chunk: Buffer | null = socket.read()
    if (chunk !== null) read = Buffer.concat([read, chunk])
    else if (socket.destroyed || socket.readableEnded || read.length > LONGEST_HEAD)
      throw new Error('the kubelet ended the connection')
    else await readable(socket)
  }
}

function upgraded(socket: Duplex, text: string, head: Buffer): Upgraded {
  const rawHeaders = text
    .split('\r\n')
    .slice(1)
    .flatMap((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    })
  return { status: 101, rawHeaders, socket, head }
}

const readable = (socket: Duplex): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      for (const event of EVENTS) socket.off(event, done)
      resolve()
    }
    for (const event of EVENTS) socket.once(event, done)
  })
const EVENTS = ['readable', 'end', 'close']
