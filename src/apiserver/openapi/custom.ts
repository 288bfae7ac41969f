/** What OpenAPI says of custom resources: a definition per kind and one per list, made from the definition's schema. */

import type { CustomResourceDefinition } from '../../api/generated/types.ts'
import type { Json, JsonObject } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import type { Steps } from '../../base/turns.ts'
import type { CacheReads } from '../reads.ts'
import { commonDescriptions, type Descriptions, type TypeDescription } from './descriptions.ts'
import { PRESERVE, type Schemas } from './schemas.ts'

/** A custom resource's own schema (openAPIV3Schema); undefined when it has none. */
export type CustomSchema = (row: ResourceRow) => JsonObject | undefined

/** As the CustomResourceDefinition that made the row has it. */
export function definitionSchema(reads: CacheReads, row: ResourceRow): JsonObject | undefined {
  const definition = reads.get<CustomResourceDefinition>(
    'apiextensions.k8s.io',
    'customresourcedefinitions',
    '',
    `${row.resource}.${row.group}`,
  )
  const versions = definition?.spec?.versions ?? []
  return versions.find(({ name }) => name === row.version)?.schema?.openAPIV3Schema as JsonObject | undefined
}

/** Whether its schema is its CustomResourceDefinition's, not a published one. */
export const isByDefinition = ({ openApi }: ResourceRow): boolean => openApi.byDefinition !== undefined

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const LIST_META = `${META}.ListMeta`
const OBJECT_META = `${META}.ObjectMeta`

/** The fields that every object or list has, with what is said of them. */
function commonFields(said: TypeDescription, meta: string): JsonObject {
  const described = (field: string, schema: JsonObject): JsonObject => ({
    description: said.fields.get(field),
    ...schema,
  })
  return {
    apiVersion: described('apiVersion', { type: 'string' }),
    kind: described('kind', { type: 'string' }),
    metadata: described('metadata', { allOf: [{ $ref: `#/components/schemas/${meta}` }] }),
  }
}

/** A custom resource's kind and its list, of each row that is of custom resources. */
export function* customSchemas(
  rows: readonly ResourceRow[],
  customSchema: CustomSchema,
  descriptions: Descriptions,
): Steps<Schemas> {
  const out = new Map<string, JsonObject>()
  for (const row of rows) {
    const { definition, byDefinition } = row.openApi
    if (byDefinition === undefined) continue
    yield
    const fields = byDefinition.selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }))
    const marks = (kind: string): JsonObject => ({
      'x-kubernetes-group-version-kind': [{ group: row.group, kind, version: row.version }],
      ...(fields.length === 0 ? {} : { 'x-kubernetes-selectable-fields': fields }),
    })
    const embedded = commonFields(commonDescriptions(descriptions, 'embedded object'), OBJECT_META)
    const whole = served(customSchema(row) ?? { type: 'object', [PRESERVE]: true }, embedded)
    out.set(definition, {
      ...whole,
      properties: {
        ...(whole['properties'] as JsonObject | undefined),
        ...commonFields(commonDescriptions(descriptions, row.kind), OBJECT_META),
      },
      ...marks(row.kind),
    })
    const list = commonDescriptions(descriptions, row.listKind, row.kind)
    out.set(`${definition}List`, {
      description: list.text,
      type: 'object',
      required: ['items'],
      properties: {
        ...commonFields(list, LIST_META),
        items: {
          description: list.fields.get('items'),
          type: 'array',
          items: { $ref: `#/components/schemas/${definition}` },
        },
      },
      ...marks(row.listKind),
    })
  }
  return out
}

/** A structural schema with what its extensions stand for: either type, or a whole object of its own. */
function served(schema: JsonObject, embedded: JsonObject): JsonObject {
  const out: Record<string, Json | undefined> = { ...schema }
  for (const key of ['items', 'additionalProperties']) {
    const inner = schema[key]
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner))
      out[key] = served(inner as JsonObject, embedded)
  }
  const properties = schema['properties'] as JsonObject | undefined
  if (properties !== undefined)
    out['properties'] = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, served(property as JsonObject, embedded)]),
    )
  if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined)
    out['anyOf'] = [{ type: 'integer' }, { type: 'string' }]
  if (schema['x-kubernetes-embedded-resource'] === true) {
    out['properties'] = {
      ...(out['properties'] as JsonObject | undefined),
      ...embedded,
    }
    out['required'] = [
      ...new Set([...((schema['required'] as readonly string[] | undefined) ?? []), 'kind', 'apiVersion']),
    ]
  }
  return out
}
