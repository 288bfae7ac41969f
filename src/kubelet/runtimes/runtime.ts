/**
 * The Container Runtime Interface, as TypeScript: what a kubelet asks of whatever runs containers. Names and meanings are
 * those of CRI's RuntimeService and ImageService; times are milliseconds since the epoch (0: never).
 */

/** Labels by which a kubelet finds its sandboxes and containers again. */
export const POD_UID_LABEL = 'io.kubernetes.pod.uid'
export const POD_NAME_LABEL = 'io.kubernetes.pod.name'
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace'
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name'

type Labels = Readonly<Record<string, string>>

export interface PodSandboxConfig {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly attempt: number
  }
  readonly hostname: string
  readonly labels: Labels
  readonly annotations: Labels
  /** The sandbox has no network of its own: its addresses are the node's. */
  readonly hostNetwork: boolean
}

export interface PodSandboxStatus {
  readonly id: string
  readonly metadata: PodSandboxConfig['metadata']
  readonly state: 'ready' | 'notReady'
  readonly createdAt: number
  /** Empty for a sandbox on the host's network, and once the network is torn down. */
  readonly ips: readonly string[]
}

export interface Mount {
  readonly containerPath: string
  readonly volume: string
  readonly readOnly: boolean
}

export interface ContainerConfig {
  /** `attempt` is the container's restart count. */
  readonly metadata: { readonly name: string; readonly attempt: number }
  readonly image: string
  readonly command: readonly string[]
  readonly args: readonly string[]
  readonly workingDir: string
  readonly envs: Labels
  readonly mounts: readonly Mount[]
  readonly labels: Labels
  /** The pod's. */
  readonly annotations: Labels
  /** Its pod waits for it to end. Not of CRI: only a runtime that executes nothing needs to be told. */
  readonly runsToCompletion: boolean
}

export type ContainerState = 'created' | 'running' | 'exited' | 'unknown'

export interface RuntimeContainerStatus {
  readonly id: string
  readonly podSandboxId: string
  readonly metadata: ContainerConfig['metadata']
  readonly state: ContainerState
  readonly createdAt: number
  readonly startedAt: number
  readonly finishedAt: number
  readonly exitCode: number
  /** The image's full name, and what identifies its content. */
  readonly image: string
  readonly imageId: string
  /** `Completed`, `Error`, `StartError`, `OOMKilled`; of an exited container. */
  readonly reason: string
  readonly message: string
  readonly labels: Labels
  /** Set by a runtime that knows better than the probes: false keeps the container from being ready. */
  readonly ready?: boolean
}

export interface ListFilter {
  readonly labels?: Labels
}

/** What GetContainerEvents tells: something about this pod's sandbox or containers changed. */
export interface ContainerEvent {
  readonly type: 'created' | 'started' | 'stopped' | 'deleted'
  readonly podUid: string
  readonly containerId: string
}

/** A probe or hook that goes over the pod's network, or runs in a container. */
export interface ProbeAction {
  readonly kind: 'liveness' | 'readiness' | 'startup' | 'preStop' | 'postStart'
  readonly handler: { readonly [field: string]: unknown }
  readonly timeoutSeconds: number
}

export interface ProbeResult {
  readonly success: boolean
  /** What the probe saw: the command's output, `HTTP probe failed with statuscode: 503`. */
  readonly output: string
}

/** A failure with the runtime's own message, which users see in the container's status. */
export class RuntimeError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RuntimeError'
  }
}

export interface ImageService {
  /** Undefined when the image is not on the machine. */
  imageStatus(image: string, annotations: Labels): Promise<{ readonly id: string; readonly size: number } | undefined>
  /** @throws RuntimeError */
  pullImage(image: string, annotations: Labels, signal: AbortSignal): Promise<{ readonly id: string }>
}

export interface ContainerRuntime extends ImageService {
  version(): Promise<{ readonly runtimeName: string; readonly runtimeVersion: string }>
  /** Gives the new sandbox's id. @throws the signal's reason when it was aborted before there was one */
  runPodSandbox(config: PodSandboxConfig, signal?: AbortSignal): Promise<string>
  /** Kills what still runs in it and frees its network. Of a sandbox that is stopped or gone: nothing happens. */
  stopPodSandbox(id: string): Promise<void>
  /** Stops it and forgets it with its containers. */
  removePodSandbox(id: string): Promise<void>
  listPodSandboxes(filter: ListFilter): Promise<readonly PodSandboxStatus[]>
  createContainer(podSandboxId: string, config: ContainerConfig): Promise<string>
  /** @throws RuntimeError; the container has then exited with code 128. The signal's reason when it was aborted before. */
  startContainer(id: string, signal?: AbortSignal): Promise<void>
  /**
   * SIGTERM, then SIGKILL after `timeoutSeconds`; resolves once the container has ended. Asked again with a shorter timeout,
   * it ends that much sooner.
   */
  stopContainer(id: string, timeoutSeconds: number): Promise<void>
  removeContainer(id: string): Promise<void>
  listContainers(filter: ListFilter): Promise<readonly RuntimeContainerStatus[]>
  /** Runs the command of a probe or hook in the container, or reaches for its port. */
  probe(containerId: string, action: ProbeAction, signal: AbortSignal): Promise<ProbeResult>
  /** Tells of every change until `signal` is aborted. A runtime that cannot is relisted instead. */
  containerEvents?(listener: (event: ContainerEvent) => void, signal: AbortSignal): void
}
