/** Tokens that a server elsewhere knows, by TokenReview (API concept: webhook token authentication). */
import { createHash } from 'node:crypto'
import type { Fields } from '../../../api/object.ts'
import type { UserInfo } from '../../../api/request.ts'
import type { Runtime } from '../../../base/runtime.ts'
import type { TokenAuthenticator, VouchedToken } from '../authenticator.ts'
import { TokenError } from '../service-account-tokens.ts'
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
  const cache = createAnswerCache<Fields>(runtime.clock, MOST_ANSWERS, () => keepMs)
  return {
    async authenticate(token, audiences = apiAudiences) {
      const review = {
        kind: 'TokenReview',
        apiVersion: `authentication.k8s.io/${version}`,
        metadata: {},
        spec: { token, audiences },
        status: { user: {} },
      }
      let status: Fields
      try {
        status = await cache.get(digest(JSON.stringify(review.spec)), () => client.ask(review))
      } catch (error) {
        throw new TokenError(error instanceof Error ? error.message : String(error))
      }
      if (status['authenticated'] === true) return vouched(status, audiences)
      if (typeof status['error'] === 'string' && status['error'] !== '') throw new TokenError(status['error'])
      return undefined
    },
  }
}

/** The key of a remembered answer. A hash, since clients may send tokens of any length. */
const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/** undefined when the token is for others. */
function vouched(status: Fields, wanted: readonly string[]): VouchedToken | undefined {
  const user = userOf(status['user'])
  const meant = texts(status['audiences'])
  const forNow = { user, expiresAt: Number.POSITIVE_INFINITY }
  if (meant.length === 0) return forNow
  const audiences = wanted.filter((audience) => meant.includes(audience))
  return audiences.length === 0 ? undefined : { ...forNow, audiences }
}

function userOf(given: unknown): UserInfo {
  const { username, uid, groups, extra } = (typeof given === 'object' && given !== null ? given : {}) as Fields
  const more = Object.entries((extra ?? {}) as Fields).map(([key, values]): [string, readonly string[]] => [
    key,
    texts(values),
  ])
  return {
    name: typeof username === 'string' ? username : '',
    groups: texts(groups),
    ...(typeof uid === 'string' && uid !== '' ? { uid } : {}),
    ...(more.length === 0 ? {} : { extra: Object.fromEntries(more) }),
  }
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
