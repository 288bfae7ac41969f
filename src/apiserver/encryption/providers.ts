/**
 * encryption: secrets at rest (API concept: encrypting confidential data at rest). A value is stored as
 * `k8s:enc:PROVIDER:v1:KEY:` and the ciphertext, as Kubernetes stores it, so that either can read what the other wrote.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../../base/random.ts'

export interface EncryptionKey {
  readonly name: string
  readonly secret: Buffer
}

export interface EncryptionProvider {
  /** What its values begin with; '' for identity. */
  readonly prefix: string
  encrypt(key: string, plain: Uint8Array): Uint8Array
  /** Written by this provider, with its first key. */
  isCurrent(stored: Uint8Array): boolean
  /** @throws when no key of its own fits, or the value was tampered with */
  decrypt(key: string, stored: Uint8Array): Uint8Array
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const IV_BYTES = 16

/** AES-GCM: the storage key is authenticated too, so a value cannot be moved to another. */
export function aesgcm(random: Random, keys: readonly EncryptionKey[]): EncryptionProvider {
  return keyed('k8s:enc:aesgcm:v1:', keys, {
    encrypt: (secret, storageKey, plain) => {
      const nonce = random.bytes(NONCE_BYTES)
      const cipher = createCipheriv(gcm(secret), secret, nonce)
      cipher.setAAD(Buffer.from(storageKey))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (secret, storageKey, stored) => {
      if (stored.length < NONCE_BYTES + TAG_BYTES) throw new Error('the stored value is too short')
      const decipher = createDecipheriv(gcm(secret), secret, stored.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(storageKey))
      decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES))
      return Buffer.concat([decipher.update(stored.subarray(NONCE_BYTES, stored.length - TAG_BYTES)), decipher.final()])
    },
  })
}

export function aescbc(random: Random, keys: readonly EncryptionKey[]): EncryptionProvider {
  return keyed('k8s:enc:aescbc:v1:', keys, {
    encrypt: (secret, _storageKey, plain) => {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv(`aes-${secret.length * 8}-cbc`, secret, iv)
      return Buffer.concat([iv, cipher.update(plain), cipher.final()])
    },
    decrypt: (secret, _storageKey, stored) => {
      if (stored.length < 2 * IV_BYTES) throw new Error('the stored value is too short')
      const decipher = createDecipheriv(`aes-${secret.length * 8}-cbc`, secret, stored.subarray(0, IV_BYTES))
      return Buffer.concat([decipher.update(stored.subarray(IV_BYTES)), decipher.final()])
    },
  })
}

export const identity: EncryptionProvider = {
  prefix: '',
  encrypt: (_key, plain) => plain,
  isCurrent: (stored) => !startsWith(stored, Buffer.from('k8s:enc:')),
  decrypt: (_key, stored) => stored,
}

const startsWith = (bytes: Uint8Array, prefix: Buffer): boolean =>
  bytes.length >= prefix.length && prefix.equals(bytes.subarray(0, prefix.length))

const gcm = (secret: Buffer) => `aes-${secret.length * 8}-gcm` as 'aes-256-gcm'

interface Algorithm {
  readonly encrypt: (secret: Buffer, storageKey: string, plain: Uint8Array) => Buffer
  readonly decrypt: (secret: Buffer, storageKey: string, stored: Uint8Array) => Buffer
}

/** Written with the first key, read with the one the value names. */
function keyed(prefix: string, keys: readonly EncryptionKey[], algorithm: Algorithm): EncryptionProvider {
  const [first] = keys
  if (first === undefined) throw new Error(`${prefix} has no keys`)
  const header = Buffer.from(`${prefix}${first.name}:`)
  return {
    prefix,
    encrypt: (storageKey, plain) => Buffer.concat([header, algorithm.encrypt(first.secret, storageKey, plain)]),
    isCurrent: (stored) => startsWith(stored, header),
    decrypt: (storageKey, stored) => {
      const rest = stored.subarray(prefix.length)
      const colon = rest.indexOf(':'.charCodeAt(0))
      const name = Buffer.from(rest.subarray(0, Math.max(colon, 0))).toString()
      const key = keys.find((candidate) => candidate.name === name)
      if (key === undefined)
        throw new Error(`it is encrypted with key ${JSON.stringify(name)}, which is not configured`)
      return algorithm.decrypt(key.secret, storageKey, rest.subarray(colon + 1))
    },
  }
}
