/**
 * XSalsa20 and Poly1305, as NaCl's secretbox joins them (D. J. Bernstein, "Cryptography in NaCl" and "Extending the Salsa20 nonce"): the tag
 * of 16 bytes, then the ciphertext. OpenSSL, and so Node, has neither.
 */
import { timingSafeEqual } from 'node:crypto'

const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const
const TAG_BYTES = 16
const BLOCK_BYTES = 64
/** The first half of the first block is the key of the tag. */
const TAG_KEY_BYTES = 32

/** `key`: 32 bytes, `nonce`: 24. */
export function sealed(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Buffer {
  const { tagKey, stream } = streamOf(key, nonce, plain.length)
  const enciphered = exclusiveOr(plain, stream)
  return Buffer.concat([poly1305(tagKey, enciphered), enciphered])
}

/** undefined where it is not what was sealed with that key and nonce. */
export function opened(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Buffer | undefined {
  if (box.length < TAG_BYTES) return undefined
  const enciphered = box.subarray(TAG_BYTES)
  const { tagKey, stream } = streamOf(key, nonce, enciphered.length)
  if (!timingSafeEqual(poly1305(tagKey, enciphered), box.subarray(0, TAG_BYTES))) return undefined
  return exclusiveOr(enciphered, stream)
}

function streamOf(key: Uint8Array, nonce: Uint8Array, length: number) {
  const keyWords = wordsOf(key)
  const subKey = hsalsa(keyWords, wordsOf(nonce.subarray(0, 16)))
  const [n0 = 0, n1 = 0] = wordsOf(nonce.subarray(16, 24))
  const blocks = Math.ceil((TAG_KEY_BYTES + length) / BLOCK_BYTES)
  const bytes = Buffer.alloc(blocks * BLOCK_BYTES)
  for (let block = 0; block < blocks; block++) {
    const input = inputOf(subKey, [n0, n1, block, 0])
    const output = twentyRounds(input)
    for (let i = 0; i < 16; i++)
      bytes.writeUInt32LE(((output[i] as number) + (input[i] as number)) >>> 0, block * BLOCK_BYTES + 4 * i)
  }
  return { tagKey: bytes.subarray(0, TAG_KEY_BYTES), stream: bytes.subarray(TAG_KEY_BYTES) }
}

function wordsOf(bytes: Uint8Array): readonly number[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.readUInt32LE(4 * i))
}

/** The matrix of Salsa20: constants on the diagonal, the key around the four words of nonce and counter. */
function inputOf(key: readonly number[], middle: readonly number[]): Uint32Array {
  return Uint32Array.from([SIGMA[0], ...key.slice(0, 4), SIGMA[1], ...middle, SIGMA[2], ...key.slice(4, 8), SIGMA[3]])
}

/** The diagonal and the middle after the rounds. */
function hsalsa(key: readonly number[], nonce: readonly number[]): readonly number[] {
  const output = twentyRounds(inputOf(key, nonce))
  return [0, 5, 10, 15, 6, 7, 8, 9].map((i) => output[i] as number)
}

const QUARTERS: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
]

function twentyRounds(input: Uint32Array): Uint32Array {
  const x = Uint32Array.from(input)
  const mix = (to: number, a: number, b: number, by: number) => {
    const sum = ((x[a] as number) + (x[b] as number)) >>> 0
    x[to] = (x[to] as number) ^ ((sum << by) | (sum >>> (32 - by)))
  }
  for (let round = 0; round < 20; round += 2)
    for (const [a, b, c, d] of QUARTERS) {
      mix(b, a, d, 7)
      mix(c, b, a, 9)
      mix(d, c, b, 13)
      mix(a, d, c, 18)
    }
  return x
}

const PRIME = (1n << 130n) - 5n
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn

function poly1305(key: Uint8Array, message: Uint8Array): Buffer {
  const r = numberOf(key.subarray(0, 16)) & CLAMP
  let sum = 0n
  for (let at = 0; at < message.length; at += 16) {
    const piece = message.subarray(at, at + 16)
    sum = ((sum + numberOf(piece) + (1n << BigInt(8 * piece.length))) * r) % PRIME
  }
  const tag = BigInt.asUintN(128, sum + numberOf(key.subarray(16, 32)))
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse()
}

/** Little-endian. */
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`)

function exclusiveOr(bytes: Uint8Array, stream: Uint8Array): Buffer {
  const out = Buffer.alloc(bytes.length)
  for (let i = 0; i < bytes.length; i++) out[i] = (bytes[i] as number) ^ (stream[i] as number)
  return out
}
