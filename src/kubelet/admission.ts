/**
 * Whether the node takes a pod: its resources, ports, labels and taints are looked at once more, because a pod may come
 * with a node already chosen, or the scheduler's picture was old.
 */
import type { Node } from '../api/generated/types.ts'
import type { Fields } from '../api/object.ts'
import { selectsNode } from '../api/objects/node-affinity.ts'
import { podRequests } from '../api/objects/pod-requests.ts'
import { addQuantities, compareQuantities, quantityMilliValue, quantityValue } from '../api/objects/quantity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { type Pod, specOf } from './pod.ts'

export interface Refusal {
  readonly reason: string
  readonly message: string
}

/** `others`: the pods that hold resources of the node already. */
export function refusalOf(
  pod: Pod,
  node: Node | undefined,
  allocatable: Readonly<Record<string, string>>,
  others: readonly Pod[],
): Refusal | undefined {
  return (
    resourceRefusal(pod, allocatable, others) ??
    (node === undefined ? undefined : nodeRefusal(pod, node)) ??
    portRefusal(pod, others)
  )
}

function resourceRefusal(
  pod: Pod,
  allocatable: Readonly<Record<string, string>>,
  others: readonly Pod[],
): Refusal | undefined {
  const pods = BigInt(others.length)
  const most = quantityValue(allocatable['pods'] ?? '110')
  if (pods + 1n > most) return outOf('pods', 1n, pods, most)
  for (const [name, amount] of Object.entries(podRequests(specOf(pod)))) {
    if (compareQuantities(amount, '0') === 0) continue
    const value = name === 'cpu' ? quantityMilliValue : quantityValue
    let used = '0'
    for (const other of others) used = addQuantities(used, podRequests(specOf(other))[name] ?? '0')
    const capacity = allocatable[name] ?? '0'
    if (compareQuantities(addQuantities(used, amount), capacity) > 0)
      return outOf(name, value(amount), value(used), value(capacity))
  }
  return undefined
}

function outOf(name: string, requested: bigint, used: bigint, capacity: bigint): Refusal {
  return {
    reason: `OutOf${name}`,
    message: `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  }
}

function nodeRefusal(pod: Pod, node: Node): Refusal | undefined {
  const spec = specOf(pod)
  if (!selectsNode(spec as Fields, node))
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    }
  const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  const tolerations = spec.tolerations ?? []
  if (taints.some((taint) => !tolerations.some((one) => toleratesTaint(one as Fields, taint as Fields))))
    return {
      reason: 'TaintToleration',
      message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
    }
  return undefined
}

interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

function hostPorts(pod: Pod): readonly HostPort[] {
  const { containers, initContainers = [] } = specOf(pod)
  const found: HostPort[] = []
  for (const { ports = [] } of [...containers, ...initContainers])
    for (const { hostPort = 0, hostIP, protocol = 'TCP' } of ports)
      if (hostPort > 0)
        found.push({ ip: hostIP === undefined || hostIP === '' ? '0.0.0.0' : hostIP, protocol, port: hostPort })
  return found
}

function portRefusal(pod: Pod, others: readonly Pod[]): Refusal | undefined {
  const wanted = hostPorts(pod)
  if (wanted.length === 0) return undefined
  const anyIP = (ip: string) => ip === '0.0.0.0' || ip === '::'
  const clash = (a: HostPort, b: HostPort) =>
    a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || anyIP(a.ip) || anyIP(b.ip))
  if (!others.some((other) => hostPorts(other).some((used) => wanted.some((one) => clash(one, used))))) return undefined
  return {
    reason: 'NodePorts',
    message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  }
}
