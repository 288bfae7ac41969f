/**
 * client: the one way to talk to an API server (this one or any other): transports, typed access, reflector, informer, work
 * queue, event recorder, leader election. Controllers, scheduler and kubelet know only this.
 */

import type { JsonObject, KubeObject } from '../api/object.ts'
import type { ApiResponse, StoredObject, WatchEvent } from '../api/request.ts'
import type { StreamReader } from '../base/stream.ts'

export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

export interface GetOptions {
  /** Only metadata is wanted, as in ListOptions. */
  readonly metadataOnly?: boolean
}

export interface ListOptions {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly limit?: number
  readonly continue?: string
  /** Only metadata is wanted (PartialObjectMetadata on a wire; in-process the same whole objects, which cost nothing). */
  readonly metadataOnly?: boolean
  /** Objects come without managedFields, which most of those that keep objects do not need. */
  readonly withoutManagedFields?: boolean
}

export interface WatchOptions extends ListOptions {
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

export interface KubeList<T extends KubeObject = KubeObject> {
  readonly metadata: {
    readonly resourceVersion: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly T[]
}

export interface WriteOptions {
  readonly dryRun?: boolean
  readonly fieldManager?: string
}

export interface ClientDeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

export type ClientPatchType = 'json' | 'merge' | 'strategic' | 'apply'

/** Requests about one resource, in one namespace or ('') cluster-wide. Every method rejects with a StatusError. */
export interface ResourceClient<T extends KubeObject = KubeObject> {
  readonly gvr: GroupVersionResource
  get(name: string, options?: GetOptions): Promise<T>
  list(options?: ListOptions): Promise<KubeList<T>>
  /** A list as it came, unparsed where it came over a wire. */
  listAnswer(options?: ListOptions): Promise<ApiResponse>
  /** An event of type ERROR is thrown by the reader's next() as a StatusError. Closed by `signal`. */
  watch(options: WatchOptions, signal: AbortSignal): Promise<StreamReader<WatchEvent>>
  create(object: T, options?: WriteOptions & { readonly subresource?: string; readonly name?: string }): Promise<T>
  update(object: T, options?: WriteOptions & { readonly subresource?: string }): Promise<T>
  patch(
    name: string,
    type: ClientPatchType,
    body: JsonObject | readonly JsonObject[],
    options?: WriteOptions & { readonly subresource?: string; readonly force?: boolean },
  ): Promise<T>
  delete(name: string, options?: ClientDeleteOptions): Promise<KubeObject>
  deleteCollection(options?: ClientDeleteOptions, list?: ListOptions): Promise<void>
  namespace(namespace: string): ResourceClient<T>
}

/** One discovered resource (subresources left out). */
export interface DiscoveredResource extends GroupVersionResource {
  readonly kind: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

export interface Discovery {
  /** Each resource once, in its group's preferred version. */
  readonly resources: readonly DiscoveredResource[]
  /** Each resource in every version that serves it. */
  readonly everyVersion: readonly DiscoveredResource[]
  /** `group/version` of each one whose discovery failed. */
  readonly failed: readonly string[]
}

export interface Client {
  /** Objects come by reference from a server in this process; metadata-only reads gain nothing. */
  readonly inProcess: boolean
  resource<T extends KubeObject = KubeObject>(gvr: GroupVersionResource): ResourceClient<T>
  /** What is served, or what of these groups is; a group that is not served has no resources. */
  discover(groups?: readonly string[]): Promise<Discovery>
  /** A word that changes with what is served, for little when it is still `last`; undefined where the server has none. */
  discoveryTag(last?: string): Promise<string | undefined>
  /** A path that is no resource (/version, /readyz). */
  raw(method: string, path: string, body?: JsonObject): Promise<{ readonly status: number; readonly body: string }>
}

export type { KubeObject, StoredObject, WatchEvent }
