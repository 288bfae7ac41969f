/**
 * customresources: what a CustomResourceDefinition makes of the server: rows of the scheme, their rules, columns, conversion
 * and OpenAPI. A loop (../loops/crd-loop.ts) says when; the handlers see rows like any other.
 */

import { createHash } from 'node:crypto'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceSubresourceScale,
} from '../../api/generated/types.ts'
import type { Given, KubeObject } from '../../api/object.ts'
import { type JSONSchemaProps, structuralOf } from '../../api/schema/structural/structural.ts'
import { customResourceSchema } from '../../api/schema/structural/to-schema.ts'
import { UNSTRUCTURED } from '../../api/scheme/go-packages.ts'
import type {
  CustomVersion,
  PrinterColumn,
  ResourceRow,
  SubresourceRow,
  VersionSchemas,
} from '../../api/scheme/resource.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { byPriority } from '../../api/scheme/version-priority.ts'

/** As discovery prints them for every custom resource. */
const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
const SUBRESOURCE_VERBS = ['get', 'patch', 'update']

const NAME_COLUMN: PrinterColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  jsonPath: '.metadata.name',
}
const AGE_PATH = '.metadata.creationTimestamp'
const AGE_COLUMN: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: AGE_PATH,
}

export function definitionCondition(
  definition: Given<CustomResourceDefinition>,
  type: string,
): CustomResourceDefinitionCondition | undefined {
  const conditions: readonly CustomResourceDefinitionCondition[] = definition.status?.conditions ?? []
  return conditions.find((condition) => condition.type === type)
}

export const isConditionTrue = (definition: Given<CustomResourceDefinition>, type: string): boolean =>
  definitionCondition(definition, type)?.status === 'True'

export interface RowsOptions {
  /** Aborted by the caller when these rows no longer tell how its objects are served. */
  readonly replaced: AbortSignal
  /** CustomVersion's. */
  readonly digest: string
  /**
   * Gives this very definition when a schema is asked for the first time: rows keep no part of it before, since most of the
   * definitions of a large cluster have few objects or none. Without it the definition is kept.
   */
  readonly again?: () => KubeObject
}

/** The rows of an established definition, one per served version; none before its names are accepted. */
export function rowsOf(definition: Given<CustomResourceDefinition>, options: RowsOptions): readonly ResourceRow[] {
  if (!isConditionTrue(definition, 'Established')) return []
  const versions: readonly CustomResourceDefinitionVersion[] = definition.spec?.versions ?? []
  const storage = versions.find((version) => version.storage === true)
  if (storage === undefined) return []
  const unstructured = definition.spec?.preserveUnknownFields === true
  const schemasOf = schemasOfVersions(versions, unstructured, options.again ?? (() => definition))
  return versions
    .filter((version) => version.served === true)
    .map((version) => rowOf(definition, version, storage, schemasOf, options))
}

/** The schemas of a definition's versions, each read and compiled at its first use. */
function schemasOfVersions(
  versions: readonly CustomResourceDefinitionVersion[],
  unstructured: boolean,
  again: () => KubeObject,
): CustomVersion['schemasOf'] {
  const made = new Map(
    versions.map((version) => {
      const name: string = version.name
      const scale = scalePaths(version.subresources?.scale)
      return [name, lazySchemas(scale, () => (unstructured ? undefined : propsOf(again(), name)))]
    }),
  )
  return (name) => made.get(name)
}

function propsOf(definition: Given<CustomResourceDefinition>, version: string): JSONSchemaProps | undefined {
  const versions: readonly CustomResourceDefinitionVersion[] = definition.spec?.versions ?? []
  return versions.find((one) => one.name === version)?.schema?.openAPIV3Schema
}

function lazySchemas(scale: VersionSchemas['scale'], props: () => JSONSchemaProps | undefined): VersionSchemas {
  let structural: { readonly of: VersionSchemas['structural'] } | undefined
  let schema: ResourceRow['schema'] | undefined
  return {
    get structural() {
      if (structural === undefined) {
        const given = props()
        structural = { of: given === undefined ? undefined : structuralOf(given) }
      }
      return structural.of
    },
    get schema() {
      schema ??= customResourceSchema(this.structural)
      return schema
    },
    scale,
  }
}

function rowOf(
  definition: Given<CustomResourceDefinition>,
  version: CustomResourceDefinitionVersion,
  storage: CustomResourceDefinitionVersion,
  schemasOf: CustomVersion['schemasOf'],
  { replaced, digest }: RowsOptions,
): ResourceRow {
  const spec = definition.spec!
  const { group } = spec
  const names: CustomResourceDefinitionNames = { ...spec.names, ...definition.status?.acceptedNames }
  const schemas = schemasOf(version.name) as VersionSchemas
  const columns = version.additionalPrinterColumns ?? [AGE_COLUMN]
  const selectableFields = (version.selectableFields ?? []).map((one) => one.jsonPath)
  const base = {
    group,
    version: version.name,
    resource: names.plural,
    singular: names.singular ?? '',
    kind: names.kind,
    namespaced: spec.scope === 'Namespaced',
    verbs: VERBS,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    storageVersionHash: storageVersionHash(group, storage.name, names.kind),
    listKind: names.listKind || `${names.kind}List`,
    storagePrefix: `${group}/${names.plural}`,
    storageGroup: group,
    storageVersion: storage.name,
    storedAsJson: true,
    isOwnNamespace: false,
    chargesQuota: spec.scope === 'Namespaced',
    columns: [NAME_COLUMN, ...columns.map(columnOf)],
    goType: UNSTRUCTURED,
    openApi: {
      definition: [...group.split('.').reverse(), version.name, names.kind].join('.'),
      byDefinition: { digest, selectableFields },
    },
    impliesKind: false,
    custom: {
      get structural() {
        return schemas.structural
      },
      schemasOf,
      terminating: definition.metadata.deletionTimestamp !== undefined,
      status: version.subresources?.status !== undefined,
      scale: schemas.scale,
      selectableFields,
      deprecationWarning: deprecationWarning(version, spec, names),
      conversion: spec.conversion?.strategy === 'Webhook' ? ('Webhook' as const) : ('None' as const),
      replaced,
    },
  }
  const subresources = subresourcesOf(base, schemas)
  return {
    ...base,
    // Compiled at its first use: most of the rows of a large cluster are never asked for.
    get schema() {
      return schemas.schema
    },
    subresources,
    discoveredSubresources: subresources,
  }
}

function subresourcesOf(
  { group, version, kind, custom }: Pick<ResourceRow, 'group' | 'version' | 'kind' | 'custom'>,
  schemas: Pick<VersionSchemas, 'schema'>,
): readonly SubresourceRow[] {
  const made: SubresourceRow[] = []
  if (custom?.status === true)
    made.push(lazily({ name: 'status', group, version, kind, verbs: SUBRESOURCE_VERBS }, schemas))
  if (custom?.scale !== undefined) {
    const scale = builtinScheme()
      .find('apps', 'v1', 'deployments')
      ?.subresources.find((sub) => sub.name === 'scale')
    if (scale !== undefined) {
      const one = { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: SUBRESOURCE_VERBS }
      made.push(lazily(one, scale))
    }
  }
  return made
}

/** A row whose schema is compiled when it is first read. */
function lazily(
  sub: Omit<SubresourceRow, 'schema'>,
  schemas: { readonly schema: SubresourceRow['schema'] },
): SubresourceRow {
  return {
    ...sub,
    get schema() {
      return schemas.schema
    },
  }
}

function columnOf(column: CustomResourceColumnDefinition): PrinterColumn {
  const described = column.description ?? ''
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description:
      described === '' ? `Custom resource definition column (in JSONPath format): ${column.jsonPath}` : described,
    priority: column.priority ?? 0,
    jsonPath: column.jsonPath,
  }
}

function scalePaths(scale: CustomResourceSubresourceScale | undefined) {
  if (scale === undefined) return undefined
  return {
    specReplicasPath: scale.specReplicasPath,
    statusReplicasPath: scale.statusReplicasPath,
    labelSelectorPath: scale.labelSelectorPath ?? '',
  }
}

/** What clients of a deprecated version are told: the definition's own words, or which version to use. */
function deprecationWarning(
  version: CustomResourceDefinitionVersion,
  spec: CustomResourceDefinitionSpec,
  names: CustomResourceDefinitionNames,
): string | undefined {
  if (version.deprecated !== true) return undefined
  const own = version.deprecationWarning
  if (own !== undefined) return own
  const { group } = spec
  const text = `${group}/${version.name} ${names.kind} is deprecated`
  const better = spec.versions
    .filter((one) => one.served === true && one.deprecated !== true)
    .map((one) => one.name)
    .sort(byPriority)[0]
  if (better === undefined || byPriority(better, version.name) > 0) return text
  return `${text}; use ${group}/${better} ${names.kind}`
}

function storageVersionHash(group: string, version: string, kind: string): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
