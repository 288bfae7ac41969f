/** What a cluster is started with, and what it gives: the types of startCluster. */
import type { UserInfo } from '../api/request.ts'
import type { Faults, FaultWords } from '../apiserver/faults/which-requests-are-struck.ts'
import type { Logger } from '../base/log.ts'
import type { NodeSettings } from '../kubelet/node-settings.ts'
import type { SchedulerChoice } from '../scheduler/scheduler.ts'
import type { StoreState } from '../storage/engine.ts'
import type { EtcdOptions } from '../storage/etcd/servers.ts'
import type { ClusterClock } from './clock.ts'
import type { Fork, ForkOptions } from './fork.ts'
import type { Manifest } from './initial-crds-and-objects.ts'
import type { LastRequest } from './last-requests.ts'
import type { ClockKind, Component, ControlName } from './options.ts'
import type { SecurityOptions } from './security.ts'
import type { SimulationOptions } from './simulation.ts'
import type { Snapshot } from './snapshot.ts'
import type { TypedClient } from './typed-client.ts'

/** Of its nodes: static pods are by default those of the folder `manifests` in `dataDir`, where that is there at the start. */
export interface ClusterOptions extends NodeSettings {
  /**
   * `manual`: the cluster's time stands still until `clock` moves it, and a restart goes on from there. Default: as the directory's
   * cluster had it, `real` for a new one.
   */
  readonly clock?: ClockKind
  /** Begins with the objects of a snapshot, or of a file that holds one. The directory must have no cluster yet. */
  readonly from?: Snapshot | string
  /** CustomResourceDefinitions to begin with, which are served when startCluster resolves: objects, files, folders. */
  readonly crds?: readonly Manifest[]
  /** Objects to begin with, made after `crds`, namespaces first; those that are there stay as they are. */
  readonly objects?: readonly Manifest[]
  /**
   * What goes wrong on purpose for clients (docs/faults.md): `['watch drop 5%', 'refuse 409 first 1 on update by my-operator']`, or by
   * what happens: `{ 'watch drop': '5%' }`. With it, be it empty, `faults` of the cluster can set others while it runs. Default: none.
   */
  readonly faults?: FaultWords
  /**
   * The same seed gives the same faults to the same sequence of requests, and the same suffixes to names that are made of
   * generateName in the same order. Default: another one each time, which `faults` tells.
   */
  readonly seed?: number
  /** Controls under /skiff.dev/ that are there beside the clock's. Default: none. */
  readonly controls?: readonly ControlName[]
  /** Where everything is kept. Default: a directory of its own that goes away with the cluster. */
  readonly dataDir?: string
  /** Default 0: a free port. */
  readonly port?: number
  /** Default 127.0.0.1. */
  readonly host?: string
  /** An IP address at which other machines and pods reach the API server. Default: `host`, when that is not loopback and not every address. */
  readonly advertiseAddress?: string
  /** Default 1. */
  readonly nodes?: number
  /**
   * What the ranges of nodes' pods are pieces of, and what other Nodes are given (spec.podCIDRs): a range, or one of each family,
   * of the families of `security.serviceClusterIpRange` and in their order. Default: 10.244.0.0/21 and on, fd00:10:244::/64 and on,
   * and other Nodes are given none; with `cri` ranges that nothing of the machine has.
   */
  readonly clusterCidr?: string
  /**
   * `cri`: the first node is this machine, and its containers are real, run by containerd or CRI-O; further ones have namespaces of
   * their own on it. Needs root. Default `simulated`.
   */
  readonly containerRuntime?: 'simulated' | 'cri'
  /** `unix:///path/to/its.sock`. Default: the usual places, in turn. */
  readonly criEndpoint?: string
  /** What simulated containers may use of this machine. Default: nothing. */
  readonly simulation?: SimulationOptions
  /** Default: all. The API server always runs. */
  readonly components?: readonly Component[]
  /** The scheduler's profiles and backoffs. Default: those of kube-scheduler. */
  readonly scheduler?: SchedulerChoice
  readonly disableAdmissionPlugins?: readonly string[]
  readonly enableAdmissionPlugins?: readonly string[]
  /** Privileged containers may run. Default true, as kubeadm, kind and k3s start kube-apiserver. */
  readonly allowPrivileged?: boolean
  readonly security?: SecurityOptions
  /** `memory` keeps nothing and writes nothing to disk but keys and the log. Default lmdb; with `etcd` it is etcd. */
  readonly storage?: 'lmdb' | 'memory'
  /** Keeps everything in an etcd, which other clusters of the same keys (DIR/pki) may share. */
  readonly etcd?: EtcdOptions
  /** Also adds the cluster to this kubeconfig, which may hold others. */
  readonly kubeconfigFile?: string
  /** Kubernetes' -v. Default 0. */
  readonly logLevel?: number
  readonly onProgress?: (text: string) => void
  /**
   * Called each time that the store's state changes: `waiting` for room on its disk (it refuses writes, and goes on by itself),
   * `well` again, or `failed` for good: then the cluster answers with errors until it is stopped, and may be started anew.
   */
  readonly onStoreState?: (state: StoreState) => void
  /**
   * Given what failed in the cluster's own work where nothing waits for it: a mistake of ours in one corner. The rest goes on.
   * Default: it is written to the cluster's log. `process`: it is the process's, as any other of the program (Node's rule,
   * unless the program has another: the process ends).
   */
  readonly onUnhandled?: 'process' | ((error: unknown) => void)
  /** So many of the last requests from outside are kept, for `lastRequests`. Default 0. */
  readonly keepRequests?: number
  /** The caller holds the directory already (directory.ts). */
  readonly directoryHeld?: boolean
}

export interface Cluster {
  readonly url: string
  /** The admin's kubeconfig, and the file it is in. */
  readonly kubeconfig: string
  readonly kubeconfigFile: string
  /** Speaks as kubernetes-admin within this process: no sockets, no serialization. */
  readonly client: TypedClient
  /** The same as another user. */
  clientFor(user: UserInfo, userAgent?: string): TypedClient
  /** All objects, at one revision. @throws StoreError where they are in an etcd */
  snapshot(): Snapshot
  /**
   * A second cluster in this process with the same objects, keys of its own and a free port; its controllers start once it
   * answers. Ends with this one, or after its time to live.
   */
  fork(options?: ForkOptions): Promise<Fork>
  /** What goes wrong on purpose. @throws StartError from all of it where the cluster was started without `faults` */
  readonly faults: Faults
  /** Moves the cluster's time. @throws StartError from all of it where the clock is the machine's */
  readonly clock: ClusterClock
  /** The last requests that came over HTTPS, the oldest first: as many as `keepRequests` says. */
  lastRequests(): readonly LastRequest[]
  /**
   * For people: the objects that have changed since the start, of one namespace or all, with what is with them, their Events, and the
   * last 50 requests. No values of Secrets, no specifications.
   */
  report(namespace?: string): Promise<string>
  /** The cluster's own log, DIR/log. */
  readonly log: Logger
  /** Stops in order: components, requests in flight, watches, storage. Safe to call twice. */
  stop(): Promise<void>
}
