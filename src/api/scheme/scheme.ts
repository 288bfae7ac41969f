/**
 * The scheme: which resources are served, and which kinds a body may name. Built-in rows come from
 * the generated table, custom resources add and remove rows at run time. Knows no handlers and no storage.
 */
import { resourceTable } from '../generated/resources.ts'
import { apiVersionOf } from '../object.ts'
import { schemaOf } from '../schema/builtin.ts'
import type { StructSchema } from '../schema/schema.ts'
import { goTypeOfKind } from './go-packages.ts'
import { createMutableScheme, type MutableScheme } from './mutable.ts'
import type { PrinterColumn, ResourceRow, Scheme, SubresourceRow } from './resource.ts'
import type { ResourceChoice } from './runtime-config.ts'

interface TableRow {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly hash?: string
  readonly storagePrefix?: string
  readonly storageGroup?: string
  readonly storageVersion?: string
  readonly columns?: readonly (readonly [name: string, type: string, format: string, priority: number])[]
  readonly subresources?: readonly Omit<SubresourceRow, 'schema'>[]
}

/** One group as /apis lists it, versions in order of preference. */
export interface ApiGroup {
  readonly name: string
  readonly versions: readonly { readonly groupVersion: string; readonly version: string }[]
  readonly preferredVersion: { readonly groupVersion: string; readonly version: string }
}

interface ResourceTable {
  /** apiVersion → kind → definition, for every served version and for meta.k8s.io/v1. */
  readonly kinds: { readonly [apiVersion: string]: { readonly [kind: string]: string } }
  /** apiVersion → kinds that Kubernetes knows and does not serve. */
  readonly unserved: { readonly [apiVersion: string]: readonly string[] }
  readonly rows: readonly TableRow[]
  /** Versions that are served where that is asked for, of kinds that are stored in another one. */
  readonly optional: Pick<ResourceTable, 'kinds' | 'rows'>
  readonly groups: readonly ApiGroup[]
}

let parsed: ResourceTable | undefined
function table(): ResourceTable {
  parsed ??= JSON.parse(resourceTable) as ResourceTable
  return parsed
}

/** The named groups in the order in which /apis lists them (the core group is not among them). */
export function builtinGroups(): readonly ApiGroup[] {
  return table().groups
}

/** Whether Kubernetes itself has this group; the core group is among them. */
export function isBuiltinGroup(name: string): boolean {
  builtinNames ??= new Set(['', ...table().groups.map((group) => group.name)])
  return builtinNames.has(name)
}

let builtinNames: ReadonlySet<string> | undefined

/** Groups that API servers of their own serve inside Kubernetes': those know no other group's kinds, and keep theirs as JSON. */
export const GROUPS_WITH_OWN_SERVERS: ReadonlySet<string> = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io'])

/** Every apiVersion of the built-in API, served or not. */
export function knownApiVersions(): readonly string[] {
  const { kinds, unserved, optional } = table()
  const served = Object.keys(kinds).filter((apiVersion) => apiVersion !== META)
  return [...new Set([...served, ...Object.keys(unserved), ...Object.keys(optional.kinds)])]
}

/** Those of them that are served where that is asked for, each with the resources that it has here. */
export function optionalVersions(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const { group, version, resource } of table().optional.rows) {
    const apiVersion = apiVersionOf(group, version)
    const resources = found.get(apiVersion) ?? []
    if (resources.push(resource) === 1) found.set(apiVersion, resources)
  }
  return found
}

/** What a body's apiVersion and kind mean to Kubernetes, served or not. Options (DeleteOptions, …) count in every version. */
export function builtinKind(
  group: string,
  version: string,
  kind: string,
): { readonly definition: string; readonly schema: StructSchema } | 'unserved' | undefined {
  const apiVersion = apiVersionOf(group, version)
  const definition = definitionOf(apiVersion, kind)
  if (definition !== undefined) return { definition, schema: schemaOf(definition) }
  return own(table().unserved, apiVersion)?.includes(kind) ? 'unserved' : undefined
}

function definitionOf(apiVersion: string, kind: string): string | undefined {
  const { kinds, unserved, optional } = table()
  const byKind = own(kinds, apiVersion) ?? own(optional.kinds, apiVersion)
  const known = byKind !== undefined || own(unserved, apiVersion) !== undefined
  const everywhere = known && (everyVersionKinds.has(kind) || (apiVersion === 'v1' && coreVersionKinds.has(kind)))
  return (byKind && own(byKind, kind)) ?? (everywhere ? own(own(kinds, META)!, kind) : undefined)
}

const META = 'meta.k8s.io/v1'
/** Registered for every group and version, not only for meta.k8s.io/v1. */
const everyVersionKinds = new Set([
  'ListOptions',
  'GetOptions',
  'DeleteOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'WatchEvent',
])

/** The machinery's own answers, registered for v1 as well. */
const coreVersionKinds = new Set(['Status', 'List', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'])

function own<V>(record: { readonly [key: string]: V }, key: string): V | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function builtinSchema(group: string, version: string, kind: string): StructSchema {
  const found = builtinKind(group, version, kind)
  if (found === undefined || found === 'unserved') throw new Error(`no schema for ${group}/${version} ${kind}`)
  return found.schema
}

/** Compiles a schema when it is first asked for: most kinds are never used by one process. */
function lazily<T extends object>(row: T, make: () => StructSchema): T & { readonly schema: StructSchema } {
  let schema: StructSchema | undefined
  return Object.defineProperty(row, 'schema', {
    enumerable: true,
    get: () => {
      schema ??= make()
      return schema
    },
  }) as T & { readonly schema: StructSchema }
}

function rowOf(entry: TableRow): ResourceRow {
  const { group, version, kind } = entry
  const columns: readonly PrinterColumn[] = (entry.columns ?? []).map(([name, type, format, priority]) => ({
    name,
    type,
    format,
    priority,
  }))
  const subresources: readonly SubresourceRow[] = (entry.subresources ?? []).map((sub) =>
    lazily({ ...sub }, () => builtinSchema(sub.group, sub.version, sub.kind)),
  )
  return lazily(
    {
      group,
      version,
      resource: entry.resource,
      singular: entry.singular,
      kind,
      namespaced: entry.namespaced,
      verbs: entry.verbs,
      shortNames: entry.shortNames ?? [],
      categories: entry.categories ?? [],
      storageVersionHash: entry.hash ?? '',
      listKind: `${kind}List`,
      storagePrefix: entry.storagePrefix ?? '',
      storageGroup: entry.storageGroup ?? group,
      storageVersion: entry.storageVersion ?? version,
      storedAsJson: GROUPS_WITH_OWN_SERVERS.has(group),
      isOwnNamespace: group === '' && entry.resource === 'namespaces',
      chargesQuota: entry.namespaced && entry.resource !== 'events',
      columns,
      goType: goTypeOfKind(entry),
      openApi: { definition: definitionOf(apiVersionOf(group, version), kind) ?? '' },
      impliesKind: true,
      discoveredSubresources: [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1)),
      subresources,
    },
    () => builtinSchema(group, version, kind),
  )
}

let rows: readonly ResourceRow[] | undefined
function builtinRows(): readonly ResourceRow[] {
  rows ??= table().rows.map(rowOf)
  return rows
}

/** The built-in rows and, in time, those of custom resources. */
export function createScheme(initial: readonly ResourceRow[] = builtinRows()): MutableScheme {
  return createMutableScheme(initial)
}

/** The built-in resources that are chosen, of versions that are usual and of optional ones. Default: all that are usual. */
export function schemeServing(isChosen: ResourceChoice | undefined): Scheme {
  if (isChosen === undefined) return builtinScheme()
  const chosen =
    (usual: boolean) =>
    ({ group, version, resource }: Pick<ResourceRow, 'group' | 'version' | 'resource'>) =>
      isChosen(apiVersionOf(group, version), resource, usual)
  return createScheme([
    ...builtinRows().filter(chosen(true)),
    ...table().optional.rows.filter(chosen(false)).map(rowOf),
  ])
}

let builtin: Scheme | undefined
/** The built-in resources alone, for callers that need no others; the same object every time. */
export function builtinScheme(): Scheme {
  builtin ??= createScheme()
  return builtin
}
