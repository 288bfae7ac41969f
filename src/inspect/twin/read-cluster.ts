/**
 * Reads a cluster for a twin of it: every object that the caller may list, in the version in which it is stored, in pages. Nothing
 * is written. Of Secrets the metadata alone is read unless asked, of what aggregated API servers hold always; Events are left out.
 */
import type { APIService, CustomResourceDefinition } from '../../api/generated/types.ts'
import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../../api/request.ts'
import { builtinScheme } from '../../api/scheme/scheme.ts'
import { isForbidden, isNotFound } from '../../api/status.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NamedResource } from '../../client/aggregated-discovery.ts'
import type { Client, GroupVersionResource } from '../../client/client.ts'
import { createClient, type Transport } from '../../client/transport.ts'
import { type StoredItem, type StoredObjects, storedItem } from '../../cluster/twin.ts'
import { createClusterReader, type Unseen, withoutApplied } from '../cluster-reader.ts'
import { type Kinds, readKinds } from '../kinds.ts'
import { clusterTime } from '../why/cluster-time.ts'
import { API_SERVICES, DEFINITIONS } from '../why/look.ts'
import { type ItemForm, listItems } from './list-items.ts'
import { leftOutBecause, nameOfKind, type PartlyRead, partsWords, placeAndName } from './partly-read.ts'
import { standInNamespace, standInNodes } from './stand-ins.ts'

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
  /** What may not be listed in all namespaces is listed in these, each by itself. */
  readonly orIn?: readonly string[]
  /** Objects that are read by their names where their kind may not be listed. */
  readonly named?: (kinds: Kinds) => readonly NamedObject[]
  /** Secrets are read with their values. */
  readonly secrets?: boolean
}

export interface NamedObject {
  readonly resource: NamedResource
  /** '' for what is in no namespace. */
  readonly namespace: string
  readonly name: string
}

export interface ReadResource extends StoredObjects {
  readonly resource: NamedResource
}

export interface ReadCluster {
  /** The source's time, in milliseconds since the epoch. */
  readonly time: number
  readonly kinds: Kinds
  readonly resources: readonly ReadResource[]
  /** Metadata of what a twin cannot hold: aggregated API servers keep it. */
  readonly beyond: readonly ReadResource[]
  /** Of which what is namespaced was read; undefined: of all. */
  readonly namespaces: readonly string[] | undefined
  /** What could not be read, and what a twin cannot hold. */
  readonly unread: readonly Unseen[]
  /** Kinds that might not be listed, by their names as `unread` has them. */
  readonly partly: ReadonlyMap<string, PartlyRead>
}

const PARALLEL = 8
const DISCOVERY = { budget: 200, requestMs: 20_000, totalMs: 60_000 }
/** Owners that are looked up one by one, since their lists did not have them. */
const MOST_LOOKED_UP = 100

/** @throws Error when the cluster cannot be asked what it serves */
export async function readCluster(source: TwinSource, options: ReadOptions = {}): Promise<ReadCluster> {
  const { runtime, transport, userAgent, user } = source
  const identity = { userAgent, ...(user === undefined ? {} : { user }) }
  const reader = createClusterReader(runtime.clock, transport, { ...DISCOVERY, ...identity })
  const kinds = await readKinds(reader)
  const time = await clusterTime(reader, runtime.clock.now())
  const client = createClient(runtime, transport, identity)
  const unread: Unseen[] = kinds.stale.map((version) => ({ what: version, why: 'its server does not answer' }))
  const asked = { client, kinds, options, unread, partly: new Map<string, PartlyRead>() }
  const first = await readDefinitions(asked)
  const { rows, unheld, beyond } = rowsToRead(asked, first)
  const resources = await inParallel(rows, (row) => readResource(asked, row))
  const found = await withOwners(
    asked,
    resources.filter((one) => one !== undefined),
  )
  await inParallel(unheld, (resource) => readUnheld(asked, resource))
  const kept = await inParallel(beyond, (row) => readBeyond(asked, row))
  unread.push(...partsWords(asked.partly))
  return {
    time,
    kinds,
    resources: withStandIns(asked, rows, found),
    beyond: kept.filter((one) => one !== undefined),
    namespaces: options.namespaces,
    unread,
    partly: asked.partly,
  }
}

interface Asked {
  readonly client: Client
  readonly kinds: Kinds
  readonly options: ReadOptions
  readonly unread: Unseen[]
  readonly partly: Map<string, PartlyRead>
}

/** What is read, and how it is stored. */
interface RowToRead extends Omit<StoredObjects, 'items'> {
  readonly resource: NamedResource
}

/** What a twin cannot hold, and why. */
interface BeyondRow extends RowToRead {
  readonly why: string
}

/** What says how the rest is stored, and by which server. */
interface Definitions {
  readonly definitions: readonly CustomResourceDefinition[]
  readonly apis: readonly APIService[]
}

async function readDefinitions({ client, unread, partly }: Asked): Promise<Definitions> {
  const all = async <T extends KubeObject>(form: ItemForm): Promise<readonly T[]> => {
    try {
      return (await listItems(client, form, '')).map((item) => item.object() as T)
    } catch (error) {
      const why = messageOf(error)
      unread.push({ what: nameOfKind(form.resource), why })
      partly.set(nameOfKind(form.resource), { why, namespaced: false, readIn: [] })
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

function rowsToRead(
  { kinds, partly }: Asked,
  first: Definitions,
): {
  readonly rows: readonly RowToRead[]
  readonly unheld: readonly NamedResource[]
  readonly beyond: readonly BeyondRow[]
} {
  const isDefinitionUnread = partly.has(nameOfKind(DEFINITIONS))
  const unheld: NamedResource[] = []
  const beyond: BeyondRow[] = []
  const keepBeyond = (resource: NamedResource, why: string) => {
    const { group, version, kind } = resource
    beyond.push({ resource, storagePrefix: '', apiVersion: apiVersionOf(group, version), kind, why })
  }
  const definitions = new Map(first.definitions.map((one) => [one.metadata.name ?? '', one]))
  const remote = new Set(first.apis.flatMap(({ spec }) => (spec?.service ? [`${spec.group}/${spec.version}`] : [])))
  const scheme = builtinScheme()
  const rows: RowToRead[] = []
  for (const resource of kinds.resources) {
    const name = nameOfKind(resource)
    if (leftOutBecause(resource) !== undefined) continue
    if (remote.has(`${resource.group}/${resource.version}`)) {
      keepBeyond(resource, 'an aggregated API server holds it')
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
      if (isDefinitionUnread) unheld.push(resource)
      else keepBeyond(resource, 'a twin has no such kind')
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
  return { rows, unheld, beyond }
}

/** Of a kind that a twin cannot hold only what may be deleted is looked for, by its metadata. */
async function readBeyond(asked: Asked, { why, ...row }: BeyondRow): Promise<ReadResource | undefined> {
  const isDeletable = row.resource.verbs.some((verb) => verb === 'delete' || verb === 'deletecollection')
  const found = isDeletable ? await readResource(asked, row, true) : { ...row, items: [] }
  // Why not is told already.
  if (found !== undefined) asked.unread.push({ what: nameOfKind(row.resource), why })
  return found
}

/** Of a kind whose definition could not be read a twin can have none; where there are none it lacks none. */
async function readUnheld({ client, options, unread, partly }: Asked, resource: NamedResource): Promise<void> {
  const name = nameOfKind(resource)
  const isWithout = async (namespace: string) => {
    const { items } = await client.resource(resource).namespace(namespace).list({ metadataOnly: true, limit: 1 })
    return items.length === 0
  }
  const spaces = resource.namespaced ? (options.namespaces ?? options.orIn ?? []) : []
  const without = await Promise.all(spaces.map((namespace) => isWithout(namespace).catch(() => false)))
  const readIn = spaces.filter((_, at) => without[at] === true)
  const why = `its definition could not be read: ${partly.get(nameOfKind(DEFINITIONS))?.why}`
  partly.set(name, { why, namespaced: resource.namespaced, readIn })
  if (readIn.length === 0) unread.push({ what: name, why })
}

const storedVersion = ({ spec }: CustomResourceDefinition): string =>
  spec.versions.find(({ storage }) => storage)?.name ?? ''

async function readResource(asked: Asked, row: RowToRead, isBeyond = false): Promise<ReadResource | undefined> {
  const { client, options, unread, partly } = asked
  const { resource } = row
  const isWithoutValues = isSecrets(resource) && options.secrets !== true
  const metadataOnly = isWithoutValues || isBeyond
  const { namespaces } = options
  const shown = (items: readonly StoredItem[]) => ({
    ...row,
    items: isWithoutValues ? items.map(withoutValues) : items,
  })
  try {
    const lists =
      resource.namespaced && namespaces !== undefined
        ? await Promise.all(namespaces.map((namespace) => listItems(client, row, namespace, metadataOnly)))
        : [await listItems(client, row, '', metadataOnly)]
    const all = lists.flat()
    const isOutside = (name: string) => namespaces !== undefined && !namespaces.includes(name)
    return shown(isNamespaces(resource) ? all.filter(({ metadata }) => !isOutside(metadata.name ?? '')) : all)
  } catch (error) {
    // It went since discovery was read, and with it all there was of it.
    if (isNotFound(error)) return { ...row, items: [] }
    const name = nameOfKind(resource)
    const why = messageOf(error)
    // Definitions are read before all others too.
    const isTold = partly.has(name)
    const parts = isForbidden(error) && namespaces === undefined ? await readParts(asked, row, metadataOnly) : []
    const readIn = parts.map(({ namespace }) => namespace)
    const single = isForbidden(error) ? await readNamed(asked, row, readIn, metadataOnly) : []
    const named = new Set(single.map(({ key }) => key))
    partly.set(name, { why, namespaced: resource.namespaced, readIn, named })
    if (parts.length === 0 && !isTold) unread.push({ what: name, why })
    if (parts.length === 0 && named.size === 0) return undefined
    return shown([...parts, ...single].flatMap(({ items }) => items))
  }
}

/** What is read by its name, where it is not in a namespace that was listed: a right may be for single names. */
async function readNamed(
  { client, kinds, options }: Asked,
  row: RowToRead,
  readIn: readonly string[],
  metadataOnly: boolean,
) {
  const isSame = ({ resource }: NamedObject) => nameOfKind(resource) === nameOfKind(row.resource)
  const wanted = (options.named?.(kinds) ?? []).filter(
    (one) => isSame(one) && !readIn.includes(isNamespaces(row.resource) ? one.name : one.namespace),
  )
  // One may be named twice.
  const byKey = new Map(wanted.map((one) => [placeAndName(one.namespace, one.name), one]))
  const found = await inParallel([...byKey], async ([key, { namespace, name }]) => {
    const one = await lookUp(client, row, namespace, name, metadataOnly)
    return one === 'unknown' ? undefined : { key, items: one === undefined ? [] : [storedItem(one)] }
  })
  return found.filter((one) => one !== undefined)
}

const isSecrets = ({ group, resource }: NamedResource): boolean => group === '' && resource === 'secrets'
const isNamespaces = ({ group, resource }: NamedResource): boolean => group === '' && resource === 'namespaces'

interface Part {
  readonly namespace: string
  readonly items: readonly StoredItem[]
}

/** What may be listed in single namespaces; of namespaces themselves each by its name. */
async function readParts({ client, options }: Asked, row: RowToRead, metadataOnly: boolean): Promise<readonly Part[]> {
  const { resource } = row
  if (!resource.namespaced && !isNamespaces(resource)) return []
  const parts = await Promise.all(
    (options.orIn ?? []).map(async (namespace): Promise<Part | undefined> => {
      if (resource.namespaced)
        return listItems(client, row, namespace, metadataOnly).then(
          (items) => ({ namespace, items }),
          () => undefined,
        )
      const one = await lookUp(client, row, '', namespace)
      if (one === 'unknown') return undefined
      return { namespace, items: one === undefined ? [] : [storedItem(one)] }
    }),
  )
  return parts.filter((part) => part !== undefined)
}

/** In place of namespaces and nodes that may not be read: without them all that is in them or on them would end. */
function withStandIns(
  { options, partly, unread }: Asked,
  rows: readonly RowToRead[],
  resources: readonly ReadResource[],
): readonly ReadResource[] {
  const rowOf = (name: string) => {
    const there = resources.find(({ resource }) => nameOfKind(resource) === name)
    const row = rows.find(({ resource }) => nameOfKind(resource) === name)
    return there ?? (row === undefined ? undefined : { ...row, items: [] })
  }
  const added: ReadResource[] = []
  const stand = (name: string, items: readonly StoredItem[], why: string) => {
    const row = rowOf(name)
    if (row === undefined) return
    // Single ones may have been read by their names.
    const there = new Set(row.items.map(({ metadata }) => metadata.name))
    const missing = items.filter(({ metadata }) => !there.has(metadata.name))
    if (missing.length === 0) return
    added.push({ ...row, items: [...row.items, ...missing] })
    unread.push({ what: missing.map(({ metadata }) => `${name}/${metadata.name}`).join(', '), why })
  }
  const spaces = partly.get('namespaces')
  if (spaces !== undefined) {
    const unknown = (options.orIn ?? []).filter((one) => !spaces.readIn.includes(one))
    stand('namespaces', unknown.map(standInNamespace), 'taken to be there, and not to end')
  }
  const pods = resources.find(({ resource }) => nameOfKind(resource) === 'pods')?.items ?? []
  if (partly.has('nodes'))
    stand('nodes', standInNodes(pods), 'taken to be there and to be ready, with room for more: their pods run there')
  const names = new Set(added.map(({ kind }) => kind))
  return [...resources.filter(({ kind, resource }) => resource.group !== '' || !names.has(kind)), ...added]
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
        if (one === 'unknown') hidden.set(owner.uid, `${owner.kind}.${group}`)
        if (one === undefined || one === 'unknown' || one.metadata.uid !== owner.uid) continue
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

/** undefined: there is no such object. `unknown`: that cannot be said. */
async function lookUp(
  client: Client,
  row: RowToRead,
  namespace: string,
  name: string,
  metadataOnly = false,
): Promise<KubeObject | undefined | 'unknown'> {
  const { resource, apiVersion, kind } = row
  try {
    const object = await client.resource(resource).namespace(namespace).get(name, { metadataOnly })
    return { ...object, apiVersion, kind }
  } catch (error) {
    return isNotFound(error) ? undefined : 'unknown'
  }
}

function withoutHidden(item: StoredItem, hidden: ReadonlyMap<string, string>): StoredItem {
  if (!item.metadata.ownerReferences?.some(({ uid }) => hidden.has(uid))) return item
  const object = item.object()
  const ownerReferences = object.metadata.ownerReferences?.filter(({ uid }) => !hidden.has(uid)) ?? []
  return storedItem({ ...object, metadata: { ...object.metadata, ownerReferences } })
}
