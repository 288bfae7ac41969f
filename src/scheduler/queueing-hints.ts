/**
 * Queueing hints (KEP-4247): for each plugin the changes that may make a pod fit which it refused, and what it looks at to say whether
 * they do. A pod that waits is tried again only when a plugin that refused it says so.
 */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  DeviceClass,
  DeviceTaintRule,
  Node,
  NodeAffinity,
  PersistentVolume,
  StorageClass,
} from '../api/generated/types.ts'
import type { Fields } from '../api/object.ts'
import { portsClash } from '../api/objects/host-ports.ts'
import { selectsNode } from '../api/objects/node-affinity.ts'
import type { ResourceClaim } from '../api/objects/resource-claims.ts'
import { toleratesTaint } from '../api/objects/taints.ts'
import { sameJson } from '../api/same.ts'
import { nanosOf } from '../api/values/quantity.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { objectKey } from '../client/store.ts'
import type { ClusterEvent, EventName } from './cluster-events.ts'
import { deviceClaimKeysOf } from './devices/device-binder.ts'
import { backedResources } from './devices/extended-resources.ts'
import { type Amounts, amountsOf, type PodInfo, termMatches } from './pod-info.ts'
import type { FilterPlugin } from './profile.ts'
import { largestVolume } from './storage-capacity.ts'
import { zoneLabels } from './volume-binding-and-first-consumer.ts'
import { isDiskTaken } from './volume-restrictions.ts'

/** What refuses pods: filters, extenders, and plugins that hold one back before it is tried. */
export type Refuser = FilterPlugin | 'SchedulingGates' | 'Extender'

/** What an extender refused any change may help: nothing is known of its reasons. */
export const HELPED_BY_ANY: Refuser = 'Extender'

/** Whether the change may help the pod, which the plugin refused. */
export type Hint = (info: PodInfo, event: ClusterEvent) => boolean

/** What hints look up of the cluster. */
export interface HintView {
  /** What the pod's profile asks of nodes besides. */
  readonly addedAffinity: (info: PodInfo) => NodeAffinity | undefined
  /** Devices may stand for this resource on a node that has none of it. */
  readonly isBacked: (resource: string) => boolean
  readonly namespaceLabels: (namespace: string) => Fields | undefined
}

export type Hints = ReadonlyMap<EventName, readonly (readonly [Refuser, Hint])[]>

const always: Hint = () => true
const nodeOf = ({ now }: ClusterEvent) => now as Node
const oldNodeOf = ({ old }: ClusterEvent) => old as Node
const podOf = ({ pods }: ClusterEvent) => pods?.now as PodInfo
const oldPodOf = ({ pods }: ClusterEvent) => pods?.old as PodInfo
const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const tolerates = ({ pod }: PodInfo, taint: { readonly key: string; readonly effect: string }) =>
  (pod.spec?.tolerations ?? []).some((toleration) => toleratesTaint(toleration, taint))
const toleratesAll = (info: PodInfo, node: Node) =>
  (node.spec?.taints ?? []).every((taint) => taint.effect === 'PreferNoSchedule' || tolerates(info, taint))

/** By event, so that a change is looked at by those alone that it concerns. */
export function createHints(view: HintView): Hints {
  const amounts = new WeakMap<Node, Amounts>()
  const allocatable = (node: Node) => getOrInsertComputed(amounts, node, () => amountsOf(node.status?.allocatable))
  const byPlugin: Readonly<Record<Exclude<Refuser, 'Extender'>, Partial<Record<EventName, Hint>>>> = {
    SchedulingGates: { TargetPodUpdatePodSchedulingGatesEliminated: always },
    // A pod that names its node is not scheduled.
    NodeName: {},
    NodeUnschedulable: {
      NodeAdd: (info, event) => !nodeOf(event).spec?.unschedulable || tolerates(info, UNSCHEDULABLE),
      NodeUpdateNodeTaint: (_, event) =>
        oldNodeOf(event).spec?.unschedulable === true && !nodeOf(event).spec?.unschedulable,
      TargetPodUpdatePodToleration: (_, event) => tolerates(podOf(event), UNSCHEDULABLE),
    },
    TaintToleration: {
      NodeAdd: (info, event) => toleratesAll(info, nodeOf(event)),
      NodeUpdateNodeTaint: (info, event) => toleratesAll(info, nodeOf(event)) && !toleratesAll(info, oldNodeOf(event)),
      TargetPodUpdatePodToleration: always,
    },
    NodeAffinity: {
      NodeAdd: (info, event) => isSelected(info, nodeOf(event), view),
      // What the profile asks besides is not held against the node as it was.
      NodeUpdateNodeLabel: (info, event) =>
        isSelected(info, nodeOf(event), view) && !selectsNode(info.pod.spec ?? {}, oldNodeOf(event)),
    },
    NodePorts: {
      NodeAdd: always,
      AssignedPodDelete: ({ ports }, event) => portsClash(ports, oldPodOf(event).ports),
    },
    NodeResourcesFit: {
      NodeAdd: (info, event) => hasRoomFor(info, allocatable(nodeOf(event)), view),
      NodeUpdateNodeAllocatable: (info, event) =>
        hasRoomFor(info, allocatable(nodeOf(event)), view) &&
        hasMoreFor(info, allocatable(oldNodeOf(event)), allocatable(nodeOf(event))),
      AssignedPodDelete: always,
      AssignedPodUpdatePodScaleDown: (info, event) => freesFor(info, oldPodOf(event), podOf(event)),
      TargetPodUpdatePodScaleDown: always,
      'resource.k8s.io/DeviceClassAdd': backs,
      'resource.k8s.io/DeviceClassUpdate': backs,
    },
    VolumeRestrictions: {
      AssignedPodDelete: (info, event) => sharesVolume(info, oldPodOf(event)),
      PersistentVolumeClaimAdd: isOwnClaim,
      PersistentVolumeClaimUpdate: isOwnClaim,
    },
    NodeVolumeLimits: {
      'storage.k8s.io/CSINodeAdd': (_, { now }) => ((now as CSINode).spec.drivers ?? []).length > 0,
      'storage.k8s.io/CSINodeUpdate': (_, { old, now }) => allowsMore(old as CSINode, now as CSINode),
      'storage.k8s.io/CSIDriverUpdate': (_, { old, now }) => demandOf(old) !== demandOf(now),
      'storage.k8s.io/CSIDriverDelete': always,
      AssignedPodDelete: (_, event) => oldPodOf(event).claims.length > 0,
      PersistentVolumeClaimAdd: isOwnClaim,
      'storage.k8s.io/VolumeAttachmentDelete': always,
    },
    VolumeBinding: {
      ReservationReleased: always,
      NodeAdd: always,
      NodeUpdateNodeLabel: always,
      'storage.k8s.io/StorageClassAdd': always,
      'storage.k8s.io/StorageClassUpdate': always,
      PersistentVolumeClaimAdd: isOwnClaim,
      PersistentVolumeClaimUpdate: isOwnClaim,
      PersistentVolumeAdd: always,
      PersistentVolumeUpdate: always,
      'storage.k8s.io/CSINodeAdd': always,
      'storage.k8s.io/CSINodeUpdate': always,
      'storage.k8s.io/CSIDriverUpdate': (_, { old, now }) => tellsCapacity(old) && !tellsCapacity(now),
      'storage.k8s.io/CSIDriverDelete': always,
      'storage.k8s.io/CSIStorageCapacityAdd': always,
      'storage.k8s.io/CSIStorageCapacityUpdate': (_, { old, now }) =>
        holdsMore(old as CSIStorageCapacity, now as CSIStorageCapacity),
    },
    VolumeZone: {
      NodeAdd: always,
      NodeUpdateNodeLabel: always,
      'storage.k8s.io/StorageClassAdd': (_, { now }) =>
        (now as StorageClass).volumeBindingMode === 'WaitForFirstConsumer',
      PersistentVolumeClaimAdd: isOwnClaim,
      PersistentVolumeClaimUpdate: isOwnClaim,
      PersistentVolumeAdd: always,
      PersistentVolumeUpdate: (_, { old, now }) =>
        zonesOf(old as PersistentVolume) !== zonesOf(now as PersistentVolume),
    },
    PodTopologySpread: {
      NodeAdd: (info, event) => hasTopology(info, nodeOf(event)),
      NodeDelete: (info, event) => hasTopology(info, oldNodeOf(event)),
      NodeUpdateNodeLabel: (info, event) => changesTopology(info, oldNodeOf(event), nodeOf(event)),
      AssignedPodAdd: (info, event) => isSpreadWith(info, podOf(event)),
      AssignedPodDelete: (info, event) => isSpreadWith(info, oldPodOf(event)),
      AssignedPodUpdatePodLabel: changesSpread,
      TargetPodUpdatePodLabel: changesSpread,
    },
    InterPodAffinity: {
      NodeAdd: (info, event) => hasAffinityKey(info, nodeOf(event)),
      NodeUpdateNodeLabel: (info, event) => changesAffinityKey(info, oldNodeOf(event), nodeOf(event)),
      AssignedPodAdd: (info, event) => isWanted(info, podOf(event), view),
      AssignedPodDelete: (info, event) => isUnwanted(info, oldPodOf(event), view),
      AssignedPodUpdatePodLabel: (info, event) =>
        (isWanted(info, podOf(event), view) && !isWanted(info, oldPodOf(event), view)) ||
        (isUnwanted(info, oldPodOf(event), view) && !isUnwanted(info, podOf(event), view)),
      TargetPodUpdatePodLabel: always,
    },
    DynamicResources: {
      ReservationReleased: always,
      NodeAdd: always,
      NodeUpdateNodeAllocatable: always,
      NodeUpdateNodeLabel: always,
      TargetPodUpdatePodGeneratedResourceClaim: always,
      'resource.k8s.io/ResourceClaimAdd': isOwnDeviceClaim,
      'resource.k8s.io/ResourceClaimUpdate': (info, event) =>
        (isOwnDeviceClaim(info, event) && hasNewStatus(event)) || isFreed(event),
      'resource.k8s.io/ResourceClaimDelete': (_, event) => isFreed(event),
      'resource.k8s.io/DeviceClassAdd': always,
      'resource.k8s.io/DeviceClassUpdate': always,
      'resource.k8s.io/ResourceSliceAdd': always,
      'resource.k8s.io/ResourceSliceUpdate': always,
      'resource.k8s.io/DeviceTaintRuleAdd': always,
      // What a rule's status tells of evictions taints no other device.
      'resource.k8s.io/DeviceTaintRuleUpdate': (_, { old, now }) =>
        !sameJson((old as DeviceTaintRule).spec, (now as DeviceTaintRule).spec),
      'resource.k8s.io/DeviceTaintRuleDelete': always,
    },
    NodeDeclaredFeatures: {
      NodeAdd: always,
      NodeUpdateNodeDeclaredFeature: always,
    },
  }
  const hints = new Map<EventName, (readonly [Refuser, Hint])[]>()
  for (const [plugin, events] of Object.entries(byPlugin) as [Refuser, Partial<Record<EventName, Hint>>][])
    for (const [name, hint] of Object.entries(events) as [EventName, Hint][]) {
      const all = hints.get(name) ?? []
      all.push([plugin, hint])
      hints.set(name, all)
    }
  return hints
}

function isSelected(info: PodInfo, node: Node, { addedAffinity }: HintView): boolean {
  const added = addedAffinity(info)
  return (
    (added === undefined || selectsNode({ affinity: { nodeAffinity: added } }, node)) &&
    selectsNode(info.pod.spec ?? {}, node)
  )
}

/** Were nothing on the node. */
const hasRoomFor = ({ requests }: PodInfo, allocatable: Amounts, { isBacked }: HintView): boolean =>
  (allocatable.get('pods') ?? 0) > 0 &&
  [...requests].every(([name, amount]) => {
    const capacity = allocatable.get(name) ?? 0
    return amount <= capacity || (capacity === 0 && isBacked(name))
  })

function hasMoreFor({ requests }: PodInfo, before: Amounts, after: Amounts): boolean {
  const isMore = (name: string) => (after.get(name) ?? 0) > (before.get(name) ?? 0)
  return isMore('pods') || [...requests].some(([name, amount]) => amount > 0 && isMore(name))
}

/** The other asks for less of something that this one asks for. */
const freesFor = ({ requests }: PodInfo, old: PodInfo, now: PodInfo): boolean =>
  [...requests.keys()].some((name) => (now.requests.get(name) ?? 0) < (old.requests.get(name) ?? 0))

/** Its devices stand for something that the pod asks for. */
const backs: Hint = ({ requests }, { now }) =>
  [...backedResources([now as DeviceClass]).keys()].some((resource) => requests.has(resource))

const sharesVolume = (info: PodInfo, other: PodInfo): boolean =>
  other.claims.some((claim) => info.claims.includes(claim)) || isDiskTaken(info, [other])

const objectOf = ({ old, now }: ClusterEvent) => (now ?? old) as NonNullable<ClusterEvent['now']>
const isOwnClaim: Hint = ({ claims }, event) => claims.includes(objectKey(objectOf(event)))
const isOwnDeviceClaim: Hint = ({ pod }, event) => deviceClaimKeysOf(pod).includes(objectKey(objectOf(event)))
/** What else is written of a claim changes nothing for its pods. */
const hasNewStatus = ({ old, now }: ClusterEvent): boolean =>
  !sameJson((old as ResourceClaim | undefined)?.status, (now as ResourceClaim | undefined)?.status)
/** Its devices are there for others. */
const isFreed = ({ old, now }: ClusterEvent): boolean => isAllocated(old) && !isAllocated(now)
const isAllocated = (claim: ClusterEvent['now']): boolean =>
  (claim as ResourceClaim | undefined)?.status?.allocation !== undefined

const demandOf = (driver: ClusterEvent['now']) => (driver as CSIDriver).spec.preventPodSchedulingIfMissing

const tellsCapacity = (driver: ClusterEvent['now']) => (driver as CSIDriver).spec.storageCapacity === true

/** A larger volume may be made there than before. */
function holdsMore(old: CSIStorageCapacity, now: CSIStorageCapacity): boolean {
  const [before, after] = [largestVolume(old), largestVolume(now)]
  return after !== undefined && (before === undefined || nanosOf(after) > nanosOf(before))
}

/** A driver may have more volumes there than before. */
function allowsMore(old: CSINode, now: CSINode): boolean {
  const limits = new Map((old.spec.drivers ?? []).map(({ name, allocatable }) => [name, allocatable?.count]))
  return (now.spec.drivers ?? []).some(({ name, allocatable }) => {
    const before = limits.get(name)
    return !limits.has(name) || (before !== undefined && (allocatable?.count ?? Number.POSITIVE_INFINITY) > before)
  })
}

const zonesOf = ({ metadata: { labels = {} } }: PersistentVolume): string =>
  JSON.stringify([...zoneLabels].map((name) => labels[name] ?? null))

const hardOf = ({ spread }: PodInfo) => spread.filter(({ hard }) => hard)

const hasTopology = (info: PodInfo, { metadata: { labels = {} } }: Node): boolean =>
  hardOf(info).every(({ topologyKey }) => labels[topologyKey] !== undefined)

function changesTopology(info: PodInfo, old: Node, now: Node): boolean {
  if (isSpreadByDefault(info)) return true
  if (!hasTopology(info, old) && !hasTopology(info, now)) return false
  return hardOf(info).some(
    ({ topologyKey }) => old.metadata.labels?.[topologyKey] !== now.metadata.labels?.[topologyKey],
  )
}

const isSpreadWith = (info: PodInfo, { pod: { metadata } }: PodInfo): boolean =>
  metadata.namespace === info.pod.metadata.namespace &&
  (isSpreadByDefault(info) || hardOf(info).some(({ selector }) => selector.matches(metadata.labels)))

const changesSpread: Hint = (info, event) =>
  isSpreadByDefault(info) || isSpreadWith(info, oldPodOf(event)) !== isSpreadWith(info, podOf(event))

/** By its profile's constraints for pods that have none: what they select is found when it is tried. */
const isSpreadByDefault = ({ spread }: PodInfo): boolean => spread.length === 0

const hasAffinityKey = ({ affinity }: PodInfo, { metadata: { labels = {} } }: Node): boolean =>
  affinity.every(({ topologyKey }) => labels[topologyKey] !== undefined)

const changesAffinityKey = ({ affinity, antiAffinity }: PodInfo, old: Node, now: Node): boolean =>
  [...affinity, ...antiAffinity].some(
    ({ topologyKey }) => old.metadata.labels?.[topologyKey] !== now.metadata.labels?.[topologyKey],
  )

const isWanted = ({ affinity }: PodInfo, { pod }: PodInfo, { namespaceLabels }: HintView): boolean =>
  affinity.length > 0 && affinity.every((term) => termMatches(term, pod, namespaceLabels))

/** One of the two does not want the other near. */
const isUnwanted = (info: PodInfo, other: PodInfo, { namespaceLabels }: HintView): boolean =>
  info.antiAffinity.some((term) => termMatches(term, other.pod, namespaceLabels)) ||
  other.antiAffinity.some((term) => termMatches(term, info.pod, namespaceLabels))
