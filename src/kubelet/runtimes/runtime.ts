/**
 * The Container Runtime Interface, as TypeScript: what a kubelet asks of whatever runs containers. Names and meanings are
 * those of CRI's RuntimeService and ImageService; times are milliseconds since the epoch (0: never).
 */

import type { Duplex } from 'node:stream'
import type { LifecycleHandler, Probe } from '../../api/generated/types.ts'
import type { PrintedLog, PrintedQuery } from '../logs/printed-log.ts'
import type {
  LinuxContainerConfig,
  LinuxContainerResources,
  LinuxPodSandboxConfig,
  UserNamespace,
} from './cri/messages.ts'

/** Labels by which a kubelet finds its sandboxes and containers again. */
export const POD_UID_LABEL = 'io.kubernetes.pod.uid'
export const POD_NAME_LABEL = 'io.kubernetes.pod.name'
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace'
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name'

type Labels = Readonly<Record<string, string>>

/** What only a runtime that executes needs to know, as CRI's messages have it. */
export interface RealSandboxConfig {
  /** Where the logs of the sandbox's containers are. */
  readonly logDirectory: string
  readonly dns: {
    readonly servers: readonly string[]
    readonly searches: readonly string[]
    readonly options: readonly string[]
  }
  readonly portMappings: readonly {
    readonly protocol: 'TCP' | 'UDP' | 'SCTP'
    readonly container_port: number
    readonly host_port: number
    readonly host_ip: string
  }[]
  readonly linux: LinuxPodSandboxConfig
  /** Of the pod's RuntimeClass; '': the runtime's own. */
  readonly runtimeHandler: string
}

export interface RealContainerConfig {
  /** Relative to the sandbox's log directory. */
  readonly logPath: string
  readonly tty: boolean
  readonly stdin: boolean
  readonly stdinOnce: boolean
  readonly linux: LinuxContainerConfig
  readonly devices: readonly {
    readonly container_path: string
    readonly host_path: string
    readonly permissions: string
  }[]
  /** By their names in the Container Device Interface. A runtime that does not know it gives none of them. */
  readonly cdiDevices: readonly string[]
  /** `SIGUSR1`; undefined: the image's. */
  readonly stopSignal?: string
  /** The sandbox's whole configuration: the runtime is given it once more. */
  readonly sandbox: PodSandboxConfig
}

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
  readonly real?: RealSandboxConfig
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
  /** Where it is on a node that has files. */
  readonly hostPath?: string
  readonly propagation?: 'PROPAGATION_PRIVATE' | 'PROPAGATION_HOST_TO_CONTAINER' | 'PROPAGATION_BIDIRECTIONAL'
  readonly recursiveReadOnly?: boolean
  /** In place of a path of the host. */
  readonly image?: { readonly id: string; readonly reference: string; readonly subPath: string }
  /** Users of the host that stand for those inside, of a pod that has users of its own. */
  readonly users?: UserNamespace
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
  /** It is one of the pod's init containers. Not of CRI either. */
  readonly isInit?: boolean
  readonly real?: RealContainerConfig
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
  /** Where its log is, on a node that has files. */
  readonly logPath?: string
  /** The user that its first process began with. */
  readonly user?: { readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[] }
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
  /** Instead of the handler's own command: with the container's variables in it. */
  readonly command?: readonly string[]
  readonly kind: 'liveness' | 'readiness' | 'startup' | 'preStop' | 'postStart'
  readonly handler: Probe | LifecycleHandler
  readonly timeoutSeconds: number
  /** Where to reach for a port that the handler gives no host for. */
  readonly podIP?: string
  /** The container's, by which a handler may name a port. */
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
}

export interface ProbeResult {
  readonly success: boolean
  /** The probe could not be done, and says nothing about the container: the state that it is told to have resulted in. */
  readonly errored?: 'unknown' | 'failure'
  /** What the probe saw: the command's output, `HTTP probe failed with statuscode: 503`. */
  readonly output: string
  /** It succeeded, but for something that should be told. */
  readonly warning?: string
  /** Of a hook's command: what it printed. */
  readonly said?: string
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
  /** `credentials`: of the answer, those by which it came. @throws RuntimeError */
  pullImage(
    image: string,
    annotations: Labels,
    signal: AbortSignal,
    credentials?: readonly PullCredentials[],
  ): Promise<{ readonly id: string; readonly credentials?: PullCredentials }>
  /** What is on the machine. A runtime that has no images has none of it. */
  listImages?(): Promise<readonly RuntimeImage[]>
}

/** Of one registry, as an image pull secret has them. */
export interface RegistryCredentials {
  readonly username: string
  readonly password: string
  /** An identity token, in place of both. */
  readonly auth?: string
}

/** With the Secret that they are from. */
export interface PullCredentials extends RegistryCredentials {
  readonly secret?: { readonly uid: string; readonly namespace: string; readonly name: string }
}

export interface RuntimeImage {
  readonly id: string
  /** Tags and digests. */
  readonly names: readonly string[]
  readonly size: number
  /** The runtime wants to keep it. */
  readonly pinned?: boolean
}

export interface ContainerUsage {
  readonly podUid: string
  readonly podName: string
  readonly podNamespace: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly cpuNanoCores: number | undefined
  readonly cpuNanoSeconds: number
  readonly workingSetBytes: number
  readonly usageBytes: number
  readonly rssBytes: number
  readonly rootfsBytes: number
  readonly rootfsInodes: number
}

export type SessionRequest =
  | {
      readonly kind: 'exec'
      readonly containerId: string
      readonly command: readonly string[]
      readonly tty: boolean
      readonly stdin: boolean
      readonly stdout: boolean
      readonly stderr: boolean
    }
  | {
      readonly kind: 'attach'
      readonly containerId: string
      readonly tty: boolean
      readonly stdin: boolean
      readonly stdout: boolean
      readonly stderr: boolean
    }
  | { readonly kind: 'portForward'; readonly podSandboxId: string; readonly ports: readonly number[] }

/** What a runtime can do beyond what all can, as it tells. */
export interface RuntimeFeatures {
  /** By the handler's name; '': the one that pods have by default. */
  readonly handlers: readonly RuntimeHandler[]
  readonly supplementalGroupsPolicy: boolean
}

export interface RuntimeHandler {
  readonly name: string
  readonly recursiveReadOnlyMounts: boolean
  readonly userNamespaces: boolean
}

/** What only a runtime that executes can do. */
export interface RealRuntime {
  /** The URL at which the runtime's own streaming server waits for the session. @throws RuntimeError */
  session(request: SessionRequest): Promise<string>
  /** Runs a command in a container to its end. @throws Error in gRPC's words */
  run(
    containerId: string,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>
  /** Writes a running container down into an archive; within a time in seconds, 0: the runtime's own. @throws Error in gRPC's words */
  checkpoint(containerId: string, location: string, timeoutSeconds: number): Promise<void>
  /** Holds a running container to other amounts. @throws RuntimeError */
  updateResources(containerId: string, resources: LinuxContainerResources): Promise<void>
  usage(): Promise<readonly ContainerUsage[]>
  /** Begins a new log file at the container's log path. */
  reopenLog(containerId: string): Promise<void>
  /** The image's user: a number, or a name; undefined where it has none. */
  imageUser(image: string): Promise<{ readonly uid?: number; readonly username?: string } | undefined>
  setPodCIDR(cidr: string): Promise<void>
  features(): Promise<RuntimeFeatures>
  /**
   * Tells of changes as they come, some perhaps twice; resolves when the signal is aborted or the runtime ends it.
   * @throws RuntimeError, where the runtime has no events too
   */
  events(listener: (event: ContainerEvent) => void, signal: AbortSignal): Promise<void>
  /** @throws RuntimeError */
  removeImage(id: string): Promise<void>
  /** Ids and names of the images of all containers that the runtime has, other users' too. */
  imagesInUse(): Promise<ReadonlySet<string>>
  /** A directory of the file system on which images are; undefined where the runtime does not tell. */
  imageDirectory(): Promise<string | undefined>
  /** What images and containers use there. */
  imageUse(): Promise<{ readonly bytes: number; readonly inodes: number } | undefined>
}

/** What a command that runs in a container reads and prints. */
export interface CommandStreams {
  /** Undefined: nothing is sent. */
  readonly stdin?: AsyncIterable<Uint8Array>
  /** A terminal: both streams go the same way, with a carriage return before each end of a line. */
  readonly tty: boolean
  /** Resolves when it has been taken. */
  print(stream: 'stdout' | 'stderr', what: string | Uint8Array): Promise<void>
}

/** What only a runtime that executes nothing can do: it answers in its containers' place. */
export interface SimulatedAnswers {
  /** What the pod asks of the simulation and is not understood; undefined where it asks nothing. */
  problems(config: ContainerConfig): Promise<readonly string[]> | undefined
  /** What the container has printed until now, as far as it is asked for; undefined: it is gone. @throws RuntimeError for a file that cannot be read */
  printed(containerId: string, query: PrintedQuery): Promise<PrintedLog | undefined>
  /** Resolves when it may have printed more, has ended, or the signal was aborted. */
  printsMore(containerId: string, signal: AbortSignal): Promise<void>
  /** Resolves to the command's exit code. @throws RuntimeError for what cannot be run, the signal's reason */
  exec(containerId: string, command: readonly string[], streams: CommandStreams, signal: AbortSignal): Promise<number>
  /** A connection to what stands for this port of the pod. @throws RuntimeError where nothing does, or it may not be reached */
  connect(podSandboxId: string, port: number, signal: AbortSignal): Promise<Duplex>
}

export interface ContainerRuntime extends ImageService {
  /** Its containers end without their preStop hooks, whatever these are: what it stands for runs none. */
  readonly skipsHooks?: boolean
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
  readonly real?: RealRuntime
  readonly simulated?: SimulatedAnswers
}
