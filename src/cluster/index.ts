/** The package's export: a cluster in the caller's own process, and all that its methods take, return and throw. */

export type * from '../api/generated/types.ts'
export type { Json, JsonObject, KubeObject } from '../api/object.ts'
export type { UserInfo, WatchEvent } from '../api/request.ts'
export { isAlreadyExists, isConflict, isNotFound, StatusError } from '../api/status.ts'
export { FaultError } from '../apiserver/faults/grammar.ts'
export type {
  FaultStatus,
  Faults,
  FaultsStatus,
  FaultWords,
  Strike,
} from '../apiserver/faults/which-requests-are-struck.ts'
export type { Logger } from '../base/log.ts'
export type { StreamReader } from '../base/stream.ts'
export type {
  Client,
  ClientDeleteOptions,
  ClientPatchType,
  DiscoveredResource,
  Discovery,
  GroupVersionResource,
  KubeList,
  ListOptions,
  ResourceClient,
  WatchOptions,
  WriteOptions,
} from '../client/client.ts'
export type { StoreState } from '../storage/engine.ts'
export type { EtcdOptions } from '../storage/etcd/servers.ts'
export { NoRoomError, StoreError } from '../storage/storage.ts'
export { type ClockMoveOptions, type ClusterClock, type Duration, type LimitedMove, TimeoutError } from './clock.ts'
export { startCluster } from './cluster.ts'
export type { Cluster, ClusterOptions } from './cluster-options.ts'
export { StartError } from './errors.ts'
export type { Fork, ForkOptions } from './fork.ts'
export type { Manifest } from './initial-crds-and-objects.ts'
export type { LastRequest } from './last-requests.ts'
export type { ClockKind, Component, ControlName } from './options.ts'
export type { SecurityOptions } from './security.ts'
export type { SimulationOptions } from './simulation.ts'
export { readSnapshot, type Snapshot } from './snapshot.ts'
export type { TypedClient } from './typed-client.ts'
export type { ClusterScoped, Namespaced, TypedClients } from './typed-clients.ts'
