/**
 * webhook: servers that are asked to which user a token belongs or what a user may do (API concepts: webhook token authentication, webhook mode
 * of authorization). Here: one review sent to such a server, again where it says that this may help.
 */

import type { JsonObject } from '../../../api/object.ts'
import { rejected } from '../../../api/objects/rejected.ts'
import { asObject } from '../../../api/unchecked.ts'
import { sleep } from '../../../base/clock.ts'
import { goDurationTextMs } from '../../../base/go-duration.ts'
import type { Runtime } from '../../../base/runtime.ts'
import { createHttpsClient, type HttpsEndpoint } from '../../../http/client.ts'
import { limitedText } from '../../../http/fetch.ts'
import { parsedReview, type TypeMeta } from '../../webhooks/client.ts'
import { networkError } from '../../webhooks/network-error.ts'

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
/** kube-apiserver's: half a second, each wait half as long again, up to a fifth more by chance. */
const TRIES = 5
const FIRST_WAIT_MS = 500
const FACTOR = 1.5
const JITTER = 0.2

export function createReviewClient(runtime: Runtime, endpoint: HttpsEndpoint, timeoutMs: number): ReviewClient {
  const { clock, machineClock, random } = runtime
  const client = createHttpsClient({ ...endpoint, server: new URL(endpoint.server).origin })
  const { pathname } = new URL(endpoint.server)
  const path = `${pathname}?timeout=${goDurationTextMs(timeoutMs)}`
  const { origin, hostname } = new URL(endpoint.server)
  const url = `${origin}${path}`
  const asked = { server: origin, serverName: endpoint.serverName ?? hostname.replace(/^\[|\]$/g, ''), ca: endpoint.ca }

  async function once(review: TypeMeta): Promise<JsonObject> {
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
        body: JSON.stringify(review),
        signal: timeout.signal,
      })
      status = answer.status
      contentType = String(answer.headers['content-type'] ?? '')
      text = await limitedText(answer.chunks(), MAX_ANSWER_BYTES)
    } catch (error) {
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
    return asObject(parsedReview(text, contentType, review)['status'])
  }

  return {
    async ask(review) {
      let wait = FIRST_WAIT_MS
      for (let left = TRIES - 1; ; left--) {
        try {
          return await once(review)
        } catch (error) {
          if (!(error instanceof ReviewError)) throw new ReviewError((error as Error).message)
          if (!error.again || left === 0) throw error
          await sleep(machineClock, wait * (1 + JITTER * random.float()))
          wait *= FACTOR
        }
      }
    },
  }
}
