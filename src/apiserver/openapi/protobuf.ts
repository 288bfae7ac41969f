/**
 * OpenAPI documents as protobuf: the messages of gnostic (openapi.v2 and openapi.v3), which client-go asks for. A form says
 * which field of a message a key of the JSON is; the writer fills its buffer from the end, so fields go out last number
 * first.
 */

import { stringify } from 'yaml'
import { createWriter, type Writer } from '../../api/codec/protobuf-wire.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import { setBounded } from '../../base/set-bounded.ts'
import type { Steps } from '../../base/turns.ts'

/** Writes one field. Of a message the form tells what is in it. */
export interface Put {
  (writer: Writer, number: number, value: Json): void
  readonly form?: () => Form
}

export type MessageFields = Readonly<Record<string, readonly [number: number, put: Put]>>

export interface Form {
  readonly fields: MessageFields
  /** Number of the extensions: every key that begins with `x-`. */
  readonly extensions?: number
  /** Where keys that are no field's name go, as named values. */
  readonly others?: readonly [number: number, put: Put]
}

/** A message; the form is asked for at first use, because forms contain each other. */
export function message(form: () => Form): Put {
  let fieldsDown: readonly FieldOf[] | undefined
  const put: Put = (writer, number, value) => {
    const { fields, extensions, others } = form()
    fieldsDown ??= fieldsOf(fields)
    const end = writer.length()
    const object = value as JsonObject
    if (extensions !== undefined) putExtensions(writer, extensions, object)
    for (const [key, at, put] of fieldsDown) {
      const inner = object[key]
      if (inner !== undefined) put(writer, at, inner)
    }
    if (others !== undefined) putNamed(writer, others[0], object, others[1], (key) => !Object.hasOwn(fields, key))
    writer.lengthTag(number, writer.length() - end)
  }
  return Object.assign(put, { form })
}

type FieldOf = readonly [key: string, number: number, put: Put]

/** The last number first. */
const fieldsOf = (fields: MessageFields): readonly FieldOf[] =>
  Object.entries(fields)
    .map(([key, [at, put]]): FieldOf => [key, at, put])
    .sort(([, a], [, b]) => b - a)

/** A JSON object of any keys: pairs of name and value, in its order. */
export const named = (put: Put, at = 1): Put => message(() => ({ fields: {}, others: [at, put] }))

function putExtensions(writer: Writer, number: number, object: JsonObject): void {
  putNamed(writer, number, object, any, (key) => key.startsWith('x-'))
}

function putNamed(writer: Writer, number: number, object: JsonObject, put: Put, takes: (key: string) => boolean): void {
  for (const key of Object.keys(object).reverse()) {
    const value = object[key]
    if (value === undefined || !takes(key)) continue
    const end = writer.length()
    put(writer, 2, value)
    writer.text(1, key)
    writer.lengthTag(number, writer.length() - end)
  }
}

/** A message around a value: gnostic's unions. */
export const putInside =
  (at: number, put: Put): Put =>
  (writer, number, value) => {
    const end = writer.length()
    put(writer, at, value)
    writer.lengthTag(number, writer.length() - end)
  }

export const putEach =
  (put: Put): Put =>
  (writer, number, value) => {
    const list = Array.isArray(value) ? value : [value]
    for (let i = list.length - 1; i >= 0; i--) put(writer, number, list[i] as Json)
  }

export const text: Put = (writer, number, value) => {
  if (value !== '') writer.text(number, String(value))
}

export const boolean: Put = (writer, number, value) => {
  if (value === true) writer.integer(number, 1)
}

export const integer: Put = (writer, number, value) => {
  if (value !== 0) writer.integer(number, value as number)
}

export const double: Put = (writer, number, value) => {
  if (value !== 0) writer.double(number, value as number)
}

/** Any JSON, as the YAML that gnostic keeps of it. */
export const any: Put = (writer, number, value) => {
  const end = writer.length()
  writer.text(2, yamlOf(value))
  writer.lengthTag(number, writer.length() - end)
}

const YAML = {
  version: '1.1',
  lineWidth: 0,
  indentSeq: false,
  singleQuote: true,
  aliasDuplicateObjects: false,
} as const

/** Extensions say few things many times. */
const yamls = new Map<string, string>()

function yamlOf(value: Json): string {
  const key = JSON.stringify(value)
  let yaml = yamls.get(key)
  if (yaml === undefined) {
    yaml = stringify(value, YAML).replace(/(^|: |- )''$/gm, '$1""')
    setBounded(yamls, 1000, key, yaml)
  }
  return yaml
}

/** A reference or the thing itself. */
export const orReference =
  (thing: Put, reference: Put): Put =>
  (writer, number, value) =>
    (typeof (value as JsonObject)['$ref'] === 'string' ? reference : thing)(writer, number, value)

/** So deep each value of a message is a step by itself: of `components` too each schema. */
const DEPTH = 3
const PIECE_BYTES = 1024
/** So many pieces become one, as sockets like them larger. */
const TOGETHER = 256

/** The very bytes that the form writes at once, of a document that is no field of anything: they begin behind tag and length. */
export function* encodeForm(form: Put, document: JsonObject): Steps<readonly Uint8Array[]> {
  const [, ...content] = yield* pieces(form, 1, document, DEPTH)
  const done: Uint8Array[] = []
  for (let at = 0; at < content.length; at += TOGETHER) {
    done.push(Buffer.concat(content.slice(at, at + TOGETHER)))
    yield
  }
  return done
}

/** The bytes of a field: first its tag and length, then its content in pieces. */
function* pieces(put: Put, number: number, value: Json, depth: number): Steps<readonly Uint8Array[]> {
  if (put.form === undefined || depth === 0) {
    const bytes = written((writer) => put(writer, number, value))
    yield
    return [bytes]
  }
  const { fields, extensions, others } = put.form()
  const object = value as JsonObject
  const content: Uint8Array[] = []
  for (const [key, inner] of Object.entries(object)) {
    if (others === undefined || inner === undefined || Object.hasOwn(fields, key)) continue
    content.push(written((writer) => putNamed(writer, others[0], { [key]: inner }, others[1], () => true)))
    yield
  }
  for (const [key, at, inside] of fieldsOf(fields).toReversed()) {
    const inner = object[key]
    if (inner !== undefined) content.push(...(yield* pieces(inside, at, inner, depth - 1)))
  }
  if (extensions !== undefined) content.push(written((writer) => putExtensions(writer, extensions, object)))
  const length = content.reduce((sum, one) => sum + one.length, 0)
  return [written((writer) => writer.lengthTag(number, length)), ...content]
}

function written(write: (writer: Writer) => void): Uint8Array {
  const writer = createWriter(PIECE_BYTES)
  write(writer)
  return writer.finish()
}
