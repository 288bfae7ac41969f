/** Compact JWS (RFC 7515) with the asymmetric algorithms of RFC 7518: taken apart once, verified with a public key. */

import { constants, type KeyObject, verify } from 'node:crypto'
import type { JsonObject } from '../../api/object.ts'

export type Claims = JsonObject

export const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

export interface Jws {
  /** '' where the header names none. */
  readonly algorithm: string
  readonly keyId: string
  readonly claims: Claims
  readonly signed: Buffer
  readonly signature: Buffer
  /** Its header asks for an extension that is not known here, or its signature has another spelling: no key verifies it. */
  readonly unusable: boolean
}

/** undefined when `token` is no JWS whose payload is an object. Nothing of it is verified. */
export function parseJws(token: string): Jws | undefined {
  const [head, body, signature, more] = token.split('.')
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) return undefined
  const header = objectOf(head)
  const claims = objectOf(body)
  if (header === undefined || claims === undefined) return undefined
  const bytes = Buffer.from(signature, 'base64url')
  const text = (name: string) => (typeof header[name] === 'string' ? header[name] : '')
  return {
    algorithm: text('alg'),
    keyId: text('kid'),
    claims,
    signed: Buffer.from(`${head}.${body}`),
    signature: bytes,
    // Another spelling of the same signature is another token: caches and logs name tokens by their text.
    unusable: header['crit'] !== undefined || header['b64'] !== undefined || bytes.toString('base64url') !== signature,
  }
}

/** An object of JSON in base64url; undefined for anything else. */
function objectOf(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
  } catch {
    return undefined
  }
}

/** RFC 7518, section 3.4: each ECDSA algorithm has one curve. */
const CURVES: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' }

/** Whether `key` verifies it. The caller has decided that the algorithm may be used. */
export function verifies({ algorithm, signed, signature, unusable }: Jws, key: KeyObject): boolean {
  if (unusable || !(ALGORITHMS as readonly string[]).includes(algorithm)) return false
  const hash = `sha${algorithm.slice(2)}`
  try {
    if (algorithm.startsWith('ES'))
      return (
        key.asymmetricKeyType === 'ec' &&
        key.asymmetricKeyDetails?.namedCurve === CURVES[algorithm] &&
        verify(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
      )
    if (key.asymmetricKeyType !== 'rsa') return false
    if (algorithm.startsWith('RS')) return verify(hash, signed, key, signature)
    const padding = constants.RSA_PKCS1_PSS_PADDING
    return verify(hash, signed, { key, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature)
  } catch {
    return false
  }
}
