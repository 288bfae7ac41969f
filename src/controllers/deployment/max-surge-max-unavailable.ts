/** The arithmetic of a rollout: how many pods there may be, and how many must be available. */
import type { Deployment, ReplicaSet, RollingUpdateDeployment } from '../../api/generated/types.ts'
import { parseInt64 } from '../../api/objects/integers.ts'
import { scaled } from '../int-or-percent.ts'

export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas'

export const replicasOf = (object: Deployment | ReplicaSet): number => object.spec?.replicas ?? 1
export const isRolling = (deployment: Deployment): boolean => deployment.spec?.strategy?.type === 'RollingUpdate'
export const isActiveSet = (set: ReplicaSet): boolean => replicasOf(set) > 0

export const totalReplicas = (sets: readonly ReplicaSet[]): number =>
  sets.reduce((sum, set) => sum + replicasOf(set), 0)
export const statusSum = (sets: readonly ReplicaSet[], field: ReplicaCount): number =>
  sets.reduce((sum, set) => sum + (set.status?.[field] ?? 0), 0)

/** What a replica set's status counts. */
export type ReplicaCount = 'replicas' | 'readyReplicas' | 'availableReplicas' | 'terminatingReplicas'

/** Surge rounds up, unavailability down; both cannot be nothing, or no rollout would ever move. */
function fenceposts(deployment: Deployment): { surge: number; unavailable: number } {
  const rolling: RollingUpdateDeployment = deployment.spec?.strategy?.rollingUpdate ?? {}
  const desired = replicasOf(deployment)
  const surge = scaled(rolling.maxSurge, desired, Math.ceil)
  const unavailable = scaled(rolling.maxUnavailable, desired, Math.floor)
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}

export function maxSurge(deployment: Deployment): number {
  return isRolling(deployment) ? fenceposts(deployment).surge : 0
}

export function maxUnavailable(deployment: Deployment): number {
  const desired = replicasOf(deployment)
  if (!isRolling(deployment) || desired === 0) return 0
  return Math.min(fenceposts(deployment).unavailable, desired)
}

/** How many replicas the new replica set may have now. */
export function newSetReplicas(deployment: Deployment, all: readonly ReplicaSet[], newSet: ReplicaSet): number {
  const desired = replicasOf(deployment)
  if (!isRolling(deployment)) return desired
  const room = desired + maxSurge(deployment) - totalReplicas(all)
  const now = replicasOf(newSet)
  return room <= 0 ? now : now + Math.min(room, desired - now)
}

export const isSaturated = (deployment: Deployment, set: ReplicaSet | undefined): boolean => {
  const desired = replicasOf(deployment)
  return (
    set !== undefined &&
    replicasOf(set) === desired &&
    parseInt64(set.metadata.annotations?.[desiredAnnotation]) === desired &&
    (set.status?.availableReplicas ?? 0) === desired
  )
}

/** Older first, then by name. */
export function compareCreation(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  if (first !== second) return first < second ? -1 : 1
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
