/** JSON Web Tokens as service accounts use them: ES256 or RS256, and no other algorithm whatever a header says. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type Claims, type Jws, verifies } from './jws.ts'

export interface JwtKey {
  readonly algorithm: 'ES256' | 'RS256'
  /** base64url of the SHA-256 of the public key's DER, as Kubernetes names keys. */
  readonly keyId: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

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

/** Whether a key of ours signed it. Time, audience and everything else about the claims is the caller's to check. */
export function signedBy(keys: readonly JwtKey[], jws: Jws): boolean {
  return keys.some(
    (key) =>
      jws.algorithm === key.algorithm && (jws.keyId === '' || jws.keyId === key.keyId) && verifies(jws, key.publicKey),
  )
}
