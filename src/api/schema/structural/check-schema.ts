/**
 * What a definition's schema may say beyond its structure: what OpenAPI allows and Kubernetes does not, list and map types,
 * patterns, and rules in CEL, which are judged by `RuleChecks` where everything below them is well.
 */
import { type FieldError, forbiddenField, invalid, notSupportedText, required } from '../../errors/field-errors.ts'
import { internalItems } from './internal-schema.ts'
import { patternError } from './patterns.ts'
import type { JSONSchemaProps, ValidationRule } from './structural.ts'

/** Judges the rules of one schema: compiled, typed and estimated. `path` is the schema's. */
export interface RuleChecks {
  check(schema: JSONSchemaProps, path: string, place: SchemaPlace): readonly FieldError[]
  /** What all rules together cost too much. */
  finish(path: string): readonly FieldError[]
  readonly root: JSONSchemaProps
}

/** What the way to a schema means to its rules. */
export interface SchemaPlace {
  /** How many values there can be here at most; undefined when no schema above bounds it. */
  readonly cardinality: number | undefined
  /** The path of the nearest list or map in which an old value cannot be told. */
  readonly uncorrelatable: string | undefined
  readonly root: boolean
}

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

export function schemaErrors(
  schema: JSONSchemaProps,
  path: string,
  checkRules: RuleChecks | undefined,
): readonly FieldError[] {
  const found = check(schema, path, checkRules, { cardinality: 1, uncorrelatable: undefined, root: true })
  return [...found.errors, ...found.rules, ...(checkRules?.finish(path) ?? [])]
}

interface Found {
  readonly errors: FieldError[]
  readonly rules: FieldError[]
}

function check(schema: JSONSchemaProps, path: string, checkRules: RuleChecks | undefined, place: SchemaPlace): Found {
  const errors: FieldError[] = []
  const rules: FieldError[] = []
  own(schema, path, errors)
  const below = (inner: JSONSchemaProps, at: string, next: SchemaPlace) => {
    const found = check(inner, at, checkRules, next)
    errors.push(...found.errors)
    rules.push(...found.rules)
  }
  const inside: SchemaPlace = { ...place, root: false }
  const { additionalProperties: additional, items } = schema
  if (typeof additional === 'object' && additional !== null)
    below(additional, `${path}.additionalProperties`, times(inside, schema.maxProperties))
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    below(inner, `${path}.properties[${name}]`, inside)
  for (const field of ['allOf', 'oneOf', 'anyOf'] as const)
    for (const [i, inner] of (schema[field] ?? []).entries()) below(inner, `${path}.${field}[${i}]`, inside)
  if (schema.not !== undefined && schema.not !== null) below(schema.not, `${path}.not`, inside)
  if (typeof items === 'object' && items !== null && !Array.isArray(items)) {
    const counted = times(inside, schema.maxItems)
    const keyed = schema['x-kubernetes-list-type'] === 'map'
    below(
      items as JSONSchemaProps,
      `${path}.items`,
      keyed ? counted : { ...counted, uncorrelatable: counted.uncorrelatable ?? `${path}` },
    )
  }
  listTypes(schema, path, errors)
  const given = schema['x-kubernetes-validations'] ?? []
  for (const [i, rule] of given.entries()) ruleErrors(schema, rule, `${path}.x-kubernetes-validations[${i}]`, errors)
  if (given.length > 0 && schema.type === '') {
    errors.push(required(`${path}.type`, 'must not be empty for specified object fields'))
  }
  // A schema that is wrong here or below says nothing sure about types.
  if (given.length > 0 && errors.length === 0 && checkRules !== undefined)
    rules.push(...checkRules.check(schema, path, place))
  return { errors, rules }
}

function times(place: SchemaPlace, most: number | undefined): SchemaPlace {
  return {
    ...place,
    cardinality: place.cardinality === undefined || most === undefined ? undefined : place.cardinality * most,
  }
}

function own(schema: JSONSchemaProps, path: string, errors: FieldError[]): void {
  const { type = '', properties, additionalProperties: additional } = schema
  if (type !== '' && !TYPES.includes(type)) errors.push(notSupportedText(`${path}.type`, type, TYPES))
  if ((schema.id ?? '') !== '') errors.push(forbiddenField(`${path}.id`, 'id is not supported'))
  if (schema.additionalItems !== undefined && schema.additionalItems !== null)
    errors.push(forbiddenField(`${path}.additionalItems`, 'additionalItems is not supported'))
  for (const field of ['patternProperties', 'definitions', 'dependencies'] as const)
    if (Object.keys(schema[field] ?? {}).length > 0)
      errors.push(forbiddenField(`${path}.${field}`, `${field} is not supported`))
  if ((schema.$ref ?? '') !== '') errors.push(forbiddenField(`${path}.$ref`, '$ref is not supported'))
  if (type === 'null')
    errors.push(forbiddenField(`${path}.type`, 'type cannot be set to null, use nullable as an alternative'))
  if (Array.isArray(schema.items) && schema.items.length > 0)
    errors.push(forbiddenField(`${path}.items`, 'items must be a schema object and not an array'))
  const wrong = schema.pattern === undefined || schema.pattern === '' ? undefined : patternError(schema.pattern)
  if (wrong !== undefined)
    errors.push(invalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${wrong}`))
  if (schema.uniqueItems === true)
    errors.push(
      forbiddenField(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    )
  if (additional !== undefined && additional !== null && Object.keys(properties ?? {}).length > 0)
    errors.push(
      forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    )
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
}

function listTypes(schema: JSONSchemaProps, path: string, errors: FieldError[]): void {
  const { type = '' } = schema
  const mapType = schema['x-kubernetes-map-type']
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const mustBe = (kind: string, extension: string) => {
    if (type === kind) return
    const text = `must be ${kind} if ${extension} is specified`
    errors.push(type === '' ? required(`${path}.type`, text) : invalid(`${path}.type`, type, text))
  }
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular')
    errors.push(notSupportedText(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
  if (mapType !== undefined) mustBe('object', 'x-kubernetes-map-type')
  if (listType !== undefined) mustBe('array', 'x-kubernetes-list-type')
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType))
    errors.push(notSupportedText(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
  if (keys.length > 0 && listType === undefined)
    errors.push(required(`${path}.x-kubernetes-list-type`, 'must be map if x-kubernetes-list-map-keys is non-empty'))
  else if (keys.length > 0 && listType !== 'map')
    errors.push(
      invalid(`${path}.x-kubernetes-list-type`, listType, 'must be map if x-kubernetes-list-map-keys is non-empty'),
    )
  if (listType === 'map' && (schema.items === undefined || schema.items === null))
    errors.push(required(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'))
  else if (listType === 'map' && Array.isArray(schema.items))
    errors.push(
      invalid(
        `${path}.items`,
        internalItems(schema.items as readonly JSONSchemaProps[]),
        'must only have a single schema if x-kubernetes-list-type is map',
      ),
    )
  if (type !== 'array') return
  const items = schema.items as JSONSchemaProps | undefined | null
  if (items === undefined || items === null || Array.isArray(items)) return
  if (listType === 'set') setItems(items, path, errors)
  if (listType === 'map') mapItems(items, keys, path, errors)
}

function setItems(items: JSONSchemaProps, path: string, errors: FieldError[]): void {
  if (items.nullable === true)
    errors.push(forbiddenField(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is set'))
  const mapType = items['x-kubernetes-map-type']
  if (items.type === 'object' && mapType !== 'atomic')
    errors.push(
      invalid(
        `${path}.items.x-kubernetes-map-type`,
        mapType ?? null,
        'must be atomic as item of a list with x-kubernetes-list-type=set',
      ),
    )
  const listType = items['x-kubernetes-list-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    errors.push(
      invalid(
        `${path}.items.x-kubernetes-list-type`,
        listType,
        'must be atomic as item of a list with x-kubernetes-list-type=set',
      ),
    )
}

function mapItems(items: JSONSchemaProps, keys: readonly string[], path: string, errors: FieldError[]): void {
  if (items.nullable === true)
    errors.push(forbiddenField(`${path}.items.nullable`, 'cannot be nullable when x-kubernetes-list-type is map'))
  if (keys.length === 0)
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'))
  if (items.type !== 'object')
    errors.push(
      invalid(`${path}.items.type`, items.type ?? '', "must be object if parent array's x-kubernetes-list-type is map"),
    )
  if (items.type !== 'object') return
  const needed = new Set(items.required ?? [])
  for (const key of keys) {
    const property =
      items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined
    if (property === undefined) {
      errors.push(invalid(`${path}.x-kubernetes-list-map-keys`, keys, 'entries must all be names of item properties'))
      continue
    }
    const at = `${path}.items.properties[${key}]`
    if (property.type === 'array' || property.type === 'object')
      errors.push(
        invalid(`${at}.type`, property.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
      )
    if (property.nullable === true)
      errors.push(
        forbiddenField(`${at}.nullable`, 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'),
      )
    if ((property.default === undefined || property.default === null) && !needed.has(key))
      errors.push(
        required(
          `${at}.default`,
          'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        ),
      )
  }
  if (new Set(keys).size < keys.length)
    errors.push(invalid(`${path}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries'))
}

export const RULE_REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

function ruleErrors(schema: JSONSchemaProps, rule: ValidationRule, path: string, errors: FieldError[]): void {
  if ((rule.rule ?? '').trim() === '') errors.push(required(`${path}.rule`, 'rule is not specified'))
  const { message, messageExpression, reason, fieldPath } = rule
  if (reason !== undefined && !RULE_REASONS.includes(reason))
    errors.push(notSupportedText(`${path}.reason`, reason, RULE_REASONS))
  if (message !== undefined && message !== '') {
    if (message.trim() === '') errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'))
    else if (/[\r\n]/.test(message)) errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'))
  }
  if (/[\r\n]/.test((rule.rule ?? '').trim()) && (message ?? '') === '' && (messageExpression ?? '') === '')
    errors.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== undefined && messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'))
  if (fieldPath !== undefined && fieldPath !== '' && !isRulePath(fieldPath, schema))
    errors.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
}

/** The names in a rule's fieldPath (`.spec.size`, `['a.b'].c`); undefined when it leads nowhere in the schema. */
export function rulePathNames(
  text: string,
  schema: JSONSchemaProps,
): readonly { name: string; key: boolean }[] | undefined {
  const names: { name: string; key: boolean }[] = []
  let at = 0
  let current: JSONSchemaProps | undefined = schema
  while (at < text.length) {
    const match = /^(?:\.([A-Za-z_$][\w$-]*)|\['((?:[^'\\]|\\.)*)'\])/.exec(text.slice(at))
    if (match === null || current === undefined) return undefined
    at += match[0].length
    const name: string = match[1] ?? (match[2] as string).replace(/\\(.)/g, '$1')
    const { properties, additionalProperties: additional }: JSONSchemaProps = current
    if (properties !== undefined && Object.hasOwn(properties, name)) {
      names.push({ name, key: false })
      current = properties[name]
    } else if (typeof additional === 'object' && additional !== null) {
      names.push({ name, key: true })
      current = additional
    } else return undefined
  }
  return names.length === 0 ? undefined : names
}

const isRulePath = (text: string, schema: JSONSchemaProps) => rulePathNames(text, schema) !== undefined
