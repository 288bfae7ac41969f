/** What a pod's and a container's security contexts become for the runtime (API concept: security context). */
import type { PodSecurityContext, SecurityContext } from '../../api/generated/types.ts'
import { type Container, type Pod, specOf } from '../pod.ts'
import type {
  LinuxContainerConfig,
  LinuxPodSandboxConfig,
  NamespaceOption,
  SecurityProfile,
  UserNamespace,
} from '../runtimes/cri/messages.ts'

type ContainerSecurity = LinuxContainerConfig['security_context']

/** Of /proc and /sys, as every runtime hides and guards them by default. */
const MASKED = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const READ_ONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

const podSecurity = (pod: Pod): PodSecurityContext => specOf(pod).securityContext ?? {}

export function namespacesOf(pod: Pod, users: UserNamespace): NamespaceOption {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace } = specOf(pod)
  return {
    network: hostNetwork === true ? 'NODE' : 'POD',
    ipc: hostIPC === true ? 'NODE' : 'POD',
    pid: hostPID === true ? 'NODE' : shareProcessNamespace === true ? 'POD' : 'CONTAINER',
    userns_options: users,
  }
}

const RUNTIME_DEFAULT: SecurityProfile = { profile_type: 'RuntimeDefault' }

function seccompOf(profile: SecurityContext['seccompProfile']): SecurityProfile {
  return profileOf(profile, '/var/lib/kubelet/seccomp') ?? { profile_type: 'Unconfined' }
}

function profileOf(
  profile: { readonly type: string; readonly localhostProfile?: string } | undefined,
  directory: string,
): SecurityProfile | undefined {
  switch (profile?.type) {
    case undefined:
      return undefined
    case 'RuntimeDefault':
      return RUNTIME_DEFAULT
    case 'Localhost': {
      const name = profile?.localhostProfile ?? ''
      return { profile_type: 'Localhost', localhost_ref: directory === '' ? name : `${directory}/${name}` }
    }
    default:
      return { profile_type: 'Unconfined' }
  }
}

/** Groups that every process of the pod is in. */
function groupsOf(pod: Pod): readonly number[] {
  const { fsGroup, supplementalGroups = [] } = podSecurity(pod)
  return [...new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups])]
}

export function sandboxSecurity(pod: Pod, users: UserNamespace): LinuxPodSandboxConfig['security_context'] {
  const { runAsUser, runAsGroup, supplementalGroupsPolicy } = podSecurity(pod)
  return {
    namespace_options: namespacesOf(pod, users),
    privileged: [...specOf(pod).containers, ...(specOf(pod).initContainers ?? [])].some(
      ({ securityContext }) => securityContext?.privileged === true,
    ),
    supplemental_groups: groupsOf(pod),
    ...(supplementalGroupsPolicy === undefined
      ? {}
      : { supplemental_groups_policy: policyOf(supplementalGroupsPolicy) }),
    ...(runAsUser === undefined ? {} : { run_as_user: { value: runAsUser } }),
    ...(runAsGroup === undefined || runAsUser === undefined ? {} : { run_as_group: { value: runAsGroup } }),
    // Whatever the pod's profile is: of the sandbox itself only what holds its namespaces runs.
    seccomp: RUNTIME_DEFAULT,
  }
}

const policyOf = (policy: string): 'Strict' | 'Merge' => (policy === 'Strict' ? 'Strict' : 'Merge')

export interface ImageUser {
  readonly uid?: number
  readonly username?: string
}

function containerSeccomp(
  profile: SecurityContext['seccompProfile'],
  privileged: boolean,
  seccompDefault: boolean,
): SecurityProfile {
  if (profile === undefined && seccompDefault) return RUNTIME_DEFAULT
  return privileged ? { profile_type: 'Unconfined' } : seccompOf(profile)
}

/** `seccompDefault`: without a profile of its own it has the runtime's. @throws Error for an image that may not run as root and would, or whose user is not known by number */
export function containerSecurity(
  pod: Pod,
  container: Container,
  imageUser: ImageUser | undefined,
  users: UserNamespace,
  targetId?: string,
  seccompDefault = false,
): ContainerSecurity {
  const own = container.securityContext ?? {}
  const common = podSecurity(pod)
  const runAsUser = own.runAsUser ?? common.runAsUser
  const runAsGroup = own.runAsGroup ?? common.runAsGroup
  if ((own.runAsNonRoot ?? common.runAsNonRoot) === true) checkNonRoot(pod, container, runAsUser, imageUser)
  const userless = runAsUser === undefined
  const { privileged = false, capabilities, procMount } = own
  const selinux = own.seLinuxOptions ?? common.seLinuxOptions
  const apparmor = profileOf(own.appArmorProfile ?? common.appArmorProfile, '')
  const namespaces = namespacesOf(pod, users)
  return {
    namespace_options: targetId === undefined ? namespaces : { ...namespaces, pid: 'TARGET', target_id: targetId },
    privileged,
    supplemental_groups: groupsOf(pod),
    ...(common.supplementalGroupsPolicy === undefined
      ? {}
      : { supplemental_groups_policy: policyOf(common.supplementalGroupsPolicy) }),
    ...(userless ? imageUser && imageUserOf(imageUser) : { run_as_user: { value: runAsUser } }),
    ...(runAsGroup === undefined ? {} : { run_as_group: { value: runAsGroup } }),
    ...(own.readOnlyRootFilesystem === true ? { readonly_rootfs: true } : {}),
    ...(selinux === undefined ? {} : { selinux_options: { ...selinux } as Readonly<Record<string, string>> }),
    ...(capabilities === undefined
      ? {}
      : {
          capabilities: { add_capabilities: capabilities.add ?? [], drop_capabilities: capabilities.drop ?? [] },
        }),
    ...(own.allowPrivilegeEscalation === false ? { no_new_privs: true } : {}),
    seccomp: containerSeccomp(own.seccompProfile ?? common.seccompProfile, privileged, seccompDefault),
    ...(apparmor === undefined ? {} : { apparmor }),
    masked_paths: procMount === 'Unmasked' ? [] : MASKED,
    readonly_paths: procMount === 'Unmasked' ? [] : READ_ONLY,
  }
}

/** The image's own user, as CRI's fields: the kubelet names a user to the runtime also where neither names one. */
function imageUserOf(user: ImageUser) {
  return user.username === undefined ? { run_as_user: { value: user.uid ?? 0 } } : { run_as_username: user.username }
}

function checkNonRoot(
  pod: Pod,
  container: Container,
  runAsUser: number | undefined,
  image: ImageUser | undefined,
): void {
  const where = `(pod: "${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})", container: ${container.name})`
  if (runAsUser !== undefined) {
    if (runAsUser === 0) throw new Error(`container's runAsUser breaks non-root policy ${where}`)
    return
  }
  if (image?.uid === 0 || (image?.uid === undefined && image?.username === undefined))
    throw new Error(`container has runAsNonRoot and image will run as root ${where}`)
  if (image.uid === undefined)
    throw new Error(
      `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root ${where}`,
    )
}
