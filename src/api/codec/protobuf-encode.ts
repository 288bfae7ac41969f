/** Writes messages: one writer per struct, made at its first use. */
import { parseGoDuration } from '../../base/go-duration.ts'
import type { Json, JsonObject } from '../object.ts'
import type { Schema, StructSchema } from '../schema/schema.ts'
import { jsonText } from '../values/json.ts'
import { type MessageField, messageFields, unionOf } from './protobuf-forms.ts'
import type { Writer } from './protobuf-wire.ts'

type Value = Json | undefined
type MessageWriter = (writer: Writer, value: JsonObject) => void
/** Writes one value with its tag. */
type ValueWriter = (writer: Writer, number: number, value: Value) => void

const NOTHING: JsonObject = Object.freeze({})
const writers = new WeakMap<StructSchema, MessageWriter>()

/** Writes a struct's fields (no tag, no length), last number first. */
export function messageWriter(schema: StructSchema): MessageWriter {
  let made = writers.get(schema)
  if (made === undefined) {
    let steps: readonly MessageWriter[] | undefined
    // Compiled at first use, not here: schemas contain themselves.
    made = (writer, value) => {
      steps ??= messageFields(schema).map(fieldWriter).reverse()
      for (let i = 0; i < steps.length; i++) steps[i]!(writer, value)
    }
    writers.set(schema, made)
  }
  return made
}

function fieldWriter(entry: MessageField): MessageWriter {
  const { number } = entry
  if (entry.kind === 'embedded') {
    const steps = entry.fields.map(fieldWriter).reverse()
    return (writer, value) => {
      const end = writer.length()
      for (const step of steps) step(writer, value)
      writer.lengthTag(number, writer.length() - end)
    }
  }
  const { name, schema, pointer } = entry.field
  if (schema.type === 'list') {
    const write = valueWriter(schema.items)
    if (entry.wrapped) {
      const wrapped = wrappedWriter(write)
      return (writer, value) => {
        const list = value[name]
        if (!pointer || list != null) wrapped(writer, number, list)
      }
    }
    return (writer, value) => {
      const list = value[name]
      if (Array.isArray(list)) for (let i = list.length - 1; i >= 0; i--) write(writer, number, list[i] as Json)
    }
  }
  if (schema.type === 'map') {
    const write = mapValueWriter(schema.values)
    return (writer, value) => writeMap(writer, number, value[name], write)
  }
  const write = valueWriter(schema)
  const isOptional = pointer || schema.type === 'bytes'
  return (writer, value) => {
    const inner = value[name]
    if (isOptional && (inner === undefined || inner === null)) return
    write(writer, number, inner)
  }
}

function wrappedWriter(write: ValueWriter): ValueWriter {
  return (writer, number, list) => {
    const end = writer.length()
    if (Array.isArray(list)) for (let i = list.length - 1; i >= 0; i--) write(writer, 1, list[i] as Json)
    writer.lengthTag(number, writer.length() - end)
  }
}

const mapValueWriter = (schema: Schema): ValueWriter =>
  schema.type === 'list' ? wrappedWriter(valueWriter(schema.items)) : valueWriter(schema)

function writeMap(writer: Writer, number: number, map: Value, write: ValueWriter): void {
  if (typeof map !== 'object' || map === null) return
  const entries = map as JsonObject
  const keys = Object.keys(entries)
  if (keys.length > 1) keys.sort(compareUtf8)
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i]!
    const end = writer.length()
    write(writer, 2, entries[key])
    writer.text(1, key)
    writer.lengthTag(number, writer.length() - end)
  }
}

/** By code points, as Go's strings compare; UTF-16 differs only where surrogates are. */
function compareUtf8(a: string, b: string): number {
  if (a === b) return 0
  if (/[\ud800-\udfff]/.test(a + b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

function valueWriter(schema: Schema): ValueWriter {
  const union = unionOf(schema)
  if (union !== undefined) return unionWriter(union.other, union.object)
  switch (schema.type) {
    case 'struct': {
      const write = messageWriter(schema)
      return (writer, number, value) => {
        const end = writer.length()
        write(writer, (value as JsonObject | null | undefined) ?? NOTHING)
        writer.lengthTag(number, writer.length() - end)
      }
    }
    case 'string':
      return (writer, number, value) => writer.text(number, typeof value === 'string' ? value : '')
    case 'boolean':
      return (writer, number, value) => writer.integer(number, value === true ? 1 : 0)
    case 'int32':
    case 'int64':
      return (writer, number, value) => writer.integer(number, (value as number | null | undefined) ?? 0)
    case 'number':
      return (writer, number, value) => writer.double(number, (value as number | null | undefined) ?? 0)
    case 'bytes':
      return (writer, number, value) => writer.bytes(number, Buffer.from(textOf(value), 'base64'))
    case 'quantity':
      return (writer, number, value) => {
        const end = writer.length()
        writer.text(1, value === undefined || value === null ? '0' : String(value))
        writer.lengthTag(number, writer.length() - end)
      }
    case 'intOrString':
      return writeIntOrString
    case 'time':
    case 'microTime':
      return writeTime
    case 'duration':
      return (writer, number, value) => {
        const end = writer.length()
        writer.integer(1, Number(parseGoDuration(textOf(value))))
        writer.lengthTag(number, writer.length() - end)
      }
    case 'any':
      return (writer, number, value) => {
        const end = writer.length()
        if (value !== undefined && value !== null) writer.text(1, jsonText(value))
        writer.lengthTag(number, writer.length() - end)
      }
    default:
      throw new Error(`${schema.goType} has no form in protobuf`)
  }
}

const textOf = (value: Value) => (typeof value === 'string' ? value : '')

function writeIntOrString(writer: Writer, number: number, value: Value): void {
  const end = writer.length()
  const isText = typeof value === 'string'
  writer.text(3, isText ? value : '')
  writer.integer(2, typeof value === 'number' ? value : 0)
  writer.integer(1, isText ? 1 : 0)
  writer.lengthTag(number, writer.length() - end)
}

/** Seconds and nanoseconds; the zero time is an empty message. */
function writeTime(writer: Writer, number: number, value: Value): void {
  const end = writer.length()
  if (typeof value === 'string') {
    const fraction = /\.(\d{1,9})/.exec(value)?.[1] ?? ''
    writer.integer(2, fraction === '' ? 0 : Number(fraction.padEnd(9, '0')))
    writer.integer(1, Math.floor(Date.parse(value) / 1000))
  }
  writer.lengthTag(number, writer.length() - end)
}

function unionWriter(other: 'boolean' | 'list' | 'strings', object: StructSchema): ValueWriter {
  const writeObject = valueWriter(object)
  return (writer, number, value) => {
    const end = writer.length()
    if (other === 'boolean') {
      // {} is a schema that allows everything.
      if (typeof value === 'object' && value !== null) writeObject(writer, 2, value)
      writer.integer(1, value === false || value === undefined || value === null ? 0 : 1)
    } else if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) {
        if (other === 'strings') writer.text(2, textOf(value[i] as Json))
        else writeObject(writer, 2, value[i] as Json)
      }
    } else if (value !== undefined && value !== null) writeObject(writer, 1, value)
    writer.lengthTag(number, writer.length() - end)
  }
}
