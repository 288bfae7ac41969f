/**
 * The keys of KMS v2 with which values are encrypted (KEP-3299): a seed of which each value's own key is derived by HKDF's expansion (RFC 5869)
 * with 32 random bytes that stand before its ciphertext, or, as older servers wrote, one key of AES-256 for all. AES-GCM in either case,
 * with the storage key authenticated.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { Random } from '../../../base/random.ts'

export const KEY = 0
export const SEED = 1
export const SEED_BYTES = 32

const INFO_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function encryptWithSeed(seed: Uint8Array, storageKey: string, plain: Uint8Array, random: Random): Buffer {
  const info = random.bytes(INFO_BYTES)
  const nonce = random.bytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', derived(seed, info), nonce)
  cipher.setAAD(Buffer.from(storageKey))
  return Buffer.concat([info, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** @throws Error when it is not what was encrypted so */
export function decryptWith(type: number, secret: Uint8Array, storageKey: string, data: Uint8Array): Buffer {
  if (type === KEY) return opened(secret, storageKey, data)
  if (type !== SEED) throw new Error(`unknown encryptedDEKSourceType: ${type}`)
  if (data.length < INFO_BYTES) throw new Error('the stored data was shorter than the required size')
  return opened(derived(secret, data.subarray(0, INFO_BYTES)), storageKey, data.subarray(INFO_BYTES))
}

/** HKDF's expansion to 32 bytes of SHA-256 is its first block alone; there is no extraction. */
function derived(seed: Uint8Array, info: Uint8Array): Buffer {
  return createHmac('sha256', seed)
    .update(info)
    .update(Buffer.from([1]))
    .digest()
}

function opened(key: Uint8Array, storageKey: string, data: Uint8Array): Buffer {
  if (data.length < NONCE_BYTES + TAG_BYTES) throw new Error('the stored data was shorter than the required size')
  const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(storageKey))
  decipher.setAuthTag(data.subarray(data.length - TAG_BYTES))
  const plain = decipher.update(data.subarray(NONCE_BYTES, data.length - TAG_BYTES))
  try {
    return Buffer.concat([plain, decipher.final()])
  } catch (cause) {
    throw new Error('cipher: message authentication failed', { cause })
  }
}
