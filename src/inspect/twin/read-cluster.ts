/**
 * Reads a cluster for a twin of it: every object that the caller may list, in the version in which it is stored, in pages. Nothing
 * is written. Of Secrets the metadata alone is read unless asked; Events and what aggregated API servers hold are left out.
 */
import type { APIService, CustomResourceDefinition } from '../../api/generated/types.ts'
import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { Client, GroupVersionResource } from '../../client/client.ts'
import { isOfEvents } from '../../client/discovered-resources.ts'
import { createClient, type Transport } from '../../client/transport.ts'
import { type StoredItem, type StoredObjects, storedItem } from '../../cluster/twin.ts'
import { createClusterReader, type Unseen, withoutApplied } from '../cluster-reader.ts'
import { type Kinds, readKinds } from '../kinds.ts'
import { clusterTime } from '../why/cluster-time.ts'
import { API_SERVICES, DEFINITIONS } from '../why/look.ts'
import { type ItemForm, listItems } from './list-items.ts'

/** How a cluster is reached, and as which user. */
export interface TwinSource {
  readonly runtime: Runtime
  readonly transport: Transport
  readonly userAgent: string
  /** For a transport within this process. */
  readonly user?: UserInfo
}

export interface ReadOptions {
  /** Of namespaced objects those in these. Default: all. */
  readonly namespaces?: readonly string[]
  /** Secrets are read with their values. */
  readonly secrets?: boolean
}

export interface ReadResource extends StoredObjects {
  readonly resource: NamedResource
}

export interface ReadCluster {
  /** The source's time, in milliseconds since the epoch. */
  readonly time: number
  readonly kinds: Kinds
  readonly resources: readonly ReadResource[]
  /** Of which what is namespaced was read; undefined: of all. */
  readonly namespaces: readonly string[] | undefined
  /** What could not be read, and what a twin cannot hold. */
  readonly unread: readonly Unseen[]
}

const PARALLEL = 8
const DISCOVERY = { budget: 200, requestMs: 20_000, totalMs: 60_000 }
/** Owners that are looked up one by one, since their lists did not have them. */
const MOST_LOOKED_UP = 100

type NamedKind = Pick<NamedResource, 'group' | 'resource'>

/** Why objects of a kind were not read, whether they could not be or are left out on purpose; undefined: they were. */
export function unreadBecause({ resources, unread, kinds }: ReadCluster, resource: NamedKind): string | undefined {
  if (resources.some(({ resource: one }) => one.group === resource.group && one.resource === resource.resource))
    return undefined
  const name = nameOfKind(resource)
  const told = unread.find(({ what }) => what === name)?.why
  const served = kinds.ofResource(resource.group, resource.resource)
  return told ?? (served === undefined ? undefined : leftOutBecause(served)) ?? 'they were not read'
}

const nameOfKind = ({ group, resource }: NamedKind): string => (group === '' ? resource : `${resource}.${group}`)

/** @throws Error when the cluster cannot be asked what it serves */
export async function readCluster(source: TwinSource, options: ReadOptions = {}): Promise<ReadCluster> {
  const { runtime, transport, userAgent, user } = source
  const identity = { userAgent, ...(user === undefined ? {} : { user }) }
  const reader = createClusterReader(runtime.clock, transport, { ...DISCOVERY, ...identity })
  const kinds = await readKinds(reader)
  const time = await clusterTime(reader, runtime.clock.now())
  const client = createClient(runtime, transport, identity)
  const unread: Unseen[] = kinds.stale.map((version) => ({ what: version, why: 'its server does not answer' }))
  const asked = { client, kinds, options, unread }
  const first = await readDefinitions(asked)
  const rows = rowsToRead(kinds, first, unread)
  const resources = await inParallel(rows, (row) => readResource(asked, row))
  const found = resources.filter((one) => one !== undefined)
  return { time, kinds, resources: await withOwners(asked, found), namespaces: options.namespaces, unread }
}

interface Asked {
  readonly client: Client
  readonly kinds: Kinds
  readonly options: ReadOptions
  readonly unread: Unseen[]
}

/** What is read, and how it is stored. */
interface RowToRead extends Omit<StoredObjects, 'items'> {
  readonly resource: NamedResource
}

/** What says how the rest is stored, and by which server. */
interface Definitions {
  readonly definitions: readonly CustomResourceDefinition[]
  readonly apis: readonly APIService[]
}

async function readDefinitions({ client, unread }: Asked): Promise<Definitions> {
  const all = async <T extends KubeObject>(form: ItemForm): Promise<readonly T[]> => {
    const { group, resource } = form.resource
    try {
      return (await listItems(client, form, '')).map((item) => item.object() as T)
    } catch (error) {
      unread.push({ what: `${resource}.${group}`, why: messageOf(error) })
      return []
    }
  }
  const form = (resource: GroupVersionResource, kind: string): ItemForm => ({
    resource,
    apiVersion: apiVersionOf(resource.group, resource.version),
    kind,
  })
  const [definitions, apis] = await Promise.all([
    all<CustomResourceDefinition>(form(DEFINITIONS, 'CustomResourceDefinition')),
    all<APIService>(form(API_SERVICES, 'APIService')),
  ])
  return { definitions, apis }
}

/** What is only asked, done or measured is stored nowhere. */
const UNSTORED = new Set(['componentstatuses', 'bindings'])
const MEASURED = new Set(['metrics.k8s.io', 'custom.metrics.k8s.io', 'external.metrics.k8s.io'])

/** Why a kind is not asked for, which is nothing to tell of each reading; undefined: it is asked for. */
function leftOutBecause(resource: NamedResource): string | undefined {
  // Events end by themselves, and of their own accord hold nothing.
  if (isOfEvents(resource)) return 'Events are not read'
  if (UNSTORED.has(nameOfKind(resource)) || MEASURED.has(resource.group)) return 'they are stored nowhere'
  return resource.verbs.includes('list') ? undefined : 'they cannot be listed'
}

function rowsToRead(kinds: Kinds, first: Definitions, unread: Unseen[]): readonly RowToRead[] {
  const definitions = new Map(first.definitions.map((one) => [one.metadata.name ?? '', one]))
  const remote = new Set(first.apis.flatMap(({ spec }) => (spec?.service ? [`${spec.group}/${spec.version}`] : [])))
  const scheme = builtinScheme()
  const rows: RowToRead[] = []
  for (const resource of kinds.resources) {
    const name = nameOfKind(resource)
    if (leftOutBecause(resource) !== undefined) continue
    if (remote.has(`${resource.group}/${resource.version}`)) {
      unread.push({ what: name, why: 'an aggregated API server holds it' })
      continue
    }
    const definition = definitions.get(name)
    const row = definition === undefined ? scheme.stored(resource.group, resource.resource) : undefined
    const stored =
      definition !== undefined
        ? {
            group: resource.group,
            version: storedVersion(definition),
            prefix: `${resource.group}/${resource.resource}`,
          }
        : row === undefined || row.storagePrefix === ''
          ? undefined
          : { group: row.storageGroup, version: row.storageVersion, prefix: row.storagePrefix }
    if (stored === undefined) {
      unread.push({ what: name, why: 'a twin has no such kind' })
      continue
    }
    const same = kinds.everyVersion.find(
      (one) => one.resource === resource.resource && one.group === stored.group && one.version === stored.version,
    )
    rows.push({
      resource: same ?? resource,
      storagePrefix: stored.prefix,
      apiVersion: stored.group === '' ? stored.version : `${stored.group}/${stored.version}`,
      kind: resource.kind,
    })
  }
  return rows
}

const storedVersion = ({ spec }: CustomResourceDefinition): string =>
  spec.versions.find(({ storage }) => storage)?.name ?? ''

async function readResource({ client, options, unread }: Asked, row: RowToRead): Promise<ReadResource | undefined> {
  const { resource } = row
  const isSecret = resource.group === '' && resource.resource === 'secrets'
  const metadataOnly = isSecret && options.secrets !== true
  const { namespaces } = options
  try {
    const lists =
      resource.namespaced && namespaces !== undefined
        ? await Promise.all(namespaces.map((namespace) => listItems(client, row, namespace, metadataOnly)))
        : [await listItems(client, row, '', metadataOnly)]
    const all = lists.flat()
    const isOutside = (name: string) => namespaces !== undefined && !namespaces.includes(name)
    const isNamespaces = resource.group === '' && resource.resource === 'namespaces'
    const kept = isNamespaces ? all.filter(({ metadata }) => !isOutside(metadata.name ?? '')) : all
    return { ...row, items: metadataOnly ? kept.map(withoutValues) : kept }
  } catch (error) {
    // It went since discovery was read, and with it all there was of it.
    if (isNotFound(error)) return { ...row, items: [] }
    unread.push({ what: nameOfKind(resource), why: messageOf(error) })
    return undefined
  }
}

const TOKEN = 'kubernetes.io/service-account-token'

/** What is left of a Secret; that it belongs to a service account is told by its annotation. */
function withoutValues(item: StoredItem): StoredItem {
  const { metadata } = item.object()
  const isToken = metadata.annotations?.['kubernetes.io/service-account.name'] !== undefined
  return storedItem({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: withoutApplied(metadata),
    type: isToken ? TOKEN : 'Opaque',
  })
}

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T)
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  return results
}

/**
 * Lists are read one after the other: an owner may have come after its list. And owners of kinds that may not be read are not absent:
 * the garbage collector of a twin would delete what they own, so their references are left out.
 */
async function withOwners(asked: Asked, resources: readonly ReadResource[]): Promise<readonly ReadResource[]> {
  const known = new Set(resources.flatMap(({ items }) => items.map(({ metadata }) => metadata.uid)))
  const byKind = new Map(resources.map((one) => [`${one.resource.group}/${one.kind}`, one]))
  const added = new Map<ReadResource, StoredItem[]>()
  const hidden = new Map<string, string>()
  let lookedUp = 0
  for (const { items } of resources)
    for (const { metadata } of items)
      for (const owner of metadata.ownerReferences ?? []) {
        if (known.has(owner.uid) || hidden.has(owner.uid)) continue
        const group = owner.apiVersion.includes('/') ? owner.apiVersion.slice(0, owner.apiVersion.indexOf('/')) : ''
        const row = byKind.get(`${group}/${owner.kind}`)
        if (row === undefined) {
          if (asked.kinds.ofKind(group, owner.kind) !== undefined) hidden.set(owner.uid, `${owner.kind}.${group}`)
          continue
        }
        if (lookedUp++ >= MOST_LOOKED_UP || row.kind === 'Secret') continue
        const namespace = row.resource.namespaced ? (metadata.namespace ?? '') : ''
        const one = await lookUp(asked.client, row, namespace, owner.name)
        if (one?.metadata.uid !== owner.uid) continue
        known.add(owner.uid)
        added.set(row, [...(added.get(row) ?? []), storedItem(one)])
      }
  for (const kind of new Set(hidden.values()))
    asked.unread.push({
      what: `owners of kind ${kind.replace(/\.$/, '')}`,
      why: 'what they own is taken to stay with them',
    })
  const whole = resources.map((row) => ({ ...row, items: [...row.items, ...(added.get(row) ?? [])] }))
  return hidden.size === 0
    ? whole
    : whole.map((row) => ({ ...row, items: row.items.map((item) => withoutHidden(item, hidden)) }))
}

async function lookUp(client: Client, row: ReadResource, namespace: string, name: string) {
  const { resource, apiVersion, kind } = row
  try {
    return { ...(await client.resource(resource).namespace(namespace).get(name)), apiVersion, kind }
  } catch {
    return undefined
  }
}

function withoutHidden(item: StoredItem, hidden: ReadonlyMap<string, string>): StoredItem {
  if (!item.metadata.ownerReferences?.some(({ uid }) => hidden.has(uid))) return item
  const object = item.object()
  const ownerReferences = object.metadata.ownerReferences?.filter(({ uid }) => !hidden.has(uid)) ?? []
  return storedItem({ ...object, metadata: { ...object.metadata, ownerReferences } })
}
