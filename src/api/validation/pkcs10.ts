/**
 * What is wrong with PKCS #10 requests: with that of a PodCertificateRequest, whose key alone is of interest (KEP-4317), and with the key and the
 * signature of a CertificateSigningRequest's, in the words a Go parser has for it.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { der as encoded, type ReadElement, readElements } from '../../base/der.ts'

export interface StubProblem {
  /** What of it is wrong, where the message names that. */
  readonly value?: string
  readonly detail: string
}

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']
/** A Go parser knows it, unlike all others. */
const WEAK_CURVE = 'secp224r1'
const MODULI = [3072, 4096]
const MALFORMED: StubProblem = { detail: 'must be a valid PKCS#10 CSR' }

const SEQUENCE = 0x30
const BIT_STRING = 0x03
const OBJECT_IDENTIFIER = 0x06
const ATTRIBUTES = 0xa0

/** Object identifiers of signatures, by the digest that is signed. */
const ECDSA: Readonly<Record<string, string>> = {
  '2a8648ce3d0401': 'sha1',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
}
const RSA: Readonly<Record<string, string>> = {
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
}
const RSA_PSS = '2a864886f70d01010a'
/** Digests of RSASSA-PSS, with their length: that of the salt. */
const DIGESTS: Readonly<Record<string, { readonly name: string; readonly length: number }>> = {
  '608648016503040201': { name: 'sha256', length: 32 },
  '608648016503040202': { name: 'sha384', length: 48 },
  '608648016503040203': { name: 'sha512', length: 64 },
}
const ED25519 = '2b6570'

/** undefined: nothing is. The key is looked at before what it has signed. */
export function problemOfStub(bytes: Uint8Array): StubProblem | undefined {
  const parts = partsOf(bytes)
  const key = parts && keyOf(parts.key)
  if (parts === undefined || key === undefined) return MALFORMED
  const wrong = problemOfKey(key)
  if (wrong !== undefined) return wrong
  try {
    if (isSigned(parts, key)) return undefined
  } catch {
    // A signature that cannot be one of this key.
  }
  return { detail: 'invalid signature' }
}

const UNKNOWN_ALGORITHM = 'x509: cannot verify signature: algorithm unimplemented'
const MD5_RSA = '2a864886f70d010104'
const LEAST_MODULUS = 1024
/** Go's names of curves, by their object identifiers. */
const CURVE_NAMES: Readonly<Record<string, string>> = {
  '2b81040021': 'P224',
  '2a8648ce3d030107': 'P256',
  '2b81040022': 'P384',
  '2b81040023': 'P521',
}
const EC_KEY = '2a8648ce3d0201'
const RSA_KEY = '2a864886f70d010101'
const UNCOMPRESSED = 4

interface KeyAlgorithm {
  readonly name: string
  readonly goType: string
  readonly failure: string
}
const KEY_ALGORITHMS: Readonly<Record<string, KeyAlgorithm>> = {
  ec: { name: 'ECDSA', goType: '*ecdsa.PublicKey', failure: 'x509: ECDSA verification failure' },
  rsa: { name: 'RSA', goType: '*rsa.PublicKey', failure: 'crypto/rsa: verification error' },
  ed25519: { name: 'Ed25519', goType: 'ed25519.PublicKey', failure: 'x509: Ed25519 verification failure' },
}

/** undefined: nothing; the request was then made with its key. */
export function problemOfSignature(bytes: Uint8Array): string | undefined {
  const parts = partsOf(bytes)
  if (parts === undefined) return "asn1: structure error: tags don't match"
  const key = keyOf(parts.key)
  const wrong = key === undefined ? problemOfUnreadable(parts.key) : problemOfKnown(key)
  if (wrong !== undefined) return wrong
  const wanted = keyTypeOf(parts.algorithm)
  if (wanted === 'md5') return 'x509: cannot verify signature: insecure algorithm MD5-RSA'
  const own = KEY_ALGORITHMS[key?.asymmetricKeyType ?? '']
  const asked = wanted === undefined ? undefined : KEY_ALGORITHMS[wanted]
  if (key === undefined || own === undefined || asked === undefined) return UNKNOWN_ALGORITHM
  if (own !== asked)
    return `x509: signature algorithm specifies an ${asked.name} public key, but have public key of type ${own.goType}`
  try {
    if (isSigned(parts, key)) return undefined
  } catch {
    // A signature that cannot be one of this key.
  }
  return own.failure
}

/** Of a key that OpenSSL does not take. */
function problemOfUnreadable(spki: Uint8Array): string | undefined {
  const [algorithm, point] = elements(elements(spki)[0]?.content ?? new Uint8Array())
  const [identifier, curve] = elements(algorithm?.content ?? new Uint8Array())
  const type = hex(identifier?.content)
  if (type === RSA_KEY) return 'x509: invalid RSA public key'
  if (type !== EC_KEY) return undefined
  const name = CURVE_NAMES[hex(curve?.content)]
  if (name === undefined) return 'x509: unsupported elliptic curve'
  // The first byte of a bit string is no part of it.
  return point?.content[1] === UNCOMPRESSED ? `${name} point not on curve` : 'ecdsa: invalid uncompressed public key'
}

function problemOfKnown({ asymmetricKeyType: type, asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails
  if (type === 'ec')
    return namedCurve === WEAK_CURVE || CURVES.includes(namedCurve) ? undefined : 'x509: unsupported elliptic curve'
  if (type !== 'rsa' || modulusLength >= LEAST_MODULUS) return undefined
  return `crypto/rsa: ${modulusLength}-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)`
}

/** By what kind of key such a signature is made; undefined for one that Go does not know. */
function keyTypeOf([identifier, parameters]: readonly ReadElement[]): string | undefined {
  const name = hex(identifier?.content)
  if (name === MD5_RSA) return 'md5'
  if (name === ED25519) return 'ed25519'
  if (name in ECDSA) return 'ec'
  if (name in RSA) return 'rsa'
  return name === RSA_PSS && digestOf(parameters) !== undefined ? 'rsa' : undefined
}

interface RequestParts {
  readonly info: Uint8Array
  readonly key: Uint8Array
  readonly algorithm: readonly ReadElement[]
  readonly signature: Uint8Array
}

function partsOf(bytes: Uint8Array): RequestParts | undefined {
  const [whole, ...behind] = elements(bytes)
  if (whole?.tag !== SEQUENCE || behind.length > 0) return undefined
  const [info, algorithm, signature, ...more] = elements(whole.content)
  if (info?.tag !== SEQUENCE || algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return undefined
  const [version, subject, key, attributes, ...others] = elements(info.content)
  if (more.length > 0 || others.length > 0 || version?.tag !== 0x02) return undefined
  if (subject?.tag !== SEQUENCE || key?.tag !== SEQUENCE) return undefined
  if (attributes !== undefined && attributes.tag !== ATTRIBUTES) return undefined
  // A bit string begins with the number of bits at its end that do not count.
  if (signature.content[0] !== 0) return undefined
  const named = elements(algorithm.content)
  if (named[0]?.tag !== OBJECT_IDENTIFIER) return undefined
  return {
    info: info.whole,
    key: key.whole,
    algorithm: named,
    signature: signature.content.subarray(1),
  }
}

/** None, where they are not in the one form that DER has for them. */
function elements(bytes: Uint8Array): readonly ReadElement[] {
  const found = readElements(bytes)
  return found.every(({ tag, content, whole }) => encoded(tag, Buffer.from(content)).equals(whole)) ? found : []
}

function keyOf(spki: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

function problemOfKey({ asymmetricKeyType: type, asymmetricKeyDetails = {} }: KeyObject): StubProblem | undefined {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails
  if (type === 'ed25519') return undefined
  if (type === 'ec') {
    if (CURVES.includes(namedCurve)) return undefined
    if (namedCurve !== WEAK_CURVE) return MALFORMED
    return { value: 'curve P-224', detail: 'elliptic public keys must use curve P256, P384, or P521' }
  }
  if (type === 'rsa') {
    if (MODULI.includes(modulusLength)) return undefined
    return { value: `${modulusLength}-bit modulus`, detail: 'RSA keys must have modulus size 3072 or 4096' }
  }
  return { detail: 'unknown public key type; supported types are Ed25519, ECDSA, and RSA' }
}

function isSigned({ info, algorithm, signature }: RequestParts, key: KeyObject): boolean {
  const [identifier, parameters] = algorithm
  const name = hex(identifier?.content)
  const type = key.asymmetricKeyType
  if (type === 'ed25519') return name === ED25519 && verify(null, info, key, signature)
  if (type === 'ec') return name in ECDSA && verify(ECDSA[name], info, key, signature)
  if (name in RSA) return verify(RSA[name], info, key, signature)
  const digest = name === RSA_PSS ? digestOf(parameters) : undefined
  if (digest === undefined) return false
  const padded = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: digest.length }
  return verify(digest.name, info, padded, signature)
}

/** Of the parameters of RSASSA-PSS, where the salt is as long as the digest. */
function digestOf(parameters: ReadElement | undefined): { readonly name: string; readonly length: number } | undefined {
  const fields = elements(parameters?.content ?? new Uint8Array())
  const within = (tag: number) => elements(fields.find((field) => field.tag === tag)?.content ?? new Uint8Array())[0]
  const digest = DIGESTS[hex(elements(within(0xa0)?.content ?? new Uint8Array())[0]?.content)]
  const salt = within(0xa2)?.content
  return digest !== undefined && salt?.length === 1 && salt[0] === digest.length ? digest : undefined
}

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')
