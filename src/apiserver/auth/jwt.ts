/** JSON Web Tokens as service accounts use them: RS256, or ECDSA with the curve's own hash, and no other algorithm whatever a header says. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type Claims, type Jws, verifies } from './jws.ts'

/** What a token is verified with. */
export interface VerificationKey {
  readonly algorithm: 'ES256' | 'ES384' | 'ES512' | 'RS256'
  /** base64url of the SHA-256 of the public key's DER, as Kubernetes names keys. */
  readonly keyId: string
  readonly publicKey: KeyObject
}

/** What a token is signed with. */
export interface JwtKey extends VerificationKey {
  readonly privateKey: KeyObject
}

/** @throws when the PEM is no RSA or ECDSA key */
export function jwtKey(privatePem: string): JwtKey {
  const privateKey = createPrivateKey(privatePem)
  return { ...verificationKey(createPublicKey(privateKey)), privateKey }
}

/**
 * Those of a PEM file: public keys, private keys (their public halves) and certificates, one or more.
 * @throws when there is none, or one is no RSA or ECDSA key
 */
export function verificationKeys(pem: string): readonly VerificationKey[] {
  const blocks = pem.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g) ?? []
  const keys = blocks.filter((block) => !block.startsWith('-----BEGIN EC PARAMETERS'))
  if (keys.length === 0) throw new Error('data does not contain any valid RSA or ECDSA public keys')
  return keys.map((block) => verificationKey(createPublicKey(block)))
}

/** RFC 7518, section 3.4. */
const OF_CURVE: Readonly<Record<string, 'ES256' | 'ES384' | 'ES512'>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

function verificationKey(publicKey: KeyObject): VerificationKey {
  const type = publicKey.asymmetricKeyType
  const curve = publicKey.asymmetricKeyDetails?.namedCurve ?? ''
  const algorithm = type === 'rsa' ? 'RS256' : Object.hasOwn(OF_CURVE, curve) ? OF_CURVE[curve] : undefined
  if (algorithm === undefined)
    throw new Error(`service accounts are signed with RSA or ECDSA keys (P-256, P-384, P-521), not ${curve || type}`)
  const keyId = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { algorithm, keyId, publicKey }
}

export function signJwt(key: JwtKey, claims: Claims): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${encode({ alg: key.algorithm, kid: key.keyId })}.${encode(claims)}`
  if (key.algorithm === 'ES384' || key.algorithm === 'ES512') {
    const hash = `sha${key.algorithm.slice(2)}`
    const signature = sign(hash, Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }
  // Node takes twice as long for a key with options, by which it would give the form that is wanted itself.
  const given = sign('sha256', Buffer.from(signed), key.privateKey)
  const signature = key.algorithm === 'ES256' ? numbersOf(given) : given
  return `${signed}.${signature.toString('base64url')}`
}

const P256_BYTES = 32

/** The two numbers of a P-256 signature one after the other (RFC 7518), out of the DER that is given: a sequence of two integers. */
function numbersOf(der: Buffer): Buffer {
  const numbers = Buffer.alloc(2 * P256_BYTES)
  let at = 2
  for (const end of [P256_BYTES, 2 * P256_BYTES]) {
    const length = der[at + 1] as number
    const number = der.subarray(at + 2, at + 2 + length)
    // A zero comes before one that would be negative; one that is small has fewer bytes.
    const digits = number.subarray(Math.max(0, length - P256_BYTES))
    numbers.set(digits, end - digits.length)
    at += 2 + length
  }
  return numbers
}

/** Whether a key of ours signed it. Time, audience and everything else about the claims is the caller's to check. */
export function signedBy(keys: readonly VerificationKey[], jws: Jws): boolean {
  return keys.some(
    (key) =>
      jws.algorithm === key.algorithm && (jws.keyId === '' || jws.keyId === key.keyId) && verifies(jws, key.publicKey),
  )
}
