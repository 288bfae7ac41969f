/**
 * Changes as compressed here, before LMDB gets them: LZ4 blocks as lmdb's own compression makes and reads them, of the same dictionary
 * (dictionary.ts). lmdb reads them. It would make them too, but hands each value to another thread, is told of each by another wake-up, and
 * enters the dictionary anew for each: of a pod of 2,300 bytes that took 15 µs more than to put it as it is, this takes 3 (2026-11-27).
 */
import type { Allocate } from '../../base/slabs.ts'
import { OBJECT_DICTIONARY } from './dictionary.ts'

/** The first byte of what is compressed; three bytes follow with its length before that. */
const COMPRESSED = 254
const HEADER = 4

/** Rules of the format: a block ends with so many literals, and its last match begins so many bytes before its end, at the least. */
const LAST_LITERALS = 5
const MATCH_LIMIT = 12
const MIN_MATCH = 4

const HASH_BITS = 12
/** After so many misses (as a power of two) each step is longer by one: what cannot be compressed is passed over soon. */
const SKIP_BITS = 6

/** lmdb takes whole words of it. */
const DICTIONARY = OBJECT_DICTIONARY.subarray(0, OBJECT_DICTIONARY.length & ~7)
const START = DICTIONARY.length

/** Longer values are left to lmdb, which compresses them on another thread. Dictionary and value are so short that every match is near enough (64 KiB). */
export const LONGEST_IN_PLACE = 48 * 1024

/** The dictionary, and behind it the value. */
const source = Buffer.alloc(START + LONGEST_IN_PLACE)
DICTIONARY.copy(source)
const words = new DataView(source.buffer, source.byteOffset, source.length)
const target = Buffer.alloc(HEADER + LONGEST_IN_PLACE)

const hashOf = (word: number): number => Math.imul(word, 2_654_435_761) >>> (32 - HASH_BITS)

/** Where in the dictionary four bytes of a hash stand last. What stands there is compared: 0 need not be told from none. */
const dictionaryTable = new Uint16Array(1 << HASH_BITS)
for (let at = 0; at + MIN_MATCH <= START; at++) dictionaryTable[hashOf(words.getUint32(at, true))] = at
const table = new Uint16Array(1 << HASH_BITS)

/** undefined: it gets no shorter. @param value of at most LONGEST_IN_PLACE bytes */
export function compress(value: Uint8Array, allocate: Allocate): Buffer | undefined {
  const { length } = value
  source.set(value, START)
  table.set(dictionaryTable)
  const written = writeBlock(START + length, length)
  if (written === 0) return undefined
  target[0] = COMPRESSED
  target[1] = length >>> 16
  target[2] = length >>> 8
  target[3] = length
  const made = allocate(written)
  target.copy(made, 0, 0, written)
  return made
}

/**
 * A block of what stands in `source` from START to `end`: literals, and matches of what is before them. Gives the end of what it wrote, or 0
 * where that would be no shorter than `valueLength`.
 */
function writeBlock(end: number, valueLength: number): number {
  const lastMatch = end - MATCH_LIMIT
  const lastByte = end - LAST_LITERALS
  let out = HEADER
  let anchor = START
  let at = START
  let misses = 1 << SKIP_BITS
  while (at <= lastMatch) {
    const word = words.getUint32(at, true)
    const slot = hashOf(word)
    let match = table[slot] ?? 0
    table[slot] = at
    if (words.getUint32(match, true) !== word) {
      at += misses++ >> SKIP_BITS
      continue
    }
    misses = 1 << SKIP_BITS
    // Backwards over what was passed, then forwards.
    while (at > anchor && match > 0 && source[at - 1] === source[match - 1]) {
      at--
      match--
    }
    let length = MIN_MATCH
    while (at + length + 4 <= lastByte && words.getUint32(at + length, true) === words.getUint32(match + length, true))
      length += 4
    while (at + length < lastByte && source[at + length] === source[match + length]) length++
    const literals = at - anchor
    if (out + literals + (literals >> 7) + (length >> 7) + 8 > valueLength) return 0
    out = writeLiterals(out, anchor, literals, length - MIN_MATCH)
    out = writeMatch(out, at - match, length - MIN_MATCH)
    at += length
    anchor = at
    if (at - 2 <= lastMatch) table[hashOf(words.getUint32(at - 2, true))] = at - 2
  }
  const literals = end - anchor
  if (out + literals + (literals >> 7) + 2 >= valueLength) return 0
  return writeLiterals(out, anchor, literals, 0)
}

/** The first byte tells both lengths, as far as they go into it. */
function writeLiterals(at: number, from: number, literals: number, matched: number): number {
  let out = at
  target[out++] = (literals < 15 ? literals << 4 : 0xf0) | (matched < 15 ? matched : 15)
  if (literals >= 15) out = writeLength(out, literals - 15)
  if (literals > 32) {
    target.set(source.subarray(from, from + literals), out)
    return out + literals
  }
  for (let i = from; i < from + literals; i++) target[out++] = source[i] ?? 0
  return out
}

function writeMatch(at: number, offset: number, matched: number): number {
  target[at] = offset
  target[at + 1] = offset >>> 8
  return matched < 15 ? at + 2 : writeLength(at + 2, matched - 15)
}

function writeLength(at: number, length: number): number {
  let out = at
  let rest = length
  for (; rest >= 255; rest -= 255) target[out++] = 255
  target[out++] = rest
  return out
}
