/**
 * Value validation of custom resources: a value against the OpenAPI schema of its definition, in the words of Kubernetes'
 * validators. With an old value, parts that an update does not change are not judged (KEP-4008, ratcheting).
 */
import {
  type FieldError,
  invalid,
  notSupportedText,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../errors/field-errors.ts'
import type { Json } from '../../object.ts'
import { goQuote } from '../../quote.ts'
import { sameJson } from '../../same.ts'
import { jsonText } from '../../values/json.ts'
import { formatCheck } from './formats.ts'
import { isAllowedNumber, isInt64, numberFormat, numberProblems } from './numbers.ts'
import { patternFound } from './patterns.ts'
import { isObject, type JSONSchemaProps, ownValue } from './structural.ts'

interface Result {
  readonly errors: FieldError[]
  /** Validators that ran: of several alternatives that fail, the one with most is told. */
  matches: number
}

interface Run {
  /** Of a default: Kubernetes' schema for it has no type where an integer or text may stand. */
  readonly isDefault: boolean
  /** Where the root of the validation stands in the object: '' or `status`. */
  readonly field: string
  readonly result: Result
}

/**
 * Everything wrong with `value`. `field` is where it stands in its object; messages name places relative to it. `old`, when
 * given, is what the value replaces.
 */
export function validateValue(
  value: Json | undefined,
  schema: JSONSchemaProps,
  field = '',
  old?: { readonly value: Json | undefined },
): readonly FieldError[] {
  const run: Run = { isDefault: false, field, result: { errors: [], matches: 0 } }
  check(value ?? null, schema, '', old?.value, run)
  return toldOnce(run.result.errors)
}

/** Everything wrong with a default that stands at `field`. */
export function validateDefault(value: Json, schema: JSONSchemaProps, field: string): readonly FieldError[] {
  const run: Run = { isDefault: true, field, result: { errors: [], matches: 0 } }
  check(value, schema, '', undefined, run)
  return toldOnce(run.result.errors)
}

/** What several parts of a schema say alike is told where it is said first. */
function toldOnce(errors: readonly FieldError[]): readonly FieldError[] {
  if (errors.length < 2) return errors
  const byText = new Map<string, FieldError>()
  for (const error of errors) {
    const text = JSON.stringify([error.type, error.field, error.message])
    if (!byText.has(text)) byText.set(text, error)
  }
  return [...byText.values()]
}

/** A path below a root that has no name begins with a point where no property of the schema leads to it. */
const at = ({ field }: Run, path: string) =>
  path === '' ? field : field === '' ? path : `${field}${path.startsWith('.') ? '' : '.'}${path}`

function check(value: Json, schema: JSONSchemaProps, path: string, old: Json | undefined, run: Run): void {
  if (old !== undefined && isUnchanged(value, old, schema)) return
  const { result } = run
  result.matches++
  if (value === null) {
    const types = typesOf(schema, run)
    if (types.length > 0 && schema.nullable !== true) wrongType(path, types.join(','), 'null', run)
    checkEnum(value, schema, path, run)
    return
  }
  checkType(value, schema, path, run)
  checkAlternatives(value, schema, path, run)
  if (typeof value === 'string') checkString(value, schema, path, run)
  else if (isNumber(value)) checkNumber(value, schema, path, run)
  checkEnum(value, schema, path, run)
  if (Array.isArray(value)) checkList(value, schema, path, old, run)
  else if (isObject(value)) checkObject(value, schema, path, old, run)
}

function typesOf(schema: JSONSchemaProps, { isDefault }: Run): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return isDefault ? [] : ['integer', 'string']
  return schema.type === undefined || schema.type === '' ? [] : [schema.type]
}

function wrongType(path: string, wanted: string, got: string, run: Run): void {
  run.result.errors.push(
    typeInvalid(at(run, path), got, `${path} in body must be of type ${wanted}: ${JSON.stringify(got)}`),
  )
}

/** The type as OpenAPI names it, and the format that Go's type has. */
function kindOf(value: Json): readonly [type: string, format: string] {
  if (typeof value === 'boolean') return ['boolean', '']
  if (typeof value === 'string') return ['string', '']
  if (isNumber(value)) return isInt64(value) ? ['integer', 'int64'] : ['number', 'float64']
  return Array.isArray(value) ? ['array', ''] : ['object', '']
}

function checkType(value: Json, schema: JSONSchemaProps, path: string, run: Run): void {
  const types = typesOf(schema, run)
  const wanted = numberFormat(schema)
  if (types.length === 0 && wanted === '') return
  const [type, format] = kindOf(value)
  const asNumber = type === 'integer' && types.includes('number')
  const numeric = types.includes('number') || types.includes('integer')
  const plain = type !== 'string' && type !== 'array'
  if (plain && wanted !== '' && !(types.includes(type) || format === wanted || asNumber)) {
    wrongType(path, wanted, format, run)
    return
  }
  if (!numeric && wanted !== '' && !plain) return
  if (types.length > 0 && !(types.includes(type) || asNumber)) wrongType(path, types.join(','), type, run)
}

function checkAlternatives(value: Json, schema: JSONSchemaProps, path: string, run: Run): void {
  const { anyOf, oneOf, allOf, not } = schema
  const { errors } = run.result
  const name = JSON.stringify(path)
  const fails = (text: string) => errors.push(invalid(run.field, '', text))
  if (anyOf !== undefined && anyOf.length > 0) {
    const { valid, best } = alternatives(value, anyOf, path, run)
    if (valid === 0) {
      fails(`${name} must validate at least one schema (anyOf)`)
      errors.push(...best)
    }
  }
  if (oneOf !== undefined && oneOf.length > 0) {
    const { valid, best } = alternatives(value, oneOf, path, run)
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
      fails(`${name} must validate one and only one schema (oneOf). ${found}`)
      errors.push(...best)
    }
  }
  if (allOf !== undefined && allOf.length > 0) {
    let valid = 0
    for (const one of allOf) {
      const result = alone(value, one, path, run)
      if (result.errors.length === 0) valid++
      errors.push(...result.errors)
    }
    if (valid < allOf.length)
      fails(`${name} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
  }
  if (not !== undefined && not !== null && alone(value, not, path, run).errors.length === 0)
    fails(`${name} must not validate the schema (not)`)
}

function alone(value: Json, schema: JSONSchemaProps, path: string, run: Run): Result {
  const result: Result = { errors: [], matches: 0 }
  check(value, schema, path, undefined, { ...run, result })
  return result
}

function alternatives(value: Json, schemas: readonly JSONSchemaProps[], path: string, run: Run) {
  let valid = 0
  let best: Result | undefined
  for (const schema of schemas) {
    const result = alone(value, schema, path, run)
    if (result.errors.length === 0) {
      valid++
      best = undefined
    } else if (valid === 0 && (best === undefined || result.matches > best.matches)) best = result
  }
  return { valid, best: best?.errors ?? [] }
}

function checkString(value: string, schema: JSONSchemaProps, path: string, run: Run): void {
  const { errors } = run.result
  const { maxLength, minLength, pattern, format } = schema
  const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length
  // Of these only the first is told.
  if (maxLength !== undefined && length > maxLength) errors.push(tooLong(at(run, path), maxLength))
  else if (minLength !== undefined && length < minLength)
    errors.push(invalid(at(run, path), value, `${path} in body should be at least ${minLength} chars long`))
  else if (pattern !== undefined && pattern !== '' && !patternFound(pattern, value))
    errors.push(invalid(at(run, path), value, `${path} in body should match '${pattern}'`))
  const accepts = format === undefined ? undefined : formatCheck(format)
  if (accepts !== undefined && !accepts(value))
    errors.push(typeInvalid(at(run, path), value, `${path} in body must be of type ${format}: ${goQuote(value)}`))
}

function checkNumber(value: number | bigint, schema: JSONSchemaProps, path: string, run: Run): void {
  for (const { own, shown, detail } of numberProblems(value, schema, path)) {
    const field = own ? at(run, path) : run.field
    run.result.errors.push({ type: 'FieldValueInvalid', field, message: `Invalid value: ${shown}: ${detail}` })
  }
}

function checkEnum(value: Json, schema: JSONSchemaProps, path: string, run: Run): void {
  const { enum: allowed } = schema
  if (allowed === undefined || allowed.length === 0) return
  // No enum allows null, not even one that names it.
  if (value !== null && allowed.some((one) => isAllowed(one, value))) return
  const supported = allowed.map((one) => (typeof one === 'string' ? one : jsonText(one)))
  run.result.errors.push(notSupportedText(at(run, path), value, supported))
}

export function isAllowed(allowed: Json, value: Json): boolean {
  return isNumber(allowed) && isNumber(value) ? isAllowedNumber(allowed, value) : sameJson(allowed, value)
}

const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

function checkList(
  value: readonly Json[],
  schema: JSONSchemaProps,
  path: string,
  old: Json | undefined,
  run: Run,
): void {
  const { errors } = run.result
  const { minItems, maxItems, uniqueItems, items } = schema
  if (items !== undefined && items !== null && !Array.isArray(items)) {
    const before = correlated(old, schema)
    for (const [i, item] of value.entries()) check(item, items as JSONSchemaProps, `${path}[${i}]`, before?.(item), run)
  }
  if (minItems !== undefined && value.length < minItems)
    errors.push(invalid(at(run, path), value.length, `${path} in body should have at least ${minItems} items`))
  if (maxItems !== undefined && value.length > maxItems) errors.push(tooMany(at(run, path), value.length, maxItems))
  if (uniqueItems === true && new Set(value.map((item) => stableText(item))).size < value.length)
    errors.push(invalid(at(run, path), '', `${path} in body shouldn't contain duplicates`))
}

/** What an item of a keyed list was before; other lists know no items. */
function correlated(old: Json | undefined, schema: JSONSchemaProps): ((item: Json) => Json | undefined) | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: Json) =>
    isObject(item) ? stableText(keys.map((key) => ownValue(item, key) ?? null)) : undefined
  const byKey = new Map<string, Json>()
  for (const item of old as readonly Json[]) {
    const key = keyOf(item)
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item)
  }
  return (item) => {
    const key = keyOf(item)
    return key === undefined ? undefined : byKey.get(key)
  }
}

/** Whether a value is what it was before an update. The items of a keyed list may have changed places. */
export function isUnchanged(value: Json, old: Json, schema: JSONSchemaProps): boolean {
  if (sameJson(value, old)) return true
  if (Array.isArray(value)) {
    const before = correlated(old, schema)
    if (before === undefined || value.length !== (old as readonly Json[]).length) return false
    const { items } = schema
    return (value as readonly Json[]).every((item) => {
      const was = before(item)
      return was !== undefined && (isOneSchema(items) ? isUnchanged(item, was, items) : sameJson(item, was))
    })
  }
  if (!isObject(value) || !isObject(old)) return false
  const { properties, additionalProperties: additional } = schema
  const keys = definedKeys(value)
  return (
    keys.length === definedKeys(old).length &&
    keys.every((key) => {
      const was = ownValue(old, key)
      const inner = value[key] as Json
      if (was === undefined) return false
      const below = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : additional
      return isOneSchema(below) ? isUnchanged(inner, was, below) : sameJson(inner, was)
    })
  )
}

const definedKeys = (object: { readonly [key: string]: Json | undefined }): readonly string[] =>
  Object.keys(object).filter((key) => object[key] !== undefined)

const isOneSchema = (schema: unknown): schema is JSONSchemaProps =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema)

function checkObject(
  value: { readonly [key: string]: Json | undefined },
  schema: JSONSchemaProps,
  path: string,
  old: Json | undefined,
  run: Run,
): void {
  const { errors } = run.result
  const { properties, additionalProperties: additional, minProperties, maxProperties } = schema
  const keys = Object.keys(value)
  if (minProperties !== undefined && keys.length < minProperties)
    errors.push(invalid(at(run, path), keys.length, `${path} in body should have at least ${minProperties} properties`))
  if (maxProperties !== undefined && keys.length > maxProperties)
    errors.push(tooMany(at(run, path), keys.length, maxProperties))
  const below = (key: string) => (path === '' ? key : `${path}.${key}`)
  const before = isObject(old) ? old : undefined
  for (const key of keys) {
    const inner = value[key]
    if (inner === undefined) continue
    const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
    const was = before === undefined ? undefined : ownValue(before, key)
    if (property !== undefined) check(inner, property, below(key), was, run)
    else if (additional === false)
      errors.push(invalid(at(run, below(key)), '', `${below(key)} in body is a forbidden property`))
    else if (typeof additional === 'object' && additional !== null) check(inner, additional, `${path}.${key}`, was, run)
  }
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) errors.push(required(at(run, below(name))))
}

/** One text for equal values, whatever the order of their keys. */
export function stableText(value: Json | undefined): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (Array.isArray(value)) return `[${value.map(stableText).join(',')}]`
  const object = value as { [key: string]: Json | undefined }
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${stableText(object[key])}`)
    .join(',')}}`
}
