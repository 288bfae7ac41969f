/**
 * webhook: servers that are asked to which user a token belongs or what a user may do (API concepts: webhook token authentication, webhook mode
 * of authorization). Here: one review sent to such a server, again where it says that this may help.
 */

import type { JsonObject } from '../../../api/object.ts'
import { rejected } from '../../../api/objects/rejected.ts'
import { asObject } from '../../../api/unchecked.ts'
import { goDurationTextMs } from '../../../base/go-duration.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { createHttpsClient, type HttpsEndpoint } from '../../../http/client.ts'
import { limitedText } from '../../../http/fetch.ts'
import { networkError } from '../../../http/network-error.ts'
import { parsedReview, type TypeMeta } from '../../webhooks/client.ts'
import { withRetries } from '../../webhooks/retries.ts'

export interface ReviewClient {
  /** The answered review's status. @throws ReviewError in the words of a Go client */
  ask(review: TypeMeta): Promise<JsonObject>
}

export class ReviewError extends Error {
  /** There was no answer in time. */
  readonly timedOut: boolean
  /** Another try may go better. */
  readonly again: boolean
  constructor(message: string, { timedOut = false, again = false } = {}) {
    super(message)
    this.timedOut = timedOut
    this.again = again
  }
}

const MAX_ANSWER_BYTES = 1024 * 1024
/** kube-apiserver's. */
const FIRST_WAIT_MS = 500

/** `firstWaitMs`: before the second try. */
export function createReviewClient(
  runtime: Runtime,
  endpoint: HttpsEndpoint,
  timeoutMs: number,
  firstWaitMs: number = FIRST_WAIT_MS,
): ReviewClient {
  const post = createPost(runtime, endpoint, timeoutMs)
  return {
    ask: (review) =>
      withRetries(runtime, { firstWaitMs, goesOn: mayGoBetter }, async () => {
        const { text, contentType } = await post(JSON.stringify(review))
        try {
          return asObject(parsedReview(text, contentType, review)['status'])
        } catch (error) {
          throw error instanceof ReviewError ? error : new ReviewError((error as Error).message)
        }
      }),
  }
}

const mayGoBetter = (error: unknown): boolean => error instanceof ReviewError && error.again

/** Sends JSON, and gives what is answered. @throws ReviewError */
export type Post = (
  body: string,
  signal?: AbortSignal,
) => Promise<{ readonly text: string; readonly contentType: string }>

export function createPost(runtime: Runtime, endpoint: HttpsEndpoint, timeoutMs: number): Post {
  const { clock, machineClock } = runtime
  const client = createHttpsClient({ ...endpoint, server: new URL(endpoint.server).origin })
  const { pathname } = new URL(endpoint.server)
  const path = `${pathname}?timeout=${goDurationTextMs(timeoutMs)}`
  const { origin, hostname } = new URL(endpoint.server)
  const url = `${origin}${path}`
  const { serverName = hostname.replace(/^\[|\]$/g, ''), ca, proxy } = endpoint
  const asked = { server: origin, serverName, ca, proxy }

  return async (body, stopped) => {
    const timeout = new AbortController()
    const timer = machineClock.setTimer(timeoutMs, 'webhook', () => timeout.abort())
    let status: number
    let contentType: string
    let text: string
    try {
      const answer = await client.send({
        method: 'POST',
        path,
        headers: {
          accept: 'application/json, */*',
          'content-type': 'application/json',
          'user-agent': 'kube-apiserver',
        },
        body,
        signal: stopped === undefined ? timeout.signal : AbortSignal.any([timeout.signal, stopped]),
      })
      status = answer.status
      contentType = String(answer.headers['content-type'] ?? '')
      text = await limitedText(answer.chunks(), MAX_ANSWER_BYTES)
    } catch (error) {
      if (stopped?.aborted) throw new ReviewError(`Post ${JSON.stringify(url)}: context canceled`)
      const timedOut = timeout.signal.aborted
      const why = timedOut
        ? 'net/http: request canceled (Client.Timeout exceeded while awaiting headers)'
        : await networkError(error, { endpoint: asked, nowMs: clock.now(), timeout: timeout.signal })
      throw new ReviewError(`Post ${JSON.stringify(url)}: ${why}`, { timedOut })
    } finally {
      timer.cancel()
    }
    if (status < 200 || status > 206)
      throw new ReviewError(rejected(status, text.slice(0, 2048)), { again: status === 500 || status === 429 })
    return { text, contentType }
  }
}
