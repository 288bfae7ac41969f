/**
 * What becomes of a value outside of expressions: JSON in a patch, and in an apply configuration what Kubernetes' merge is
 * given, where a value may be of a type that it does not know.
 */
import { goDurationText } from '../../base/go-duration.ts'
import type { Json, JsonObject } from '../object.ts'
import { setOwn } from '../values/maps-and-lists.ts'
import { ForeignValue } from '../values/not-json.ts'
import { durationText, show, timestampText } from './functions.ts'
import {
  CelDuration,
  CelError,
  isMapLike,
  MapValue,
  MessageValue,
  mapEntries,
  ObjectValue,
  Opaque,
  Optional,
  sourceOf,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

const SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const safe = (value: bigint): boolean => value <= SAFE && value >= -SAFE

/** @throws CelError when there is no JSON for it */
export function jsonOf(value: Value): Json {
  const source = sourceOf(value)
  if (source !== undefined) return source
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value
  // Numbers of JSON in protobuf are doubles: what does not fit becomes text.
  if (typeof value === 'bigint') return safe(value) ? Number(value) : String(value)
  if (value instanceof Uint) return jsonOf(value.value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof CelDuration) return durationText(value)
  if (value instanceof Optional) {
    if (value.value === undefined) throw new CelError('optional.none() dereference')
    return jsonOf(value.value)
  }
  if (value instanceof MessageValue) {
    if (value.type.name === 'JSONPatch') throw new CelError('cannot convert to native type: *structpb.Value')
    return fieldsOf([...value.fields], jsonOf)
  }
  if (value instanceof ObjectValue) return value.json
  if (value instanceof MapValue)
    return fieldsOf(
      [...value.entries.values()].map(([key, inner]): [string, Value] => [jsonKey(key), inner]),
      jsonOf,
    )
  if (value instanceof TypeValue) throw new CelError("type conversion not supported for 'type'")
  if (value instanceof Opaque)
    throw new CelError(`type conversion error from '${value.type.split('.').at(-1)}' to '*structpb.Value'`)
  return (value as readonly Value[]).map(jsonOf)
}

function jsonKey(key: Value): string {
  if (typeof key === 'string') return key
  throw new CelError(
    typeof key === 'boolean'
      ? "type conversion error from bool to 'string'"
      : `unsupported type conversion from '${key instanceof Uint ? 'uint' : 'int'}' to string`,
  )
}

function fieldsOf(fields: readonly (readonly [string, Value])[], of: (value: Value) => unknown): JsonObject {
  const made: { [name: string]: Json | undefined } = {}
  for (const [name, value] of fields) setOwn(made, name, of(value) as Json)
  return made as JsonObject
}

/**
 * An apply configuration as it is merged. Lists and maps inside of lists and maps of the expression stay what they were.
 *
 * @throws CelError for a map with other keys than texts
 */
export function configurationOf(value: MessageValue): JsonObject {
  return fieldsOf([...value.fields], field)
}

/** A field of an object: lists and maps are looked into. */
function field(value: Value): unknown {
  if (value instanceof Optional) return value.value === undefined ? undefined : field(value.value)
  const source = sourceOf(value)
  if (source !== undefined) return source
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof MapValue)
    return fieldsOf(
      [...value.entries.values()].map(([key, inner]): [string, Value] => [textKey(key), inner]),
      plain,
    )
  return plain(value)
}

function textKey(key: Value): string {
  if (typeof key === 'string') return key
  throw new CelError('invalid return type: *dynamic.ObjectVal')
}

function plain(value: Value): unknown {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return safe(value) ? Number(value) : value
  if (value instanceof MessageValue) return configurationOf(value)
  if (value instanceof ObjectValue) return value.json
  if (value instanceof TypeValue) return value.name
  if (value instanceof Optional) return value.value === undefined ? null : plain(value.value)
  const source = sourceOf(value)
  if (source !== undefined) return source
  return foreign(value)
}

function foreign(value: Value): ForeignValue {
  if (value === null) return new ForeignValue('NULL_VALUE', '0', 'structpb.NullValue')
  if (value instanceof Uint) return new ForeignValue(String(value.value), `0x${value.value.toString(16)}`, 'uint64')
  if (value instanceof CelDuration)
    return new ForeignValue(goDurationText(value.nanos), String(value.nanos), 'time.Duration')
  if (value instanceof Timestamp) return new ForeignValue(goTime(value), timeSyntax(value), 'time.Time')
  if (value instanceof Uint8Array)
    return new ForeignValue(
      `[${[...value].join(' ')}]`,
      `[]uint8{${[...value].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`,
      '[]uint8',
    )
  if (Array.isArray(value))
    return new ForeignValue(`[${value.map(show).join(' ')}]`, `[]ref.Val{${value.map(syntax).join(', ')}}`, '[]ref.Val')
  if (isMapLike(value)) {
    const entries = [...mapEntries(value).values()]
    return new ForeignValue(
      `map[${entries.map(([key, inner]) => `${show(key)}:${show(inner)}`).join(' ')}]`,
      `map[ref.Val]ref.Val{${entries.map(([key, inner]) => `${syntax(key)}:${syntax(inner)}`).join(', ')}}`,
      'map[ref.Val]ref.Val',
    )
  }
  return new ForeignValue(show(value), show(value), 'interface {}')
}

const syntax = (value: Value): string => (typeof value === 'string' ? JSON.stringify(value) : show(value))

const utcText = ({ nanos }: Timestamp) => timestampText(new Timestamp(nanos))
const goTime = (stamp: Timestamp) => utcText(stamp).replace('T', ' ').replace('Z', ' +0000 UTC')

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
function timeSyntax(stamp: Timestamp): string {
  const [year, month, day, hour, minute, second] = utcText(stamp)
    .split(/[-T:.Z]/)
    .map(Number)
  return `time.Date(${year}, time.${MONTHS[(month ?? 1) - 1]}, ${day}, ${hour}, ${minute}, ${second}, ${stamp.nanos % 1_000_000_000n}, time.UTC)`
}
