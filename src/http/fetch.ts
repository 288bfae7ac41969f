/**
 * One document from anywhere: GET over HTTPS, redirects followed, bounded in size. For what an administrator's configuration
 * names (an issuer's discovery and keys); each call has a connection of its own, since they are rare.
 */
import { createHttpsClient } from './client.ts'

export interface FetchOptions {
  /** PEM of the authorities to believe; without it those of the machine. */
  readonly ca?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** HTTP without TLS will do. */
  readonly allowsPlain?: boolean
  readonly maxBytes: number
  readonly signal: AbortSignal
}

export interface Fetched {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

const MAX_REDIRECTS = 10
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** @throws the socket's error, the signal's reason, or an Error about what came: too much, no HTTPS, in circles */
export async function fetchDocument(url: string, options: FetchOptions): Promise<Fetched> {
  let at = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const found = await fetchOnce(at, options)
    if (typeof found !== 'string') return found
    at = new URL(found, at)
  }
  throw new Error(`stopped after ${MAX_REDIRECTS} redirects`)
}

/** The document, or where it is said to be. */
async function fetchOnce(url: URL, options: FetchOptions): Promise<Fetched | string> {
  if (url.protocol !== 'https:' && !(options.allowsPlain === true && url.protocol === 'http:'))
    throw new Error(`unsupported protocol scheme ${JSON.stringify(url.protocol)}`)
  const client = createHttpsClient({ server: url.origin, ...(options.ca === undefined ? {} : { ca: options.ca }) })
  try {
    const answer = await client.send({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { accept: 'application/json', ...options.headers },
      signal: options.signal,
    })
    const { location } = answer.headers
    if (REDIRECTS.has(answer.status) && typeof location === 'string') return location
    return {
      status: answer.status,
      contentType: String(answer.headers['content-type'] ?? ''),
      text: await limitedText(answer.chunks(), options.maxBytes),
    }
  } finally {
    client.close()
  }
}

/** A body whole. @throws AnswerTooLarge when it is larger, and reads no further */
export async function limitedBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > maxBytes) throw new AnswerTooLarge(`the answer is larger than ${maxBytes} bytes`)
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}

/** The same as text. */
export async function limitedText(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  return (await limitedBytes(chunks, maxBytes)).toString('utf8')
}

/** The server answers with more than is read of one answer. */
export class AnswerTooLarge extends Error {}
