/**
 * Filters, in the order of Kubernetes' default plugins. Each says why a node does not do for a pod: `hard` reasons cannot be
 * cured by evicting pods from the node, the others could be.
 */
import type { Fields } from '../api/object.ts'
import { addInt64 } from '../api/objects/integers.ts'
import { selectsNode } from '../api/objects/node-affinity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import type { DevicePlan } from './devices/device-binder.ts'
import { type Cluster, labelsOf, type NodeInfo, taintsOf } from './node-info.ts'
import { type HostPort, type PodInfo, termMatches } from './pod-info.ts'
import type { VolumePlan } from './volumes.ts'

export interface Refusal {
  readonly reasons: readonly string[]
  readonly hard: boolean
}

/** What filters need beyond the node: worked out once per pod by `prefilter`. */
export interface FilterState {
  readonly cluster: Cluster
  readonly namespaceLabels: (namespace: string) => Fields | undefined
  /** Matching pods by topology value, one map per required affinity term and per hard spread constraint. */
  readonly affinityCounts: readonly ReadonlyMap<string, number>[]
  readonly spreadCounts: readonly ReadonlyMap<string, number>[]
  /** For a pod with volume claims: what is to be done for them on the node, or why that is impossible. */
  readonly volumesOn?: (node: NodeInfo) => VolumePlan | readonly string[]
  /** For a pod with resource claims: the devices for them on the node, or why it has none. */
  readonly devicesOn?: (node: NodeInfo) => DevicePlan | string
  /** Extended resources that devices stand for where a node has none of them by a plugin. */
  readonly backed?: ReadonlySet<string>
}

export type NodeFilter = (info: PodInfo, node: NodeInfo, state: FilterState) => Refusal | undefined

const hard = (...reasons: string[]): Refusal => ({ reasons, hard: true })
const soft = (...reasons: string[]): Refusal => ({ reasons, hard: false })

const tolerations = (info: PodInfo) => info.pod.spec?.tolerations ?? []

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const nodeUnschedulable: NodeFilter = (info, node) =>
  node.node?.spec?.unschedulable && !tolerations(info).some((toleration) => toleratesTaint(toleration, UNSCHEDULABLE))
    ? hard('node(s) were unschedulable')
    : undefined

const nodeName: NodeFilter = (info, node) =>
  info.pod.spec?.nodeName && info.pod.spec?.nodeName !== node.name
    ? hard("node(s) didn't match the requested node name")
    : undefined

const taintToleration: NodeFilter = (info, node) => {
  const untolerated = taintsOf(node).some(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' && !tolerations(info).some((toleration) => toleratesTaint(toleration, taint)),
  )
  return untolerated ? hard('node(s) had untolerated taint(s)') : undefined
}

const nodeAffinity: NodeFilter = (info, node) =>
  selectsNode(info.pod.spec ?? {}, node.node!) ? undefined : hard("node(s) didn't match Pod's node affinity/selector")

const clash = (a: HostPort, b: HostPort) =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0')

const nodePorts: NodeFilter = (info, node) =>
  info.ports.some((wanted) => node.ports.some((used) => clash(wanted, used)))
    ? soft("node(s) didn't have free ports for the requested pod ports")
    : undefined

const nodeResources: NodeFilter = (info, node, { backed }) => {
  const reasons: string[] = []
  let curable = true
  if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) reasons.push('Too many pods')
  for (const [name, amount] of info.requests) {
    if (amount === 0) continue
    const capacity = node.allocatable.get(name) ?? 0
    if (capacity === 0 && backed?.has(name)) continue
    if (amount > addInt64(capacity, -(node.requested.get(name) ?? 0))) reasons.push(`Insufficient ${name}`)
    if (amount > capacity) curable = false
  }
  return reasons.length === 0 ? undefined : { reasons, hard: !curable }
}

const volumeBinding: NodeFilter = (_, node, state) => {
  const plan = state.volumesOn?.(node)
  return plan !== undefined && 'length' in plan ? hard(...plan) : undefined
}

const topologySpread: NodeFilter = (info, node, state) => {
  const constraints = info.spread.filter((constraint) => constraint.hard)
  const labels = labelsOf(node)
  for (const [index, constraint] of constraints.entries()) {
    const value = labels[constraint.topologyKey]
    if (value === undefined)
      return hard("node(s) didn't match pod topology spread constraints (missing required label)")
    const counts = state.spreadCounts[index]!
    const least = counts.size < constraint.minDomains ? 0 : Math.min(...counts.values())
    const self = constraint.selector.matches(info.pod.metadata.labels) ? 1 : 0
    if ((counts.get(value) ?? 0) + self - least > constraint.maxSkew)
      return soft("node(s) didn't match pod topology spread constraints")
  }
  return undefined
}

const interPodAffinity: NodeFilter = (info, node, state) => {
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
  for (const { info: other, node: where } of state.cluster.withAntiAffinity.values())
    for (const term of other.antiAffinity) {
      const value = labels[term.topologyKey]
      if (
        value !== undefined &&
        value === labelsOf(where)[term.topologyKey] &&
        termMatches(term, info.pod, state.namespaceLabels)
      )
        return soft("node(s) didn't satisfy existing pods anti-affinity rules")
    }
  return undefined
}

const dynamicResources: NodeFilter = (_, node, state) => {
  const plan = state.devicesOn?.(node)
  return typeof plan === 'string' ? hard(plan) : undefined
}

const filters: readonly NodeFilter[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResources,
  volumeBinding,
  topologySpread,
  interPodAffinity,
  dynamicResources,
]

export function prefilter(
  info: PodInfo,
  cluster: Cluster,
  namespaceLabels: FilterState['namespaceLabels'],
): FilterState {
  const hardSpread = info.spread.filter((constraint) => constraint.hard)
  return {
    cluster,
    namespaceLabels,
    affinityCounts: info.affinity.map((term) =>
      countByTopology(
        cluster,
        term.topologyKey,
        () => true,
        (other) => termMatches(term, other.pod, namespaceLabels),
        false,
      ),
    ),
    spreadCounts: hardSpread.map((constraint) =>
      countByTopology(
        cluster,
        constraint.topologyKey,
        (node) => selectsNode(info.pod.spec ?? {}, node.node!),
        (other) =>
          other.pod.metadata.namespace === info.pod.metadata.namespace &&
          other.pod.metadata.deletionTimestamp === undefined &&
          constraint.selector.matches(other.pod.metadata.labels),
        true,
      ),
    ),
  }
}

/** Matching pods per value of a node label; `withEmpty` keeps the values where there are none. */
export function countByTopology(
  cluster: Cluster,
  topologyKey: string,
  counts: (node: NodeInfo) => boolean,
  matches: (info: PodInfo) => boolean,
  withEmpty: boolean,
): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const node of cluster.ready()) {
    const value = labelsOf(node)[topologyKey]
    if (value === undefined || !counts(node)) continue
    let sum = 0
    for (const present of node.pods.values()) if (matches(present)) sum++
    if (sum > 0 || withEmpty) found.set(value, (found.get(value) ?? 0) + sum)
  }
  return found
}

/** The first filter that refuses decides, as in Kubernetes. */
export function refusalOf(info: PodInfo, node: NodeInfo, state: FilterState): Refusal | undefined {
  for (const filter of filters) {
    const refusal = filter(info, node, state)
    if (refusal) return refusal
  }
  return undefined
}
