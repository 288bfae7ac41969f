/** The pod-template-hash: FNV-1a over the template's text, written in an alphabet without vowels. */
import type { Fields } from '../../api/object.ts'
import { templateText } from './template-text.ts'

const alphabet = 'bcdfghjklmnpqrstvwxz2456789'

/** Equal templates hash alike; `collisionCount` tells apart those that clash. */
export function templateHash(template: Fields, collisionCount?: number): string {
  let hash = fnv(0x811c9dc5, new TextEncoder().encode(templateText(template)))
  if (collisionCount !== undefined) {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setUint32(0, collisionCount, true)
    hash = fnv(hash, bytes)
  }
  return [...String(hash)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('')
}

function fnv(start: number, bytes: Uint8Array): number {
  let hash = start
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
