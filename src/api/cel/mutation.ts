/**
 * What expressions of mutating policies make (KEP-3962): apply configurations, `Object{…}` with `Object.spec{…}` and so on
 * inside, of which any field may be set; and operations of a JSON patch.
 */
import { define, type Functions, fn } from './functions.ts'
import { DYN, listType, type ObjectField, STRING, type Type } from './types.ts'
import { CelDuration, CelError, MapValue, MessageValue, sourceOf, Timestamp, Uint, type Value } from './values.ts'

type ObjectType = Type & { readonly kind: 'object' }

const objects = new Map<string, ObjectType>()
/** Policies are many, names of fields few; hostile ones are not kept. */
const MOST_TYPES = 10_000

function objectType(name: string): ObjectType {
  let type = objects.get(name)
  if (type === undefined) {
    type = { kind: 'object', name, fields: new Map(), others: DYN }
    if (objects.size < MOST_TYPES) objects.set(name, type)
  }
  return type
}

/** What is told of a field that operations do not have. */
const NO_FIELD: Type = { kind: 'object', name: '', fields: new Map(), sealed: true }
const text: ObjectField = { name: '', type: STRING }

const JSON_PATCH: ObjectType = {
  kind: 'object',
  name: 'JSONPatch',
  fields: new Map([
    ['op', text],
    ['path', text],
    ['from', text],
    ['value', { name: '', type: DYN }],
  ]),
  others: NO_FIELD,
  verify(field, value) {
    if (field === 'value') return
    if (!JSON_PATCH.fields.has(field)) throw new CelError(`unexpected JSONPatchType field: ${field}`)
    if (typeof value !== 'string')
      throw new CelError(`unexpected type ${goType(value)} for JSONPatchType '${field}' field`)
  },
}
export const OBJECT: ObjectType = objectType('Object')
export const JSON_PATCHES: Type = listType(JSON_PATCH)

/** The types of which expressions of mutating policies make objects. */
export function mutationTypes(name: string): ObjectType | undefined {
  if (name === 'JSONPatch') return JSON_PATCH
  return name === 'Object' || name.startsWith('Object.') ? objectType(name) : undefined
}

const escapeKey = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

const own = define({ 'jsonpatch.escapeKey': [fn([STRING], STRING, escapeKey)] })

export const withMutationFunctions = (functions: Functions): Functions => new Map([...functions, ...own])

/**
 * Objects must be named after the fields they are set to.
 *
 * @returns what is wrong with the first that is not
 */
export function misnamed(value: Value, path: string): string | undefined {
  if (value instanceof MessageValue) {
    if (value.type.name !== path)
      return `unexpected type name ${JSON.stringify(value.type.name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`
    return firstMisnamed([...value.fields], path)
  }
  if (sourceOf(value) !== undefined) return undefined
  // The items of a list and the values of a map have the same type name as the list or map.
  const items = Array.isArray(value)
    ? value
    : value instanceof MapValue
      ? [...value.entries.values()].map(([, inner]) => inner)
      : []
  for (const item of items) {
    const wrong = misnamed(item, path)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function firstMisnamed(fields: readonly (readonly [string, Value])[], path: string): string | undefined {
  for (const [name, inner] of fields) {
    const wrong = misnamed(inner, `${path}.${name}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Go's name of what a value is made of. */
function goType(value: Value): string {
  if (value === null) return 'structpb.NullValue'
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'number') return 'float64'
  if (typeof value === 'boolean') return 'bool'
  if (value instanceof Uint) return 'uint64'
  if (value instanceof Uint8Array) return '[]uint8'
  if (value instanceof Timestamp) return 'time.Time'
  if (value instanceof CelDuration) return 'time.Duration'
  if (Array.isArray(value)) return '[]ref.Val'
  return 'map[ref.Val]ref.Val'
}
