/** One sync of a deployment: what to create, scale or clean up, and the status to write, by strategy. */
import type { Deployment, Pod, ReplicaSet } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { cleanUp } from './clean-up-revision-history.ts'
import {
  desiredAnnotation,
  isActiveSet,
  isRolling,
  newSetReplicas,
  replicasOf,
  statusSum,
} from './max-surge-max-unavailable.ts'
import { newAndOld } from './new-replica-set.ts'
import { scaleDownOld } from './scale-down-old-replica-sets.ts'
import { scale, scaleTo } from './scale-replica-sets.ts'
import {
  calculateStatus,
  deadlineExceeded,
  hasProgressDeadline,
  isRolledOut,
  newCondition,
  rolloutStatus,
  untilDeadline,
  workloadCondition,
} from './status.ts'
import { type DeploymentSync, everySet, type RolloutParts, takeCondition, writeStatus } from './sync.ts'

export function createRollout(parts: RolloutParts) {
  return {
    async observeOnly(deployment: Deployment): Promise<void> {
      const generation = deployment.metadata.generation ?? 0
      if ((deployment.status?.observedGeneration ?? 0) >= generation) return
      await writeStatus(parts, deployment, { ...deployment.status, observedGeneration: generation })
    },

    /** @throws on conflicts and failures: the deployment is to be synced again */
    async sync(
      stored: Deployment,
      own: readonly ReplicaSet[],
      podsBySet: () => ReadonlyMap<string, readonly Pod[]>,
    ): Promise<void> {
      const setClient = parts.sets.namespace(stored.metadata.namespace ?? '')
      const sync: DeploymentSync = { parts, setClient, deployment: stored, known: own }
      if (stored.metadata.deletionTimestamp !== undefined) return syncStatusOnly(sync)
      await checkPaused(sync)
      if (stored.spec?.paused === true) return scaleOnly(sync)
      if (await isScaling(sync)) return scaleOnly(sync)
      return isRolling(stored) ? rolling(sync) : recreate(sync, podsBySet)
    },
  }
}

async function checkPaused(sync: DeploymentSync): Promise<void> {
  if (!hasProgressDeadline(sync.deployment)) return
  const condition = workloadCondition(sync.deployment.status, 'Progressing')
  if (condition?.reason === deadlineExceeded) return
  const paused = sync.deployment.spec?.paused === true
  const shown = condition?.reason === 'DeploymentPaused'
  if (paused === shown) return
  const [reason, message] = paused
    ? ['DeploymentPaused', 'Deployment is paused']
    : ['DeploymentResumed', 'Deployment is resumed']
  takeCondition(
    sync,
    newCondition('Progressing', 'Unknown', reason as string, message as string, sync.parts.runtime.clock.now()),
  )
  sync.deployment = await writeStatus(sync.parts, sync.deployment, sync.deployment.status ?? {})
}

async function isScaling(sync: DeploymentSync): Promise<boolean> {
  const { newSet, old } = await newAndOld(sync, false)
  const desired = String(replicasOf(sync.deployment))
  return everySet(newSet, old)
    .filter(isActiveSet)
    .some((set) => {
      const annotated = set.metadata.annotations?.[desiredAnnotation]
      return annotated !== undefined && annotated !== desired
    })
}

async function syncStatusOnly(sync: DeploymentSync): Promise<void> {
  const { newSet, old } = await newAndOld(sync, false)
  await syncStatus(sync, everySet(newSet, old), newSet)
}

/** The status tells of the sets as they were found: what has been asked of them now is told when it is seen. */
async function scaleOnly(sync: DeploymentSync): Promise<void> {
  const { newSet, old } = await newAndOld(sync, false)
  await scale(sync, newSet, old)
  if (sync.deployment.spec?.paused === true) await cleanUp(sync, old)
  await syncStatus(sync, everySet(newSet, old), newSet)
}

async function rolling(sync: DeploymentSync): Promise<void> {
  const { newSet: found, old } = await newAndOld(sync, true)
  const newSet = found as ReplicaSet
  const desired = replicasOf(sync.deployment)
  if (replicasOf(newSet) !== desired) {
    const size = replicasOf(newSet) > desired ? desired : newSetReplicas(sync.deployment, everySet(newSet, old), newSet)
    const scaled = await scaleTo(sync, newSet, size)
    if (scaled !== undefined) return syncRollout(sync, everySet(scaled, old), scaled)
  }
  const shrunk = await scaleDownOld(sync, newSet, old)
  if (shrunk !== undefined) return syncRollout(sync, everySet(newSet, shrunk), newSet)
  if (isRolledOut(sync.deployment, sync.deployment.status ?? {})) await cleanUp(sync, old)
  await syncRollout(sync, everySet(newSet, old), newSet)
}

async function recreate(sync: DeploymentSync, podsBySet: () => ReadonlyMap<string, readonly Pod[]>): Promise<void> {
  let { newSet, old } = await newAndOld(sync, false)
  const shrunk: ReplicaSet[] = []
  for (const set of old.filter(isActiveSet)) {
    const scaled = await scaleTo(sync, set, 0)
    if (scaled !== undefined) shrunk.push(scaled)
  }
  if (shrunk.length > 0) {
    old = old.map((set) => replaced(set, shrunk) as ReplicaSet)
    return syncRollout(sync, everySet(newSet, old), newSet)
  }
  if (oldPodsRunning(newSet, old, podsBySet())) return syncRollout(sync, everySet(newSet, old), newSet)
  if (newSet === undefined) ({ newSet, old } = await newAndOld(sync, true))
  if (newSet !== undefined) newSet = (await scaleTo(sync, newSet, replicasOf(sync.deployment))) ?? newSet
  if (isRolledOut(sync.deployment, sync.deployment.status ?? {})) await cleanUp(sync, old)
  await syncRollout(sync, everySet(newSet, old), newSet)
}

async function syncStatus(
  sync: DeploymentSync,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): Promise<void> {
  const status = calculateStatus(sync.deployment, all, newSet, sync.parts.runtime.clock.now())
  if (sameJson(status, sync.deployment.status)) return
  await writeStatus(sync.parts, sync.deployment, status)
}

async function syncRollout(
  sync: DeploymentSync,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
): Promise<void> {
  const status = rolloutStatus(sync.deployment, all, newSet, sync.parts.runtime.clock.now())
  if (!sameJson(status, sync.deployment.status)) {
    await writeStatus(sync.parts, sync.deployment, status)
    return
  }
  const left = untilDeadline(sync.deployment, status, sync.parts.runtime.clock.now())
  // A second more, since times have only seconds.
  if (left !== undefined) sync.parts.requeue(sync.deployment, left < 1000 ? undefined : left + 1000)
}

function replaced(set: ReplicaSet | undefined, by: readonly ReplicaSet[]): ReplicaSet | undefined {
  return by.find((other) => other.metadata.uid === set?.metadata.uid) ?? set
}

function oldPodsRunning(
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
  podsBySet: ReadonlyMap<string, readonly Pod[]>,
): boolean {
  if (statusSum(old, 'replicas') > 0) return true
  for (const [uid, pods] of podsBySet) {
    if (uid === newSet?.metadata.uid) continue
    if (pods.some((pod) => pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded')) return true
  }
  return false
}
