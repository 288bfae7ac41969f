/** Plugin NodeAffinity: the nodes that a pod selects or requires, or that its profile does for it, and those that it prefers. */
import { nodeTermMatches, selectsNode } from '../api/objects/node-affinity.ts'
import type { NodeFilter } from './filters.ts'
import type { PodInfo } from './pod-info.ts'
import type { PluginArgs } from './profile.ts'
import { hard } from './refusal.ts'
import type { Score } from './scores.ts'

export const nodeAffinity: NodeFilter = (info, node, { profile }) => {
  const { addedAffinity } = profile.args
  if (addedAffinity !== undefined && !selectsNode({ affinity: { nodeAffinity: addedAffinity } }, node.node!))
    return hard("node(s) didn't match scheduler-enforced node affinity")
  return selectsNode(info.pod.spec ?? {}, node.node!)
    ? undefined
    : hard("node(s) didn't match Pod's node affinity/selector")
}

export function preferredNodes(info: PodInfo, { addedAffinity }: PluginArgs): Score {
  const preferred = [
    ...(addedAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(info.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
  ]
  return {
    plugin: 'NodeAffinity',
    normalize: 'to max',
    raw: (node) =>
      preferred.reduce((sum, entry) => sum + (nodeTermMatches(entry.preference, node.node!) ? entry.weight : 0), 0),
  }
}
