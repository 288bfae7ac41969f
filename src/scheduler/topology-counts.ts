/** Pods counted by the values that nodes have of a label: for spread constraints and inter-pod affinity. */
import { type ClusterNodes, labelsOf, type NodeInfo } from './node-info.ts'

/** Pods, as `on` counts them on a node, per value of a node label; `withEmpty` keeps the values where there are none. */
export function countByTopology(
  cluster: ClusterNodes,
  topologyKey: string,
  counts: (node: NodeInfo) => boolean,
  on: (node: NodeInfo) => number,
  withEmpty: boolean,
): Map<string, number> {
  const found = new Map<string, number>()
  for (const node of cluster.ready()) {
    const value = labelsOf(node)[topologyKey]
    if (value === undefined || !counts(node)) continue
    const sum = on(node)
    if (sum > 0 || withEmpty) found.set(value, (found.get(value) ?? 0) + sum)
  }
  return found
}
