/**
 * The items of a list as they stand in its bytes. Of each the metadata is parsed, without managedFields; the rest is carried on as it
 * was written: of many objects that are kept no more is ever asked for.
 */
import type { ObjectMeta } from '../object.ts'
import { parseExactly } from '../values/json.ts'
import {
  afterString,
  afterValue,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_OBJECT,
  QUOTE,
  standsAt,
} from './json-text.ts'

/** A list without its items. */
export interface ListAbout {
  readonly kind?: string
  readonly apiVersion?: string
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

export interface ListText {
  readonly list: ListAbout
  readonly items: readonly ItemText[]
}

export interface ItemText {
  /** Without managedFields. */
  readonly metadata: ObjectMeta
  /** As the store has it: `head` and what there is from metadata on, without resourceVersion. */
  readonly stored: Uint8Array
}

interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** From the key of its metadata to its end. */
interface ItemSpans extends Span {
  /** Behind its opening brace, up to its closing one. */
  readonly fields: Span
  /** Each with a comma of its own. */
  readonly resourceVersion: Span
  readonly managedFields: Span
}

const ITEMS = Buffer.from('"items":[')
const METADATA = Buffer.from('"metadata":{')
const BEFORE_METADATA = [Buffer.from('"apiVersion":"'), Buffer.from('"kind":"')]
const RESOURCE_VERSION = Buffer.from('"resourceVersion":')
const MANAGED_FIELDS = Buffer.from('"managedFields":')

/**
 * `head`: what a stored item begins with, up to its metadata: `{"kind":"Pod","apiVersion":"v1",`. Undefined for bytes of another form than
 * API servers give lists: compact, and of each item metadata first, or behind nothing but its own kind and apiVersion.
 *
 * @throws SyntaxError for metadata that is no JSON
 */
export function readListText(bytes: Uint8Array, head: string): ListText | undefined {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rest: string[] = []
  let spans: readonly ItemSpans[] | undefined
  if (json[0] !== OPEN_OBJECT) return undefined
  for (let at = 1; json[at] === QUOTE; ) {
    let end: number
    if (standsAt(json, at, ITEMS)) {
      if (spans !== undefined) return undefined
      const found = itemSpans(json, at + ITEMS.length)
      if (found === undefined) return undefined
      spans = found.items
      end = found.end
    } else {
      end = afterValue(json, afterString(json, at) + 1)
      rest.push(json.toString('utf8', at, end))
    }
    if (json[end] === CLOSE_OBJECT) {
      const list = parseExactly(`{${rest.join(',')}}`) as ListAbout
      return spans === undefined ? undefined : { list, items: itemsOf(json, spans, Buffer.from(head)) }
    }
    if (json[end] !== COMMA) return undefined
    at = end + 1
  }
  return undefined
}

/** What a list says of itself where that stands before its items, without looking at these. */
export function listHead(bytes: Uint8Array): ListAbout | undefined {
  const front = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LONGEST_HEAD))
  const end = front.indexOf(ITEMS)
  if (end < 2) return undefined
  try {
    return JSON.parse(`${front.toString('utf8', 0, end - 1)}}`)
  } catch {
    return undefined
  }
}

/** A token to continue with is the longest part of it. */
const LONGEST_HEAD = 8192

/** `at`: behind the bracket that opens them. */
function itemSpans(
  json: Buffer,
  at: number,
): { readonly items: readonly ItemSpans[]; readonly end: number } | undefined {
  const items: ItemSpans[] = []
  if (json[at] === CLOSE_LIST) return { items, end: at + 1 }
  for (let start = at; ; ) {
    const item = itemSpansAt(json, start)
    if (item === undefined) return undefined
    items.push(item)
    if (json[item.end] === CLOSE_LIST) return { items, end: item.end + 1 }
    if (json[item.end] !== COMMA) return undefined
    start = item.end + 1
  }
}

const NOWHERE: Span = { start: 0, end: 0 }

function itemSpansAt(json: Buffer, brace: number): ItemSpans | undefined {
  if (json[brace] !== OPEN_OBJECT) return undefined
  let start = brace + 1
  while (BEFORE_METADATA.some((key) => standsAt(json, start, key))) {
    const end = afterString(json, afterString(json, start) + 1)
    if (json[end] !== COMMA) return undefined
    start = end + 1
  }
  if (!standsAt(json, start, METADATA)) return undefined
  const begin = start + METADATA.length
  let [resourceVersion, managedFields] = [NOWHERE, NOWHERE]
  let at = begin
  while (json[at] === QUOTE) {
    const value = afterString(json, at)
    if (json[value] !== COLON) return undefined
    const end = afterValue(json, value + 1)
    if (standsAt(json, at, RESOURCE_VERSION)) resourceVersion = withComma(json, at, end)
    else if (standsAt(json, at, MANAGED_FIELDS)) managedFields = withComma(json, at, end)
    at = json[end] === COMMA ? end + 1 : end
  }
  if (json[at] !== CLOSE_OBJECT) return undefined
  return { start, end: afterValue(json, at + 1, 1), fields: { start: begin, end: at }, resourceVersion, managedFields }
}

/** The comma behind a field, or of the last one that before it. */
function withComma(json: Buffer, start: number, end: number): Span {
  if (json[end] === COMMA) return { start, end: end + 1 }
  return { start: json[start - 1] === COMMA ? start - 1 : start, end }
}

/** What is kept lies together, in a buffer of its own: the answer with all that is not kept can go. */
function itemsOf(json: Buffer, spans: readonly ItemSpans[], head: Buffer): readonly ItemText[] {
  const sizeOf = ({ start, end, resourceVersion }: ItemSpans) =>
    head.length + end - start - (resourceVersion.end - resourceVersion.start)
  const kept = Buffer.allocUnsafeSlow(spans.reduce((sum, item) => sum + sizeOf(item), 0))
  let at = 0
  return spans.map((item) => {
    const { start, end, fields, resourceVersion, managedFields } = item
    const begin = at
    const cut = resourceVersion === NOWHERE ? fields.start : resourceVersion.start
    at += head.copy(kept, at)
    at += json.copy(kept, at, start, cut)
    at += json.copy(kept, at, resourceVersion === NOWHERE ? cut : resourceVersion.end, end)
    return { metadata: metadataIn(json, fields, managedFields), stored: kept.subarray(begin, at) }
  })
}

function metadataIn(json: Buffer, { start, end }: Span, managedFields: Span): ObjectMeta {
  const text =
    managedFields === NOWHERE
      ? json.toString('utf8', start, end)
      : json.toString('utf8', start, managedFields.start) + json.toString('utf8', managedFields.end, end)
  return parseExactly(`{${text}}`) as ObjectMeta
}
