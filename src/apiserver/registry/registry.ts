/**
 * registry: the generic store of every resource: create, update, patch and delete as Kubernetes
 * does them, over a strategy. Called by the handlers; knows nothing of requests' paths and encodings, and nothing of any
 * kind but what its strategy says. Objects here are of the storage version, custom resources of the request's.
 */
import { withMetadata } from '../../api/metadata.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StoredObject, UserInfo } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import type { Pools, Strategy, StrategyContext } from './strategy.ts'

/** What the store needs of the server. */
export interface Registry {
  /** For strategies that allocate. */
  readonly pools: Pools
  readonly runtime: Runtime
  readonly storage: Storage
  /** The newest state of a key that anybody was answered, or undefined. */
  current(row: ResourceRow, key: string): StoredObject | undefined
  /**
   * Registers what is about to be written, so that the watch cache publishes this very object instead of parsing the bytes
   * again.
   */
  encode(object: KubeObject): Uint8Array
  /** The object in bytes read from storage, with its resourceVersion. */
  decode(value: Uint8Array, revision: number): KubeObject
}

/** One write request, as the store and the strategies see it. */
export interface WriteContext extends StrategyContext {
  readonly row: ResourceRow
  /** Of the row. */
  readonly endpoint: ResourceEndpoint
  /** The strategy of the endpoint: the kind's own, or that of its subresource. */
  readonly strategy: Omit<Strategy, 'status' | 'subresources'>
  /** The kind's own strategy: deletion and names do not depend on the subresource. */
  readonly kindStrategy: Strategy
  readonly user: UserInfo
  readonly name: string
  warn(message: string): void
}

/**
 * What was written as `revision`, with its resourceVersion: as the cache has it, which every reader and watcher of this
 * process shares, unless a later write has taken its place already.
 */
export function writtenObject(
  registry: Registry,
  row: ResourceRow,
  key: string,
  written: KubeObject,
  revision: number,
): KubeObject {
  const entry = registry.current(row, key)
  return entry?.revision === revision ? entry.object : withMetadata(written, { resourceVersion: String(revision) })
}

/** A new object as it is stored. @throws StatusError 500 when a custom resource's webhook fails */
export const storedObject = ({ worked }: ResourceEndpoint, object: KubeObject) =>
  worked.asStored(worked.settled(object))

export const groupResource = (row: ResourceRow) => ({ group: row.group, resource: row.resource })
