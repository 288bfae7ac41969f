/** What scheduling needs to know of a pod, worked out once per revision. */

import type {
  Container,
  LabelSelector,
  Pod,
  PodAffinityTerm,
  PodSpec,
  WeightedPodAffinityTerm,
} from '../api/generated/types.ts'
import type { Fields } from '../api/object.ts'
import { type HostPort, hostPortsOf } from '../api/objects/host-ports.ts'
import { type Int64, toInt64 } from '../api/objects/integers.ts'
import { type CompiledSelector, labelSelectorOf } from '../api/objects/label-selector.ts'
import { takenRequests, toldOfTaken } from '../api/objects/pod-requests.ts'
import { quantityMilliValue, quantityValue } from '../api/values/quantity.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { createLruMap } from '../base/lru.ts'
import { assumedAmounts } from './assumed-requests.ts'
import { requiredFeatures } from './declared-features.ts'
import { type Disk, disksOf, volumeClaimKeysOf } from './volume-restrictions.ts'

/** Amounts by resource name: cpu in thousandths, everything else in whole units. */
export type Amounts = ReadonlyMap<string, Int64>

/** One term of required or preferred pod (anti-)affinity, or of a spread constraint. */
export interface PodTerm {
  readonly topologyKey: string
  readonly selector: CompiledSelector
  /** Namespaces it speaks of; undefined: those whose labels `namespaceSelector` matches too. */
  readonly namespaces: ReadonlySet<string>
  readonly namespaceSelector: CompiledSelector | undefined
  readonly weight: number
}

export interface SpreadConstraint {
  readonly topologyKey: string
  readonly selector: CompiledSelector
  readonly maxSkew: number
  readonly minDomains: number
  readonly hard: boolean
  /** nodeAffinityPolicy Honor, the default: pods on nodes that the pod's node selector and affinity leave out do not count. */
  readonly honorsAffinity: boolean
  /** nodeTaintsPolicy Honor, not the default: pods on nodes with taints that the pod does not tolerate do not count. */
  readonly honorsTaints: boolean
}

export interface PodInfo {
  readonly pod: Pod
  readonly key: string
  readonly uid: string
  readonly priority: number
  readonly requests: Amounts
  /** The same for cpu and memory, with what a container that asks for nothing is taken to need: for scores alone. */
  readonly assumed: Amounts
  readonly ports: readonly HostPort[]
  readonly affinity: readonly PodTerm[]
  readonly antiAffinity: readonly PodTerm[]
  readonly preferred: readonly PodTerm[]
  readonly spread: readonly SpreadConstraint[]
  /** `namespace/name` of its PersistentVolumeClaims. */
  readonly claims: readonly string[]
  /** Volumes that it names itself and that no other pod on the node may have. */
  readonly disks: readonly Disk[]
  /** What a node must declare to have it. */
  readonly features: readonly string[]
  /** uid of the controlling owner; '' for none. */
  readonly controller: string
  /**
   * The same for pods for which filters and scores find the same of a node, as long as these look at nothing but the node;
   * undefined for one that is placed by what is on other nodes, or is on its node.
   */
  readonly shape: string | undefined
}

export function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  const amounts = new Map<string, Int64>()
  for (const [name, quantity] of Object.entries(list ?? {}))
    amounts.set(name, toInt64(name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity)))
  return amounts
}

interface Needs {
  readonly requests: Amounts
  readonly assumed: Amounts
}
type NeedsOf = (pod: Pod) => Needs

function foundNeeds(pod: Pod): Needs {
  const requests = amountsOf(takenRequests(pod))
  return { requests, assumed: assumedAmounts(pod.spec ?? {}, requests) }
}

/** So many different ones are remembered. */
const NEEDS = 256

/** Pods that ask for the same share what is made of it. */
export function rememberedNeeds(): NeedsOf {
  const known = createLruMap<string, Needs>(NEEDS)
  return (pod) => {
    const spec: Partial<PodSpec> = pod.spec ?? {}
    const { containers = [], initContainers = [] } = spec
    const asked = [
      spec.overhead,
      spec.resources,
      containers.map(({ resources }) => resources),
      initContainers.map(({ resources, restartPolicy }) => [resources, restartPolicy]),
      toldOfTaken(pod.status),
    ]
    return getOrInsertComputed(known, JSON.stringify(asked), () => foundNeeds(pod))
  }
}

export function podInfoOf(pod: Pod, needsOf: NeedsOf = foundNeeds): PodInfo {
  const spec: Partial<PodSpec> = pod.spec ?? {}
  const { namespace = '', name = '', uid = '' } = pod.metadata
  const { affinity } = spec
  const { requests, assumed } = needsOf(pod)
  const terms = (list: readonly PodAffinityTerm[] | undefined) => (list ?? []).map((term) => podTerm(term, pod, 1))
  const weighted = (list: readonly WeightedPodAffinityTerm[] | undefined, sign: 1 | -1) =>
    (list ?? []).map((entry) => podTerm(entry.podAffinityTerm, pod, sign * entry.weight))
  const disks = disksOf(pod)
  const features = requiredFeatures(pod)
  const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller)?.uid ?? ''
  return {
    pod,
    key: `${namespace}/${name}`,
    uid,
    priority: spec.priority ?? 0,
    requests,
    assumed,
    // No node is looked for any more for one that has its own.
    shape: spec.nodeName ? undefined : shapeOf(spec, controller, disks, features),
    ports: hostPortsOf(spec),
    affinity: terms(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    antiAffinity: terms(affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferred: affinity
      ? [
          ...weighted(affinity.podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, 1),
          ...weighted(affinity.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, -1),
        ]
      : [],
    spread: (spec.topologySpreadConstraints ?? []).map((constraint) => ({
      topologyKey: constraint.topologyKey,
      selector: withLabelKeys(constraint.labelSelector, constraint.matchLabelKeys, undefined, pod),
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      hard: constraint.whenUnsatisfiable === 'DoNotSchedule',
      honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
      honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
    })),
    claims: volumeClaimKeysOf(pod),
    disks,
    features,
    controller,
  }
}

function shapeOf(
  spec: Partial<PodSpec>,
  controller: string,
  disks: readonly Disk[],
  features: readonly string[],
): string | undefined {
  const { affinity } = spec
  const byOthers =
    affinity?.podAffinity !== undefined ||
    affinity?.podAntiAffinity !== undefined ||
    (spec.topologySpreadConstraints?.length ?? 0) > 0 ||
    (spec.resourceClaims?.length ?? 0) > 0 ||
    spec.volumes?.some((volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined)
  if (byOthers) return undefined
  const needs = (list: readonly Container[] | undefined) =>
    (list ?? []).map((one) => [one.resources, one.ports, one.restartPolicy])
  return JSON.stringify([
    controller,
    spec.nodeSelector,
    affinity?.nodeAffinity,
    spec.tolerations,
    spec.overhead,
    spec.resources,
    needs(spec.containers),
    needs(spec.initContainers),
    disks,
    features,
  ])
}

function podTerm(term: PodAffinityTerm, pod: Pod, weight: number): PodTerm {
  const named = term.namespaces ?? []
  const selector = term.namespaceSelector
  return {
    topologyKey: term.topologyKey,
    selector: withLabelKeys(term.labelSelector, term.matchLabelKeys, term.mismatchLabelKeys, pod),
    namespaces: new Set(named.length === 0 && selector === undefined ? [pod.metadata.namespace ?? ''] : named),
    namespaceSelector: selector === undefined ? undefined : labelSelectorOf(selector),
    weight,
  }
}

/** matchLabelKeys and mismatchLabelKeys (KEP-3633): the pod's own values of these keys join the selector. */
function withLabelKeys(
  selector: LabelSelector | undefined,
  match: readonly string[] | undefined,
  mismatch: readonly string[] | undefined,
  pod: Pod,
): CompiledSelector {
  if (!match?.length && !mismatch?.length) return labelSelectorOf(selector)
  const labels = pod.metadata.labels ?? {}
  const expressions = (keys: readonly string[] | undefined, operator: 'In' | 'NotIn') =>
    (keys ?? []).flatMap((key) => (labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }]))
  return labelSelectorOf({
    ...selector,
    matchExpressions: [
      ...(selector?.matchExpressions ?? []),
      ...expressions(match, 'In'),
      ...expressions(mismatch, 'NotIn'),
    ],
  })
}

export function termMatches(term: PodTerm, pod: Pod, labelsOf: (namespace: string) => Fields | undefined): boolean {
  const namespace = pod.metadata.namespace ?? ''
  const inNamespace = term.namespaces.has(namespace) || (term.namespaceSelector?.matches(labelsOf(namespace)) ?? false)
  return inNamespace && term.selector.matches(pod.metadata.labels)
}
