/** What a simulated runtime can be told beyond annotations: how unknown programs behave, and what runs from the beginning. */
import type { ContainerConfig, PodSandboxConfig, RuntimeContainerStatus } from '../runtime.ts'

/**
 * How containers behave whose programs nothing is known of. They run until they are stopped; `exec` and `httpGet` hooks before that
 * are done at once, or take all the time there is, and a `sleep` hook takes what it says; or there are no hooks, as with KWOK.
 */
export interface ContainerManner {
  readonly onSigterm: 'ends' | 'is ignored'
  readonly preStop: 'is done at once' | 'takes all its time' | 'is skipped'
}

/** A pod that runs when the runtime begins. */
export interface AdoptedPod {
  readonly sandbox: PodSandboxConfig
  readonly sandboxId: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly ips: readonly string[]
  readonly containers: readonly {
    readonly config: ContainerConfig
    readonly status: Omit<RuntimeContainerStatus, 'podSandboxId'>
  }[]
}
