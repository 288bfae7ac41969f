/**
 * structural: what the openAPIV3Schema of a CustomResourceDefinition says (API concept: structural schemas). A definition's
 * schema becomes a tree of Structural nodes once; pruning, defaulting, value validation, list types, embedded resources and
 * CEL walk that tree, and `schemaOf…` (to-schema.ts) makes of it the Schema that patches, managedFields and apply know.
 * Called by the strategies of definitions and of custom resources and by the decoder. Knows no storage and no requests.
 */
import { getOrInsertComputed } from '../../../base/get-or-insert.ts'
import type { Json } from '../../object.ts'

/** x-kubernetes-validations, as the API gives it. */
export interface ValidationRule {
  readonly rule?: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** apiextensions/v1 JSONSchemaProps, decoded. */
export interface JSONSchemaProps {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: Json
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
  readonly enum?: readonly Json[]
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly items?: JSONSchemaProps | readonly JSONSchemaProps[]
  readonly allOf?: readonly JSONSchemaProps[]
  readonly oneOf?: readonly JSONSchemaProps[]
  readonly anyOf?: readonly JSONSchemaProps[]
  readonly not?: JSONSchemaProps
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>
  readonly additionalProperties?: JSONSchemaProps | boolean
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>
  readonly dependencies?: Readonly<Record<string, Json>>
  readonly additionalItems?: JSONSchemaProps | boolean
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>
  readonly externalDocs?: Json
  readonly example?: Json
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

export interface Structural {
  /** '' when the schema leaves it open (int-or-string, preserved fields). */
  readonly type: string
  readonly nullable: boolean
  /** undefined when there is none; null counts as none. */
  readonly default: Json | undefined
  readonly properties: ReadonlyMap<string, Structural>
  readonly items: Structural | undefined
  /** `true` allows anything, undefined is no word about it. */
  readonly additional: Structural | boolean | undefined
  readonly preserveUnknown: boolean
  readonly embedded: boolean
  readonly intOrString: boolean
  readonly listType: 'atomic' | 'set' | 'map' | undefined
  readonly mapKeys: readonly string[]
  readonly mapType: 'granular' | 'atomic' | undefined
  readonly rules: readonly ValidationRule[]
  /** The whole of what the definition says here, for value validation. */
  readonly props: JSONSchemaProps
}

/** A definition nests no deeper; a request body could not either. */
export const MAX_SCHEMA_DEPTH = 500

const NONE: readonly never[] = []
const made = new WeakMap<JSONSchemaProps, Structural>()

/** The tree of a schema that has passed its checks; the same tree for the same object. */
export function structuralOf(props: JSONSchemaProps): Structural {
  return getOrInsertComputed(made, props, () => build(props, 0))
}

function build(props: JSONSchemaProps, depth: number): Structural {
  if (depth > MAX_SCHEMA_DEPTH) throw new RangeError('schema nests too deep')
  const properties = new Map<string, Structural>()
  for (const [name, inner] of Object.entries(props.properties ?? {})) properties.set(name, build(inner, depth + 1))
  const { items, additionalProperties: additional } = props
  return {
    type: props.type ?? '',
    nullable: props.nullable ?? false,
    default: props.default ?? undefined,
    properties,
    items:
      items === undefined || items === null || Array.isArray(items)
        ? undefined
        : build(items as JSONSchemaProps, depth + 1),
    additional:
      typeof additional === 'object' && additional !== null ? build(additional, depth + 1) : (additional ?? undefined),
    preserveUnknown: props['x-kubernetes-preserve-unknown-fields'] ?? false,
    embedded: props['x-kubernetes-embedded-resource'] ?? false,
    intOrString: props['x-kubernetes-int-or-string'] ?? false,
    listType: props['x-kubernetes-list-type'] as Structural['listType'],
    mapKeys: props['x-kubernetes-list-map-keys'] ?? NONE,
    mapType: props['x-kubernetes-map-type'] as Structural['mapType'],
    rules: props['x-kubernetes-validations'] ?? NONE,
    props,
  }
}

/** The schema of a map's values: that of additionalProperties, where it is a schema. */
export function additionalSchema(schema: Structural): Structural | undefined {
  return typeof schema.additional === 'object' ? schema.additional : undefined
}

export function isObject(value: unknown): value is { readonly [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function ownValue(object: { readonly [key: string]: Json | undefined }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
