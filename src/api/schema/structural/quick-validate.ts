/**
 * Whether value validation would find nothing wrong: a schema compiled to functions that name no places and make no words,
 * since nearly everything that is written is right. What they do not accept validate-value.ts judges, and only its word counts.
 */

import { getOrInsertComputed } from '../../../base/get-or-insert.ts'
import type { Json } from '../../object.ts'
import { sameJson } from '../../same.ts'
import { formatCheck } from './formats.ts'
import { isInRange, isInt64, numberFormat, numberProblems } from './numbers.ts'
import { patternFound } from './patterns.ts'
import { isObject, type JSONSchemaProps } from './structural.ts'
import { stableText, validateValue } from './validate-value.ts'

type QuickCheck = (value: Json) => boolean

/** By the schema of a definition's version. */
const compiled = new WeakMap<JSONSchemaProps, QuickCheck>()

/** True: validateValue has nothing to say of the value. False: it may have. */
export function isSurelyValid(value: Json, schema: JSONSchemaProps): boolean {
  const check = getOrInsertComputed(compiled, schema, quickCheck)
  return check(value)
}

/** Each part of the schema is compiled when a value first asks for it. */
function quickCheck(schema: JSONSchemaProps): QuickCheck {
  let made: QuickCheck | undefined
  return (value) => {
    made ??= compile(schema)
    return made(value)
  }
}

function compile(schema: JSONSchemaProps): QuickCheck {
  const type = schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : (schema.type ?? '')
  const checks = [ofEnum(schema), ...ofAlternatives(schema)]
  const strings = ofStrings(schema)
  const numbers = ofNumbers(schema)
  const lists = ofLists(schema)
  const objects = ofObjects(schema)
  const isNullable = type === '' || schema.nullable === true
  // A format without a type is the slow way's affair.
  if (type === '' && (schema.format ?? '') !== '') return () => false
  const all = checks.filter((check) => check !== undefined)
  const holds = (value: Json): boolean => {
    for (const check of all) if (!check(value)) return false
    return true
  }
  return (value) => {
    switch (typeof value) {
      case 'string':
        return (type === 'string' || type === '' || type === 'integer or string') && strings(value) && holds(value)
      case 'number':
      case 'bigint':
        return isNumeric(value, type) && numbers(value) && holds(value)
      case 'boolean':
        return (type === 'boolean' || type === '') && holds(value)
      default:
        // Kubernetes looks at nothing but the enumeration.
        if (value === null) return isNullable && (all[0] === undefined || schema.enum === undefined || all[0](value))
        if (Array.isArray(value)) return (type === 'array' || type === '') && lists(value) && holds(value)
        return isObject(value) && (type === 'object' || type === '') && objects(value) && holds(value)
    }
  }
}

function isNumeric(value: number | bigint, type: string): boolean {
  if (type === 'number' || type === '') return true
  return (type === 'integer' || type === 'integer or string') && isInt64(value)
}

function ofEnum({ enum: allowed }: JSONSchemaProps): QuickCheck | undefined {
  if (allowed === undefined || allowed.length === 0) return undefined
  const plain = new Set(allowed.filter((one) => typeof one !== 'object'))
  return (value) =>
    typeof value === 'object' ? value !== null && allowed.some((one) => sameJson(one, value)) : plain.has(value)
}

function ofAlternatives({ anyOf, oneOf, allOf, not }: JSONSchemaProps): readonly QuickCheck[] {
  const checks: QuickCheck[] = []
  if (anyOf !== undefined && anyOf.length > 0) {
    const some = anyOf.map(quickCheck)
    checks.push((value) => some.some((check) => check(value)))
  }
  if (allOf !== undefined && allOf.length > 0) {
    const every = allOf.map(quickCheck)
    checks.push((value) => every.every((check) => check(value)))
  }
  // That something does not hold only the slow way knows for sure.
  const fits = (value: Json, schema: JSONSchemaProps) => validateValue(value, schema).length === 0
  if (oneOf !== undefined && oneOf.length > 0)
    checks.push((value) => oneOf.filter((schema) => fits(value, schema)).length === 1)
  if (not !== undefined && not !== null) checks.push((value) => !fits(value, not))
  return checks
}

function ofStrings({ maxLength, minLength, pattern, format }: JSONSchemaProps): (value: string) => boolean {
  const accepts = format === undefined ? undefined : formatCheck(format)
  return (value) => {
    // No text has more characters than units, and none half as many.
    if (maxLength !== undefined && value.length > maxLength && [...value].length > maxLength) return false
    if (minLength !== undefined && value.length < minLength * 2 && [...value].length < minLength) return false
    if (pattern !== undefined && pattern !== '' && !patternFound(pattern, value)) return false
    return accepts === undefined || accepts(value)
  }
}

function ofNumbers(schema: JSONSchemaProps): (value: number | bigint) => boolean {
  const { minimum, maximum, multipleOf } = schema
  const format = numberFormat(schema)
  const type = schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '')
  if ((minimum ?? maximum ?? multipleOf) === undefined) return (value) => isInRange(value, type, format)
  return (value) => numberProblems(value, schema, '').length === 0
}

function ofLists({ items, minItems, maxItems, uniqueItems }: JSONSchemaProps): (value: readonly Json[]) => boolean {
  const each =
    items === undefined || items === null || Array.isArray(items) ? undefined : quickCheck(items as JSONSchemaProps)
  return (value) => {
    if (minItems !== undefined && value.length < minItems) return false
    if (maxItems !== undefined && value.length > maxItems) return false
    if (each !== undefined) for (const item of value) if (!each(item)) return false
    return uniqueItems !== true || new Set(value.map(stableText)).size === value.length
  }
}

type Fields = { readonly [key: string]: Json | undefined }

function ofObjects(schema: JSONSchemaProps): (value: Fields) => boolean {
  const { properties, additionalProperties: additional, minProperties, maxProperties, required } = schema
  const named = new Map<string, QuickCheck>()
  for (const [name, property] of Object.entries(properties ?? {})) named.set(name, quickCheck(property))
  const others = typeof additional === 'object' && additional !== null ? quickCheck(additional) : undefined
  const counts = minProperties !== undefined || maxProperties !== undefined
  return (value) => {
    if (counts) {
      const count = Object.keys(value).length
      if (minProperties !== undefined && count < minProperties) return false
      if (maxProperties !== undefined && count > maxProperties) return false
    }
    if (required !== undefined) for (const name of required) if (!Object.hasOwn(value, name)) return false
    for (const key in value) {
      const inner = value[key]
      if (inner === undefined) continue
      const check = named.get(key) ?? others
      if (check === undefined ? additional === false : !check(inner)) return false
    }
    return true
  }
}
