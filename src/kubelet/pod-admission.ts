/**
 * Whether the node takes a pod: its resources, ports, labels and taints are looked at once more, because a pod may come
 * with a node already chosen, or the scheduler's picture was old.
 */

import type { Node } from '../api/generated/types.ts'
import { isExtendedResource } from '../api/names/resource-names.ts'
import { type HostPort, hostPortsOf, portsClash } from '../api/objects/host-ports.ts'
import { selectsNode } from '../api/objects/node-affinity.ts'
import { podRequests } from '../api/objects/pod-requests.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { nanosOf } from '../api/values/quantity.ts'
import { type Pod, specOf, uidOf } from './pod.ts'

export interface AdmissionRefusal {
  readonly reason: string
  readonly message: string
  /** Of a resize that waits: `OutOfcpu`. */
  readonly lacks?: string
}

/** What the pods of a node take of it. */
export interface Allocations {
  add(pod: Pod): void
  remove(uid: string): void
  has(uid: string): boolean
  readonly pods: number
  /** In nanos, by resource name. */
  used(resource: string): bigint
  hostPorts(): Iterable<readonly HostPort[]>
}

export function createAllocations(): Allocations {
  const requests = new Map<string, readonly (readonly [string, bigint])[]>()
  const ports = new Map<string, readonly HostPort[]>()
  const totals = new Map<string, bigint>()
  const change = (name: string, nanos: bigint) => totals.set(name, (totals.get(name) ?? 0n) + nanos)
  return {
    add(pod) {
      const uid = uidOf(pod)
      if (requests.has(uid)) return
      const own = requestsOf(pod)
      requests.set(uid, own)
      for (const [name, nanos] of own) change(name, nanos)
      const used = hostPortsOf(specOf(pod))
      if (used.length > 0) ports.set(uid, used)
    },
    remove(uid) {
      for (const [name, nanos] of requests.get(uid) ?? []) change(name, -nanos)
      requests.delete(uid)
      ports.delete(uid)
    },
    has: (uid) => requests.has(uid),
    get pods() {
      return requests.size
    },
    used: (resource) => totals.get(resource) ?? 0n,
    hostPorts: () => ports.values(),
  }
}

function requestsOf(pod: Pod): readonly (readonly [string, bigint])[] {
  const asked = Object.entries(podRequests(specOf(pod))).map(([name, amount]) => [name, nanosOf(amount)] as const)
  // Copied: what is filtered has room for sixteen more, and is kept.
  return asked.every(([, nanos]) => nanos > 0n) ? asked : asked.filter(([, nanos]) => nanos > 0n).slice()
}

/** How much more the pod asks for than is left. */
export interface Shortage {
  readonly name: string
  readonly nanos: bigint
}

/** Why the node does not take the pod; `shortages`: where nothing else is in the way than what others have. */
export function admissionRefusal(
  pod: Pod,
  node: Node | undefined,
  allocatable: Readonly<Record<string, string>>,
  others: Allocations,
  /** Counted by what offers it. */
  isCountedElsewhere: (resource: string) => boolean = () => false,
): (AdmissionRefusal & { readonly shortages?: readonly Shortage[] }) | undefined {
  const shortages = shortagesOf(pod, { ...node?.status?.allocatable, ...allocatable }, others).filter(
    ({ name }) => !isCountedElsewhere(name),
  )
  const other = (node === undefined ? undefined : nodeRefusal(pod, node)) ?? portRefusal(pod, others)
  const [first] = shortages
  if (first === undefined) return other
  const refusal = outOf(first)
  return other === undefined
    ? {
        ...refusal,
        shortages: shortages.map(({ name, requested, used, capacity }) => ({
          name,
          nanos: requested + used - capacity,
        })),
      }
    : refusal
}

const ONE = 1_000_000_000n
const MILLI = 1_000_000n

interface Lack {
  readonly name: string
  /** In nanos. */
  readonly requested: bigint
  readonly used: bigint
  readonly capacity: bigint
}

function shortagesOf(pod: Pod, allocatable: Readonly<Record<string, string>>, others: Allocations): readonly Lack[] {
  const most = nanosOf(allocatable['pods'] ?? '110')
  const pods = BigInt(others.pods) * ONE
  const lacks: Lack[] = []
  if (pods + ONE > most) lacks.push({ name: 'pods', requested: ONE, used: pods, capacity: most })
  for (const [name, nanos] of requestsOf(pod)) {
    // An extended resource that the Node does not have is not counted by it.
    if (allocatable[name] === undefined && isExtendedResource(name)) continue
    const used = others.used(name)
    const capacity = nanosOf(allocatable[name] ?? '0')
    if (used + nanos > capacity) lacks.push({ name, requested: nanos, used, capacity })
  }
  return lacks
}

/** Why a pod that runs here does not get what it asks for now; `others` are without it. */
export function resizeRefusal(
  pod: Pod,
  allocatable: Readonly<Record<string, string>>,
  others: Allocations,
): AdmissionRefusal | undefined {
  for (const [name, nanos] of requestsOf(pod)) {
    const capacity = nanosOf(allocatable[name] ?? '0')
    if (nanos > capacity) {
      const message = `Node didn't have enough capacity: ${name}, requested: ${amountOf(name, nanos)}, capacity: ${amountOf(name, capacity)}`
      return { reason: 'Infeasible', message }
    }
  }
  const [first] = shortagesOf(pod, allocatable, others)
  if (first === undefined) return undefined
  const { reason: lacks, message } = outOf(first)
  return { reason: 'Deferred', message, lacks }
}

/** CPU in thousandths, everything else in whole units. */
export function amountOf(name: string, nanos: bigint): bigint {
  const unit = name === 'cpu' ? MILLI : ONE
  return (nanos + unit - 1n) / unit
}

function outOf({ name, requested, used, capacity }: Lack): AdmissionRefusal {
  const amount = (nanos: bigint) => amountOf(name, nanos)
  return {
    reason: `OutOf${name}`,
    message: `Node didn't have enough resource: ${name}, requested: ${amount(requested)}, used: ${amount(used)}, capacity: ${amount(capacity)}`,
  }
}

function nodeRefusal(pod: Pod, node: Node): AdmissionRefusal | undefined {
  const spec = specOf(pod)
  if (!selectsNode(spec, node))
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    }
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  const tolerations = spec.tolerations ?? []
  if (taints.some((taint) => !tolerations.some((one) => toleratesTaint(one, taint))))
    return {
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    }
  return undefined
}

/** The node runs Linux alone. */
export function systemRefusal(pod: Pod): AdmissionRefusal | undefined {
  if ((specOf(pod).os?.name ?? LINUX) !== LINUX)
    return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" }
  return undefined
}

const LINUX = 'linux'

/** `isThere`: the kernel knows AppArmor and has it switched on. */
export function appArmorRefusal(pod: Pod, isThere: boolean): AdmissionRefusal | undefined {
  const { containers, initContainers = [], securityContext } = specOf(pod)
  const profiles = [...containers, ...initContainers].map((one) => one.securityContext?.appArmorProfile)
  const asks = [securityContext?.appArmorProfile, ...profiles].some(
    ({ type } = { type: 'Unconfined' }) => type !== 'Unconfined',
  )
  if (isThere || !asks) return undefined
  return { reason: 'AppArmor', message: 'Cannot enforce AppArmor: AppArmor is not enabled on the host' }
}

/** `knowsStrict`: what runs containers can keep them to the groups that the pod names. */
export function groupsPolicyRefusal(pod: Pod, knowsStrict: boolean): AdmissionRefusal | undefined {
  if (specOf(pod).securityContext?.supplementalGroupsPolicy !== 'Strict' || knowsStrict) return undefined
  const reason = 'SupplementalGroupsPolicyNotSupported'
  return { reason, message: 'SupplementalGroupsPolicy=Strict is not supported in this node' }
}

function portRefusal(pod: Pod, others: Allocations): AdmissionRefusal | undefined {
  const wanted = hostPortsOf(specOf(pod))
  if (wanted.length === 0) return undefined
  for (const used of others.hostPorts())
    if (portsClash(wanted, used))
      return {
        reason: 'NodePorts',
        message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      }
  return undefined
}
