/** Tokens that a server elsewhere knows, by TokenReview (API concept: webhook token authentication). */

import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import { asObject, asText, asTexts } from '../../../api/unchecked.ts'
import { messageOf } from '../../../base/errors.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { TokenAuthenticator, VouchedToken } from '../authenticator.ts'
import { TokenError } from '../token-error.ts'
import { createAnswerCache } from './cache.ts'
import type { ReviewClient } from './client.ts'

export interface TokenWebhookOptions {
  readonly version: 'v1' | 'v1beta1'
  /** How long an answer is kept, whatever it is. */
  readonly keepMs: number
  /** What a token is good for when its request names no audience. */
  readonly apiAudiences: readonly string[]
}

const MOST_ANSWERS = 4096

export function createTokenWebhook(
  runtime: Runtime,
  client: ReviewClient,
  { version, keepMs, apiAudiences }: TokenWebhookOptions,
): TokenAuthenticator {
  const cache = createAnswerCache<JsonObject>(runtime.clock, MOST_ANSWERS, () => keepMs)
  return {
    async authenticate(token, audiences = apiAudiences) {
      const review = {
        kind: 'TokenReview',
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: {},
        spec: { token, audiences },
        status: { user: {} },
      }
      let status: JsonObject
      try {
        status = await cache.get(digest(JSON.stringify(review.spec)), () => client.ask(review))
      } catch (error) {
        throw new TokenError(messageOf(error))
      }
      if (status['authenticated'] === true) return vouched(status, audiences)
      const error = asText(status['error'])
      if (error !== '') throw new TokenError(error)
      return undefined
    },
  }
}

/** The key of a remembered answer. A hash, since clients may send tokens of any length. */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/** undefined when the token is for others. */
function vouched(status: JsonObject, wanted: readonly string[]): VouchedToken | undefined {
  const user = userOf(asObject(status['user']))
  const meant = asTexts(status['audiences'])
  const forNow = { user, expiresAt: Number.POSITIVE_INFINITY }
  if (meant.length === 0) return forNow
  const audiences = wanted.filter((audience) => meant.includes(audience))
  return audiences.length === 0 ? undefined : { ...forNow, audiences }
}

function userOf(given: JsonObject): UserInfo {
  const { groups, extra } = given
  const uid = asText(given['uid'])
  const more = Object.entries(asObject(extra)).map(([key, values]): [string, readonly string[]] => [
    key,
    asTexts(values),
  ])
  return {
    name: asText(given['username']),
    groups: asTexts(groups),
    ...(uid === '' ? {} : { uid }),
    ...(more.length === 0 ? {} : { extra: Object.fromEntries(more) }),
  }
}
