/**
 * OpenAPI documents as protobuf: the messages of gnostic (openapi.v2 and openapi.v3), which client-go asks for. A form says
 * which field of a message a key of the JSON is; the writer fills its buffer from the end, so fields go out last number
 * first.
 */
import { stringify } from 'yaml'
import { createWriter, type Writer } from '../../api/codec/protobuf-wire.ts'
import type { Json, JsonObject } from '../../api/object.ts'

/** Writes one field. */
export type Put = (writer: Writer, number: number, value: Json) => void

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
  let steps: readonly (readonly [string, number, Put])[] | undefined
  return (writer, number, value) => {
    const { fields, extensions, others } = form()
    steps ??= Object.entries(fields)
      .map(([key, [at, put]]) => [key, at, put] as const)
      .sort(([, a], [, b]) => b - a)
    const end = writer.length()
    const object = value as JsonObject
    if (extensions !== undefined) putNamed(writer, extensions, object, any, (key) => key.startsWith('x-'))
    for (const [key, at, put] of steps) {
      const inner = object[key]
      if (inner !== undefined) put(writer, at, inner)
    }
    if (others !== undefined) putNamed(writer, others[0], object, others[1], (key) => !Object.hasOwn(fields, key))
    writer.lengthTag(number, writer.length() - end)
  }
}

/** A JSON object of any keys: pairs of name and value, in its order. */
export const named = (put: Put, at = 1): Put => message(() => ({ fields: {}, others: [at, put] }))

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
    if (yamls.size > 1000) yamls.clear()
    yamls.set(key, yaml)
  }
  return yaml
}

/** A reference or the thing itself. */
export const orReference =
  (thing: Put, reference: Put): Put =>
  (writer, number, value) =>
    (typeof (value as JsonObject)['$ref'] === 'string' ? reference : thing)(writer, number, value)

export function encodeForm(form: Put, document: JsonObject): Uint8Array {
  const writer = createWriter(256 * 1024)
  // The document is no field of anything: its message is what stands behind tag and length.
  form(writer, 1, document)
  const bytes = writer.finish()
  let at = 1
  while ((bytes[at] as number) >= 0x80) at++
  return bytes.subarray(at + 1)
}
