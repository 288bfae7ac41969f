/** What a cluster is given to begin with (`crds`, `objects`): objects, or files and folders of manifests. */
import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { asJson, type KubeObject, type SpecAndStatus } from '../api/object.ts'
import { isObject } from '../api/schema/structural/structural.ts'
import { isAlreadyExists, isNotFound } from '../api/status.ts'
import { isUnreadable } from '../apiserver/cache/unreadable.ts'
import { formatTime, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { Runtime } from '../base/runtime.ts'
import { whyUnread } from '../base/unread.ts'
import type { Client, DiscoveredResource, ResourceClient } from '../client/client.ts'
import { StartError } from './errors.ts'
import { readText } from './read-file.ts'

/** An object, or the path of a file (YAML or JSON, several documents and lists too) or of a folder of such files. */
export type Manifest = string | KubeObject

interface Found {
  readonly object: KubeObject
  /** For messages. */
  readonly from: string
}

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json'])
const LOOK_AGAIN_MS = 5
const PATIENCE_MS = 30_000

export interface InitialObjects {
  readonly crds: readonly Manifest[]
  readonly objects: readonly Manifest[]
}

/**
 * Makes the definitions and waits until they are served, then the objects, namespaces first. Definitions that are there already
 * become what is given; objects that are there stay as they are. `accounts`: controllers make each namespace's default account.
 *
 * @throws StartError that names the file and what is wrong with it
 */
export async function makeInitialObjects(
  runtime: Runtime,
  client: Client,
  { crds, objects }: InitialObjects,
  accounts: boolean,
): Promise<void> {
  const now = runtime.clock.now()
  const definitions = crds.flatMap((crd) => definitionsOf(crd, now))
  const others = objects.flatMap((object) => manifestsOf(object, now))
  for (const definition of definitions) await told(definition, () => makeDefinition(client, definition.object))
  for (const definition of definitions) await told(definition, () => untilServed(runtime, client, definition.object))
  if (others.length === 0) return
  const { everyVersion } = await client.discover()
  const uids = new Map<string, string>()
  for (const found of inOrder(others)) {
    const { uid } = found.object.metadata
    const made = await told(found, () => make(runtime, client, ownedAnew(found.object, uids), everyVersion, accounts))
    if (uid !== undefined && made.metadata.uid !== undefined) uids.set(uid, made.metadata.uid)
  }
}

/** Namespaces first, and owners that are given before their dependents. */
function inOrder(all: readonly Found[]): readonly Found[] {
  const byUid = new Map(all.map((found) => [found.object.metadata.uid, found]))
  const depths = new Map<Found, number>()
  const depthOf = (found: Found): number => {
    const known = depths.get(found)
    if (known !== undefined) return known
    // For those that own one another.
    depths.set(found, 1)
    const owners = ownersOf(found.object).flatMap(({ uid }) => byUid.get(uid) ?? [])
    const isNamespace = found.object.kind === 'Namespace' && found.object.apiVersion === 'v1'
    const depth = isNamespace ? 0 : 1 + Math.max(0, ...owners.map(depthOf))
    depths.set(found, depth)
    return depth
  }
  return all.toSorted((a, b) => depthOf(a) - depthOf(b))
}

const ownersOf = ({ metadata }: KubeObject) => metadata.ownerReferences ?? []

/** With owners by the uids that they have here: objects that were written out elsewhere name them by those they had there. */
function ownedAnew(object: KubeObject, uids: ReadonlyMap<string, string>): KubeObject {
  if (!ownersOf(object).some(({ uid }) => uids.has(uid))) return object
  const ownerReferences = ownersOf(object).map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }))
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}

/** Resolves when pods can be made in the namespace. @throws StartError */
export async function untilDefaultAccount(runtime: Runtime, client: Client, namespace: string): Promise<void> {
  const accounts = client.resource(ACCOUNTS).namespace(namespace)
  const isThere = () =>
    accounts.get('default').then(
      () => true,
      (error) => {
        if (isNotFound(error)) return false
        // One that cannot be read is there, and no other is made.
        if (isUnreadable(error)) return true
        throw error
      },
    )
  await until(runtime, isThere, `the service account ${namespace}/default is not made`)
}

function definitionsOf(crd: Manifest, now: number): readonly Found[] {
  const found = manifestsOf(crd, now).filter(({ object }) => object.kind === 'CustomResourceDefinition')
  if (found.length > 0) return found
  throw new StartError(`${typeof crd === 'string' ? crd : nameOf(crd)}: there is no CustomResourceDefinition in it`)
}

/**
 * `now`: milliseconds since the Unix epoch, from which times count that are given as an offset. Default: such times are left.
 *
 * @throws StartError that names the file and what is wrong with it
 */
export function manifestsOf(manifest: Manifest, now?: number): readonly Found[] {
  if (typeof manifest !== 'string') return [{ object: objectIn(manifest, nameOf(manifest)), from: nameOf(manifest) }]
  try {
    if (!statSync(manifest).isDirectory()) return read(manifest, now)
    return readdirSync(manifest)
      .filter((name) => EXTENSIONS.has(extname(name)))
      .sort()
      .flatMap((name) => read(join(manifest, name), now, true))
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(unreadManifest(whyUnread(manifest, error)), { cause: error })
  }
}

const unreadManifest = (why: string): string =>
  `${why}: name a file of YAML or JSON that may be read, or a folder of such`

/** JSON is YAML. Empty documents are passed over; in a folder also what is no object of Kubernetes (a kustomization). */
function read(file: string, now: number | undefined, isInFolder = false): readonly Found[] {
  const text = readText(file, unreadManifest)
  const documents = parseAllDocuments(now === undefined ? text : withTimes(text, now))
  return (Array.isArray(documents) ? documents : []).flatMap((document, index): readonly Found[] => {
    const from = documents.length === 1 ? file : `${file}, document ${index + 1}`
    const [error] = document.errors
    if (error !== undefined) throw new StartError(`${from}: ${messageOf(error).split('\n')[0]}`)
    const value: unknown = document.toJS()
    if (value === null || value === undefined || (isInFolder && !hasKind(value))) return []
    const object = objectIn(value, from)
    const { items } = asJson(object)
    if (!object.kind?.endsWith('List') || !Array.isArray(items)) return [{ object, from }]
    return items.map((item) => ({ object: objectIn(item, from), from }))
  })
}

/** In files of `kwokctl snapshot export` (KWOK v0.5 and later) a time is so many nanoseconds from when they were written. */
const withTimes = (text: string, now: number): string =>
  text.replace(/\$\(time-offset-nanosecond (-?\d{1,18})\)/g, (_, ns: string) => formatTime(now + Number(ns) / 1e6))

const hasKind = (value: unknown): boolean =>
  isObject(value) && typeof value['apiVersion'] === 'string' && typeof value['kind'] === 'string'

function objectIn(value: unknown, from: string): KubeObject {
  if (!isObject(value)) throw new StartError(`${from}: it is no object`)
  const { apiVersion, kind } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw new StartError(`${from}: it has no apiVersion or no kind`)
  const { metadata } = value
  return { ...value, apiVersion, kind, metadata: isObject(metadata) ? metadata : {} }
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind ?? 'an object'} ${metadata?.name ?? metadata?.generateName ?? 'without a name'}`
}

async function told<T>({ object, from }: Found, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const name = nameOf(object)
    throw new StartError(`${from === name ? name : `${from}: ${name}`}: ${messageOf(error)}`, { cause: error })
  }
}

async function makeDefinition(client: Client, definition: KubeObject): Promise<void> {
  const definitions = client.resource(DEFINITIONS)
  try {
    await definitions.create(definition)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const { metadata, status, ...live }: SpecAndStatus = await definitions.get(definition.metadata.name ?? '')
    const { labels, annotations } = definition.metadata
    const next = { ...metadata, ...(labels && { labels }), ...(annotations && { annotations }) }
    await definitions.update({ ...live, ...definition, metadata: next, status })
  }
}

async function untilServed(runtime: Runtime, client: Client, { metadata }: KubeObject): Promise<void> {
  const isServed = async () => {
    const { status } = await client.resource<KubeObject & Conditioned>(DEFINITIONS).get(metadata.name ?? '')
    const wrong = status?.conditions?.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
    if (wrong !== undefined) throw new Error(`its names are not accepted: ${wrong.message}`)
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true
  }
  await until(runtime, isServed, 'it is not established')
}

interface Conditioned {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

async function make(
  runtime: Runtime,
  client: Client,
  object: KubeObject,
  resources: readonly DiscoveredResource[],
  accounts: boolean,
): Promise<KubeObject> {
  const row = resources.find(
    ({ group, version, kind }) =>
      kind === object.kind && object.apiVersion === (group === '' ? version : `${group}/${version}`),
  )
  if (row === undefined) throw new Error(`the cluster does not serve ${object.apiVersion} ${object.kind}`)
  let target: ResourceClient = client.resource(row)
  if (row.namespaced) {
    const namespace = object.metadata.namespace ?? 'default'
    // What makes pods of other objects tries again by itself.
    if (accounts && row.group === '' && row.resource === 'pods') {
      await client.resource(NAMESPACES).get(namespace)
      await untilDefaultAccount(runtime, client, namespace)
    }
    target = target.namespace(namespace)
  }
  try {
    return await target.create(object)
  } catch (error) {
    // Of one that is there something else may be refused first: its address is taken.
    const { name } = object.metadata
    const there = name === undefined ? undefined : await target.get(name).catch(() => undefined)
    if (there === undefined) throw error
    return there
  }
}

async function until(runtime: Runtime, isSo: () => Promise<boolean>, problem: string): Promise<void> {
  const late = runtime.machineClock.monotonic() + PATIENCE_MS
  while (!(await isSo())) {
    if (runtime.machineClock.monotonic() > late)
      throw new StartError(`${problem}, ${PATIENCE_MS / 1000} s after it should be`)
    await sleep(runtime.machineClock, LOOK_AGAIN_MS)
  }
}
