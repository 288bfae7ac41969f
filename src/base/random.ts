/** Chance by injection. */
export interface Random {
  /** Uniform in [0, 1). */
  float(): number
  /** RFC 4122 version 4, lower case. */
  uuid(): string
  /** The same at a fifth of the price, for what is soon forgotten: it keeps the text of many in memory. */
  passingUuid(): string
  /** `length` characters of Kubernetes' alphabet for generated names (no vowels, no look-alikes). */
  suffix(length: number): string
  bytes(length: number): Uint8Array
  /**
   * Chance of its own, for what nothing else hangs on: however much is drawn from it, all other draws stay what they are, so that a
   * seed goes on telling the same story.
   */
  apart(): Random
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

export function suffixOf(length: number, float: () => number): string {
  let suffix = ''
  for (let i = 0; i < length; i++) suffix += SUFFIX_ALPHABET[Math.floor(float() * SUFFIX_ALPHABET.length)]
  return suffix
}

/** A small fast generator of good quality (sfc32). Gives integers in [0, 2^32). */
export function seededInts(seed: number): () => number {
  let a = 0x9e3779b9
  let b = 0x243f6a88
  let c = seed | 0
  let d = Math.floor(seed / 2 ** 32) | 1
  const next = () => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 15; i++) next()
  return next
}

/** Far from the seeds that are tried one after the other. */
const APART = 2 ** 40

/** Random from a seed: the same seed gives the same sequence. */
export function seededRandom(seed: number): Random {
  const next = seededInts(seed)
  const float = () => next() / 2 ** 32
  const bytes = (length: number) => {
    const out = new Uint8Array(length)
    for (let i = 0; i < length; i++) out[i] = next() & 0xff
    return out
  }
  const hex = (digits: number) => (next() + 2 ** 32).toString(16).slice(1, 1 + digits)
  const uuid = () => {
    const variant = '89ab'[next() & 3]
    return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(8)}${hex(4)}`
  }
  const apart = () => seededRandom(seed + APART)
  return { float, bytes, suffix: (length) => suffixOf(length, float), uuid, passingUuid: uuid, apart }
}
