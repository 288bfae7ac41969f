/** What skiff up and the process of a node in namespaces tell one another, over Node's own channel: JSON. */

import type { RuntimeLike } from '../../kubelet/machine/own-containerd.ts'
import type { NodeSettings } from '../../kubelet/node-settings.ts'
import type { ClusterServer } from '../../proxy/network-policy-rules.ts'
import type { KeyAndCertificate } from '../certificate.ts'

export interface NodeTask {
  readonly nodeName: string
  /** One of each family that Services have, in their order. */
  readonly families: readonly TaskFamily[]
  readonly dnsServers: readonly string[]
  /** The API server and the DNS: pods may ask them whatever policies say. */
  readonly servers: readonly ClusterServer[]
  /** What the node's /etc/resolv.conf is to say. */
  readonly resolvConf: string
  readonly directories: NodeDirectories
  readonly like: RuntimeLike
  readonly server: string
  readonly serverCa: string
  readonly users: {
    readonly node: KeyAndCertificate
    /** Undefined: another proxy leads Services. */
    readonly proxy?: KeyAndCertificate
    readonly network: KeyAndCertificate
  }
  readonly serving: KeyAndCertificate & { readonly clientCa: string }
  readonly settings: NodeSettings
  readonly verbosity: number
}

export interface TaskFamily {
  /** The node's own address among those that share the machine, the same with its length, and that of the machine. */
  readonly nodeIP: string
  readonly address: string
  readonly gateway: string
  readonly clusterRange: string
  readonly serviceRange: string
}

export interface NodeDirectories {
  /** What goes with the node. */
  readonly node: string
  /** What stays when the cluster is stopped: images, logs of the node itself. */
  readonly kept: string
  /** The node's /run. */
  readonly run: string
}

export type ToNode = { readonly type: 'begin'; readonly task: NodeTask } | { readonly type: 'stop' }

export type FromNode =
  /** It is in its namespaces. */
  | { readonly type: 'here' }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string }
  /** Nothing of the node is left within its namespaces, or that is. */
  | { readonly type: 'stopped'; readonly left?: string }
