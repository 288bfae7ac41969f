/** The package's export: a cluster in the caller's own process. */
export { type Cluster, type ClusterOptions, startCluster } from './cluster.ts'
export type { Component } from './options.ts'
