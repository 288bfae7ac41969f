/** JSON Web Tokens as service accounts use them: compact JWS, ES256 or RS256, and no other algorithm whatever a header says. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

export interface JwtKey {
  readonly algorithm: 'ES256' | 'RS256'
  /** base64url of the SHA-256 of the public key's DER, as Kubernetes names keys. */
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export type Claims = { readonly [claim: string]: unknown }

/** @throws when the PEM is no RSA or P-256 key */
export function jwtKey(privatePem: string): JwtKey {
  const privateKey = createPrivateKey(privatePem)
  const publicKey = createPublicKey(privateKey)
  const type = privateKey.asymmetricKeyType
  if (type !== 'rsa' && !(type === 'ec' && privateKey.asymmetricKeyDetails?.namedCurve === 'prime256v1')) {
    throw new Error(`service accounts are signed with RSA or P-256 keys, not ${type}`)
  }
  const keyId = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { algorithm: type === 'rsa' ? 'RS256' : 'ES256', keyId, privateKey, publicKey }
}

export function signJwt(key: JwtKey, claims: Claims): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: key.algorithm, kid: key.keyId })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${signature.toString('base64url')}`
}

/** The claims without looking at the signature; undefined when it is no JWT. To find out whose token it claims to be. */
export function unverifiedClaims(token: string): Claims | undefined {
  const parts = token.split('.')
  return parts.length === 3 ? parsed(parts[1]) : undefined
}

/** Whether a key of ours signed it. Time, audience and everything else about the claims is the caller's to check. */
export function signedBy(keys: readonly JwtKey[], token: string): boolean {
  const [head, body, signature, more] = token.split('.')
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) return false
  const header = parsed(head)
  if (header === undefined || header['crit'] !== undefined || header['b64'] !== undefined) return false
  const bytes = Buffer.from(signature, 'base64url')
  // Another spelling of the same signature is another token: caches and logs name tokens by their text.
  if (bytes.toString('base64url') !== signature) return false
  return keys.some(
    (key) =>
      header['alg'] === key.algorithm &&
      (header['kid'] === undefined || header['kid'] === key.keyId) &&
      verify('sha256', Buffer.from(`${head}.${body}`), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, bytes),
  )
}

function parsed(part: string | undefined): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part ?? '', 'base64url').toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Claims) : undefined
  } catch {
    return undefined
  }
}
