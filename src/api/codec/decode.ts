/**
 * A request's body becomes an object: the one way in for every body, whatever its encoding, and for objects from components
 * in this process. Handlers call `decodeBody` with the kind that the path expects (the row's, or its subresource's), and
 * `decodeOptions` for the DeleteOptions of a DELETE. Knows schemas and the scheme's kinds; knows no handlers.
 */

import { messageOf } from '../../base/errors.ts'
import { type DecodeProblem, otherProblem, problemText } from '../decode-problem.ts'
import { apiVersionOf, asKubeObject, type Json, type JsonObject, type KubeObject } from '../object.ts'
import { annotationReader, ConversionError, withAnnotations } from '../objects/annotated-fields.ts'
import { noParts, type Parts, type ReadPart } from '../parts.ts'
import type { RequestBody } from '../request.ts'
import { schemaOf } from '../schema/builtin.ts'
import type { Writable } from '../schema/canonical.ts'
import { type ExactResult, walkExactly } from '../schema/field-validation.ts'
import type { StructSchema } from '../schema/schema.ts'
import { type StrictProblem, strictError } from '../schema/strict-problem.ts'
import { countKeys, walkQuickly } from '../schema/walk.ts'
import { badRequest, type StatusError } from '../status.ts'
import {
  type JsonNode,
  type JsonScan,
  jsonText,
  NumberNode,
  ObjectNode,
  parseJson,
  type Span,
  scanJson,
} from './json.ts'
import { conversionProblem, type Kind, kindIn } from './kinds.ts'
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

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** Decodes a protobuf message (the bytes with their `k8s\0` prefix) to plain JSON with kind and apiVersion. */
export type ProtobufDecoder = (bytes: Uint8Array, expected: ExpectedKind) => JsonObject

export interface DecodeOptions {
  /** The outcome of an apply: nulls in a custom resource were asked for, and are left for validation to refuse. */
  readonly applied?: boolean
  readonly fieldValidation: FieldValidation
  readonly decodeProtobuf?: ProtobufDecoder
  /** What is remembered of specs of the kind; custom resources have none. */
  readonly parts?: Parts
  /** The object comes from a patch: a custom resource may say there what it wants to be, validation judges it. */
  readonly patched?: boolean
}

export interface Decoded {
  /** In canonical form, with the kind and apiVersion expected. Belongs to the caller until it is shared. */
  readonly object: KubeObject
  /** What is to be warned of (fieldValidation Warn). */
  readonly strict: readonly StrictProblem[]
}

const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/**
 * The object in a create or update body.
 *
 * An absent kind or apiVersion is taken from `expected`. In-process objects pass the same walk and are never mutated.
 *
 * @throws StatusError 400 with Kubernetes' words for what is wrong, 415 for a content type it does not read
 */
export function decodeBody(body: RequestBody | undefined, expected: ExpectedKind, options: DecodeOptions): Decoded {
  let source = openOfKind(body, expected, options.decodeProtobuf, options.parts)
  let actual = kindOf(source, expected)
  if (!isSame(actual, expected) && source.quick !== undefined) {
    source = exactly(source)
    actual = kindOf(source, expected)
  }
  const refuse = (problem: DecodeProblem | string, cause?: unknown) => cannotBeHandled(actual, expected, problem, cause)

  if (isSame(actual, expected)) return finish(source, expected, options, refuse)

  if (actual.version === '') throw refuse(`Object 'apiVersion' is missing in '${source.text()}'`)
  const known = kindIn(expected.group, actual)
  if (known === undefined) throw refuse(notRegistered(actual))
  let decoded: Decoded | undefined
  if (known.definition !== undefined) {
    decoded = finish(source, { ...actual, schema: schemaOf(known.definition) }, { fieldValidation: 'Warn' }, refuse)
  }
  const problem = conversionProblem(known, expected)
  if (problem !== undefined) throw refuse(problem)
  if (options.fieldValidation === 'Strict' && decoded !== undefined && decoded.strict.length > 0)
    throw refuse(strictError(decoded.strict))
  // Eviction is read in both of its versions; they are alike.
  if (decoded === undefined && known.group === expected.group && expected.kind === 'Eviction')
    return finish(source, expected, options, refuse)
  throw badRequest(
    `the API version in the data (${apiVersionOf(actual.group, actual.version)}) does not match the expected API version (${apiVersionOf(expected.group, expected.version)})`,
  )
}

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

/**
 * The canonical form of fields that are in this process already (a patched object, a defaulted part) with what a decoder
 * would say against them, for callers with words of their own: nothing is thrown. `value` is not changed.
 */
export function decodeFields(value: JsonObject | KubeObject, schema: StructSchema): ExactResult {
  const object = walkQuickly(value, schema, undefined)
  if (object !== undefined) return { object, strict: [] }
  if (Number.isNaN(countKeys(value))) return { object: {}, error: otherProblem('exceeded max depth'), strict: [] }
  return walkExactly(jsonNodeOf(value), schema)
}

function isSame(actual: Kind, expected: Kind): boolean {
  return actual.kind === expected.kind && actual.group === expected.group && actual.version === expected.version
}

/** The source read exactly: a kind written twice is refused if either is no string. */
function exactly(source: BodySource): BodySource {
  const node = source.node()
  return { ...source, top: topOf(node, source.refuse), quick: undefined, node: () => node }
}

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'

/**
 * The DeleteOptions in a DELETE's body, of whatever group and version; undefined for an empty body. Unknown fields are
 * ignored, as Kubernetes does here.
 *
 * @throws StatusError 400, 415
 */
export function decodeOptions(
  body: RequestBody | undefined,
  options: { readonly decodeProtobuf?: ProtobufDecoder } = {},
): KubeObject | undefined {
  if (body === undefined || (body.kind === 'bytes' && body.bytes.length === 0)) return undefined
  const expected: ExpectedKind = { ...META, kind: 'DeleteOptions', schema: schemaOf(DELETE_OPTIONS) }
  const source = openBody(body, expected, options.decodeProtobuf, (message) => badRequest(message), noParts)
  const actual = kindOf(source, expected)
  if (actual.kind !== 'DeleteOptions') {
    const isMeta = actual.group === META.group && actual.version === META.version
    if (isMeta && kindIn('', actual) !== undefined)
      throw badRequest(`converting (v1.${actual.kind}) to (v1.DeleteOptions): unknown conversion`)
    throw badRequest(notRegistered(actual))
  }
  const refuse = (problem: DecodeProblem | string) =>
    badRequest(typeof problem === 'string' ? problem : problemText(problem))
  return finish(source, expected, { fieldValidation: 'Ignore' }, refuse).object
}

const META = { group: 'meta.k8s.io', version: 'v1' }

function notRegistered({ group, version, kind }: Kind): string {
  return `no kind "${kind}" is registered for version "${apiVersionOf(group, version)}" in scheme "pkg/runtime/scheme.go:111"`
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

interface Quick {
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
interface Top {
  readonly apiVersion: unknown
  readonly kind: unknown
}

function openBody(
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
    value = known === undefined ? JSON.parse(text) : parsedAround(text, scan.spec as Span, known)
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
  const value = JSON.parse(`${text.slice(0, start)}0${text.slice(end)}`) as { spec: unknown }
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
    refuse(`couldn't get version/kind; json parse error: json: cannot unmarshal ${wordFor(value)} into Go ${where}`)
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

export function wordFor(node: JsonNode): string {
  if (typeof node === 'string') return 'string'
  if (typeof node === 'boolean') return 'bool'
  if (node instanceof NumberNode) return 'number'
  return Array.isArray(node) ? 'array' : 'object'
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

function finish(
  source: BodySource,
  expected: ExpectedKind,
  { fieldValidation, parts = noParts }: DecodeOptions,
  refuse: (problem: DecodeProblem | string, cause?: unknown) => StatusError,
): Decoded {
  const { quick } = source
  let object =
    quick === undefined ? undefined : walkQuickly(quick.value, expected.schema, quick.keys, { ...quick, parts })
  if (object !== undefined && quick !== undefined) rememberSpec(quick, object, parts)
  let strict: readonly StrictProblem[] = source.strict
  if (object === undefined) {
    const { node } = quick === undefined ? source : exactly(source)
    const result = walkExactly(node(), expected.schema)
    if (result.error !== undefined) throw refuse(result.error)
    object = result.object
    strict = [...source.strict, ...result.strict]
  }
  if (sendsNoManagers(source))
    object = { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields: [{}] } }
  object = withFieldsRead(object, expected.schema, refuse)
  if (fieldValidation === 'Strict' && strict.length > 0) throw refuse(strictError(strict))
  return {
    object: withKind(object, expected),
    strict: fieldValidation === 'Warn' ? strict : [],
  }
}

/** An empty list of managers clears them, as one of an empty entry does; canonical form knows no empty list. */
function sendsNoManagers({ quick, node }: BodySource): boolean {
  const memberOf = (value: unknown, key: string): unknown =>
    value instanceof ObjectNode
      ? value.entries.findLast(([name]) => name === key)?.[1]
      : (value as Readonly<Record<string, unknown>> | null | undefined)?.[key]
  const sent = memberOf(memberOf(quick === undefined ? node() : quick.value, 'metadata'), 'managedFields')
  return Array.isArray(sent) && sent.length === 0
}

/** What stands for fields in the object's annotations is read before anything that is merely strict is told of. */
function withFieldsRead(
  object: Writable,
  schema: StructSchema,
  refuse: (message: string, cause: unknown) => StatusError,
): Writable {
  const read = annotationReader(schema.definition)
  const { metadata } = object as { metadata?: JsonObject & { annotations?: Readonly<Record<string, string>> } }
  if (read === undefined || !metadata?.annotations) return object
  try {
    const annotations = read(metadata.annotations)
    return annotations === metadata.annotations
      ? object
      : { ...object, metadata: withAnnotations(metadata, annotations) }
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error
    throw refuse(error.message, error)
  }
}

/** A spec with which nothing is wrong is known when it comes again. */
function rememberSpec({ recurring }: Quick, { metadata, spec }: Writable, parts: Parts): void {
  if (recurring === undefined || typeof spec !== 'object' || spec === null || parts.recurs(spec)) return
  // What is stored has a name. Reviews and requests for tokens have none: theirs may be secret.
  const { name, generateName } = (metadata ?? {}) as { name?: string; generateName?: string }
  if (name || generateName) parts.remember(recurring.text, spec as JsonObject, recurring.keys)
}

/** Kind and apiVersion come first, whether the body had them or not. */
function withKind(object: { [key: string]: Json | undefined }, { group, version, kind }: ExpectedKind): KubeObject {
  const apiVersion = apiVersionOf(group, version)
  if (object['kind'] === kind && object['apiVersion'] === apiVersion) return asKubeObject(object)
  return asKubeObject({ ...{ kind, apiVersion }, ...object, kind, apiVersion })
}

/** A body in an error text: `<empty>`, the beginning of a JSON object, or hexadecimal. */
function summary(bytes: Uint8Array): string {
  const limit = 30
  if (bytes.length === 0) return '<empty>'
  const opening = Buffer.from(bytes.subarray(0, limit))
  const text = bytes[0] === 0x7b ? opening.toString('utf8') : opening.toString('hex')
  return bytes.length > limit ? `${text} ...` : text
}

/** An in-process object as nodes, for the exact walk. */
export function jsonNodeOf(value: unknown): JsonNode {
  if (typeof value === 'number' || typeof value === 'bigint') return new NumberNode(String(value))
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value)) return value.map(jsonNodeOf)
  const node = new ObjectNode()
  for (const [key, inner] of Object.entries(value)) if (inner !== undefined) node.entries.push([key, jsonNodeOf(inner)])
  return node
}

/** Of a key that is there twice the last value counts. */
export function plainOf(node: JsonNode): Json {
  if (node instanceof NumberNode) return Number(node.text)
  if (Array.isArray(node)) return node.map(plainOf)
  if (node instanceof ObjectNode) return Object.fromEntries(node.entries.map(([key, value]) => [key, plainOf(value)]))
  return node
}
