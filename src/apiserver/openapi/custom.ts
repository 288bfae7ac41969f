/** What OpenAPI says of custom resources: a definition per kind and one per list, made from the definition's schema. */
import type { Fields, Json, JsonObject } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { builtinKind } from '../../api/scheme/scheme.ts'
import type { CacheReads } from '../admission/plugin.ts'
import { PRESERVE, type Schemas } from './schemas.ts'

/** A custom resource's own schema (openAPIV3Schema); undefined when it has none. */
export type CustomSchema = (row: ResourceRow) => JsonObject | undefined

/** As the CustomResourceDefinition that made the row has it. */
export function definitionSchema(reads: CacheReads, row: ResourceRow): JsonObject | undefined {
  const definition = reads.get('apiextensions.k8s.io', 'customresourcedefinitions', '', `${row.resource}.${row.group}`)
  const versions: readonly Fields[] = definition?.['spec']?.versions ?? []
  return versions.find(({ name }) => name === row.version)?.['schema']?.openAPIV3Schema
}

export const isCustom = (row: ResourceRow): boolean => typeof builtinKind(row.group, row.version, row.kind) !== 'object'

/** `com.example.stable.v1.CronTab` for a CronTab of stable.example.com/v1. */
export function customDefinition({ group, version, kind }: ResourceRow): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
/** What every object has is described here, in words of our own: no definition does. */
const typed = {
  apiVersion: {
    type: 'string',
    description: 'APIVersion defines the version of the schema this object is written in.',
  },
  kind: { type: 'string', description: 'Kind names the type of this object, in CamelCase.' },
}
const referTo = (name: string) => ({ allOf: [{ $ref: `#/components/schemas/${META}.${name}` }] })

/** A custom resource's kind and its list. */
export function customSchemas(rows: readonly ResourceRow[], customSchema: CustomSchema): Schemas {
  const out = new Map<string, JsonObject>()
  for (const row of rows) {
    if (!isCustom(row)) continue
    const definition = customDefinition(row)
    const fields = (row.custom?.selectableFields ?? []).map((path) => ({ fieldPath: path.replace(/^\./, '') }))
    const marks = (kind: string): JsonObject => ({
      'x-kubernetes-group-version-kind': [{ group: row.group, kind, version: row.version }],
      ...(fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields }),
    })
    const whole = served(customSchema(row) ?? { type: 'object', [PRESERVE]: true })
    out.set(definition, {
      ...whole,
      properties: { ...(whole['properties'] as JsonObject | undefined), ...typed, metadata: referTo('ObjectMeta') },
      ...marks(row.kind),
    })
    out.set(`${definition}List`, {
      type: 'object',
      required: ['items'],
      properties: {
        ...typed,
        items: { type: 'array', items: { $ref: `#/components/schemas/${definition}` } },
        metadata: referTo('ListMeta'),
      },
      ...marks(row.listKind),
    })
  }
  return out
}

/** A structural schema with what its extensions stand for: either type, or a whole object of its own. */
function served(schema: JsonObject): JsonObject {
  const out: Record<string, Json | undefined> = { ...schema }
  for (const key of ['items', 'additionalProperties']) {
    const inner = schema[key]
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) out[key] = served(inner as JsonObject)
  }
  const properties = schema['properties'] as JsonObject | undefined
  if (properties !== undefined)
    out['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, served(property as JsonObject)]),
    )
  if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined)
    out['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
  if (schema['x-kubernetes-embedded-resource'] === true) {
    out['properties'] = {
      ...(out['properties'] as JsonObject | undefined),
      ...typed,
      metadata: referTo('ObjectMeta'),
    }
    out['required'] = [
      ...new Set([...((schema['required'] as readonly string[] | undefined) ?? []), 'kind', 'apiVersion']),
    ]
  }
  return out
}
