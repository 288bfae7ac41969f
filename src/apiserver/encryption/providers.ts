/**
 * encryption: secrets at rest (API concept: encrypting confidential data at rest). A value is stored as
 * `k8s:enc:PROVIDER:v1:KEY:` and the ciphertext, as Kubernetes stores it, so that either can read what the other wrote.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import type { Random } from '../../base/random.ts'

export interface EncryptionKey {
  readonly name: string
  readonly secret: Buffer
}

export interface EncryptionProvider {
  /** What its values begin with; '' for identity. */
  readonly prefix: string
  /** Whether what it decrypts is what was encrypted. */
  readonly isAuthenticated: boolean
  encrypt(key: string, plain: Uint8Array): Uint8Array
  /** Written by this provider, with its first key. */
  isCurrent(stored: Uint8Array): boolean
  /** Makes ready what `decrypt` needs for these. It never rejects; undefined: it is there. */
  prepare?(stored: readonly Uint8Array[]): Promise<void> | undefined
  /** @throws when no key of its own fits, or the value was tampered with */
  decrypt(key: string, stored: Uint8Array): Uint8Array
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
const IV_BYTES = 16

/** AES-GCM: the storage key is authenticated too, so a value cannot be moved to another. */
export function aesgcm(random: Random, keys: readonly EncryptionKey[]): EncryptionProvider {
  return keyed('AES-GCM', 'k8s:enc:aesgcm:v1:', keys, {
    isAuthenticated: true,
    encrypt: (secret, storageKey, plain) => {
      const nonce = random.bytes(NONCE_BYTES)
      const cipher = createCipheriv(gcm(secret), secret, nonce)
      cipher.setAAD(Buffer.from(storageKey))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (secret, storageKey, stored) => {
      if (stored.length < NONCE_BYTES + TAG_BYTES) throw new Error('the stored data was shorter than the required size')
      const decipher = createDecipheriv(gcm(secret), secret, stored.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(storageKey))
      decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES))
      const plain = decipher.update(stored.subarray(NONCE_BYTES, stored.length - TAG_BYTES))
      return Buffer.concat([plain, lastOf(decipher, 'cipher: message authentication failed')])
    },
  })
}

export function aescbc(random: Random, keys: readonly EncryptionKey[]): EncryptionProvider {
  return keyed('AES-CBC', 'k8s:enc:aescbc:v1:', keys, {
    isAuthenticated: false,
    encrypt: (secret, _storageKey, plain) => {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv(`aes-${secret.length * 8}-cbc`, secret, iv)
      return Buffer.concat([iv, cipher.update(plain), cipher.final()])
    },
    decrypt: (secret, _storageKey, stored) => {
      if (stored.length < IV_BYTES) throw new Error('the stored data was shorter than the required size')
      if (stored.length % IV_BYTES !== 0) throw new Error('the stored data is not a multiple of the block size')
      const decipher = createDecipheriv(`aes-${secret.length * 8}-cbc`, secret, stored.subarray(0, IV_BYTES))
      return Buffer.concat([decipher.update(stored.subarray(IV_BYTES)), lastOf(decipher, 'invalid padding on input')])
    },
  })
}

const SECRETBOX_NONCE_BYTES = 24

/** XSalsa20 and Poly1305, as NaCl's secretbox joins them: the tag of 16 bytes, then the ciphertext. OpenSSL, and so Node, has neither. */
export function secretbox(random: Random, keys: readonly EncryptionKey[]): EncryptionProvider {
  return keyed('secretbox', 'k8s:enc:secretbox:v1:', keys, {
    isAuthenticated: true,
    encrypt: (secret, _storageKey, plain) => {
      const nonce = random.bytes(SECRETBOX_NONCE_BYTES)
      return Buffer.concat([nonce, xsalsa20poly1305(secret, nonce).encrypt(plain)])
    },
    decrypt: (secret, _storageKey, stored) => {
      if (stored.length < SECRETBOX_NONCE_BYTES) throw new Error('the stored data was shorter than the required size')
      const nonce = stored.subarray(0, SECRETBOX_NONCE_BYTES)
      try {
        return Buffer.from(xsalsa20poly1305(secret, nonce).decrypt(stored.subarray(SECRETBOX_NONCE_BYTES)))
      } catch (cause) {
        throw new Error('output array was not large enough for encryption', { cause })
      }
    },
  })
}

export const identity: EncryptionProvider = {
  prefix: '',
  isAuthenticated: true,
  encrypt: (_key, plain) => plain,
  isCurrent: (stored) => !isEncrypted(stored),
  decrypt: (_key, stored) => stored,
}

export const startsWith = (bytes: Uint8Array, prefix: string): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, Buffer.byteLength(prefix))).toString() === prefix

export const isEncrypted = (stored: Uint8Array): boolean => startsWith(stored, 'k8s:enc:')

/** @throws in these words, those of Go's ciphers, when it is not what was encrypted */
function lastOf(decipher: { final(): Buffer }, otherwise: string): Buffer {
  try {
    return decipher.final()
  } catch (cause) {
    throw new Error(otherwise, { cause })
  }
}

const gcm = (secret: Buffer) => `aes-${secret.length * 8}-gcm` as 'aes-256-gcm'

interface Algorithm {
  readonly isAuthenticated: boolean
  readonly encrypt: (secret: Buffer, storageKey: string, plain: Uint8Array) => Buffer
  readonly decrypt: (secret: Buffer, storageKey: string, stored: Uint8Array) => Buffer
}

/** Written with the first key, read with one of the name in the value. */
function keyed(
  called: string,
  prefix: string,
  keys: readonly EncryptionKey[],
  algorithm: Algorithm,
): EncryptionProvider {
  const [first] = keys
  if (first === undefined) throw new Error(`${prefix} has no keys`)
  const header = `${prefix}${first.name}:`
  const headerBytes = Buffer.from(header)
  return {
    prefix,
    isAuthenticated: algorithm.isAuthenticated,
    encrypt: (storageKey, plain) => Buffer.concat([headerBytes, algorithm.encrypt(first.secret, storageKey, plain)]),
    isCurrent: (stored) => startsWith(stored, header),
    decrypt: (storageKey, stored) => {
      const rest = stored.subarray(prefix.length)
      let failure: unknown
      // Several may have one name, and a name may have colons.
      for (const { name, secret } of keys) {
        if (!startsWith(rest, `${name}:`)) continue
        try {
          return algorithm.decrypt(secret, storageKey, rest.subarray(Buffer.byteLength(name) + 1))
        } catch (error) {
          failure ??= error
        }
      }
      throw failure ?? new Error(`no matching key was found for the provided ${called} transformer`)
    },
  }
}
