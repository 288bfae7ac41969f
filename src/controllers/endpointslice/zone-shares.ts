/** How much of the cluster's processors each zone has, which is how much of a Service's traffic is expected to begin there. */
import type { Node } from '../../api/generated/types.ts'
import { quantityMilliValue } from '../../api/values/quantity.ts'
import { nodeCondition } from '../node-lifecycle/missed-heartbeats.ts'

export type ZoneShares = ReadonlyMap<string, number>

const ZONE = 'topology.kubernetes.io/zone'
/** Nodes with these run what the cluster itself needs, and little of what asks Services. */
const CONTROL_PLANE = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

export const topologyZoneOf = (node: Node | undefined): string | undefined => node?.metadata.labels?.[ZONE]

export const isReadyNode = (node: Node): boolean => nodeCondition(node, 'Ready')?.status === 'True'

/**
 * Each zone's share of 1, in the order of names. Undefined where one cannot tell: a node that counts (ready, none of the control
 * plane's) has no zone or no allocatable processors, or all that count are in one zone.
 */
export function zoneShares(nodes: Iterable<Node>): ZoneShares | undefined {
  const byZone = new Map<string, bigint>()
  let all = 0n
  for (const node of nodes) {
    if (CONTROL_PLANE.some((label) => node.metadata.labels?.[label] !== undefined) || !isReadyNode(node)) continue
    const zone = topologyZoneOf(node)
    const processors = quantityMilliValue(String(node.status?.allocatable?.['cpu'] ?? '0'))
    if (!zone || processors <= 0n) return undefined
    byZone.set(zone, (byZone.get(zone) ?? 0n) + processors)
    all += processors
  }
  if (byZone.size < 2) return undefined
  const zones = [...byZone].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(zones.map(([zone, processors]) => [zone, Number(processors) / Number(all)]))
}
