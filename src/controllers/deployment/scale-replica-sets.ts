/** Sizes of a deployment's replica sets: one at a time, in proportion, and old ones down; those beyond the history go. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { isNotFound } from '../../api/status.ts'
import {
  compareCreation,
  isActiveSet,
  isRolling,
  isSaturated,
  maxUnavailable,
  proportionalSizes,
  replicasOf,
  statusSum,
  totalReplicas,
} from './max-surge-max-unavailable.ts'
import { compareRevision, replicaAnnotations } from './revision-history.ts'
import { type DeploymentSync, everySet } from './sync.ts'

const unlimitedHistory = 2 ** 31 - 1

/** The updated set, or undefined when it had that size already. */
export async function scaleTo(sync: DeploymentSync, set: ReplicaSet, size: number): Promise<ReplicaSet | undefined> {
  return replicasOf(set) === size ? undefined : resize(sync, set, size)
}

async function resize(sync: DeploymentSync, set: ReplicaSet, size: number): Promise<ReplicaSet | undefined> {
  const wanted = replicaAnnotations(sync.deployment)
  const before = replicasOf(set)
  const annotations = { ...set.metadata.annotations, ...wanted }
  if (before === size && sameJson(annotations, set.metadata.annotations)) return undefined
  const updated = await sync.setClient.update({
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec!, replicas: size },
  })
  if (before === size) return updated
  const way = before < size ? 'up' : 'down'
  const message = `Scaled ${way} replica set ${set.metadata.name} from ${before} to ${size}`
  sync.parts.recorder.event(sync.deployment, 'Normal', 'ScalingReplicaSet', message)
  return updated
}

/** Sizes for a deployment whose replicas changed, or that is paused. */
export async function scale(
  sync: DeploymentSync,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Promise<void> {
  const single = activeOrLatest(newSet, old)
  if (single !== undefined) {
    await scaleTo(sync, single, replicasOf(sync.deployment))
  } else if (isSaturated(sync.deployment, newSet)) {
    for (const set of old.filter(isActiveSet)) await scaleTo(sync, set, 0)
  } else if (isRolling(sync.deployment)) {
    const active = everySet(newSet, old).filter(isActiveSet)
    const sizes = proportionalSizes(sync.deployment, active)
    for (const set of active) await resize(sync, set, sizes.get(set.metadata.name ?? '') ?? replicasOf(set))
  }
}

/** The old sets after those that may go have been scaled down; undefined when nothing may. */
export async function scaleDownOld(
  sync: DeploymentSync,
  newSet: ReplicaSet,
  old: readonly ReplicaSet[],
): Promise<readonly ReplicaSet[] | undefined> {
  if (totalReplicas(old.filter(isActiveSet)) === 0) return undefined
  const minAvailable = replicasOf(sync.deployment) - maxUnavailable(sync.deployment)
  const unavailableNew = replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0)
  const most = totalReplicas(everySet(newSet, old)) - minAvailable - unavailableNew
  if (most <= 0) return undefined
  let shrunk = false
  // What is not healthy goes first: it is no loss.
  let current = [...old].sort(compareCreation)
  let removed = 0
  for (const set of current.filter(isActiveSet)) {
    if (removed >= most) break
    const unhealthy = replicasOf(set) - (set.status?.availableReplicas ?? 0)
    if (unhealthy <= 0) continue
    const count = Math.min(most - removed, unhealthy)
    const scaled = await scaleTo(sync, set, replicasOf(set) - count)
    removed += count
    if (scaled === undefined) continue
    shrunk = true
    current = current.map((other) => (other === set ? scaled : other))
  }
  const spare = statusSum(everySet(newSet, current), 'availableReplicas') - minAvailable
  let given = 0
  for (const set of current.filter(isActiveSet)) {
    if (given >= spare) break
    const count = Math.min(replicasOf(set), spare - given)
    const scaled = await scaleTo(sync, set, replicasOf(set) - count)
    given += count
    if (scaled === undefined) continue
    shrunk = true
    current = current.map((other) => (other === set ? scaled : other))
  }
  return shrunk ? current : undefined
}

/** Deletes the oldest revisions beyond revisionHistoryLimit; never one that still has or may still have pods. */
export async function cleanUp(sync: DeploymentSync, old: readonly ReplicaSet[]): Promise<void> {
  const limit: number | undefined = sync.deployment.spec?.revisionHistoryLimit
  if (limit === undefined || limit === unlimitedHistory) return
  const cleanable = old.filter((set) => set.metadata.deletionTimestamp === undefined)
  const surplus = cleanable.length - limit
  if (surplus <= 0) return
  cleanable.sort(compareRevision)
  for (const set of cleanable.slice(0, surplus)) {
    const { status } = set
    const settled = (set.metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
    if ((status?.replicas ?? 0) !== 0 || replicasOf(set) !== 0 || !settled) continue
    await sync.setClient.delete(set.metadata.name ?? '').catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }
}

/** The one set to scale when there is no rollout under way: the only active one, or the newest when none is. */
function activeOrLatest(newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): ReplicaSet | undefined {
  const newestFirst = [...old].sort((a, b) => compareCreation(b, a))
  const active = everySet(newSet, newestFirst).filter(isActiveSet)
  if (active.length === 0) return newSet ?? newestFirst[0]
  return active.length === 1 ? active[0] : undefined
}
