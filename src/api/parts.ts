/**
 * Shared parts: what many objects have alike. The pods of a workload differ in their names, not in their specs; so a spec
 * that is read again becomes the very value it was before, and what was found out about it (its defaults, that it is valid,
 * its fields, its JSON) holds for every object that has it.
 *
 * Who reads bodies shares parts (codec/recurring.ts). Everybody else only says what is worth remembering: a pure function of
 * a part goes through `perPart` or `partFrom`, and is called as ever for parts that are not shared; who remembers more than that
 * asks for the schema too. Nothing here decides what a value is: with no part shared every answer is the same.
 */
import { deepFreeze } from './freeze.ts'
import type { Fields } from './object.ts'

const shared = new WeakSet<object>()

/** In tests a part that somebody writes to throws at once. */
const freezes = process.env['NODE_TEST_CONTEXT'] !== undefined

/** Makes known that this very value will be met again. It is never mutated from here on. */
export function share<P extends object>(part: P): P {
  if (shared.has(part)) return part
  shared.add(part)
  if (freezes) deepFreeze(part)
  return part
}

export const isShared = (part: unknown): part is object => typeof part === 'object' && part !== null && shared.has(part)

/** What the pure function `find` says of a part, asked once of each shared one. */
export function perPart<P extends object, T>(find: (part: P) => T): (part: P) => T {
  const known = new WeakMap<P, { readonly found: T }>()
  return (part) => {
    if (!shared.has(part)) return find(part)
    let answer = known.get(part)
    if (answer === undefined) {
      answer = { found: find(part) }
      known.set(part, answer)
    }
    return answer.found
  }
}

/** What the pure function `make` makes of a part: of a shared one a shared one. */
export const partFrom = <P extends object>(make: (part: P) => P): ((part: P) => P) =>
  perPart((part) => (shared.has(part) ? share(make(part)) : make(part)))

/** Different changes remembered of one part. */
const MOST_VARIANTS = 8

const variants = new WeakMap<object, { readonly changes: Fields; readonly made: Fields }[]>()

/** `{ ...part, ...changes }`: equal changes of a shared part, of plain values and shared parts, are one shared part. */
export function withChanges(part: Fields, changes: Fields): Fields {
  if (!shared.has(part) || !Object.values(changes).every(mayRecur)) return { ...part, ...changes }
  let known = variants.get(part)
  if (known === undefined) {
    known = []
    variants.set(part, known)
  }
  for (const variant of known) if (isSameChange(variant.changes, changes)) return variant.made
  const made = { ...part, ...changes }
  if (known.length < MOST_VARIANTS) known.push({ changes, made: share(made) })
  return made
}

const mayRecur = (value: unknown): boolean => typeof value !== 'object' || value === null || shared.has(value)

function isSameChange(a: Fields, b: Fields): boolean {
  let left = 0
  for (const name in a) {
    if (a[name] !== b[name] || !(name in b)) return false
    left++
  }
  for (const _ in b) left--
  return left === 0
}
