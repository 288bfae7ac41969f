/** Messages of CRI (runtime.v1) as they come and go here: the fields that are used, under the protocol's own names. */
type Labels = Readonly<Record<string, string>>

export interface SandboxMetadata {
  readonly name: string
  readonly uid: string
  readonly namespace: string
  readonly attempt: number
}

export interface PodSandbox {
  readonly id: string
  readonly metadata: SandboxMetadata
  readonly state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY'
  /** Nanoseconds. */
  readonly created_at: number
  readonly labels: Labels
}

export interface PodSandboxStatus extends PodSandbox {
  readonly network: { readonly ip: string; readonly additional_ips: readonly { readonly ip: string }[] } | null
}

export type ContainerState = 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' | 'CONTAINER_UNKNOWN'

export interface Container {
  readonly id: string
  readonly pod_sandbox_id: string
  readonly metadata: { readonly name: string; readonly attempt: number }
  readonly state: ContainerState
  readonly created_at: number
  readonly labels: Labels
  readonly image: { readonly image: string } | null
  readonly image_ref: string
}

export interface ImageFsInfo {
  readonly image_filesystems: readonly {
    readonly fs_id: { readonly mountpoint: string } | null
    readonly used_bytes: { readonly value: number | string } | null
    readonly inodes_used: { readonly value: number | string } | null
  }[]
}

export interface ContainerStatus {
  readonly id: string
  readonly metadata: { readonly name: string; readonly attempt: number }
  readonly state: ContainerState
  readonly created_at: number
  readonly started_at: number
  readonly finished_at: number
  readonly exit_code: number
  readonly image: { readonly image: string } | null
  readonly image_ref: string
  readonly reason: string
  readonly message: string
  readonly labels: Labels
  readonly annotations: Labels
  readonly mounts: readonly { readonly container_path: string; readonly host_path: string }[]
  readonly log_path: string
  readonly user: { readonly linux: LinuxContainerUser | null } | null
}

/** The user that the first process began with; of runtimes that tell. */
export interface LinuxContainerUser {
  readonly uid: number
  readonly gid: number
  readonly supplemental_groups: readonly number[]
}

/** As far as it is used. */
export interface Status {
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: boolean; readonly message: string }[]
  }
  readonly runtime_handlers: readonly {
    readonly name: string
    readonly features: {
      readonly recursive_read_only_mounts: boolean
      readonly user_namespaces: boolean
    } | null
  }[]
  readonly features: { readonly supplemental_groups_policy: boolean } | null
}

export interface Image {
  readonly id: string
  readonly repo_tags: readonly string[]
  readonly repo_digests: readonly string[]
  readonly size: number
  readonly uid: { readonly value: number } | null
  readonly username: string
  readonly pinned: boolean
}

export interface ContainerStats {
  readonly attributes: { readonly id: string; readonly metadata: { readonly name: string }; readonly labels: Labels }
  readonly cpu: {
    readonly timestamp: number
    readonly usage_core_nano_seconds: { readonly value: number } | null
    readonly usage_nano_cores: { readonly value: number } | null
  } | null
  readonly memory: {
    readonly timestamp: number
    readonly working_set_bytes: { readonly value: number } | null
    readonly usage_bytes: { readonly value: number } | null
    readonly rss_bytes: { readonly value: number } | null
  } | null
  readonly writable_layer: {
    readonly used_bytes: { readonly value: number } | null
    readonly inodes_used: { readonly value: number } | null
  } | null
}

export type NamespaceMode = 'POD' | 'CONTAINER' | 'NODE' | 'TARGET'

export interface IdMapping {
  readonly host_id: number
  readonly container_id: number
  readonly length: number
}

export interface UserNamespace {
  readonly mode: 'NODE' | 'POD'
  readonly uids?: readonly IdMapping[]
  readonly gids?: readonly IdMapping[]
}

export interface NamespaceOption {
  readonly network: NamespaceMode
  readonly pid: NamespaceMode
  readonly ipc: NamespaceMode
  readonly target_id?: string
  readonly userns_options?: UserNamespace
}

export interface SecurityProfile {
  readonly profile_type: 'RuntimeDefault' | 'Unconfined' | 'Localhost'
  readonly localhost_ref?: string
}

export interface LinuxContainerResources {
  readonly cpu_period?: number
  readonly cpu_quota?: number
  readonly cpu_shares?: number
  readonly memory_limit_in_bytes?: number
  readonly oom_score_adj?: number
  /** `0-2,5` */
  readonly cpuset_cpus?: string
  readonly cpuset_mems?: string
  /** Memory and swap together. */
  readonly memory_swap_limit_in_bytes?: number
  /** Files of version 2 of control groups, and what is written to them. */
  readonly unified?: Readonly<Record<string, string>>
}

interface SecurityContext {
  readonly namespace_options: NamespaceOption
  readonly selinux_options?: Labels
  readonly run_as_user?: { readonly value: number }
  readonly run_as_group?: { readonly value: number }
  readonly supplemental_groups: readonly number[]
  readonly supplemental_groups_policy?: 'Merge' | 'Strict'
  readonly privileged: boolean
  readonly readonly_rootfs?: boolean
  readonly seccomp?: SecurityProfile
  readonly apparmor?: SecurityProfile
}

export interface LinuxPodSandboxConfig {
  readonly cgroup_parent: string
  readonly security_context: SecurityContext
  readonly sysctls: Labels
  readonly resources?: LinuxContainerResources
}

export interface LinuxContainerConfig {
  readonly resources: LinuxContainerResources
  readonly security_context: SecurityContext & {
    readonly capabilities?: {
      readonly add_capabilities: readonly string[]
      readonly drop_capabilities: readonly string[]
    }
    readonly run_as_username?: string
    readonly no_new_privs?: boolean
    readonly masked_paths: readonly string[]
    readonly readonly_paths: readonly string[]
  }
}

export interface ContainerEventResponse {
  /** A container's or a sandbox's. */
  readonly container_id: string
  readonly container_event_type:
    | 'CONTAINER_CREATED_EVENT'
    | 'CONTAINER_STARTED_EVENT'
    | 'CONTAINER_STOPPED_EVENT'
    | 'CONTAINER_DELETED_EVENT'
  readonly pod_sandbox_status: PodSandboxStatus | null
}
