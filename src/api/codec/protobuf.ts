/**
 * Kubernetes' protobuf: `application/vnd.kubernetes.protobuf`. An object travels as `k8s\0` and a runtime.Unknown message that
 * names its kind and holds its bytes; a watch as frames of four bytes of length and a WatchEvent. Message forms come from
 * Schema (numbers and wire types of the Go types); bytes are those of Kubernetes' own marshaller: fields in order of
 * number, zero values written where Go has no pointer, map keys sorted. Called by decode.ts and by what answers clients
 * that accept protobuf.
 */
import type { Json, JsonObject } from '../object.ts'
import type { StructSchema } from '../schema/schema.ts'
import { readMessage } from './protobuf-decode.ts'
import { messageWriter } from './protobuf-encode.ts'
import { messageFields } from './protobuf-forms.ts'
import { createReader, createWriter, ProtobufError } from './protobuf-wire.ts'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'
export const PROTOBUF_WATCH = 'application/vnd.kubernetes.protobuf;stream=watch'

const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0)

/** The object (canonical JSON, with kind and apiVersion) as protobuf, envelope included. */
export function encodeProtobuf(object: JsonObject, schema: StructSchema): Uint8Array {
  const writer = createWriter()
  writeEnvelope(writer, object, schema)
  return writer.finish()
}

/** One frame of a watch: length, WatchEvent, and in it the object with an envelope of its own. */
export function encodeProtobufWatchEvent(type: string, object: JsonObject, schema: StructSchema): Uint8Array {
  const writer = createWriter()
  const end = writer.length()
  writeEnvelope(writer, object, schema)
  writer.lengthTag(1, writer.length() - end)
  writer.lengthTag(2, writer.length() - end)
  writer.text(1, type)
  const size = writer.length() - end
  writer.raw(Uint8Array.of(size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255))
  return writer.finish()
}

function writeEnvelope(writer: ReturnType<typeof createWriter>, object: JsonObject, schema: StructSchema): void {
  // Backwards: contentType, contentEncoding, the message, the type, the magic.
  writer.text(4, '')
  writer.text(3, '')
  const end = writer.length()
  messageWriter(schema)(writer, object)
  writeHead(writer, textOf(object['apiVersion']), textOf(object['kind']), writer.length() - end)
}

/** Whether the kind has a protobuf form: custom resources have none. */
export function hasMessage(schema: StructSchema): boolean {
  return messageFields(schema).length > 0
}

/** One at a time: encoding is not interrupted. */
const shared = createWriter(64 * 1024)

/** The object's message alone, as lists and envelopes hold it; bytes of their own, to be kept. */
export function encodeMessage(object: JsonObject, schema: StructSchema): Uint8Array {
  shared.reset()
  messageWriter(schema)(shared, object)
  return Uint8Array.prototype.slice.call(shared.finish())
}

/** No contentEncoding, no contentType: what stands behind every message. */
const ENVELOPE_END = Uint8Array.of(0x1a, 0, 0x22, 0)

/** An encoded object from its message of `size` bytes: what stands before it and what behind. */
export function envelopeAround(apiVersion: string, kind: string, size: number): readonly [Uint8Array, Uint8Array] {
  shared.reset()
  writeHead(shared, apiVersion, kind, size)
  return [Uint8Array.prototype.slice.call(shared.finish()), ENVELOPE_END]
}

/** A message as one frame of a watch. */
export function frameAround(type: string, apiVersion: string, kind: string, message: Uint8Array): Uint8Array {
  shared.reset()
  const end = shared.length()
  shared.raw(ENVELOPE_END)
  shared.raw(message)
  writeHead(shared, apiVersion, kind, message.length)
  shared.lengthTag(1, shared.length() - end)
  shared.lengthTag(2, shared.length() - end)
  shared.text(1, type)
  const size = shared.length() - end
  shared.raw(Uint8Array.of(size >>> 24, (size >>> 16) & 255, (size >>> 8) & 255, size & 255))
  return Uint8Array.prototype.slice.call(shared.finish())
}

/** A list from the messages of its items: pieces in order. Every list kind has its metadata as 1 and its items as 2. */
export function listAround(
  list: { readonly apiVersion: string; readonly kind: string; readonly metadata: JsonObject },
  schema: StructSchema,
  items: readonly Uint8Array[],
): readonly Uint8Array[] {
  const head = encodeMessage({ metadata: list.metadata }, schema)
  const pieces: Uint8Array[] = [head]
  let size = head.length
  for (const item of items) {
    const tag = lengthTagOf(2, item.length)
    pieces.push(tag, item)
    size += tag.length + item.length
  }
  const [before, after] = envelopeAround(list.apiVersion, list.kind, size)
  return [before, ...pieces, after]
}

function lengthTagOf(number: number, length: number): Uint8Array {
  const bytes = [number * 8 + 2]
  let rest = length
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

function writeHead(writer: ReturnType<typeof createWriter>, apiVersion: string, kind: string, size: number): void {
  writer.lengthTag(2, size)
  const typeEnd = writer.length()
  writer.text(2, kind)
  writer.text(1, apiVersion)
  writer.lengthTag(1, writer.length() - typeEnd)
  writer.raw(MAGIC)
}

const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : '')

export interface ProtobufEnvelope {
  readonly apiVersion: string
  readonly kind: string
  /** The object's message, to be read by its schema. */
  readonly message: Uint8Array
}

/**
 * What an encoded object says it is.
 *
 * @throws ProtobufError
 */
export function openProtobuf(bytes: Uint8Array): ProtobufEnvelope {
  if (bytes.length < 4 || !MAGIC.every((byte, i) => bytes[i] === byte)) {
    throw new ProtobufError('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  if (bytes.length === 4) throw new ProtobufError('empty body')
  const reader = createReader(bytes, 4, bytes.length)
  let apiVersion = ''
  let kind = ''
  let message = bytes.subarray(0, 0)
  while (reader.more()) {
    const tag = reader.tag()
    if (tag.number === 1 && tag.wire === 2) {
      const type = reader.message()
      while (type.more()) {
        const inner = type.tag()
        if (inner.number === 1 && inner.wire === 2) apiVersion = type.text()
        else if (inner.number === 2 && inner.wire === 2) kind = type.text()
        else type.skip(inner.wire)
      }
    } else if (tag.number === 2 && tag.wire === 2) message = reader.bytes()
    else reader.skip(tag.wire)
  }
  return { apiVersion, kind, message }
}

/**
 * Plain JSON from protobuf, with the kind and apiVersion of the envelope (`expected`'s where it names none). `schemaOfKind`
 * finds the schema of the kind that the envelope names; without one the expected kind's is used. The result is not yet in
 * canonical form: it passes the walk like every body.
 *
 * @throws ProtobufError for bytes that are no such message
 */
export function decodeProtobuf(
  bytes: Uint8Array,
  expected: { readonly group: string; readonly version: string; readonly kind: string; readonly schema: StructSchema },
  schemaOfKind?: (apiVersion: string, kind: string) => StructSchema | undefined,
): JsonObject {
  const { apiVersion, kind, message } = openProtobuf(bytes)
  const schema = schemaOfKind?.(apiVersion, kind) ?? expected.schema
  let body: JsonObject
  try {
    body = readMessage(schema, createReader(message, 0, message.length), 0)
  } catch (error) {
    throw error instanceof ProtobufError ? new ProtobufError(error.message, { apiVersion, kind }) : error
  }
  return {
    ...body,
    kind: kind === '' ? expected.kind : kind,
    apiVersion:
      apiVersion !== ''
        ? apiVersion
        : expected.group === ''
          ? expected.version
          : `${expected.group}/${expected.version}`,
  }
}
