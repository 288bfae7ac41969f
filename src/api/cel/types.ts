/** Types of CEL: what a value may be, how long it may get, and which field has which type. */

import type { Value } from './values.ts'
import { isReserved } from './words.ts'

export type Type =
  | {
      readonly kind: 'simple'
      readonly name: SimpleName
      readonly maxElements?: number
      readonly minSize?: number
      /** Of a dynamic one: only integers and texts are values of it. */
      readonly intOrString?: true
    }
  | { readonly kind: 'list'; readonly items: Type; readonly maxElements?: number; readonly minSize?: number }
  | {
      readonly kind: 'map'
      readonly key: Type
      readonly value: Type
      readonly maxElements?: number
      readonly minSize?: number
    }
  | {
      readonly kind: 'object'
      readonly name: string
      readonly fields: ReadonlyMap<string, ObjectField>
      /** Of every field that `fields` does not name; a type that has none at all is sealed. */
      readonly others?: Type
      /** No field of it can be asked for: only functions take it. */
      readonly sealed?: true
      /** Whether an expression may set the field of an object it makes to the value. Throws a CelError when not. */
      readonly verify?: (field: string, value: Value) => void
      readonly minSize?: number
    }
  | { readonly kind: 'optional'; readonly of: Type }
  | { readonly kind: 'type'; readonly of: Type }
  /** A type parameter of an overload. */
  | {
      readonly kind: 'param'
      readonly name: string
      /** Of no overload: what an empty literal leaves open. */
      readonly open?: true
    }

export type SimpleName =
  | 'int'
  | 'uint'
  | 'double'
  | 'bool'
  | 'string'
  | 'bytes'
  | 'null_type'
  | 'dyn'
  | 'google.protobuf.Timestamp'
  | 'google.protobuf.Duration'
  | 'kubernetes.URL'
  | 'kubernetes.Quantity'
  | 'net.IP'
  | 'net.CIDR'
  | 'kubernetes.NamedFormat'
  | 'kubernetes.Semver'

export interface ObjectField {
  /** The name in JSON; the one in CEL may be escaped. */
  readonly name: string
  readonly type: Type
}

/** The field of that name, which may be a reserved word: such fields go by their escaped names (`__if__`) and by their own. */
export function fieldNamed(type: Type & { readonly kind: 'object' }, name: string): ObjectField | undefined {
  return type.fields.get(name) ?? (isReserved(name) ? type.fields.get(`__${name}__`) : undefined)
}

const simple = (name: SimpleName): Type => ({ kind: 'simple', name })
export const INT = simple('int')
export const UINT = simple('uint')
export const DOUBLE = simple('double')
export const BOOL = simple('bool')
export const STRING = simple('string')
export const BYTES = simple('bytes')
export const NULL = simple('null_type')
export const DYN = simple('dyn')
export const TIMESTAMP = simple('google.protobuf.Timestamp')
export const DURATION = simple('google.protobuf.Duration')
export const URL_TYPE = simple('kubernetes.URL')
export const QUANTITY = simple('kubernetes.Quantity')
export const IP = simple('net.IP')
export const CIDR = simple('net.CIDR')
export const FORMAT = simple('kubernetes.NamedFormat')
export const SEMVER = simple('kubernetes.Semver')

/** What an expression is whose mistake has been told: it fits everywhere. */
export const ERROR: Type = { kind: 'simple', name: 'dyn' }

export const listType = (items: Type): Type => ({ kind: 'list', items })
export const mapOf = (key: Type, value: Type): Type => ({ kind: 'map', key, value })
export const optionalOf = (of: Type): Type => ({ kind: 'optional', of })
export const param = (name: string): Type => ({ kind: 'param', name })

export const isDyn = (type: Type): boolean => type.kind === 'simple' && type.name === 'dyn'

/** In messages some types go by the names of their conversions. */
const printedNames: Readonly<Record<string, string>> = {
  null_type: 'null',
  'google.protobuf.Timestamp': 'timestamp',
  'google.protobuf.Duration': 'duration',
}

export function printType(type: Type): string {
  if (type === ERROR) return '!error!'
  switch (type.kind) {
    case 'simple':
      return printedNames[type.name] ?? type.name
    case 'list':
      return `list(${printType(type.items)})`
    case 'map':
      return `map(${printType(type.key)}, ${printType(type.value)})`
    case 'object':
      return type.name
    case 'optional':
      return `optional_type(${printType(type.of)})`
    case 'type':
      return `type(${printType(type.of)})`
    case 'param':
      return type.name
  }
}

/** Bindings of type parameters, filled while an overload is tried. */
export type Bindings = Map<string, Type>

/** Whether a value of `actual` may stand where `wanted` is asked for. */
export function assignable(wanted: Type, actual: Type, bindings: Bindings): boolean {
  if (wanted.kind === 'param') {
    const bound = bindings.get(wanted.name)
    if (bound === undefined) {
      if (!mentions(actual, wanted.name)) bindings.set(wanted.name, actual)
      return true
    }
    if (isDyn(bound)) return true
    if (assignable(bound, actual, bindings)) {
      if (isNull(bound) ? !isNull(actual) : isMoreGeneral(actual, bound)) bindings.set(wanted.name, actual)
      return true
    }
    if (isNull(bound) && nullable(actual)) {
      bindings.set(wanted.name, actual)
      return true
    }
    return false
  }
  if (isDyn(wanted) || isDyn(actual) || actual.kind === 'param') return true
  if (isNull(actual)) return isNull(wanted) || nullable(wanted)
  if (wanted.kind !== actual.kind) return false
  switch (wanted.kind) {
    case 'simple':
      return wanted.name === (actual as typeof wanted).name
    case 'list':
      return assignable(wanted.items, (actual as typeof wanted).items, bindings)
    case 'map':
      return (
        assignable(wanted.key, (actual as typeof wanted).key, bindings) &&
        assignable(wanted.value, (actual as typeof wanted).value, bindings)
      )
    case 'object':
      return wanted === actual || wanted.name === (actual as typeof wanted).name
    case 'optional':
      return assignable(wanted.of, (actual as typeof wanted).of, bindings)
    case 'type':
      // Any two types can be compared.
      return true
  }
}

const isNull = (type: Type) => type.kind === 'simple' && type.name === 'null_type'

/** Whether the parameter is part of the type: it cannot be bound to that. */
function mentions(type: Type, name: string): boolean {
  switch (type.kind) {
    case 'param':
      return type.name === name
    case 'list':
      return mentions(type.items, name)
    case 'map':
      return mentions(type.key, name) || mentions(type.value, name)
    case 'optional':
    case 'type':
      return mentions(type.of, name)
    default:
      return false
  }
}

/** Whether more values are of the first type: it is dynamic where the second is not. */
function isMoreGeneral(a: Type, b: Type): boolean {
  if (isDyn(a) || isDyn(b)) return isDyn(a) && !isDyn(b)
  if (a.kind !== b.kind) return false
  if (a.kind === 'list') return isMoreGeneral(a.items, (b as typeof a).items)
  if (a.kind === 'map')
    return isMoreGeneral(a.key, (b as typeof a).key) || isMoreGeneral(a.value, (b as typeof a).value)
  if (a.kind === 'optional') return isMoreGeneral(a.of, (b as typeof a).of)
  return false
}

function nullable(type: Type): boolean {
  if (type.kind === 'object') return type.name !== ''
  if (type.kind === 'optional') return true
  return type.kind === 'simple' && !['int', 'uint', 'double', 'bool', 'string', 'bytes'].includes(type.name)
}

/** The type with its parameters replaced; what was never bound may be anything. */
export function substituted(type: Type, bindings: Pick<Bindings, 'get'>): Type {
  switch (type.kind) {
    case 'param': {
      const bound = bindings.get(type.name)
      // The items of an empty list may be bound to something themselves.
      if (bound === undefined) return type.open ? type : DYN
      return bound === type ? DYN : substituted(bound, bindings)
    }
    case 'list':
      return { ...type, items: substituted(type.items, bindings) }
    case 'map':
      return { ...type, key: substituted(type.key, bindings), value: substituted(type.value, bindings) }
    case 'optional':
      return optionalOf(substituted(type.of, bindings))
    case 'type':
      return { kind: 'type', of: substituted(type.of, bindings) }
    default:
      return type
  }
}

/** The type with everything dynamic that was left open. */
export const closed = (type: Type): Type => substituted(type, CLOSING)

const CLOSING = { get: () => DYN }

/** One type for two: the same, or anything. */
export function joined(a: Type, b: Type): Type {
  if (assignable(a, b, new Map())) return isOpen(a) || isOpen(b) ? filled(a, b) : isMoreGeneral(b, a) ? b : a
  if (assignable(b, a, new Map())) return b
  return DYN
}

/** What one leaves open, as the other has it. */
function filled(a: Type, b: Type): Type {
  if (a.kind === 'param') return b
  if (b.kind === 'param') return a
  if (isDyn(a) || isDyn(b)) return DYN
  if (a.kind === 'list' && b.kind === 'list') return listType(filled(a.items, b.items))
  if (a.kind === 'map' && b.kind === 'map') return mapOf(filled(a.key, b.key), filled(a.value, b.value))
  if (a.kind === 'optional' && b.kind === 'optional') return optionalOf(filled(a.of, b.of))
  return a
}

function isOpen(type: Type): boolean {
  switch (type.kind) {
    case 'param':
      return true
    case 'list':
      return isOpen(type.items)
    case 'map':
      return isOpen(type.key) || isOpen(type.value)
    case 'optional':
      return isOpen(type.of)
    default:
      return false
  }
}
