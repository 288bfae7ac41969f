/** Taints that stand for a node's condition. */
import type { Node, Taint } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'
import { nodeCondition } from './missed-heartbeats.ts'

export const notReadyKey = 'node.kubernetes.io/not-ready'
export const unreachableKey = 'node.kubernetes.io/unreachable'
const unschedulableKey = 'node.kubernetes.io/unschedulable'

/** Which status of which condition is which taint. */
const byCondition: readonly (readonly [type: string, status: string, key: string])[] = [
  ['Ready', 'False', notReadyKey],
  ['Ready', 'Unknown', unreachableKey],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure'],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure'],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable'],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure'],
]

export const noScheduleKeys: readonly string[] = [...byCondition.map(([, , key]) => key), unschedulableKey]

export function conditionTaints(node: Node, nowMs: number): readonly Taint[] {
  const keys = byCondition
    .filter(([type, status]) => nodeCondition(node, type)?.status === status)
    .map(([, , key]) => key)
  if (node.spec?.unschedulable === true) keys.push(unschedulableKey)
  return keys.map((key) => ({ effect: 'NoSchedule', key, timeAdded: formatTime(nowMs) }))
}

export function noExecuteTaintFor(readyStatus: string, nowMs: number): Taint {
  const key = readyStatus === 'False' ? notReadyKey : unreachableKey
  return { effect: 'NoExecute', key, timeAdded: formatTime(nowMs) }
}

/** The node's taints when those of `effect` under `managedKeys` are `wanted`; undefined when they are already. */
export function withTaints(
  taints: readonly Taint[],
  wanted: readonly Taint[],
  managedKeys: readonly string[],
  effect: string,
): readonly Taint[] | undefined {
  const isManaged = (taint: Taint) => taint.effect === effect && managedKeys.includes(taint.key)
  const kept = taints.filter((taint) => !isManaged(taint) || wanted.some((other) => other.key === taint.key))
  const missing = wanted.filter((taint) => !taints.some((other) => other.key === taint.key && other.effect === effect))
  if (missing.length === 0 && kept.length === taints.length) return undefined
  return [...kept, ...missing]
}
