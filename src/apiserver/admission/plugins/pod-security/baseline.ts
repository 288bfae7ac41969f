/** The checks of the baseline level (API concept: Pod Security Standards), in the order in which they are reported. */

import type { PodSecurityContext, PodSpec, SELinuxOptions, SecurityContext } from '../../../../api/generated/types.ts'
import { hasOwnUsers } from '../../../../api/objects/host-users.ts'
import {
  type Check,
  type CheckedPod,
  containersOf,
  itemName,
  namedContainers,
  namesWhere,
  plural,
  quoted,
  setters,
  sortedSet,
  type Violation,
} from './check.ts'

type AnyContext = PodSecurityContext | SecurityContext

const APPARMOR = 'container.apparmor.security.beta.kubernetes.io/'

function appArmor({ annotations, spec }: CheckedPod): Violation | undefined {
  const bad = (context: AnyContext | undefined): string | undefined => {
    const type = context?.appArmorProfile?.type
    return type === undefined || type === 'RuntimeDefault' || type === 'Localhost' ? undefined : type
  }
  const values: string[] = []
  const podType = bad(spec.securityContext)
  if (podType !== undefined) values.push(podType)
  const names = namesWhere(spec, (container) => {
    const type = bad(container.securityContext)
    if (type !== undefined) values.push(type)
    return type !== undefined
  })
  const forbidden = Object.entries(annotations).filter(
    ([key, value]) =>
      key.startsWith(APPARMOR) && value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/'),
  )
  values.push(...forbidden.map(([key, value]) => `${key}="${value}"`))
  if (values.length === 0) return undefined
  const who = [
    ...setters(podType !== undefined, names),
    ...(forbidden.length > 0 ? [plural('annotation', 'annotations', forbidden.length)] : []),
  ]
  const distinct = sortedSet(values)
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', distinct.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(distinct)}`,
  }
}

const BASELINE_CAPABILITIES = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const found = addedCapabilities(spec, BASELINE_CAPABILITIES)
  return found === undefined ? undefined : { reason: 'non-default capabilities', detail: found }
}

/** The containers that add capabilities that are not allowed, in words. */
export function addedCapabilities(spec: Partial<PodSpec>, allowed: ReadonlySet<string>): string | undefined {
  const values: string[] = []
  const names = namesWhere(spec, (container) => {
    const added = container.securityContext?.capabilities?.add ?? []
    const bad = added.filter((capability) => !allowed.has(capability))
    values.push(...bad)
    return bad.length > 0
  })
  if (names.length === 0) return undefined
  return `${namedContainers(names)} must not include ${quoted(sortedSet(values))} in securityContext.capabilities.add`
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

function hostPath({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter((volume) => volume.hostPath).map(itemName)
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` }
}

function hostPorts({ spec }: CheckedPod): Violation | undefined {
  const ports: string[] = []
  const names = namesWhere(spec, (container) => {
    const used = (container.ports ?? []).filter((port) => port.hostPort)
    ports.push(...used.map((port) => String(port.hostPort)))
    return used.length > 0
  })
  if (names.length === 0) return undefined
  const distinct = sortedSet(ports)
  const verb = plural('uses', 'use', names.length)
  return {
    reason: 'hostPort',
    detail: `${namedContainers(names)} ${verb} ${plural('hostPort', 'hostPorts', distinct.length)} ${distinct.join(', ')}`,
  }
}

/** Probes and lifecycle hooks that reach for another host than the pod itself (KEP-4940). */
function hostProbes({ spec }: CheckedPod): Violation | undefined {
  const hosts: string[] = []
  const names = namesWhere(spec, (container) => {
    const handlers = [
      container.livenessProbe,
      container.readinessProbe,
      container.startupProbe,
      container.lifecycle?.postStart,
      container.lifecycle?.preStop,
    ]
    const found = handlers
      .flatMap((handler) => [handler?.httpGet?.host, handler?.tcpSocket?.host])
      .filter((host): host is string => host !== undefined && host !== '')
    hosts.push(...found)
    return found.length > 0
  })
  if (names.length === 0) return undefined
  const distinct = sortedSet(hosts)
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', distinct.length)
  return {
    reason: 'probe or lifecycle host',
    detail: `${namedContainers(names)} ${plural('uses', 'use', names.length)} ${what} ${quoted(distinct)}`,
  }
}

function privileged({ spec }: CheckedPod): Violation | undefined {
  const names = namesWhere(spec, (container) => container.securityContext?.privileged === true)
  if (names.length === 0) return undefined
  return { reason: 'privileged', detail: `${namedContainers(names)} must not set securityContext.privileged=true` }
}

export function procMount({ spec }: CheckedPod): Violation | undefined {
  const values: string[] = []
  const names = namesWhere(spec, (container) => {
    const mount = container.securityContext?.procMount
    if (mount === undefined || mount === 'Default') return false
    values.push(mount)
    return true
  })
  if (names.length === 0) return undefined
  return {
    reason: 'procMount',
    detail: `${namedContainers(names)} must not set securityContext.procMount to ${quoted(sortedSet(values))}`,
  }
}

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t']

const seLinux =
  (allowed: ReadonlySet<string>) =>
  (pod: CheckedPod): Violation | undefined => {
    const types: string[] = []
    let user = false
    let role = false
    const isBad = (options: SELinuxOptions | undefined): boolean => {
      if (!options) return false
      const { type = '' } = options
      const badType = !allowed.has(type)
      if (badType) types.push(type)
      if (options.user) user = true
      if (options.role) role = true
      return badType || Boolean(options.user) || Boolean(options.role)
    }
    const podIsBad = isBad(pod.spec.securityContext?.seLinuxOptions)
    const names = namesWhere(pod.spec, (container) => isBad(container.securityContext?.seLinuxOptions))
    if (!podIsBad && names.length === 0) return undefined
    const distinct = sortedSet(types)
    const details = [
      ...(distinct.length > 0 ? [`${plural('type', 'types', distinct.length)} ${quoted(distinct)}`] : []),
      ...(user ? ['user may not be set'] : []),
      ...(role ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters(podIsBad, names).join(' and ')} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`,
    }
  }

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'

/** Before 1.19 seccomp profiles were annotations. */
function seccompAnnotations({ annotations, spec }: CheckedPod): Violation | undefined {
  const allowed = (value: string) =>
    value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
  const keys = [SECCOMP_POD, ...containersOf(spec).map((container) => SECCOMP_CONTAINER + itemName(container))]
  const bad = keys.filter((key) => Object.hasOwn(annotations, key) && !allowed(annotations[key] as string))
  if (bad.length === 0) return undefined
  const values = bad.map((key) => `${key}="${annotations[key]}"`)
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', bad.length)} ${values.join(', ')}`,
  }
}

const isAllowedSeccomp = (type: string) => type === 'RuntimeDefault' || type === 'Localhost'

function seccomp({ spec }: CheckedPod): Violation | undefined {
  const values: string[] = []
  const isBad = (context: AnyContext | undefined): boolean => {
    const type = context?.seccompProfile?.type
    if (type === undefined || isAllowedSeccomp(type)) return false
    values.push(type)
    return true
  }
  const podIsBad = isBad(spec.securityContext)
  const names = namesWhere(spec, (container) => isBad(container.securityContext))
  if (!podIsBad && names.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `${setters(podIsBad, names).join(' and ')} must not set securityContext.seccompProfile.type to ${quoted(sortedSet(values))}`,
  }
}

const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const SYSCTLS_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports']
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

const sysctls =
  (allowed: readonly string[]) =>
  ({ spec }: CheckedPod): Violation | undefined => {
    const set = spec.securityContext?.sysctls ?? []
    const bad = set.map(itemName).filter((name) => !allowed.includes(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }

function windowsHostProcess({ spec }: CheckedPod): Violation | undefined {
  const isBad = (context: AnyContext | undefined) => context?.windowsOptions?.hostProcess === true
  const podIsBad = isBad(spec.securityContext)
  const names = namesWhere(spec, (container) => isBad(container.securityContext))
  if (!podIsBad && names.length === 0) return undefined
  return {
    reason: 'hostProcess',
    detail: `${setters(podIsBad, names).join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
  }
}

export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', versions: [{ since: 0, check: appArmor }] },
  { id: 'capabilities_baseline', versions: [{ since: 0, check: capabilities }] },
  { id: 'hostNamespaces', versions: [{ since: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', versions: [{ since: 0, check: hostPath }] },
  { id: 'hostPorts', versions: [{ since: 0, check: hostPorts }] },
  { id: 'hostProbesAndHostLifecycle', versions: [{ since: 34, check: hostProbes }] },
  { id: 'privileged', versions: [{ since: 0, check: privileged }] },
  {
    id: 'procMount',
    versions: [
      { since: 0, check: procMount },
      { since: 35, check: (pod) => (hasOwnUsers(pod.spec) ? undefined : procMount(pod)) },
    ],
  },
  {
    id: 'seLinuxOptions',
    versions: [
      { since: 0, check: seLinux(new Set(SELINUX_TYPES)) },
      { since: 31, check: seLinux(new Set([...SELINUX_TYPES, 'container_engine_t'])) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    versions: [
      { since: 0, check: seccompAnnotations },
      { since: 19, check: seccomp },
    ],
  },
  {
    id: 'sysctls',
    versions: [
      { since: 0, check: sysctls(SYSCTLS) },
      { since: 27, check: sysctls(SYSCTLS_27) },
      { since: 29, check: sysctls(SYSCTLS_29) },
      { since: 32, check: sysctls(SYSCTLS_32) },
    ],
  },
  { id: 'windowsHostProcess', versions: [{ since: 0, check: windowsHostProcess }] },
]
