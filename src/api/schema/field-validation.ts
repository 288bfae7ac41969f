/**
 * The exact half of the walk: over nodes that keep everything the text said, in its order, it finds what Kubernetes'
 * decoder would find — the first value of a wrong type, unknown and duplicate fields by path — in the words of Go's JSON
 * decoder, and makes the same canonical form as the quick half.
 */

import { messageOf } from '../../base/errors.ts'
import { type DecodeProblem, type Mismatch, otherProblem } from '../decode-problem.ts'
import type { Json } from '../object.ts'
import { exactInteger, type JsonNode, jsonWordFor, NumberNode, ObjectNode } from '../values/json.ts'
import {
  isWritten,
  keepsEmpty,
  noteEmpty,
  quantityText,
  setKey,
  type Writable,
  zeroOf,
  zeroStruct,
  zeroValue,
} from './canonical.ts'
import type { Field, ScalarSchema, Schema, StructSchema } from './schema.ts'
import type { FieldProblem } from './strict-problem.ts'
import { canonicalDuration, canonicalTime } from './time.ts'
import { byBytes, MAX_DEPTH } from './walk.ts'

export interface ExactResult {
  readonly object: Writable
  /** What ends the decoding; then `object` is of no use. */
  readonly error?: DecodeProblem
  /** Each once, in the order in which they were met. */
  readonly strict: readonly FieldProblem[]
}

/** Go's decoder notes no more of them. */
const MAX_STRICT_ERRORS = 100

/** A type that decodes itself has failed: Kubernetes stops there, and an earlier mismatch is forgotten. */
class Stop extends Error {
  readonly problem: DecodeProblem
  constructor(problem: DecodeProblem) {
    super()
    this.problem = problem
  }
}

interface Context {
  /** The Go struct that the value stands in, and the JSON names on the way, for error texts. */
  struct: string
  readonly stack: string[]
  /** The path as strict errors name it: with indexes and map keys. */
  readonly path: string[]
  depth: number
  firstError: DecodeProblem | undefined
  /** By kind and path. */
  readonly strict: Map<string, FieldProblem>
  /** Inside a type that decodes itself nothing is strict. */
  lenient: boolean
}

const newContext = (): Context => ({
  struct: '',
  stack: [],
  path: [],
  depth: 0,
  firstError: undefined,
  strict: new Map(),
  lenient: false,
})

export function walkExactly(node: JsonNode, schema: StructSchema): ExactResult {
  const context = newContext()
  let object: Writable = {}
  try {
    object = structValue(node, schema, context, undefined)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return { object, error: error.problem, strict: [] }
  }
  const strict = [...context.strict.values()]
  return context.firstError === undefined ? { object, strict } : { object, error: context.firstError, strict }
}

/** What a decoder finds wrong with a value that is read for itself. */
export function problemOfDecoding(node: JsonNode, schema: Schema): DecodeProblem | undefined {
  const context = newContext()
  try {
    decodedValue(node, schema, context)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return error.problem
  }
  return context.firstError
}

const mismatchOf = (found: string, goType: string, { struct, stack }: Context): Mismatch => ({
  kind: 'mismatch',
  found,
  goType,
  struct,
  path: [...stack],
})

function mismatch(node: JsonNode, schema: Schema, context: Context): void {
  context.firstError ??= mismatchOf(jsonWordFor(node), schema.goType, context)
}

function noteStrict(kind: FieldProblem['kind'], key: string, context: Context): void {
  if (context.lenient || context.strict.size >= MAX_STRICT_ERRORS) return
  const path = pathOf(context, key)
  const name = `${kind} ${path}`
  if (!context.strict.has(name)) context.strict.set(name, { kind, path })
}

function pathOf(context: Context, key: string): string {
  let text = ''
  for (const part of [...context.path, `.${key}`]) text += text === '' && part.startsWith('.') ? part.slice(1) : part
  return text
}

function enter(context: Context): void {
  if (++context.depth > MAX_DEPTH) throw new Stop(otherProblem('exceeded max depth'))
}

function structValue(node: JsonNode, schema: StructSchema, context: Context, existing: Writable | undefined): Writable {
  if (node === null) return existing ?? zeroStruct(schema)
  if (!(node instanceof ObjectNode)) {
    mismatch(node, schema, context)
    return existing ?? zeroStruct(schema)
  }
  enter(context)
  const values = new Map<Field, Json>()
  const outer = context.struct
  for (const [key, inner] of node.entries) {
    const field = schema.byName.get(key)
    if (field === undefined) {
      noteStrict('unknown', key, context)
      continue
    }
    const before = values.get(field)
    if (before !== undefined) noteStrict('duplicate', key, context)
    const length = context.stack.length
    if (field.inline !== undefined) context.stack.push(...field.inline)
    context.stack.push(key)
    context.path.push(`.${key}`)
    context.struct = field.goStruct
    values.set(field, fieldValue(inner, field, context, before ?? existing?.[field.name]))
    context.struct = outer
    context.path.pop()
    context.stack.length = length
  }
  const out: Writable = {}
  const empties: string[] = []
  for (const field of schema.fields) {
    const value = values.get(field) ?? existing?.[field.name] ?? zeroOf(field)
    if (!isEmptyValue(field, value)) {
      if (isWritten(field, value)) out[field.name] = value
    } else if (keepsEmpty(field)) out[field.name] = value
    else empties.push(field.name)
  }
  if (empties.length > 0) noteEmpty(out, empties)
  context.depth--
  return out
}

function isEmptyValue(field: Field, value: Json): boolean {
  if (field.schema.type === 'list') return (value as readonly Json[] | null)?.length === 0
  return field.schema.type === 'map' && value !== null && Object.keys(value as Writable).length === 0
}

function fieldValue(node: JsonNode, field: Field, context: Context, existing: Json | undefined): Json {
  if (node === null) {
    if (field.pointer || field.schema.type === 'list' || field.schema.type === 'map') return null
    if (field.schema.type !== 'duration') return existing ?? zeroOf(field)
  }
  return decodedValue(node, field.schema, context, existing)
}

function decodedValue(node: JsonNode, schema: Schema, context: Context, existing?: Json): Json {
  switch (schema.type) {
    case 'struct':
      return structValue(node, schema, context, isObject(existing) ? existing : undefined)
    case 'list':
      return listValue(node, schema, context, Array.isArray(existing) ? existing : undefined)
    case 'map':
      return mapValue(node, schema, context, isObject(existing) ? existing : undefined)
    default:
      return scalarValue(node, schema, context)
  }
}

function isObject(value: Json | undefined): value is Writable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listValue(
  node: JsonNode,
  schema: Schema & { type: 'list' },
  context: Context,
  existing: readonly Json[] | undefined,
): Json {
  if (node === null) return null
  if (!Array.isArray(node)) {
    mismatch(node, schema, context)
    return null
  }
  enter(context)
  const out: Json[] = []
  for (const [i, item] of node.entries()) {
    context.path.push(`[${i}]`)
    // Go decodes a list that is written twice into the items of the first, and null into a scalar changes nothing.
    const before = existing?.[i]
    out.push(
      item === null && before !== undefined && typeof before !== 'object'
        ? before
        : decodedValue(item, schema.items, context, before),
    )
    context.path.pop()
  }
  context.depth--
  return out
}

function mapValue(
  node: JsonNode,
  schema: Schema & { type: 'map' },
  context: Context,
  existing: Writable | undefined,
): Json {
  if (node === null) return null
  if (!(node instanceof ObjectNode)) {
    mismatch(node, schema, context)
    return existing ?? null
  }
  enter(context)
  const values = new Map<string, Json>(Object.entries(existing ?? {}) as [string, Json][])
  const seen = new Set<string>()
  for (const [key, inner] of node.entries) {
    if (seen.has(key)) noteStrict('duplicate', key, context)
    seen.add(key)
    context.path.push(`.${key}`)
    values.set(key, decodedValue(inner, schema.values, context))
    context.path.pop()
  }
  context.depth--
  return sortedMap(values)
}

function sortedMap(values: ReadonlyMap<string, Json>): Json {
  const out: Writable = {}
  for (const key of [...values.keys()].sort(byBytes)) setKey(out, key, values.get(key)!)
  return out
}

const INT64_MAX = 2n ** 63n - 1n
const INT32_MAX = 2n ** 31n - 1n
const isInteger = /^-?\d+$/

function integer(node: JsonNode, max: bigint, goType: string, context: Context): number | bigint | Mismatch {
  if (!(node instanceof NumberNode)) return mismatchOf(jsonWordFor(node), goType, context)
  if (isInteger.test(node.text) && node.text.length <= 20) {
    const value = BigInt(node.text)
    if (value <= max && value >= -max - 1n) return exactInteger(node.text)
  }
  return mismatchOf(`number ${node.text}`, goType, context)
}

function scalarValue(node: JsonNode, schema: ScalarSchema, context: Context): Json {
  if (node === null && schema.type !== 'duration') return zeroValue(schema)
  switch (schema.type) {
    case 'string':
      if (typeof node === 'string') return node
      mismatch(node, schema, context)
      return ''
    case 'boolean':
      if (typeof node === 'boolean') return node
      mismatch(node, schema, context)
      return false
    case 'int32':
    case 'int64': {
      const value = integer(node, schema.type === 'int32' ? INT32_MAX : INT64_MAX, schema.goType, context)
      if (typeof value !== 'object') return value as number
      context.firstError ??= value
      return 0
    }
    case 'number':
      if (node instanceof NumberNode) {
        const value = Number(node.text)
        if (Number.isFinite(value)) return value + 0
        context.firstError ??= mismatchOf(`number ${node.text}`, schema.goType, context)
      } else mismatch(node, schema, context)
      return 0
    case 'bytes':
      return bytesValue(node, schema, context)
    case 'any':
      return schema.union === undefined ? plain(node, context) : unionValue(node, schema, context)
    default:
      return selfDecoded(node, schema, context)
  }
}

/** Types with a decoder of their own: their failure ends the decoding. */
function selfDecoded(node: JsonNode, schema: ScalarSchema, context: Context): Json {
  if (schema.type === 'quantity') {
    const text = node instanceof NumberNode ? node.text : typeof node === 'string' ? node.trim() : jsonOpening(node)
    return orStop(() => quantityText(text))
  }
  if (schema.type === 'intOrString') {
    if (typeof node === 'string') return node
    const value = integer(node, INT32_MAX, 'int32', context)
    if (typeof value === 'object') throw new Stop(value)
    return value as number
  }
  if (node === null) return orStop(() => canonicalDuration(''))
  if (typeof node !== 'string') throw new Stop(mismatchOf(jsonWordFor(node), 'string', context))
  return orStop(() =>
    schema.type === 'duration' ? canonicalDuration(node) : canonicalTime(node, schema.type as 'time' | 'microTime'),
  )
}

/** Enough of a value's text for a quantity to refuse it. */
function jsonOpening(node: JsonNode): string {
  return typeof node === 'boolean' ? String(node) : Array.isArray(node) ? '[' : '{'
}

function orStop(make: () => string): string {
  try {
    return make()
  } catch (error) {
    throw new Stop(otherProblem(messageOf(error)))
  }
}

function bytesValue(node: JsonNode, schema: ScalarSchema, context: Context): Json {
  if (Array.isArray(node)) {
    const bytes: number[] = []
    for (const item of node) {
      if (item === null) bytes.push(0)
      else if (
        item instanceof NumberNode &&
        isInteger.test(item.text) &&
        Number(item.text) >= 0 &&
        Number(item.text) < 256
      )
        bytes.push(Number(item.text))
      else {
        const what = item instanceof NumberNode ? `number ${item.text}` : jsonWordFor(item)
        context.firstError ??= mismatchOf(what, 'uint8', context)
      }
    }
    return Buffer.from(bytes).toString('base64')
  }
  if (typeof node !== 'string') {
    mismatch(node, schema, context)
    return ''
  }
  const text = node.replace(/[\r\n]/g, '')
  const wrong = corruptByte(node)
  if (wrong !== undefined) context.firstError ??= { kind: 'base64', byte: wrong }
  return Buffer.from(text, 'base64').toString('base64')
}

/** Where Go's base64 decoder would stop, or undefined. Line breaks do not count as data, but as positions. */
function corruptByte(text: string): number | undefined {
  let digits = 0
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte === 0x0a || byte === 0x0d) continue
    if (/[A-Za-z0-9+/]/.test(String.fromCharCode(byte)) && byte < 0x80) {
      digits++
      continue
    }
    if (byte !== 0x3d) return at
    const inQuad = digits % 4
    if (inQuad < 2) return at
    let end = at + 1
    if (inQuad === 2) {
      while (bytes[end] === 0x0a || bytes[end] === 0x0d) end++
      if (end >= bytes.length) return bytes.length
      if (bytes[end] !== 0x3d) return end
      end++
    }
    while (bytes[end] === 0x0a || bytes[end] === 0x0d) end++
    return end < bytes.length ? end : undefined
  }
  const inQuad = digits % 4
  return inQuad === 0 ? undefined : bytes.length - inQuad
}

function unionValue(node: JsonNode, schema: ScalarSchema, context: Context): Json {
  const { other, object } = schema.union!
  const inside = (inner: JsonNode): Json => {
    const { lenient } = context
    const before = context.firstError
    const { struct } = context
    context.lenient = true
    context.firstError = undefined
    context.struct = ''
    const made = structValue(inner, object, context, undefined)
    context.struct = struct
    context.lenient = lenient
    // A decoder of its own inside: its first mismatch ends everything, named after the struct outside.
    const wrong = context.firstError as DecodeProblem | undefined
    if (wrong !== undefined) throw new Stop(wrong.kind === 'mismatch' ? { ...wrong, struct } : wrong)
    context.firstError = before
    return made
  }
  if (node instanceof ObjectNode) return inside(node)
  if (other === 'boolean') {
    if (typeof node === 'boolean') return node
    throw new Stop(otherProblem('boolean or JSON schema expected'))
  }
  if (!Array.isArray(node)) return null
  if (other === 'list') return node.map(inside)
  return node.map((item) => {
    if (typeof item === 'string') return item
    throw new Stop(mismatchOf(jsonWordFor(item), 'string', context))
  })
}

function plain(node: JsonNode, context: Context): Json {
  if (node instanceof NumberNode) {
    return isInteger.test(node.text) ? (exactInteger(node.text) as number) : Number(node.text)
  }
  if (typeof node !== 'object' || node === null) return node
  enter(context)
  let out: Json
  if (Array.isArray(node)) out = node.map((item) => plain(item, context))
  else {
    const copy: Writable = {}
    for (const [key, inner] of node.entries) setKey(copy, key, plain(inner, context))
    out = copy
  }
  context.depth--
  return out
}
