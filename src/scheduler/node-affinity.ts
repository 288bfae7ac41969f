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
    isOfShape: true,
    raw: (node) =>
      preferred.reduce((sum, entry) => sum + (nodeTermMatches(entry.preference, node.node!) ? entry.weight : 0), 0),
  }
}

/**
 * The only nodes that the pod's required node affinity allows, by metadata.name, as for a DaemonSet's pods; undefined where it
 * names none. A term that names different ones allows none.
 */
export function namedNodes({ pod }: PodInfo): ReadonlySet<string> | undefined {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const terms = required?.nodeSelectorTerms ?? []
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const fields = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    const [first, ...others] = fields.map(({ values = [] }) => values)
    if (first === undefined) return undefined
    for (const name of first) if (others.every((values) => values.includes(name))) names.add(name)
  }
  return terms.length === 0 ? undefined : names
}

export const NOT_NAMED = { ...hard("node(s) didn't satisfy plugin(s) [NodeAffinity]"), plugin: 'NodeAffinity' } as const
