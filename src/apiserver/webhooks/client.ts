/**
 * webhooks: how the API server calls servers of the cluster's own: where they are (endpoint.ts), one POST of a review and its
 * answer (here), and why that failed (http/network-error.ts), all in the words a Go client has for it. Used by admission and by
 * conversion; knows nothing of either's reviews but their kind.
 */

import type { JsonObject } from '../../api/object.ts'
import { rejected } from '../../api/objects/rejected.ts'
import { jsonText, parseExactly } from '../../api/values/json.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { HttpsAnswer, HttpsClient } from '../../http/client.ts'
import { createClientPool } from '../../http/client-pool.ts'
import { AnswerTooLarge, limitedText } from '../../http/fetch.ts'
import { networkError } from '../../http/network-error.ts'
import type { CacheReads } from '../reads.ts'
import { type ClientConfig, urlOf, type WebhookEndpoint, webhookEndpoint } from './endpoint.ts'

export interface WebhookCall {
  readonly clientConfig: ClientConfig
  readonly timeoutSeconds: number
  readonly userAgent: string
  /** The review: its apiVersion and kind are the answer's too. */
  readonly review: TypeMeta
}

/** What a review says that it is. */
export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

export interface WebhookClient {
  /** The answered review. @throws Error in Go's words: there was no answer, or not with a review of this kind and version */
  post(call: WebhookCall): Promise<JsonObject>
}

/** So much of a text is told. */
const MAX_SAID = 2048
const MAX_ANSWER_BYTES = 7 * 1024 * 1024
/** Connections of so many webhooks are kept. */
const MAX_CLIENTS = 200

export function createWebhookClient(runtime: Runtime, reads: CacheReads): WebhookClient {
  const pool = createClientPool(MAX_CLIENTS)

  function clientOf({ server, ca, serverName, refused = false }: WebhookEndpoint): HttpsClient {
    // A name in the handshake is a host's, never an address.
    const named = /[a-z]/i.test(serverName) && !serverName.includes(':')
    return pool.clientOf({ server, ...(ca === undefined ? {} : { ca }), ...(named ? { serverName } : {}), refused })
  }

  return {
    async post({ clientConfig, timeoutSeconds, userAgent, review }) {
      const timeout = new AbortController()
      const timer = runtime.machineClock.setTimer(timeoutSeconds * 1000, 'webhook', () => timeout.abort())
      let endpoint: WebhookEndpoint | undefined
      let answer: HttpsAnswer | undefined
      let text: string
      try {
        endpoint = webhookEndpoint(clientConfig, timeoutSeconds, reads)
        answer = await clientOf(endpoint).send({
          method: 'POST',
          path: endpoint.path,
          headers: {
            accept: 'application/json, */*',
            'content-type': 'application/json',
            'user-agent': userAgent,
          },
          body: jsonText(review),
          signal: timeout.signal,
        })
        text = await limitedText(answer.chunks(), MAX_ANSWER_BYTES)
      } catch (error) {
        if (error instanceof AnswerTooLarge)
          throw new Error(`received response larger than ${MAX_ANSWER_BYTES} bytes`, { cause: error })
        if (answer !== undefined && !timeout.signal.aborted)
          throw new Error('unexpected error when reading response body. Please retry. Original error: unexpected EOF', {
            cause: error,
          })
        const why = await networkError(error, { endpoint, nowMs: runtime.clock.now(), timeout: timeout.signal })
        throw new Error(`Post ${JSON.stringify(urlOf(clientConfig, timeoutSeconds))}: ${why}`, { cause: error })
      } finally {
        timer.cancel()
      }
      const contentType = String(answer.headers['content-type'] ?? '')
      if (answer.status !== 200) throw new Error(rejected(answer.status, saidOf(text, contentType)))
      return parsedReview(text, contentType, review)
    },
  }
}

/** What an answer that is an error tells: a text, or what does not say what it is. */
const saidOf = (text: string, contentType: string): string | undefined =>
  contentType === '' || contentType.startsWith('text/') ? text.slice(0, MAX_SAID).trim() : undefined

/** The review that was answered, of the kind and version of the one sent. @throws Error in Go's words */
export function parsedReview(text: string, contentType: string, sent: TypeMeta): JsonObject {
  if (text === '') throw new Error(`0-length response with status code: 200 and content type: ${contentType}`)
  const review = parsedObject(text)
  // What says nothing of itself is what a Go client asked for.
  const { apiVersion, kind } = { ...(saysNothing(review) ? sent : { apiVersion: '', kind: '' }), ...review }
  const [group = '', version = ''] = sent.apiVersion.split('/')
  const given = String(apiVersion)
  if (kind !== sent.kind || !given.startsWith(`${group}/`))
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  if (given !== sent.apiVersion)
    throw new Error(`converting (${given.split('/')[1]}.${kind}) to (${version}.${kind}): unknown conversion`)
  return review
}

const saysNothing = (review: JsonObject): boolean => !('apiVersion' in review) && !('kind' in review)

function parsedObject(text: string): JsonObject {
  let value: unknown
  try {
    value = parseExactly(text)
  } catch {
    // Anything else is YAML to the decoder, and a bare word a string.
    value = text
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  throw new Error(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  )
}
