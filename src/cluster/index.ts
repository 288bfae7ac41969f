/** The package's export: a cluster in the caller's own process. */

export type { StoreState } from '../storage/engine.ts'
export { NoRoomError, StoreError } from '../storage/storage.ts'
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'
export type { Component } from './options.ts'
export type { SecurityOptions } from './security.ts'
