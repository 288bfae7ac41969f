/**
 * Filters, in the order of Kubernetes' default plugins. Each says why a node does not do for a pod: `hard` reasons cannot be
 * cured by evicting pods from the node, the others could be.
 */
import type { Fields } from '../api/object.ts'
import { addInt64 } from '../api/objects/integers.ts'
import { selectsNode } from '../api/objects/node-affinity.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { declaresAll } from './declared-features.ts'
import type { SpreadSelector } from './default-spread.ts'
import type { DevicePlan } from './devices/device-binder.ts'
import { type Cluster, labelsOf, type NodeInfo, taintsOf } from './node-info.ts'
import { type HostPort, type PodInfo, type SpreadConstraint, termMatches } from './pod-info.ts'
import { defaultProfile, type FilterPlugin, type SchedulerProfile } from './profile.ts'
import { isDiskTaken } from './volume-restrictions.ts'
import type { VolumePlan } from './volumes.ts'

export interface Refusal {
  readonly reasons: readonly string[]
  readonly hard: boolean
}

/** What filters need beyond the node: worked out once per pod by `prefilter`. */
export interface FilterState {
  readonly profile: SchedulerProfile
  readonly cluster: Cluster
  readonly namespaceLabels: (namespace: string) => Fields | undefined
  /** Matching pods by topology value, one map per required affinity term and per hard spread constraint. */
  readonly affinityCounts: readonly Map<string, number>[]
  /** The pod's own constraints; without any the defaults for the pods that it belongs to. */
  readonly spread: readonly SpreadConstraint[]
  /** They are the scheduler's own. */
  readonly isSpreadBySystem: boolean
  /** How many pods on the node a constraint counts. */
  readonly spreadOn: (constraint: SpreadConstraint, node: NodeInfo) => number
  /** By the images that nodes have; undefined where none has told of any. */
  readonly imageScore?: (pod: PodInfo['pod']) => ((node: NodeInfo) => number) | undefined
  readonly spreadCounts: readonly Map<string, number>[]
  /** For a pod with volume claims: what is to be done for them on the node, or why that is impossible. */
  readonly volumesOn?: (node: NodeInfo) => VolumePlan | readonly string[]
  /** The pod's claims of access mode ReadWriteOncePod. */
  readonly exclusiveClaims?: readonly string[]
  /** For a pod with CSI volumes: why the node cannot have more of them. */
  readonly volumeLimitOn?: (node: NodeInfo) => string | undefined
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

const hasUntoleratedTaint = (info: PodInfo, node: NodeInfo): boolean =>
  taintsOf(node).some(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' && !tolerations(info).some((toleration) => toleratesTaint(toleration, taint)),
  )

const taintToleration: NodeFilter = (info, node) =>
  hasUntoleratedTaint(info, node) ? hard('node(s) had untolerated taint(s)') : undefined

const nodeAffinity: NodeFilter = (info, node, { profile }) => {
  const { addedAffinity } = profile.args
  if (addedAffinity !== undefined && !selectsNode({ affinity: { nodeAffinity: addedAffinity } }, node.node!))
    return hard("node(s) didn't match scheduler-enforced node affinity")
  return selectsNode(info.pod.spec ?? {}, node.node!)
    ? undefined
    : hard("node(s) didn't match Pod's node affinity/selector")
}

const clash = (a: HostPort, b: HostPort) =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0')

const nodePorts: NodeFilter = (info, node) =>
  info.ports.some((wanted) => node.ports.some((used) => clash(wanted, used)))
    ? soft("node(s) didn't have free ports for the requested pod ports")
    : undefined

const nodeResources: NodeFilter = (info, node, { backed, profile }) => {
  const { ignoredResources, ignoredResourceGroups } = profile.args
  const reasons: string[] = []
  let curable = true
  if (node.pods.size + 1 > (node.allocatable.get('pods') ?? 0)) reasons.push('Too many pods')
  for (const [name, amount] of info.requests) {
    if (amount === 0) continue
    if (ignoredResources.has(name) || ignoredResourceGroups.has(name.split('/', 1)[0] as string)) continue
    const capacity = node.allocatable.get(name) ?? 0
    if (capacity === 0 && backed?.has(name)) continue
    if (amount > addInt64(capacity, -(node.requested.get(name) ?? 0))) reasons.push(`Insufficient ${name}`)
    if (amount > capacity) curable = false
  }
  return reasons.length === 0 ? undefined : { reasons, hard: !curable }
}

const volumeRestrictions: NodeFilter = (info, node, { exclusiveClaims = [] }) => {
  if (isDiskTaken(info, node.pods.values())) return soft('node(s) had no available disk')
  return exclusiveClaims.some((claim) => node.claimUses.has(claim)) ? soft(CLAIM_IN_USE) : undefined
}
const CLAIM_IN_USE =
  'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'

const nodeVolumeLimits: NodeFilter = (_, node, { volumeLimitOn }) => {
  const why = volumeLimitOn?.(node)
  return why === undefined ? undefined : soft(why)
}

const volumeBinding: NodeFilter = (_, node, state) => {
  const plan = state.volumesOn?.(node)
  return plan !== undefined && 'length' in plan ? hard(...plan) : undefined
}

const topologySpread: NodeFilter = (info, node, state) => {
  const constraints = state.spread.filter((constraint) => constraint.hard)
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

const dynamicResources: NodeFilter = (_, node, state) => {
  const plan = state.devicesOn?.(node)
  return typeof plan === 'string' ? hard(plan) : undefined
}

const nodeDeclaredFeatures: NodeFilter = ({ features }, node) =>
  declaresAll(node, features) ? undefined : hard("node(s) didn't match Pod's required features")

/** VolumeZone has its say in the plan of volumes. */
const filters: Readonly<Record<Exclude<FilterPlugin, 'VolumeZone'>, NodeFilter>> = {
  NodeUnschedulable: nodeUnschedulable,
  NodeName: nodeName,
  TaintToleration: taintToleration,
  NodeAffinity: nodeAffinity,
  NodePorts: nodePorts,
  NodeResourcesFit: nodeResources,
  VolumeRestrictions: volumeRestrictions,
  NodeVolumeLimits: nodeVolumeLimits,
  VolumeBinding: volumeBinding,
  PodTopologySpread: topologySpread,
  InterPodAffinity: interPodAffinity,
  DynamicResources: dynamicResources,
  NodeDeclaredFeatures: nodeDeclaredFeatures,
}

export function prefilter(
  info: PodInfo,
  cluster: Cluster,
  namespaceLabels: FilterState['namespaceLabels'],
  profile: SchedulerProfile = defaultProfile(),
  together?: (info: PodInfo) => SpreadSelector | undefined,
): FilterState {
  const belonging = info.spread.length === 0 ? together?.(info) : undefined
  const spread = belonging === undefined ? info.spread : defaultSpread(belonging, profile)
  const required = spread.filter((constraint) => constraint.hard)
  const spreadOn = (constraint: SpreadConstraint, node: NodeInfo): number => {
    if (belonging !== undefined) return belonging.countOn(node)
    let count = 0
    for (const other of node.pods.values()) if (matchesSpread(constraint, info, other)) count++
    return count
  }
  const termOn = (term: PodInfo['affinity'][number]) => (node: NodeInfo) => {
    let count = 0
    for (const other of node.pods.values()) if (termMatches(term, other.pod, namespaceLabels)) count++
    return count
  }
  return {
    profile,
    cluster,
    namespaceLabels,
    spread,
    isSpreadBySystem: belonging !== undefined && profile.args.areSystemDefaults,
    spreadOn,
    affinityCounts: info.affinity.map((term) =>
      countByTopology(cluster, term.topologyKey, () => true, termOn(term), false),
    ),
    spreadCounts: required.map((constraint) =>
      countByTopology(
        cluster,
        constraint.topologyKey,
        (node) => hasTopologyOf(node, required) && isCounted(constraint, info, node),
        (node) => spreadOn(constraint, node),
        true,
      ),
    ),
  }
}

/** What the state counts of `other` after it has been put on the node (1) or taken off (-1). */
export function recount(info: PodInfo, other: PodInfo, node: NodeInfo, state: FilterState, by: 1 | -1): void {
  const labels = labelsOf(node)
  for (const [index, term] of info.affinity.entries()) {
    const value = labels[term.topologyKey]
    if (value === undefined || !termMatches(term, other.pod, state.namespaceLabels)) continue
    const counts = state.affinityCounts[index]!
    const count = (counts.get(value) ?? 0) + by
    if (count > 0) counts.set(value, count)
    else counts.delete(value)
  }
  const required = state.spread.filter((constraint) => constraint.hard)
  if (!hasTopologyOf(node, required)) return
  for (const [index, constraint] of required.entries()) {
    if (!matchesSpread(constraint, info, other) || !isCounted(constraint, info, node)) continue
    const value = labels[constraint.topologyKey] ?? ''
    const counts = state.spreadCounts[index]!
    counts.set(value, (counts.get(value) ?? 0) + by)
  }
}

function defaultSpread({ selector }: SpreadSelector, { args }: SchedulerProfile): readonly SpreadConstraint[] {
  return args.defaultConstraints.map(({ topologyKey, maxSkew, minDomains, isHard }) => ({
    topologyKey,
    selector,
    maxSkew,
    minDomains,
    hard: isHard,
    honorsAffinity: true,
    honorsTaints: false,
  }))
}

/** The node has the labels of all constraints: pods on others count for none of them. */
export function hasTopologyOf(node: NodeInfo, constraints: readonly SpreadConstraint[]): boolean {
  const labels = labelsOf(node)
  return constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined)
}

/** By the constraint's nodeAffinityPolicy and nodeTaintsPolicy (KEP-3094) the pods on this node count. */
export function isCounted({ honorsAffinity, honorsTaints }: SpreadConstraint, info: PodInfo, node: NodeInfo): boolean {
  if (honorsAffinity && !selectsNode(info.pod.spec ?? {}, node.node!)) return false
  return !(honorsTaints && hasUntoleratedTaint(info, node))
}

/** The pod counts; one that is being deleted does not. */
function matchesSpread({ selector }: SpreadConstraint, info: PodInfo, { pod }: PodInfo): boolean {
  const { namespace, deletionTimestamp, labels } = pod.metadata
  return namespace === info.pod.metadata.namespace && deletionTimestamp === undefined && selector.matches(labels)
}

/** Pods, as `on` counts them on a node, per value of a node label; `withEmpty` keeps the values where there are none. */
export function countByTopology(
  cluster: Cluster,
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

/** The first filter that refuses decides, as in Kubernetes. */
export function refusalOf(info: PodInfo, node: NodeInfo, state: FilterState): Refusal | undefined {
  for (const plugin of state.profile.filters) {
    const refusal = plugin === 'VolumeZone' ? undefined : filters[plugin](info, node, state)
    if (refusal) return refusal
  }
  return undefined
}
