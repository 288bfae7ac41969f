/**
 * A request's body before its schema is known: JSON, YAML, protobuf or an object of this process, opened as far as to tell which kind
 * it says that it is.
 */

import { messageOf } from '../../base/errors.ts'
import type { JsonObject, KubeObject } from '../object.ts'
import { noParts, type Parts, type ReadPart } from '../parts.ts'
import type { RequestBody } from '../request.ts'
import type { StructSchema } from '../schema/schema.ts'
import type { StrictProblem } from '../schema/strict-problem.ts'
import { countKeys } from '../schema/walk.ts'
import type { StatusError } from '../status.ts'
import {
  type JsonNode,
  type JsonScan,
  jsonNodeOf,
  jsonText,
  jsonWordFor,
  ObjectNode,
  parseJson,
  parseWithKeys,
  plainOf,
  type Span,
  scanJson,
} from '../values/json.ts'
import type { Kind } from './kinds.ts'
import { mediaTypeOf, unsupportedBody } from './media-type.ts'
import { ProtobufError } from './protobuf-wire.ts'
import { cannotBeHandled, unrecognized } from './refusals.ts'
import { parseYaml } from './yaml.ts'

export interface ExpectedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly schema: StructSchema
}

/** Decodes a protobuf message (the bytes with their `k8s\0` prefix) to plain JSON with kind and apiVersion. */
export type ProtobufDecoder = (bytes: Uint8Array, expected: ExpectedKind) => JsonObject

const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** A body that is expected to be of a kind. `parts` has the specs that may be read again. @throws StatusError 400, 415 */
export function openOfKind(
  body: RequestBody | undefined,
  expected: ExpectedKind,
  decodeProtobuf: ProtobufDecoder | undefined,
  parts: Parts = noParts,
): BodySource {
  const refuse = (message: string, bytes: Uint8Array) => unrecognized(expected, message, summary(bytes))
  return openBody(body, expected, decodeProtobuf, refuse, parts)
}

/** The source read exactly: a kind written twice is refused if either is no string. */
export function exactly(source: BodySource): BodySource {
  const node = source.node()
  return { ...source, top: topOf(node, source.refuse), quick: undefined, node: () => node }
}

/** What a body is before its schema is known. */
export interface BodySource {
  readonly top: Top
  /** The value and the number of its keys, for the quick walk; undefined when only the exact one may read it. */
  readonly quick: Quick | undefined
  /** Made when first asked for. */
  readonly node: () => JsonNode
  /** The body as JSON text. */
  readonly text: () => string
  /** Strict errors found by the encoding's own parser (YAML). */
  readonly strict: readonly StrictProblem[]
  readonly refuse: (message: string) => StatusError
}

/** What the quick walk reads, and what is known of it. */
export interface Quick {
  readonly value: unknown
  readonly keys: number | undefined
  /** Whether the value was made for this request alone. */
  readonly owned: boolean
  /** Its spec, where that was read before. */
  readonly known?: ReadPart
  /** The text of its spec, where it may be read again. */
  readonly recurring?: { readonly text: string; readonly keys: number }
}

/** The keys of the top level that name the kind, as they stand in the body (any type). */
export interface Top {
  readonly apiVersion: unknown
  readonly kind: unknown
}

export function openBody(
  body: RequestBody | undefined,
  expected: ExpectedKind,
  decodeProtobuf: ProtobufDecoder | undefined,
  refuseUnread: (message: string, bytes: Uint8Array) => StatusError,
  parts: Parts,
): BodySource {
  if (body?.kind === 'object') return openObject(body.object, (message) => refuseUnread(message, Buffer.from('{')))
  const bytes = body?.bytes ?? new Uint8Array()
  const refuse = (message: string) => refuseUnread(message, bytes)
  switch (mediaTypeOf(body?.contentType ?? '')) {
    case '':
    case 'application/json':
      return openJson(bytes, parts, refuse)
    case 'application/yaml':
      return openYaml(bytes, refuse)
    case 'application/vnd.kubernetes.protobuf': {
      if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0')
        throw refuse('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
      if (decodeProtobuf !== undefined)
        return openObject(
          orSay(() => decodeProtobuf(bytes, expected), expected, refuse),
          refuse,
        )
    }
  }
  throw unsupportedBody(MEDIA_TYPES)
}

/** A broken envelope is no object at all; a broken message inside is one that cannot be read. */
function orSay(decode: () => JsonObject, expected: ExpectedKind, refuse: BodySource['refuse']): JsonObject {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error
    if (error.inside === undefined) throw refuse(error.message)
    const { apiVersion, kind } = error.inside
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1) || expected.version
    throw cannotBeHandled({ kind: kind || expected.kind, version }, expected, error.message)
  }
}

function openObject(object: JsonObject | KubeObject, refuse: BodySource['refuse']): BodySource {
  return {
    top: { apiVersion: object['apiVersion'], kind: object['kind'] },
    quick: { value: object, keys: undefined, owned: false },
    node: () => {
      if (Number.isNaN(countKeys(object))) throw refuse('exceeded max depth')
      return jsonNodeOf(object)
    },
    text: () => jsonText(object),
    strict: [],
    refuse,
  }
}

/** An escape that may be half of a character: Go's decoder replaces those that have no other half. */
const halfCharacter = /\\u[dD][89a-fA-F]/

function openJson(bytes: Uint8Array, parts: Parts, refuse: BodySource['refuse']): BodySource {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const scan = scanJson(bytes)
  const { spec, known } = knownSpec(text, bytes, scan, parts)
  let value: unknown
  try {
    value = known === undefined ? parseWithKeys(text) : parsedAround(text, scan.spec as Span, known)
  } catch {
    // Only for its words: Go's and ours agree on what JSON is.
    try {
      const node = parseJson(text)
      return openNode(node, () => text, [], refuse)
    } catch (error) {
      throw refuse(`couldn't get version/kind; json parse error: ${messageOf(error)}`)
    }
  }
  const node = () => parseJson(text)
  const plain = scan.plainNumbers && !(text.includes('\\u') && halfCharacter.test(text))
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !plain)
    return openNode(orRefuse(node, refuse), () => text, [], refuse)
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown }
  // Go finds these two in any case of letters, and the last of several.
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || namesKindOtherwise(value))
    return openNode(orRefuse(node, refuse), () => text, [], refuse)
  return {
    top: { apiVersion, kind },
    quick: {
      value,
      keys: scan.keys,
      owned: true,
      ...(known !== undefined ? { known } : spec !== undefined ? { recurring: spec } : {}),
    },
    node: () => orRefuse(node, refuse),
    text: () => text,
    strict: [],
    refuse,
  }
}

/** The text of a spec, and what is known of it. */
function knownSpec(text: string, bytes: Uint8Array, { spec }: JsonScan, parts: Parts) {
  // Where every character is a byte, places in the bytes are places in the text.
  if (spec === undefined || text.length !== bytes.length) return {}
  const written = text.slice(spec.start, spec.end).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
  return { spec: { text: written, keys: spec.keys }, known: parts.recall(written) }
}

/** The text parsed but for its spec, which is known. @throws SyntaxError */
function parsedAround(text: string, { start, end }: Span, { part }: ReadPart): unknown {
  const value = parseWithKeys(`${text.slice(0, start)}0${text.slice(end)}`) as { spec: unknown }
  value.spec = part
  return value
}

/** Whether a key is `kind` or `apiVersion` in other letters: it counts as well, and the last one wins. */
function namesKindOtherwise(value: object): boolean {
  for (const key in value) {
    if (key === 'kind' || key === 'apiVersion' || (key.length !== 4 && key.length !== 10)) continue
    const lower = key.toLowerCase()
    if (lower === 'kind' || lower === 'apiversion') return true
  }
  return false
}

function orRefuse(make: () => JsonNode, refuse: BodySource['refuse']): JsonNode {
  try {
    return make()
  } catch (error) {
    throw refuse(`couldn't get version/kind; json parse error: ${messageOf(error)}`)
  }
}

function openYaml(bytes: Uint8Array, refuse: BodySource['refuse']): BodySource {
  let parsed: ReturnType<typeof parseYaml>
  try {
    parsed = parseYaml(Buffer.from(bytes).toString('utf8'))
  } catch (error) {
    throw refuse(messageOf(error))
  }
  const { node, strict } = parsed
  return openNode(node, () => JSON.stringify(plainOf(node)), strict, refuse)
}

function openNode(
  node: JsonNode,
  text: () => string,
  strict: readonly StrictProblem[],
  refuse: BodySource['refuse'],
): BodySource {
  return { top: topOf(node, refuse), quick: undefined, node: () => node, text, strict, refuse }
}

const GO_TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** What an object says that it is; empty texts where it does not. @throws what `refuse` makes of a value that is no such thing */
export function topOf(node: JsonNode, refuse: (message: string) => Error): { apiVersion: string; kind: string } {
  if (node === null) return { apiVersion: '', kind: '' }
  const mismatch = (value: JsonNode, where: string) =>
    refuse(`couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonWordFor(value)} into Go ${where}`)
  if (!(node instanceof ObjectNode)) throw mismatch(node, `value of type ${GO_TYPE_META}`)
  const top = { apiVersion: '', kind: '' }
  let first: Error | undefined
  for (const [key, value] of node.entries) {
    const lower = key.toLowerCase()
    const name = lower === 'kind' ? 'kind' : lower === 'apiversion' ? 'apiVersion' : undefined
    if (name === undefined || value === null) continue
    if (typeof value === 'string') top[name] = value
    else first ??= mismatch(value, `struct field .${name} of type string`)
  }
  if (first !== undefined) throw first
  return top
}

/** Group, version and kind of the body, what is absent taken from the kind expected. */
export function kindOf({ top, refuse }: BodySource, expected: ExpectedKind): Kind {
  const apiVersion = typeof top.apiVersion === 'string' ? top.apiVersion : ''
  const kind = (typeof top.kind === 'string' && top.kind) || expected.kind
  const parts = apiVersion.split('/')
  if (parts.length > 2) throw refuse(`unexpected GroupVersion string: ${apiVersion}`)
  const group = parts.length === 2 ? parts[0]! : ''
  const version = parts.at(-1)!
  if (version !== '') return { group, version, kind }
  if (group === '' || group === expected.group) return { group: expected.group, version: expected.version, kind }
  return { group, version, kind }
}

/** A body in an error text: `<empty>`, the beginning of a JSON object, or hexadecimal. */
function summary(bytes: Uint8Array): string {
  const limit = 30
  if (bytes.length === 0) return '<empty>'
  const opening = Buffer.from(bytes.subarray(0, limit))
  const text = bytes[0] === 0x7b ? opening.toString('utf8') : opening.toString('hex')
  return bytes.length > limit ? `${text} ...` : text
}
