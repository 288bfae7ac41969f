/** Plugin InterPodAffinity: pods that must be near others or far from them, or would rather be. */
import type { FilterState, NodeFilter } from './filters.ts'
import { labelsOf, type NodeInfo } from './node-info.ts'
import { type PodInfo, termMatches } from './pod-info.ts'
import { hard, soft } from './refusal.ts'
import type { Score } from './scores.ts'
import { countByTopology } from './topology-counts.ts'

export const interPodAffinity: NodeFilter = (info, node, state) => {
  const labels = labelsOf(node)
  const nobodyMatches = state.affinityCounts.every((counts) => counts.size === 0)
  const matchesItself = info.affinity.every((term) => termMatches(term, info.pod, state.namespaceLabels))
  for (const [index, term] of info.affinity.entries()) {
    const value = labels[term.topologyKey]
    // The first pod of a group that wants to be with its own kind may start anywhere.
    const satisfied =
      value !== undefined && ((state.affinityCounts[index]!.get(value) ?? 0) > 0 || (nobodyMatches && matchesItself))
    if (!satisfied) return hard("node(s) didn't match pod affinity rules")
  }
  for (const term of info.antiAffinity) {
    const value = labels[term.topologyKey]
    if (value === undefined) continue
    for (const other of state.cluster.ready()) {
      if (labelsOf(other)[term.topologyKey] !== value) continue
      for (const present of other.pods.values())
        if (termMatches(term, present.pod, state.namespaceLabels))
          return soft("node(s) didn't match pod anti-affinity rules")
    }
  }
  for (const { info: other, node: where } of state.cluster.withAntiAffinity.values()) {
    // Preemption has taken it off to see what then.
    if (!where.pods.has(other.key)) continue
    for (const term of other.antiAffinity) {
      const value = labels[term.topologyKey]
      if (
        value !== undefined &&
        value === labelsOf(where)[term.topologyKey] &&
        termMatches(term, info.pod, state.namespaceLabels)
      )
        return soft("node(s) didn't satisfy existing pods anti-affinity rules")
    }
  }
  return undefined
}

/** What the pod wishes of others, what others there wish of it, and that others must have it near, which weighs 1 unless told otherwise. */
export function preferredPods(info: PodInfo, { cluster, namespaceLabels, profile }: FilterState): Score {
  const { hardPodAffinityWeight } = profile.args
  const byTopology = new Map<string, Map<string, number>>()
  const add = (key: string, value: string | undefined, weight: number) => {
    if (value === undefined) return
    const sums = byTopology.get(key) ?? new Map<string, number>()
    byTopology.set(key, sums)
    sums.set(value, (sums.get(value) ?? 0) + weight)
  }
  for (const term of info.preferred) {
    const on = (node: NodeInfo) => {
      let matching = 0
      for (const other of node.pods.values()) if (termMatches(term, other.pod, namespaceLabels)) matching++
      return matching
    }
    const counts = countByTopology(cluster, term.topologyKey, () => true, on, false)
    for (const [value, count] of counts) add(term.topologyKey, value, count * term.weight)
  }
  for (const { info: other, node } of cluster.withAffinity.values()) {
    for (const term of other.preferred)
      if (termMatches(term, info.pod, namespaceLabels))
        add(term.topologyKey, labelsOf(node)[term.topologyKey], term.weight)
    if (hardPodAffinityWeight === 0) continue
    for (const term of other.affinity)
      if (termMatches(term, info.pod, namespaceLabels))
        add(term.topologyKey, labelsOf(node)[term.topologyKey], hardPodAffinityWeight)
  }
  return {
    plugin: 'InterPodAffinity',
    normalize: 'between',
    isOfShape: false,
    raw: (node) => {
      let total = 0
      for (const [key, sums] of byTopology) total += sums.get(labelsOf(node)[key] ?? '') ?? 0
      return total
    },
  }
}
