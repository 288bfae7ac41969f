/**
 * handlers: one file per verb. A handler reads options and body, runs admission, calls the registry's store and answers;
 * it knows rows of the scheme, never kinds. Called by the filter chain only (server.ts).
 */

import type { ProtobufDecoder } from '../../api/codec/body-source.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ApiResponse, Handler, RequestInfo, UserInfo } from '../../api/request.ts'
import type { ResourceRow, Scheme, SubresourceRow } from '../../api/scheme/resource.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { AdmissionChain } from '../admission/chain.ts'
import type { Authorizer } from '../auth/authorizer.ts'
import type { Caches } from '../cache/caches.ts'
import type { Kubelets } from '../nodes/kubelets.ts'
import type { CacheReads } from '../reads.ts'
import type { ListMetadata, ResourceEndpoint, TablePrinter } from '../registry/endpoint.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestSeries } from '../request/request-series.ts'
import type { ServerRequest } from '../request/server-request.ts'
import type { ComponentHealth } from './component-status.ts'
import type { Review } from './reviews.ts'
import type { Route } from './route.ts'

/** Prints rows as `kubectl get` shows them. `objects` are of the row's own version. */
export type PrintTable = (input: {
  readonly printer: TablePrinter
  readonly objects: readonly KubeObject[]
  readonly metadata: ListMetadata
  readonly apiVersion: string
  readonly includeObject: 'None' | 'Metadata' | 'Object'
  /** False for the later events of a watch, whose columns went out with the first. */
  readonly withColumns: boolean
  /** Whether they are what a list holds: one object, got or watched, is printed alone. */
  readonly isList: boolean
}) => PrintedTable

/** A meta.k8s.io Table. */
export type PrintedTable = KubeObject & {
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object?: unknown }[]
}

/** What handlers need of the server. */
export interface ServerContext {
  readonly runtime: Runtime
  readonly scheme: Scheme
  readonly registry: Registry
  readonly admission: AdmissionChain
  /** The whole server, for what it asks of itself. */
  readonly loopback: Handler
  /** Evictions whose write of a disruption budget came too late, one after the other by the budget's path. */
  readonly budgetWrites: (budget: string, act: () => Promise<void>) => Promise<void>
  readonly authorizer: Authorizer
  readonly collectsGarbage: boolean
  /** A watch over a wire that says nothing of its end is ended after so many seconds, up to twice as many, so that clients spread. */
  readonly minRequestSeconds: number
  readonly reads: CacheReads
  readonly caches: Caches
  /** What is known of a row, the same object every time. */
  endpointOf(row: ResourceRow): RequestEndpoint
  readonly printTable?: PrintTable
  /** Answers for group versions that other servers serve. */
  readonly forward?: (request: ServerRequest) => Promise<ApiResponse> | undefined
  /** The way to the nodes' kubelets, and to what is proxied. */
  readonly kubelets: Kubelets
  readonly decodeProtobuf?: ProtobufDecoder
  /** Kinds that are answered and not stored, by `group/Kind`. */
  readonly reviews?: Readonly<Record<string, Review>>
  readonly answerTokenRequest?: (
    namespace: string,
    name: string,
    object: KubeObject,
    warn: (message: string) => void,
  ) => Promise<KubeObject>
  /** What ComponentStatuses tell of; without it there are none. */
  readonly components?: () => readonly ComponentHealth[]
}

/** What a resource's endpoint knows of the requests for one of its actions. */
export interface RequestPlan {
  /** undefined for the resource itself. */
  readonly subresource: SubresourceRow | undefined
  readonly handler: ResourceHandler
  /** As what they are counted. */
  readonly series: RequestSeries
  /** Of patches that apply. */
  readonly appliedSeries: RequestSeries
}

/** A resource's endpoint, as requests for the resource find it. */
export interface RequestEndpoint extends ResourceEndpoint {
  /** The same object for the same action, subresource and scope. */
  planOf(route: Route, info: RequestInfo): RequestPlan
}

/** A request that has found its resource. */
export interface ResourceRequest {
  readonly context: ServerContext
  readonly request: ServerRequest
  readonly info: RequestInfo
  readonly user: UserInfo
  readonly endpoint: ResourceEndpoint
  /** undefined for the resource itself. */
  readonly subresource: SubresourceRow | undefined
  readonly warnings: string[]
}

export type ResourceHandler = (request: ResourceRequest) => ApiResponse | Promise<ApiResponse>
