/** Entries of what storage gives, which may be no object. */

import { asObject, asText } from '../../api/unchecked.ts'
import { jsonSyntaxWords, parseExactly } from '../../api/values/json.ts'
import type { KeyValue } from '../../storage/storage.ts'
import { NotDecodable } from '../../storage/transform.ts'
import { type CacheEntry, createEntry, type Encoded, type EntryOptions } from './entry.ts'
import { type UnreadableValue, undecodable, unreadableObject, untransformable } from './unreadable.ts'

export type FoundItem = Omit<KeyValue, 'createRevision'>

/**
 * `known`, when given, is what the value encodes. `mayBeGarbled`: the value is looked at before it is taken for an object (see Storage).
 *
 * An item that cannot be read gives an entry that is `unreadable`.
 */
export function entryOfStored(
  { key, value, modRevision, unreadable }: FoundItem,
  options: EntryOptions,
  mayBeGarbled: boolean,
  known?: Encoded,
): CacheEntry {
  if (unreadable !== undefined) {
    const cause =
      unreadable instanceof NotDecodable
        ? undecodable({ revision: modRevision }, unreadable)
        : untransformable(unreadable)
    return unreadableEntry(key, modRevision, cause)
  }
  const problem = mayBeGarbled && known === undefined ? problemOf(value) : undefined
  if (problem !== undefined) return unreadableEntry(key, modRevision, undecodable({ revision: modRevision }, problem))
  return createEntry(key, modRevision, value, options, known)
}

/** Why the bytes are no object, if they are none. */
function problemOf(value: Uint8Array): string | undefined {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8')
  try {
    const object = asObject(parseExactly(text))
    for (const [field, name] of [
      ['kind', 'Kind'],
      ['apiVersion', 'apiVersion'],
    ] as const)
      if (asText(object[field]) === '') return `Object '${name}' is missing in '${text}'`
    const { metadata } = object
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
      return `Object 'metadata' is missing in '${text}'`
    return undefined
  } catch (error) {
    return `couldn't get version/kind; json parse error: ${jsonSyntaxWords(text, error)}`
  }
}

/** Whatever is asked of it but its key and revision throws the answer to a read of it. */
function unreadableEntry(key: string, revision: number, unreadable: UnreadableValue): CacheEntry {
  const refuse = (): never => {
    throw unreadableObject({ key }, unreadable)
  }
  return {
    key,
    revision,
    size: 0,
    unreadable,
    get object() {
      return refuse()
    },
    get trimmed() {
      return refuse()
    },
    json: refuse,
    line: refuse,
    tail: refuse,
    metadataJson: refuse,
    message: refuse,
    as: refuse,
    begins: refuse,
    at: refuse,
    asWritten: refuse,
    selected: refuse,
    keep() {},
    move() {},
    forgetTrimmed() {},
    forgetMade() {},
  }
}
