/**
 * Filters, in the order of Kubernetes' default plugins. Those of a plugin that scores too are in a file of its name.
 */

import type { Fields } from '../api/object.ts'
import { portsClash } from '../api/objects/host-ports.ts'
import { addInt64 } from '../api/objects/integers.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { declaresAll } from './declared-features.ts'
import type { SpreadSelector } from './default-spread.ts'
import type { DevicePlan } from './devices/device-binder.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'
import { nodeAffinity } from './node-affinity.ts'
import { type ClusterNodes, labelsOf, type NodeInfo } from './node-info.ts'
import { type PodInfo, type SpreadConstraint, termMatches } from './pod-info.ts'
import { defaultProfile, type FilterPlugin, type SchedulerProfile } from './profile.ts'
import { hard, type Refusal, soft } from './refusal.ts'
import { taintToleration, tolerations } from './taint-toleration.ts'
import { countByTopology } from './topology-counts.ts'
import { countsForSpread, defaultSpread, hasTopologyOf, matchesSpread, topologySpread } from './topology-spread.ts'
import type { VolumePlan } from './volume-binding-and-first-consumer.ts'
import { isDiskTaken } from './volume-restrictions.ts'

/** What filters need beyond the node: worked out once per pod by `prefilter`. */
export interface FilterState {
  readonly profile: SchedulerProfile
  readonly cluster: ClusterNodes
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
  /** What extenders add to a node's score. */
  readonly extenderScore?: (node: NodeInfo) => number
  readonly spreadCounts: readonly Map<string, number>[]
  /** For a pod with volume claims: what is to be done for them on the node, or why that is impossible. */
  readonly volumesOn?: (node: NodeInfo) => VolumePlan | readonly string[]
  /** For a pod with claims that wait for it: the score of the node by the volumes that it would get there. */
  readonly volumeScoreOn?: (node: NodeInfo) => number
  /** For a pod with volumes: none of them is elsewhere than the node. */
  readonly zonesOn?: (node: NodeInfo) => boolean
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

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const nodeUnschedulable: NodeFilter = (info, node) =>
  node.node?.spec?.unschedulable && !tolerations(info).some((toleration) => toleratesTaint(toleration, UNSCHEDULABLE))
    ? hard('node(s) were unschedulable')
    : undefined

const nodeName: NodeFilter = (info, node) =>
  info.pod.spec?.nodeName && info.pod.spec?.nodeName !== node.name
    ? hard("node(s) didn't match the requested node name")
    : undefined

const nodePorts: NodeFilter = (info, node) =>
  portsClash(info.ports, node.ports) ? soft("node(s) didn't have free ports for the requested pod ports") : undefined

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

const volumeZone: NodeFilter = (_, node, { zonesOn }) =>
  zonesOn?.(node) === false ? hard('node(s) had no available volume zone') : undefined

const dynamicResources: NodeFilter = (_, node, state) => {
  const plan = state.devicesOn?.(node)
  return typeof plan === 'string' ? hard(plan) : undefined
}

const nodeDeclaredFeatures: NodeFilter = ({ features }, node) =>
  declaresAll(node, features) ? undefined : hard("node(s) didn't match Pod's required features")

const filters: Readonly<Record<FilterPlugin, NodeFilter>> = {
  NodeUnschedulable: nodeUnschedulable,
  NodeName: nodeName,
  TaintToleration: taintToleration,
  NodeAffinity: nodeAffinity,
  NodePorts: nodePorts,
  NodeResourcesFit: nodeResources,
  VolumeRestrictions: volumeRestrictions,
  NodeVolumeLimits: nodeVolumeLimits,
  VolumeBinding: volumeBinding,
  VolumeZone: volumeZone,
  PodTopologySpread: topologySpread,
  InterPodAffinity: interPodAffinity,
  DynamicResources: dynamicResources,
  NodeDeclaredFeatures: nodeDeclaredFeatures,
}

export function prefilter(
  info: PodInfo,
  cluster: ClusterNodes,
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
        (node) => hasTopologyOf(node, required) && countsForSpread(constraint, info, node),
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
    if (!matchesSpread(constraint, info, other) || !countsForSpread(constraint, info, node)) continue
    const value = labels[constraint.topologyKey] ?? ''
    const counts = state.spreadCounts[index]!
    counts.set(value, (counts.get(value) ?? 0) + by)
  }
}

/** The first filter that refuses decides, as in Kubernetes. */
export function refusalOf(info: PodInfo, node: NodeInfo, state: FilterState): NodeRefusal | undefined {
  for (const plugin of state.profile.filters) {
    const refusal = filters[plugin](info, node, state)
    if (refusal) return { ...refusal, plugin }
  }
  return undefined
}

export interface NodeRefusal extends Refusal {
  readonly plugin: FilterPlugin | 'Extender'
}
