/** bootstrap-tokens: what becomes of bootstrap tokens (API concept: bootstrap tokens): they sign kube-public/cluster-info, and they expire. */
import type { Secret } from '../../api/generated/types.ts'
import { canonicalTime, TimeError } from '../../api/schema/time.ts'

export const secretsResource = { group: '', version: 'v1', resource: 'secrets' }
/** Secrets that may hold bootstrap tokens: of one type, in kube-system. */
export const tokenSelector = { fieldSelector: 'type=bootstrap.kubernetes.io/token,metadata.namespace=kube-system' }

/** Milliseconds since the epoch; -Infinity for what is no time (such a token counts as expired), Infinity for none. */
export function expirationOf(secret: Secret): number {
  const text = textOf(secret, 'expiration')
  if (text === '') return Number.POSITIVE_INFINITY
  try {
    return Date.parse(canonicalTime(text, 'time'))
  } catch (error) {
    if (error instanceof TimeError) return Number.NEGATIVE_INFINITY
    throw error
  }
}

/** What signs, by the token's id; undefined for a token that may not sign now, or is not named after its id. */
export function signingSecret(
  secret: Secret,
  nowMs: number,
): { readonly id: string; readonly key: string } | undefined {
  const id = textOf(secret, 'token-id')
  const key = textOf(secret, 'token-secret')
  if (secret.metadata.name !== `bootstrap-token-${id}` || id === '' || key === '') return undefined
  if (expirationOf(secret) <= nowMs || textOf(secret, 'usage-bootstrap-signing') !== 'true') return undefined
  return { id, key }
}

function textOf(secret: Secret, field: string): string {
  return Buffer.from(secret.data?.[field] ?? '', 'base64').toString()
}
