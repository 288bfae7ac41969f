/** The transport over HTTPS: to this cluster's API server from another process, or to any other Kubernetes API server. */
import type { ApiRequest, ApiResponse, WatchEvent } from '../api/request.ts'
import { jsonText, parseExactly } from '../api/values/json.ts'
import type { StreamReader } from '../base/stream.ts'
import { createHttpsClient, type HttpsAnswer, type HttpsEndpoint } from '../http/client.ts'
import { responseObject } from './response.ts'
import type { Transport } from './transport.ts'

export interface HttpsTransport extends Transport {
  /** From now on no connection is kept; those in use end with their requests. */
  retire(): void
  /** Closes the pooled connections. */
  close(): void
}

/** `sizes`: told of each request that is answered whole, in bytes of its body and of the answer's. */
export function httpsTransport(
  endpoint: HttpsEndpoint,
  sizes: (method: string, sent: number, received: number) => void = () => {},
): HttpsTransport {
  const client = createHttpsClient(endpoint)
  return {
    inProcess: false,
    host: new URL(endpoint.server).host,
    retire: () => client.retire(),
    close: () => client.close(),
    async send(request, beforeItBegins) {
      const query = request.query.toString()
      const { body } = request
      const headers: Record<string, string | readonly string[]> = { accept: 'application/json' }
      for (const [name, value] of Object.entries<string | readonly string[] | undefined>(request.headers))
        if (value !== undefined) headers[name] = value
      if (body !== undefined) headers['content-type'] = body.contentType ?? 'application/json'
      const sent = body === undefined ? undefined : body.kind === 'bytes' ? body.bytes : jsonText(body.object)
      const answer = await client.send({
        method: request.method,
        path: query === '' ? request.path : `${request.path}?${query}`,
        headers,
        signal: request.signal,
        ...(beforeItBegins === undefined ? {} : { beforeItBegins }),
        ...(sent === undefined ? {} : { body: sent }),
      })
      if (request.query.get('watch') === 'true' && answer.status === 200) return watchResponse(answer, request)
      const contentType = String(answer.headers['content-type'] ?? 'application/json')
      const { etag } = answer.headers
      const bytes = await answer.bytes()
      sizes(request.method, sent === undefined ? 0 : Buffer.byteLength(sent), bytes.length)
      const whole: ApiResponse = {
        kind: 'bytes',
        status: answer.status,
        ...(etag === undefined ? {} : { headers: { etag } }),
        contentType,
        bytes: [bytes],
      }
      if (answer.status >= 400) responseObject(whole)
      return whole
    },
  }
}

function watchResponse(answer: HttpsAnswer, request: ApiRequest): ApiResponse {
  return {
    kind: 'watch',
    status: 200,
    contentType: 'application/json',
    events: watchEvents(answer.chunks()[Symbol.asyncIterator](), request.signal),
    encode: (event) => new TextEncoder().encode(`${jsonText(event)}\n`),
  }
}

/** Lines of JSON as events. Bytes are taken from the socket only when an event is asked for, so a slow reader holds it back. */
function watchEvents(chunks: AsyncIterator<Uint8Array>, signal: AbortSignal): StreamReader<WatchEvent> {
  const decoder = new TextDecoder()
  let ready: WatchEvent[] = []
  let rest = ''
  let ended = false

  const close = () => {
    if (ended) return
    ended = true
    ready = []
    void chunks.return?.().then(undefined, () => {})
  }
  signal.addEventListener('abort', close, { once: true })

  return {
    async next() {
      while (ready.length === 0 && !ended) {
        try {
          const chunk = await chunks.next()
          if (chunk.done === true) ended = true
          else take(decoder.decode(chunk.value, { stream: true }))
        } catch (error) {
          if (ended || signal.aborted) return undefined
          ended = true
          throw error
        }
      }
      return ready.shift()
    },
    drain: () => ready.splice(0),
    get closed() {
      return ended && ready.length === 0
    },
    close,
  }

  function take(text: string) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') ready.push(parseExactly(line) as WatchEvent)
  }
}
