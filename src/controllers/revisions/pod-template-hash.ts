/** The hashes in the names of revisions: FNV-1a over a template's text, FNV-1 over a ControllerRevision's data. */

import type { PodTemplateSpec } from '../../api/generated/types.ts'
import type { Fields } from '../../api/object.ts'
import { jsonText } from '../../api/values/json.ts'
import { templateText } from './template-text.ts'

/** Without vowels. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const offset = 0x811c9dc5
const prime = 0x01000193

/** Equal templates hash alike; `collisionCount` tells apart those that clash. */
export function templateHash(template: PodTemplateSpec, collisionCount?: number): string {
  let hash = fnv1a(offset, new TextEncoder().encode(templateText(template)))
  if (collisionCount !== undefined) {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setUint32(0, collisionCount, true)
    hash = fnv1a(hash, bytes)
  }
  return encoded(hash)
}

/** Of a revision's data as Go writes it: sorted keys, and what HTML would understand escaped. */
export function dataHash(data: Fields, collisionCount: number): string {
  const text = jsonText(withSortedKeys(data)).replace(
    /[<>&\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  let hash = offset
  for (const byte of new TextEncoder().encode(text + collisionCount)) hash = Math.imul(hash, prime) ^ byte
  return encoded(hash >>> 0)
}

export function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withSortedKeys)
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, inner]) => [key, withSortedKeys(inner)]))
}

function fnv1a(start: number, bytes: Uint8Array): number {
  let hash = start
  for (const byte of bytes) hash = Math.imul(hash ^ byte, prime)
  return hash >>> 0
}

const encoded = (hash: number): string =>
  [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
