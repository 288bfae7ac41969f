/** What an administrator says of the kubelets of real nodes, named after the kubelet's settings; of static pods, simulated ones too. */

import type { EvictionFlags } from './eviction/thresholds.ts'
import type { ImageGcPolicy } from './images/image-gc.ts'
import type { PullVerification } from './images/pull-verification.ts'
import type { LogRotation } from './logs/rotate-log.ts'
import type { MachineOptions } from './machine/machine.ts'
import type { NodeDescription } from './node-status.ts'
import type { KubeletServerOptions } from './server/server.ts'
import type { ShutdownFlags, ShutdownGroup } from './shutdown/shutdown-groups.ts'
import type { ManifestUrl } from './static-pods/manifest-url.ts'
import type { ResourceManagerSettings } from './topology-manager/resource-managers.ts'

export interface NodeSettings {
  /** A folder of manifests, or one, that are run as static pods. Default: none. */
  readonly podManifestPath?: string
  /** Where further manifests are asked for. Default: nowhere. */
  readonly manifestUrl?: ManifestUrl
  /** When pods are evicted. Default: the kubelet's own thresholds, but 5 % of disks for the nodes of `skiff up`. */
  readonly eviction?: EvictionFlags
  /** When images go that no container uses. What is not said is as with the kubelet. */
  readonly imageGc?: Partial<ImageGcPolicy>
  /** Sysctls that pods may set beside the safe ones: names, or their beginnings and a star. Default: none. */
  readonly allowedUnsafeSysctls?: readonly string[]
  /** What pods have to end when the machine goes down. Default: nothing. */
  readonly shutdown?: ShutdownFlags
}

/** What else a kubelet that is a process of its own is told. What is not said is as with the kubelet. */
export interface KubeletSettings extends Pick<NodeSettings, 'allowedUnsafeSysctls'> {
  /** What a new Node is registered with. */
  readonly registers?: Pick<NodeDescription, 'labels' | 'taints' | 'podCIDRs' | 'providerId'>
  /** False: its Node is made by others, and waited for (registerNode). */
  readonly registersItself?: boolean
  readonly lease?: { readonly seconds: number }
  /** How often the Node's status is told when nothing of it has changed. Milliseconds. */
  readonly statusReportMs?: number
  /** The longest time before a container that ended is started again. */
  readonly longestBackOffMs?: number
  /** What pods have to end, by their priority, when the machine goes down. Default: none. */
  readonly shutdownGroups?: readonly ShutdownGroup[]
}

/** How its server is open. */
export type KubeletServerSettings = Pick<
  KubeletServerOptions,
  'accessTimes' | 'accessRules' | 'debugging' | 'flags' | 'readOnlyPort'
>

export interface RealKubeletSettings
  extends Pick<MachineOptions, 'limits' | 'swap' | 'seccompDefault'>,
    KubeletServerSettings {
  /** Where the logs of pods are. */
  readonly podLogsDir?: string
  readonly logs?: LogRotation
  /** How many images the Node's status names; -1: all. */
  readonly mostImages?: number
  /** What pods are not given of the node's capacity (systemReserved and kubeReserved), as quantities. */
  readonly reserved?: readonly Readonly<Record<string, string>>[]
  /** How CPUs are given to containers, and how that is decided together. */
  readonly managers?: ResourceManagerSettings
  /** What pods have their machine's names and servers from; empty: from nothing. */
  readonly resolvConf?: string
  /** Which images pods may use without a pull. */
  readonly pullVerification?: PullVerification
}

/** Of options that hold more than that. */
export function kubeletSettings({
  registers,
  registersItself,
  lease,
  statusReportMs,
  longestBackOffMs,
  allowedUnsafeSysctls,
}: KubeletSettings): KubeletSettings {
  return {
    ...(registers === undefined ? {} : { registers }),
    ...(registersItself === undefined ? {} : { registersItself }),
    ...(lease === undefined ? {} : { lease }),
    ...(statusReportMs === undefined ? {} : { statusReportMs }),
    ...(longestBackOffMs === undefined ? {} : { longestBackOffMs }),
    ...(allowedUnsafeSysctls === undefined ? {} : { allowedUnsafeSysctls }),
  }
}

/** Of options that hold more than that. */
export function serverSettings({
  accessTimes,
  accessRules,
  debugging,
  flags,
  readOnlyPort,
}: KubeletServerSettings): KubeletServerSettings {
  return {
    ...(accessTimes === undefined ? {} : { accessTimes }),
    ...(accessRules === undefined ? {} : { accessRules }),
    ...(debugging === undefined ? {} : { debugging }),
    ...(flags === undefined ? {} : { flags }),
    ...(readOnlyPort === undefined ? {} : { readOnlyPort }),
  }
}

/** Of options that hold more than that. */
export function nodeSettings({
  podManifestPath,
  manifestUrl,
  eviction,
  imageGc,
  allowedUnsafeSysctls,
  shutdown,
}: NodeSettings): NodeSettings {
  return {
    ...(podManifestPath === undefined ? {} : { podManifestPath }),
    ...(manifestUrl === undefined ? {} : { manifestUrl }),
    ...(eviction === undefined ? {} : { eviction }),
    ...(imageGc === undefined ? {} : { imageGc }),
    ...(allowedUnsafeSysctls === undefined ? {} : { allowedUnsafeSysctls }),
    ...(shutdown === undefined ? {} : { shutdown }),
  }
}
