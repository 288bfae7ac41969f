/**
 * Kernel parameters that pods set (API concept: sysctls): each has its own value of the safe ones, and of others that the node's administrator
 * allows.
 */
import { type Pod, specOf } from './pod.ts'
import type { AdmissionRefusal } from './pod-admission.ts'

const SAFE = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]
/** Those of which the kernel keeps a value for each namespace: no other can be a pod's own. */
const NAMESPACED = /^(?:kernel\.(?:shm|msg)|kernel\.sem$|fs\.mqueue\.|net\.)/

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** Names may have slashes between their parts, and then dots in them. */
const dotted = (name: string): string => {
  const separator = /[./]/.exec(name)?.[0]
  return separator === '/' ? name.replace(/[./]/g, (sign) => (sign === '/' ? '.' : '/')) : name
}

/** @throws Error for a name or pattern (`kernel.msg*`) of what is not a pod's own */
export function checkUnsafeSysctls(allowed: readonly string[]): void {
  const wrong = allowed.find((pattern) => !NAMESPACED.test(pattern))
  if (wrong !== undefined)
    throw new Error(
      `--allowed-unsafe-sysctls: ${JSON.stringify(wrong)} is of the whole machine; kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* and net.* can be a pod's own`,
    )
}

/** `allowed`: beside the safe ones, each a name, or its beginning and a star. */
export function sysctlRefusal(pod: Pod, allowed: readonly string[] = []): AdmissionRefusal | undefined {
  const names = (specOf(pod).securityContext?.sysctls ?? []).map(({ name = '' }) => dotted(name))
  const other = names.find((name) => !SAFE.includes(name) && !allowed.some((pattern) => matches(pattern, name)))
  if (other === undefined) return undefined
  return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(other)} not allowlisted` }
}
