/**
 * controllers: one folder per controller, and the manager that runs them. A controller knows the API only through the
 * client room; it has its own service account (`system:serviceaccount:kube-system:<name>`), as on a real cluster.
 */
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { InformerFactory } from '../client/informer.ts'
import type { AttachDetachSettings } from './attach-detach/reconciler.ts'
import type { CertificateSigningOptions } from './certificates/signing-controller.ts'
import type { LocalPathOptions } from './local-path/local-path-provisioner.ts'
import type { NodeIpamOptions } from './node-ipam/node-ipam-controller.ts'
import type { NodeLifecycleOptions } from './node-lifecycle/node-lifecycle-controller.ts'
import type { PodGarbageCollectorOptions } from './pod-garbage-collector/pod-gc-controller.ts'
import type { PodAutoscalerOptions } from './podautoscaler/settings.ts'

export interface ControllerContext {
  readonly runtime: Runtime
  /** Speaks as this controller's own service account. */
  readonly client: Client
  /** Shared by all controllers of the manager; their reads are made as system:kube-controller-manager. */
  readonly informers: InformerFactory
  readonly signal: AbortSignal
  /** How many objects are worked on at a time. Default: as many as kube-controller-manager's. */
  readonly concurrentSyncs?: number
  readonly settings?: ControllerSettings
}

/** What an administrator may set; without it everything is as kube-controller-manager has it by default. */
export interface ControllerSettings {
  readonly attachDetach?: AttachDetachSettings
  readonly certificateSigning?: CertificateSigningOptions
  /** Without it no node is given a range of its own. */
  readonly nodeIpam?: NodeIpamOptions
  /** Without it no volumes are made for claims of the default StorageClass. */
  readonly localPath?: LocalPathOptions
  readonly nodeLifecycle?: NodeLifecycleOptions
  readonly podGarbageCollector?: PodGarbageCollectorOptions
  readonly podAutoscaler?: PodAutoscalerOptions
  /** How long a token of the old kind may be unused before it is marked, and marked before it is deleted. */
  readonly legacyTokenCleanUpMs?: number
}

export interface Controller {
  /** `deployment-controller`: the service account's name. */
  readonly name: string
  /** Resolves when the controller runs (informers synced); throws on what it cannot start from. */
  start(): Promise<void>
}
