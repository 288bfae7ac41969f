/**
 * controllers: one folder per controller, and the manager that runs them. A controller knows the API only through the
 * client room; it has its own service account (`system:serviceaccount:kube-system:<name>`), as on a real cluster.
 */
import type { Runtime } from '../base/runtime.ts'
import type { Client } from '../client/client.ts'
import type { InformerFactory } from '../client/informer.ts'

export interface ControllerContext {
  readonly runtime: Runtime
  /** Speaks as this controller's own service account. */
  readonly client: Client
  /** Shared by all controllers of the manager; their reads are made as system:kube-controller-manager. */
  readonly informers: InformerFactory
  readonly signal: AbortSignal
}

export interface Controller {
  /** `deployment-controller`: the service account's name. */
  readonly name: string
  /** Resolves when the controller runs (informers synced); throws on what it cannot start from. */
  start(): Promise<void>
}
