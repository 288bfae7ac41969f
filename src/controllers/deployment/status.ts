/** A Deployment's status: counts of its replica sets, and the conditions Available, Progressing and ReplicaFailure. */
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
  ReplicaSetCondition,
} from '../../api/generated/types.ts'
import { formatTime } from '../../base/clock.ts'
import { maxUnavailable, replicasOf, statusSum, totalReplicas } from './max-surge-max-unavailable.ts'

export const deadlineExceeded = 'ProgressDeadlineExceeded'
const newSetAvailable = 'NewReplicaSetAvailable'
const noDeadline = 2 ** 31 - 1

export const hasProgressDeadline = (deployment: Deployment): boolean =>
  deployment.spec?.progressDeadlineSeconds !== undefined && deployment.spec?.progressDeadlineSeconds !== noDeadline

export function newCondition(
  type: string,
  status: string,
  reason: string,
  message: string,
  nowMs: number,
): DeploymentCondition {
  const now = formatTime(nowMs)
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message }
}

/** Of a deployment, or of one of its replica sets. */
export function workloadCondition<C extends { readonly type: string }>(
  status: { readonly conditions?: readonly C[] } | undefined,
  type: string,
): C | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** Unchanged when status and reason are; the time of transition stays while the status does. */
export function setCondition(
  conditions: readonly DeploymentCondition[],
  condition: DeploymentCondition,
): readonly DeploymentCondition[] {
  const current = conditions.find((other) => other.type === condition.type)
  if (current === undefined) return [...conditions, condition]
  const sameStatus = current.status === condition.status
  if (sameStatus && current.reason === condition.reason) return conditions
  const kept = sameStatus ? sinceThen(condition, current) : condition
  return [...conditions.filter((other) => other !== current), kept]
}

/** The condition with the other's time of transition. */
function sinceThen(
  condition: DeploymentCondition,
  { lastTransitionTime }: DeploymentCondition | ReplicaSetCondition,
): DeploymentCondition {
  const { lastTransitionTime: _, ...rest } = condition
  return lastTransitionTime === undefined ? rest : { ...condition, lastTransitionTime }
}

export function calculateStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const available = statusSum(all, 'availableReplicas')
  const old: DeploymentStatus = deployment.status ?? {}
  const enough = available >= replicasOf(deployment) - maxUnavailable(deployment)
  const conditions = setCondition(
    old.conditions ?? [],
    enough
      ? newCondition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.', nowMs)
      : newCondition(
          'Available',
          'False',
          'MinimumReplicasUnavailable',
          'Deployment does not have minimum availability.',
          nowMs,
        ),
  )
  const counts = {
    replicas: statusSum(all, 'replicas'),
    updatedReplicas: statusSum(newSet === undefined ? [] : [newSet], 'replicas'),
    readyReplicas: statusSum(all, 'readyReplicas'),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, totalReplicas(all) - available),
  }
  const nonZero = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...nonZero,
    terminatingReplicas: statusSum(all, 'terminatingReplicas'),
    ...(old.collisionCount === undefined ? {} : { collisionCount: old.collisionCount }),
    conditions,
  }
}

/** All replicas are new and available, and nothing older is left. */
export function isRolledOut(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = replicasOf(deployment)
  return (
    (status.updatedReplicas ?? 0) === desired &&
    (status.replicas ?? 0) === desired &&
    (status.availableReplicas ?? 0) === desired &&
    (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

function hasProgressed(deployment: Deployment, status: DeploymentStatus): boolean {
  const old: DeploymentStatus = deployment.status ?? {}
  const count = (of: DeploymentStatus, name: 'replicas' | 'updatedReplicas' | 'readyReplicas' | 'availableReplicas') =>
    of[name] ?? 0
  const older = (of: DeploymentStatus) => count(of, 'replicas') - count(of, 'updatedReplicas')
  return (
    count(status, 'updatedReplicas') > count(old, 'updatedReplicas') ||
    older(status) < older(old) ||
    count(status, 'readyReplicas') > count(old, 'readyReplicas') ||
    count(status, 'availableReplicas') > count(old, 'availableReplicas')
  )
}

function hasTimedOut(deployment: Deployment, status: DeploymentStatus, nowMs: number): boolean {
  const condition = workloadCondition(status, 'Progressing')
  if (condition === undefined || condition.reason === newSetAvailable) return false
  if (condition.reason === deadlineExceeded) return true
  return deadlineAt(deployment, condition) < nowMs
}

/** Milliseconds; not a number where the deployment has no deadline, or the condition no time. */
const deadlineAt = ({ spec }: Deployment, { lastUpdateTime = '' }: DeploymentCondition): number =>
  Date.parse(lastUpdateTime) + (spec?.progressDeadlineSeconds ?? Number.NaN) * 1000

/** The status during a rollout: with what is known of its progress and of failures to create pods. */
export function rolloutStatus(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  newSet: ReplicaSet | undefined,
  nowMs: number,
): DeploymentStatus {
  const status = calculateStatus(deployment, all, newSet, nowMs)
  let conditions = status.conditions ?? []
  const withConditions = () => ({ ...status, conditions })
  const current = workloadCondition(deployment.status, 'Progressing')
  if (!hasProgressDeadline(deployment)) conditions = without(conditions, 'Progressing')
  const finished = (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && current?.reason === newSetAvailable
  if (hasProgressDeadline(deployment) && !finished) {
    const subject =
      newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`
    if (isRolledOut(deployment, status)) {
      const message = `${subject} has successfully progressed.`
      conditions = setCondition(conditions, newCondition('Progressing', 'True', newSetAvailable, message, nowMs))
    } else if (hasProgressed(deployment, status)) {
      const message = `${subject} is progressing.`
      const condition = newCondition('Progressing', 'True', 'ReplicaSetUpdated', message, nowMs)
      // Every step forward counts as an update, so that the deadline starts anew.
      conditions = setCondition(
        without(conditions, 'Progressing'),
        current?.status === 'True' ? sinceThen(condition, current) : condition,
      )
    } else if (hasTimedOut(deployment, status, nowMs)) {
      const message = `${subject} has timed out progressing.`
      conditions = setCondition(conditions, newCondition('Progressing', 'False', deadlineExceeded, message, nowMs))
    }
  }
  const failure = replicaFailure(all, newSet)
  conditions =
    failure === undefined ? without(conditions, 'ReplicaFailure') : setCondition(conditions, asOwn(failure, nowMs))
  return withConditions()
}

function without(conditions: readonly DeploymentCondition[], type: string): readonly DeploymentCondition[] {
  return conditions.some((condition) => condition.type === type)
    ? conditions.filter((condition) => condition.type !== type)
    : conditions
}

/** The new replica set's failure if it has one, else any other's. */
function replicaFailure(all: readonly ReplicaSet[], newSet: ReplicaSet | undefined): ReplicaSetCondition | undefined {
  const own = newSet === undefined ? undefined : workloadCondition(newSet.status, 'ReplicaFailure')
  if (own !== undefined) return own
  for (const set of all) {
    const failure = workloadCondition(set.status, 'ReplicaFailure')
    if (failure !== undefined) return failure
  }
  return undefined
}

function asOwn(failure: ReplicaSetCondition, nowMs: number): DeploymentCondition {
  const { status, reason = '', message = '' } = failure
  return sinceThen(newCondition('ReplicaFailure', status, reason, message, nowMs), failure)
}

/** Milliseconds until progress has to be looked at again; undefined when nothing is waited for. */
export function untilDeadline(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const condition = workloadCondition(deployment.status, 'Progressing')
  if (!hasProgressDeadline(deployment) || condition === undefined) return undefined
  if (isRolledOut(deployment, status) || condition.reason === deadlineExceeded) return undefined
  return deadlineAt(deployment, condition) - nowMs
}
