/** Reads messages into plain JSON. Unknown fields are skipped, as protobuf wants it. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { goDurationText } from '../../base/go-duration.ts'
import type { Json, JsonObject } from '../object.ts'
import type { Schema, StructSchema } from '../schema/schema.ts'
import { heedKey, parseWithKeys } from '../values/json.ts'
import { type MessageField, messageFields, unionOf } from './protobuf-forms.ts'
import { ProtobufError, type Reader } from './protobuf-wire.ts'

type Target = { [name: string]: Json | undefined }
/** Reads one value, whose tag was just read, into its place. */
type FieldReader = (target: Target, reader: Reader, depth: number) => void

interface Step {
  /** The Go field, as messages name it. */
  readonly name: string
  readonly wire: number
  readonly read: FieldReader
}

/** Messages may nest as deep as objects. */
const MAX_DEPTH = 1000

const compiled = new WeakMap<StructSchema, ReadonlyMap<number, Step>>()

/** @throws ProtobufError */
export function readMessage(schema: StructSchema, reader: Reader, depth: number): JsonObject {
  const steps = getOrInsertComputed(compiled, schema, () => stepsOf(messageFields(schema)))
  const target: Target = {}
  readFields(steps, target, reader, depth)
  return target as JsonObject
}

function readFields(steps: ReadonlyMap<number, Step>, target: Target, reader: Reader, depth: number): void {
  if (depth > MAX_DEPTH) throw new ProtobufError('exceeded max depth')
  while (reader.more()) {
    const tag = reader.tag()
    const step = steps.get(tag.number)
    if (step === undefined) reader.skip(tag.wire)
    else if (step.wire === tag.wire) step.read(target, reader, depth)
    else throw new ProtobufError(`proto: wrong wireType = ${tag.wire} for field ${step.name}`)
  }
}

function stepsOf(fields: readonly MessageField[]): ReadonlyMap<number, Step> {
  return new Map(fields.map((entry) => [entry.number, { name: nameOf(entry), ...stepOf(entry) }]))
}

const nameOf = (entry: MessageField): string =>
  entry.kind === 'field' ? entry.field.goName : (entry.fields.map(nameOf)[0] ?? '')

function stepOf(entry: MessageField): Omit<Step, 'name'> {
  if (entry.kind === 'embedded') {
    const steps = stepsOf(entry.fields)
    // An embedded struct's fields are the outer object's in JSON.
    return { wire: 2, read: (target, reader, depth) => readFields(steps, target, reader.message(), depth + 1) }
  }
  const { name, schema, pointer, omitEmpty } = entry.field
  if (schema.type === 'list') {
    const { wire, read } = valueReader(schema.items)
    if (entry.wrapped) {
      return {
        wire: 2,
        read: (target, reader, depth) => {
          target[name] = readItems(read, reader.message(), depth)
        },
      }
    }
    return {
      wire,
      read: (target, reader, depth) => {
        const list = target[name] as Json[] | undefined
        const item = read(reader, depth)
        if (list === undefined) target[name] = [item]
        else list.push(item)
      },
    }
  }
  if (schema.type === 'map') return { wire: 2, read: mapReader(name, schema.values) }
  const { wire, read } = valueReader(schema)
  const dropZero = omitEmpty && !pointer
  return {
    wire,
    read: (target, reader, depth) => {
      const value = read(reader, depth)
      if (dropZero && (value === '' || value === 0 || value === false)) return
      target[name] = value
    },
  }
}

function readItems(read: ValueReader['read'], reader: Reader, depth: number): Json[] {
  const items: Json[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag.number === 1 && tag.wire === 2) items.push(read(reader, depth + 1))
    else reader.skip(tag.wire)
  }
  return items
}

function mapReader(name: string, schema: Schema): FieldReader {
  const value = schema.type === 'list' ? itemsReader(schema.items) : valueReader(schema)
  const empty = () => (schema.type === 'string' || schema.type === 'bytes' ? '' : null)
  return (target, outer, depth) => {
    const reader = outer.message()
    let key = ''
    let inner: Json | undefined
    while (reader.more()) {
      const tag = reader.tag()
      if (tag.number === 1 && tag.wire === 2) key = reader.text()
      else if (tag.number === 2 && tag.wire === value.wire) inner = value.read(reader, depth)
      else reader.skip(tag.wire)
    }
    if (target[name] === undefined) target[name] = {}
    const map = target[name] as Target
    heedKey(key)
    // A key is the client's: `__proto__` is data.
    Object.defineProperty(map, key, {
      value: inner ?? empty(),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
}

const itemsReader = (items: Schema): ValueReader => ({
  wire: 2,
  read: (reader, depth) => readItems(valueReader(items).read, reader.message(), depth),
})

interface ValueReader {
  readonly wire: number
  readonly read: (reader: Reader, depth: number) => Json
}

function valueReader(schema: Schema): ValueReader {
  const union = unionOf(schema)
  if (union !== undefined) return unionReader(union.other, union.object)
  switch (schema.type) {
    case 'struct':
      return { wire: 2, read: (reader, depth) => readMessage(schema, reader.message(), depth + 1) }
    case 'string':
      return { wire: 2, read: (reader) => reader.text() }
    case 'boolean':
      return { wire: 0, read: (reader) => reader.integer() !== 0 }
    case 'int32':
      return { wire: 0, read: (reader) => Number(reader.integer()) | 0 }
    case 'int64':
      return { wire: 0, read: (reader) => reader.integer() as number }
    case 'number':
      return { wire: 1, read: (reader) => reader.double() }
    case 'bytes':
      return { wire: 2, read: (reader) => Buffer.from(reader.bytes()).toString('base64') }
    case 'quantity':
      return { wire: 2, read: (reader) => (numbered(reader.message()).get(1) as string | undefined) ?? '0' }
    case 'intOrString':
      return {
        wire: 2,
        read: (reader) => {
          const parts = numbered(reader.message())
          return parts.get(1) === 1 ? ((parts.get(3) as string | undefined) ?? '') : Number(parts.get(2) ?? 0) | 0
        },
      }
    case 'time':
    case 'microTime':
      return { wire: 2, read: (reader) => timeText(numbered(reader.message()), schema.type === 'microTime') }
    case 'duration':
      return { wire: 2, read: (reader) => durationText(numbered(reader.message()).get(1) ?? 0) }
    case 'any':
      return { wire: 2, read: (reader) => embeddedJson(reader.message()) }
    default:
      throw new Error(`${schema.goType} has no form in protobuf`)
  }
}

/** The fields of one of the small messages behind a scalar: texts and integers. */
function numbered(reader: Reader): Map<number, string | number | bigint> {
  const parts = new Map<number, string | number | bigint>()
  while (reader.more()) {
    const tag = reader.tag()
    if (tag.wire === 0) parts.set(tag.number, reader.integer())
    else if (tag.wire === 2) parts.set(tag.number, reader.text())
    else reader.skip(tag.wire)
  }
  return parts
}

function timeText(parts: ReadonlyMap<number, string | number | bigint>, micro: boolean): Json {
  const seconds = parts.get(1)
  if (seconds === undefined && !parts.has(2)) return null
  const ms = Number(seconds ?? 0) * 1000
  // Beyond what a Date holds is beyond what Go's JSON writes, too.
  if (Number.isNaN(ms) || Math.abs(ms) > 253_402_300_799_000) throw new ProtobufError('proto: time out of range')
  const text = new Date(ms).toISOString().slice(0, 19)
  if (!micro) return `${text}Z`
  const micros = Math.floor(Number(parts.get(2) ?? 0) / 1000)
  return `${text}.${String(Math.min(Math.max(micros, 0), 999_999)).padStart(6, '0')}Z`
}

const durationText = (value: string | number | bigint): string =>
  goDurationText(typeof value === 'string' ? 0n : BigInt(value))

function embeddedJson(reader: Reader): Json {
  let value: Json = null
  while (reader.more()) {
    const tag = reader.tag()
    if (tag.number !== 1 || tag.wire !== 2) {
      reader.skip(tag.wire)
      continue
    }
    try {
      value = parseWithKeys(reader.text()) as Json
    } catch {
      throw new ProtobufError('embedded data is not JSON')
    }
  }
  return value
}

function unionReader(other: 'boolean' | 'list' | 'strings', object: StructSchema): ValueReader {
  return {
    wire: 2,
    read: (outer, depth) => {
      const reader = outer.message()
      let allows = false
      let single: Json | undefined
      const list: Json[] = []
      const readObject = () => readMessage(object, reader.message(), depth + 2) as Json
      while (reader.more()) {
        const { number, wire } = reader.tag()
        if (other === 'boolean' && number === 1 && wire === 0) allows = reader.integer() !== 0
        else if (other === 'boolean' && number === 2 && wire === 2) single = readObject()
        else if (number === 1 && wire === 2) single = readObject()
        else if (number === 2 && wire === 2) list.push(other === 'strings' ? reader.text() : readObject())
        else reader.skip(wire)
      }
      if (single !== undefined) return single
      return other === 'boolean' ? allows : list
    },
  }
}
