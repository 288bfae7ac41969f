/**
 * Changes of the cluster, as the scheduler tells them apart to see which pods they may help (KEP-4247). Their names are those of
 * kube-scheduler's metric scheduler_queue_incoming_pods_total.
 */
import type { Node, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import { tellSameTaken } from '../api/objects/pod-requests.ts'
import { sameJson } from '../api/same.ts'
import { type PodInfo, podInfoOf } from './pod-info.ts'

export type EventName =
  /** No change of an object: what was reserved for a pod that could not be bound may be had by others. */
  | 'ReservationReleased'
  | 'NodeAdd'
  | 'NodeDelete'
  | 'NodeUpdateNodeAllocatable'
  | 'NodeUpdateNodeDeclaredFeature'
  | 'NodeUpdateNodeLabel'
  | 'NodeUpdateNodeTaint'
  | 'AssignedPodAdd'
  | 'AssignedPodDelete'
  | 'AssignedPodUpdatePodLabel'
  | 'AssignedPodUpdatePodScaleDown'
  | 'TargetPodUpdatePodGeneratedResourceClaim'
  | 'TargetPodUpdatePodLabel'
  | 'TargetPodUpdatePodScaleDown'
  | 'TargetPodUpdatePodSchedulingGatesEliminated'
  | 'TargetPodUpdatePodToleration'
  | `${WatchedKind}${'Add' | 'Update' | 'Delete'}`

/** With its group, but for those of the core. */
export type WatchedKind =
  | 'PersistentVolume'
  | 'PersistentVolumeClaim'
  | 'resource.k8s.io/DeviceClass'
  | 'resource.k8s.io/DeviceTaintRule'
  | 'resource.k8s.io/ResourceClaim'
  | 'resource.k8s.io/ResourceSlice'
  | 'storage.k8s.io/CSIDriver'
  | 'storage.k8s.io/CSINode'
  | 'storage.k8s.io/CSIStorageCapacity'
  | 'storage.k8s.io/StorageClass'
  | 'storage.k8s.io/VolumeAttachment'

export interface ClusterEvent {
  readonly name: EventName
  /** As it was; undefined for what is new. */
  readonly old: KubeObject | undefined
  /** As it is; undefined for what is gone. */
  readonly now: KubeObject | undefined
  /** It helps no pod of a higher priority. */
  readonly upToPriority?: number
  /** The same of a pod, worked out. */
  readonly pods?: { readonly old: PodInfo | undefined; readonly now: PodInfo | undefined }
}

/** Worked out when it is looked at: most changes of pods help no other. */
export function podEvent(name: EventName, old: Pod | undefined, now: Pod | undefined): ClusterEvent {
  let oldInfo: PodInfo | undefined
  let nowInfo: PodInfo | undefined
  return {
    name,
    old,
    now,
    pods: {
      get old() {
        if (old !== undefined) oldInfo ??= podInfoOf(old)
        return oldInfo
      },
      get now() {
        if (now !== undefined) nowInfo ??= podInfoOf(now)
        return nowInfo
      },
    },
  }
}

/** What is new, has become another, or is gone. */
export const eventOf = (kind: WatchedKind, old: KubeObject | undefined, now: KubeObject | undefined): ClusterEvent => ({
  name: `${kind}${old === undefined ? 'Add' : now === undefined ? 'Delete' : 'Update'}`,
  old,
  now,
})

/** An informer's handlers that tell of each change of its objects. */
export const tellOf = (kind: WatchedKind, happened: (event: ClusterEvent) => void) => ({
  added: (now: KubeObject) => happened(eventOf(kind, undefined, now)),
  updated: (old: KubeObject, now: KubeObject) => {
    if (old !== now) happened(eventOf(kind, old, now))
  },
  deleted: (old: KubeObject) => happened(eventOf(kind, old, undefined)),
})

/** What an update of a node is for the scheduler: each kind of change for itself. */
export function nodeUpdates(old: Node, now: Node): readonly ClusterEvent[] {
  const names: EventName[] = []
  if (!sameJson(old.status?.allocatable, now.status?.allocatable)) names.push('NodeUpdateNodeAllocatable')
  if (!sameJson(old.metadata.labels, now.metadata.labels)) names.push('NodeUpdateNodeLabel')
  if (!sameJson(old.spec?.taints, now.spec?.taints) || old.spec?.unschedulable !== now.spec?.unschedulable)
    names.push('NodeUpdateNodeTaint')
  if (!sameJson(old.status?.declaredFeatures, now.status?.declaredFeatures)) names.push('NodeUpdateNodeDeclaredFeature')
  return names.map((name) => ({ name, old, now }))
}

/** What an update is of a pod that has its node. */
export function assignedPodUpdates(old: Pod, now: Pod): readonly ClusterEvent[] {
  const names: EventName[] = []
  if (!sameJson(old.metadata.labels, now.metadata.labels)) names.push('AssignedPodUpdatePodLabel')
  if (isScaledDown(old, now)) names.push('AssignedPodUpdatePodScaleDown')
  return names.map((name) => podEvent(name, old, now))
}

/** What an update is of the pod that waits itself. */
export function targetPodUpdates(old: Pod, now: Pod): readonly ClusterEvent[] {
  const names: EventName[] = []
  if (!sameJson(old.metadata.labels, now.metadata.labels)) names.push('TargetPodUpdatePodLabel')
  if (isScaledDown(old, now)) names.push('TargetPodUpdatePodScaleDown')
  if (!sameJson(old.spec?.tolerations, now.spec?.tolerations)) names.push('TargetPodUpdatePodToleration')
  if (gates(old) > 0 && gates(now) === 0) names.push('TargetPodUpdatePodSchedulingGatesEliminated')
  if (!sameJson(old.status?.resourceClaimStatuses, now.status?.resourceClaimStatuses))
    names.push('TargetPodUpdatePodGeneratedResourceClaim')
  return names.map((name) => podEvent(name, old, now))
}

const gates = (pod: Pod): number => pod.spec?.schedulingGates?.length ?? 0

/** It takes less of something. */
function isScaledDown(old: Pod, now: Pod): boolean {
  const isSameSpec = old.spec === now.spec || sameJson(old.spec?.containers, now.spec?.containers)
  if (isSameSpec && tellSameTaken(old.status, now.status)) return false
  const { requests } = podInfoOf(now)
  return [...podInfoOf(old).requests].some(([name, amount]) => (requests.get(name) ?? 0) < amount)
}
