/** What is known of a node's signs of life, and what becomes of its conditions without any. */
import type { Lease, Node, NodeCondition } from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'

export interface HeartbeatObservation {
  /** Ready condition and lease as last seen; only that they change matters, not what they say of the time. */
  readonly ready: string
  readonly renewTime: string
  /** When on our clock they last changed. */
  at: number
}

export function nodeCondition(node: Node, type: string): NodeCondition | undefined {
  return node.status?.conditions?.find((condition) => condition.type === type)
}

export function observe(
  last: HeartbeatObservation | undefined,
  node: Node,
  lease: Lease | undefined,
  now: number,
): HeartbeatObservation {
  const condition = nodeCondition(node, 'Ready')
  const ready = condition === undefined ? '' : `${condition.status} ${condition.lastHeartbeatTime}`
  const renewTime: string = lease?.spec?.renewTime ?? ''
  if (last !== undefined && last.ready === ready && last.renewTime === renewTime) return last
  // That we ourselves set it to Unknown is no sign of life.
  const own = last !== undefined && last.renewTime === renewTime && condition?.reason === 'NodeStatusUnknown'
  return { ready, renewTime, at: own ? last.at : now }
}

/** Milliseconds that a node may show no sign of life: one that never told of its condition has longer. */
export interface GracePeriods {
  readonly node: number
  readonly startup: number
}

/** Whether the node has shown no sign of life for longer than it may; now is monotonic, in milliseconds. */
export function isSilent(node: Node, seen: HeartbeatObservation, now: number, grace: GracePeriods): boolean {
  return now > seen.at + (nodeCondition(node, 'Ready') === undefined ? grace.startup : grace.node)
}

const silentTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']

/** undefined when all of them are Unknown already. */
export function conditionsWhenSilent(node: Node, nowMs: number): readonly NodeCondition[] | undefined {
  const now = formatTime(nowMs)
  const conditions = [...(node.status?.conditions ?? [])]
  let changed = false
  for (const type of silentTypes) {
    const at = conditions.findIndex((condition) => condition.type === type)
    const known = conditions[at]
    if (known === undefined) {
      conditions.push({
        type,
        status: 'Unknown',
        lastHeartbeatTime: node.metadata.creationTimestamp ?? now,
        lastTransitionTime: now,
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
      })
      changed = true
    } else if (known.status !== 'Unknown') {
      conditions[at] = {
        ...known,
        status: 'Unknown',
        lastTransitionTime: now,
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      }
      changed = true
    }
  }
  return changed ? conditions : undefined
}
