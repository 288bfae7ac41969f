/** PodCache: what the runtime last said about each pod. PLEG writes it, pod workers read it. */
import type { PodSandboxStatus, RuntimeContainerStatus } from './runtimes/runtime.ts'

export interface RuntimePodStatus {
  readonly uid: string
  /** Of the newest sandbox; kept after the sandbox has ended, because the finished pod's address is still shown. */
  readonly ips: readonly string[]
  /** Newest first. */
  readonly sandboxes: readonly PodSandboxStatus[]
  /** Newest first. */
  readonly containers: readonly RuntimeContainerStatus[]
}

export interface PodCache {
  get(uid: string): RuntimePodStatus
  set(status: RuntimePodStatus): void
  delete(uid: string): void
}

const nothing: readonly never[] = []

export function createPodCache(): PodCache {
  const statuses = new Map<string, RuntimePodStatus>()
  return {
    get: (uid) => statuses.get(uid) ?? { uid, ips: nothing, sandboxes: nothing, containers: nothing },
    set(status) {
      statuses.set(status.uid, status)
    },
    delete(uid) {
      statuses.delete(uid)
    },
  }
}

/** The newest container of that name. */
export function latestContainer(status: RuntimePodStatus, name: string): RuntimeContainerStatus | undefined {
  return status.containers.find((container) => container.metadata.name === name)
}

export const latestSandbox = (status: RuntimePodStatus): PodSandboxStatus | undefined => status.sandboxes[0]
