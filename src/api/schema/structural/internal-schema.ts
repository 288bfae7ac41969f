/** A schema as error texts show it: in Kubernetes' internal form, all fields by their Go names. */
import type { Fields, Json } from '../../object.ts'
import type { JSONSchemaProps, ValidationRule } from './structural.ts'

type Shown = { readonly [name: string]: Json }

/** Go name, JSON name, and what an absent field shows. */
const SCHEMA: readonly (readonly [shown: string, name: string, absent: Json])[] = [
  ['ID', 'id', ''],
  ['Schema', '$schema', ''],
  ['Ref', '$ref', null],
  ['Description', 'description', ''],
  ['Type', 'type', ''],
  ['Nullable', 'nullable', false],
  ['Format', 'format', ''],
  ['Title', 'title', ''],
  ['Default', 'default', null],
  ['Maximum', 'maximum', null],
  ['ExclusiveMaximum', 'exclusiveMaximum', false],
  ['Minimum', 'minimum', null],
  ['ExclusiveMinimum', 'exclusiveMinimum', false],
  ['MaxLength', 'maxLength', null],
  ['MinLength', 'minLength', null],
  ['Pattern', 'pattern', ''],
  ['MaxItems', 'maxItems', null],
  ['MinItems', 'minItems', null],
  ['UniqueItems', 'uniqueItems', false],
  ['MultipleOf', 'multipleOf', null],
  ['Enum', 'enum', null],
  ['MaxProperties', 'maxProperties', null],
  ['MinProperties', 'minProperties', null],
  ['Required', 'required', null],
  ['Items', 'items', null],
  ['AllOf', 'allOf', null],
  ['OneOf', 'oneOf', null],
  ['AnyOf', 'anyOf', null],
  ['Not', 'not', null],
  ['Properties', 'properties', null],
  ['AdditionalProperties', 'additionalProperties', null],
  ['PatternProperties', 'patternProperties', null],
  ['Dependencies', 'dependencies', null],
  ['AdditionalItems', 'additionalItems', null],
  ['Definitions', 'definitions', null],
  ['ExternalDocs', 'externalDocs', null],
  ['Example', 'example', null],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', null],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', false],
  ['XIntOrString', 'x-kubernetes-int-or-string', false],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', null],
  ['XListType', 'x-kubernetes-list-type', null],
  ['XMapType', 'x-kubernetes-map-type', null],
  ['XValidations', 'x-kubernetes-validations', null],
]

const LISTS = new Set(['allOf', 'oneOf', 'anyOf'])
const MAPS = new Set(['properties', 'patternProperties', 'definitions'])

export function internalSchema(schema: JSONSchemaProps): Shown {
  const out: Record<string, Json> = {}
  const given = schema
  for (const [shown, name, absent] of SCHEMA) {
    const value = (given as Fields)[name]
    out[shown] = value === undefined || value === null ? absent : internalField(name, value)
  }
  return out
}

function internalField(name: string, value: Fields[string]): Json {
  if (LISTS.has(name)) return (value as readonly JSONSchemaProps[]).map(internalSchema)
  if (name === 'not') return internalSchema(value)
  if (MAPS.has(name))
    return Object.fromEntries(Object.entries(value as Fields).map(([key, inner]) => [key, internalSchema(inner)]))
  if (name === 'items') return internalItems(value)
  if (name === 'additionalProperties' || name === 'additionalItems')
    return typeof value === 'object' ? { Allows: true, Schema: internalSchema(value) } : { Allows: value, Schema: null }
  if (name === 'x-kubernetes-validations') return (value as readonly ValidationRule[]).map(internalRule)
  return value
}

export function internalRule(rule: ValidationRule): Shown {
  return {
    Rule: rule.rule ?? '',
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }
}

export function internalItems(items: JSONSchemaProps | readonly JSONSchemaProps[]): Shown {
  return Array.isArray(items)
    ? { Schema: null, JSONSchemas: items.map(internalSchema) }
    : { Schema: internalSchema(items as JSONSchemaProps), JSONSchemas: null }
}
