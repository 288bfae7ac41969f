/**
 * registry: the generic store of every resource: create, update, patch and delete as Kubernetes
 * does them, over a strategy. Called by the handlers; knows nothing of requests' paths and encodings, and nothing of any
 * kind but what its strategy says. Objects here are of the storage version, custom resources of the request's.
 */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Parts } from '../../api/parts.ts'
import type { StoredObject, UserInfo } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import type { Runtime } from '../../base/runtime.ts'
import { setBounded } from '../../base/set-bounded.ts'
import type { Guard, Storage } from '../../storage/storage.ts'
import type { FoundItem } from '../cache/stored-entry.ts'
import type { UnreadableValue } from '../cache/unreadable.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import type { NameMaker } from './generate-name.ts'
import type { Pools, Strategy, StrategyContext } from './strategy.ts'

/** What the store needs of the server. */
export interface Registry {
  /** For strategies that allocate. */
  readonly pools: Pools
  readonly runtime: Runtime
  readonly storage: Storage
  /** For objects that have a generateName. */
  readonly newName: NameMaker
  /** The newest state of a key that this server knows, or undefined: the newest there is once `fresh` has resolved. */
  current(endpoint: ResourceEndpoint, key: string): CurrentObject | undefined
  /** See Caches. */
  fresh(): Promise<void> | undefined
  /** Whether other servers write to the storage. */
  readonly shares: boolean
  /**
   * Registers what is about to be written, so that the watch cache publishes this very object instead of parsing the bytes
   * again. `parts` is what the resource's endpoint remembers.
   */
  encode(object: KubeObject, parts: Parts): Uint8Array
  readonly withoutDefaults: WrittenWithoutDefaults
  /** What was read from storage, or written there. */
  entryOf(item: FoundItem): CurrentObject
}

/**
 * Which objects were last written without what a read adds to them (`Strategy.defaultsOnRead`): here all are stored with it, so a write that
 * brings nothing else is told from one that brings nothing by this alone. This server's own writes, as far as they are recent.
 */
export interface WrittenWithoutDefaults {
  isNow(key: string, revision: number): boolean
  wrote(key: string, revision: number): void
}

const MOST_WITHOUT_DEFAULTS = 4096

export function writtenWithoutDefaults(): WrittenWithoutDefaults {
  const revisions = new Map<string, number>()
  return {
    isNow: (key, revision) => revisions.get(key) === revision,
    wrote: (key, revision) => setBounded(revisions, MOST_WITHOUT_DEFAULTS, key, revision),
  }
}

export interface CurrentObject extends StoredObject {
  /** Why it cannot be read: asked for its object it throws the answer to a read. */
  readonly unreadable?: UnreadableValue
  /**
   * The object, where the request asks that has just written `written` as this revision: it need not be parsed though a large commit has let
   * go of it, and is kept no longer for that.
   */
  asWritten(written: KubeObject): KubeObject
}

/** One write request, as the store and the strategies see it. */
export interface WriteContext extends StrategyContext {
  readonly endpoint: ResourceEndpoint
  /** The strategy of the endpoint: the kind's own, or that of its subresource. */
  readonly strategy: Omit<Strategy, 'status' | 'subresources'>
  /** The kind's own strategy: deletion and names do not depend on the subresource. */
  readonly kindStrategy: Strategy
  readonly user: UserInfo
  readonly name: string
  /** For the journal of deletions. */
  origin(): WriteOrigin
  warn(message: string): void
}

/** What a write came with, as far as the journal of deletions keeps it. */
export interface WriteOrigin {
  readonly verb: string
  readonly subresource: string
  readonly userAgent: string
  /** Of updates and patches. */
  readonly fieldManager: string | undefined
  readonly auditId: string | undefined
}

/**
 * What was written as `revision`, with its resourceVersion: as the cache has it, which every reader and watcher of this
 * process shares, unless a later write has taken its place already.
 */
export function writtenObject(
  registry: Registry,
  endpoint: ResourceEndpoint,
  key: string,
  written: KubeObject,
  revision: number,
): KubeObject {
  const entry = registry.current(endpoint, key)
  return entry?.revision === revision
    ? entry.asWritten(written)
    : withMetadata(written, { resourceVersion: String(revision) })
}

/**
 * Whether a decision that was made by a state of the key, and that no write has confirmed, has to be made again: another server of
 * the cluster has written the key since.
 */
export async function isOutdated(
  registry: Registry,
  endpoint: ResourceEndpoint,
  key: string,
  revision: number,
): Promise<boolean> {
  const waiting = registry.fresh()
  if (waiting === undefined) return false
  await waiting
  return (registry.current(endpoint, key)?.revision ?? 0) !== revision
}

/** Moved by every write that takes something from a pool. */
const POOLS = '/registry/skiff.dev/pools'

/**
 * What a write has to compare that takes from pools, so that no other server takes the same. This server's caches know what was
 * taken before.
 */
export function poolGuard(
  registry: Registry,
  { takesFromPools }: Pick<Strategy, 'takesFromPools'>,
  dryRun: boolean,
): Promise<Guard> | undefined {
  return takesFromPools === true && !dryRun && registry.shares ? guardOf(registry) : undefined
}

async function guardOf(registry: Registry): Promise<Guard> {
  const { item } = await registry.storage.get(POOLS)
  await registry.fresh()
  return { key: POOLS, expectRevision: item?.modRevision ?? 0 }
}

/** A new object as it is stored. @throws StatusError 500 when a custom resource's webhook fails */
export const storedObject = ({ worked }: ResourceEndpoint, object: KubeObject) =>
  worked.asStored(worked.settled(object))

export const groupResource = (row: ResourceRow) => ({ group: row.group, resource: row.resource })
