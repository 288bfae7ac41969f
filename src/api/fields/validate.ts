/** Whether an applied configuration fits its schema, in the words of structured merge. */

import type { Json } from '../object.ts'
import type { ListSchema, Schema, StructSchema } from '../schema/schema.ts'
import { isList, isMap, own } from '../values/maps-and-lists.ts'
import { ForeignValue } from '../values/not-json.ts'
import { goText } from './go-text.ts'
import { elementOf, NotMergeable } from './list-item-keys.ts'
import { printPathElement } from './pathelement.ts'
import { type Shape, shapeOf } from './shape.ts'

/** What keeps a value from being what its schema says. */
export interface Misfit {
  readonly kind: 'type' | 'undeclared' | 'element' | 'duplicate'
  /** With its path: `.spec.x: field not declared in schema`. */
  readonly text: string
}

/** Everything wrong with `value`. */
export function misfitsOf(value: Json, schema: Schema): readonly Misfit[] {
  const misfits: Misfit[] = []
  check(value, schema, '', misfits)
  return misfits
}

/** Whether an object can be divided into fields by a schema; its values may be wrong otherwise. */
export const isDivisible = (value: Json, schema: Schema): boolean =>
  surelyFits(value, schema) || misfitsOf(value, schema).every(({ kind }) => kind === 'duplicate')

/** Whether there are surely no misfits: the same without a word of where and why. */
export function surelyFits(value: Json | undefined, schema: Schema): boolean {
  if (value === undefined || value === null) return true
  if (value instanceof ForeignValue) return false
  switch (schema.type) {
    case 'struct': {
      if (!isMap(value)) return false
      for (const name in value) {
        const field = schema.byName.get(name)
        if (
          field === undefined
            ? !schema.preserveUnknown && value[name] !== undefined
            : !surelyFits(value[name], field.schema)
        )
          return false
      }
      return true
    }
    case 'map': {
      if (!isMap(value)) return false
      for (const name in value) if (!surelyFits(value[name], schema.values)) return false
      return true
    }
    case 'list': {
      if (!isList(value)) return false
      const shape = shapeOf(schema)
      // Items of sets and of keyed lists have elements of their own: the slow way finds them.
      const isKeyed = shape.kind === 'keyed'
      if (shape.kind === 'set') return value.every((item) => typeof item !== 'object' && surelyFits(item, schema.items))
      for (const item of value)
        if (
          (isKeyed && !(isMap(item) && shape.keys.some(({ name }) => (own(item, name) ?? undefined) !== undefined))) ||
          !surelyFits(item, schema.items)
        )
          return false
      return true
    }
    case 'any':
      return true
    case 'int32':
    case 'int64':
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'boolean':
      return typeof value === 'boolean'
    case 'string':
    case 'bytes':
      return typeof value === 'string'
    default:
      return typeof value !== 'object'
  }
}

/** The misfits as one message. */
export function misfitText(misfits: readonly Misfit[]): string {
  return misfits.length === 1 ? misfits[0]!.text : ['errors:', ...misfits.map(({ text }) => `  ${text}`)].join('\n')
}

function check(value: Json | undefined, schema: Schema, path: string, misfits: Misfit[]): void {
  if (value === undefined || value === null) return
  const report = (text: string) => misfits.push({ kind: 'type', text: path === '' ? text : `${path}: ${text}` })
  if (value instanceof ForeignValue) {
    report(refusalOf(value, schema))
    return
  }
  switch (schema.type) {
    case 'struct':
      if (!isMap(value)) report(`expected map, got &{${goText(value)}}`)
      else checkStruct(value, schema, path, misfits)
      return
    case 'map':
      if (!isMap(value)) report(`expected map, got &{${goText(value)}}`)
      else for (const name of Object.keys(value)) check(value[name], schema.values, `${path}.${name}`, misfits)
      return
    case 'list':
      if (!isList(value)) report(`expected list, got &{${goText(value)}}`)
      else checkList(value, schema, path, misfits)
      return
    case 'any':
      return
    case 'int32':
    case 'int64':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint') {
        report(`expected numeric (int or float), got ${goDynamicType(value)}`)
      }
      return
    case 'boolean':
      if (typeof value !== 'boolean') report(`expected boolean, got &{${goText(value)}}`)
      return
    case 'string':
    case 'bytes':
      if (typeof value !== 'string') report(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      return
    default:
      // What a built-in number or text may be besides is found when it is converted.
      if (typeof value === 'object' && (schema.type !== 'intOrString' || schema.goType === 'string'))
        report(`expected any scalar, got &{${goText(value)}}`)
  }
}

function refusalOf({ text, syntax, goType }: ForeignValue, schema: Schema): string {
  switch (schema.type) {
    case 'struct':
    case 'map':
    case 'intOrString':
    case 'any':
      return `expected map, got &{${text}}`
    case 'list':
      return `expected list, got &{${text}}`
    case 'int32':
    case 'int64':
    case 'number':
      return `expected numeric (int or float), got ${goType}`
    case 'boolean':
      return `expected boolean, got &{${text}}`
    case 'string':
    case 'bytes':
      return `expected string, got &value.valueUnstructured{Value:${syntax}}`
    default:
      return `expected any scalar, got &{${text}}`
  }
}

function checkStruct(
  value: { readonly [name: string]: Json | undefined },
  schema: StructSchema,
  path: string,
  misfits: Misfit[],
): void {
  for (const name of Object.keys(value)) {
    const field = schema.byName.get(name)
    if (field !== undefined) check(value[name], field.schema, `${path}.${name}`, misfits)
    else if (!schema.preserveUnknown && value[name] !== undefined) {
      misfits.push({ kind: 'undeclared', text: `${path}.${name}: field not declared in schema` })
      // Kubernetes looks no further in this object.
      return
    }
  }
}

function checkList(list: readonly Json[], schema: ListSchema, path: string, misfits: Misfit[]): void {
  const shape = shapeOf(schema)
  const seen = new Set<string>()
  for (const [index, item] of list.entries()) {
    let place = `[${index}]`
    if (shape.kind === 'set' || shape.kind === 'keyed') {
      const element = keyOf(shape, item, index, path, misfits)
      if (element === undefined) return
      place = item instanceof ForeignValue ? `[${element}]` : printPathElement(element)
      if (seen.has(element)) misfits.push({ kind: 'duplicate', text: `${path}: duplicate entries for key ${place}` })
      seen.add(element)
    }
    check(item, schema.items, `${path}${place}`, misfits)
  }
}

function keyOf(
  shape: Shape & { kind: 'set' | 'keyed' },
  item: Json,
  index: number,
  path: string,
  misfits: Misfit[],
): string | undefined {
  if (item instanceof ForeignValue && shape.kind === 'set') return '={{undefined}}'
  try {
    if (item instanceof ForeignValue) throw new NotMergeable('associative list with keys may not have non-map elements')
    return elementOf(shape, item)
  } catch (error) {
    if (!(error instanceof NotMergeable)) throw error
    misfits.push({ kind: 'element', text: `${path}: element ${index}: ${error.message}` })
    return undefined
  }
}

/** Go's `%T` of a decoded value. */
function goDynamicType(value: Json): string {
  if (isList(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** Go's `%#v` of a decoded value. */
function goSyntax(value: Json | undefined): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return JSON.stringify(value)
  if (isList(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isMap(value)) return goText(value)
  const fields = Object.keys(value).sort()
  return `map[string]interface {}{${fields.map((name) => `${JSON.stringify(name)}:${goSyntax(value[name])}`).join(', ')}}`
}
