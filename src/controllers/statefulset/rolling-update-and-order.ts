/**
 * What to do for a StatefulSet next (API concept: stateful sets). Pure: from the set, its pods and what is known of their
 * claims to the steps of one sync. OrderedReady does one thing at a time and waits for it, Parallel all at once.
 */
import type { Pod, StatefulSet } from '../../api/generated/types.ts'
import { scaled } from '../int-or-percent.ts'
import { isAvailable, minReadySecondsOf } from '../pods/min-ready-seconds.ts'
import { isReady, isTerminated } from '../pods/pod.ts'
import {
  isOrdinalInRange,
  ordinalOf,
  revisionOfPod,
  startOf,
  statefulSetReplicas,
  withIdentity,
} from './pod-identity.ts'

export type Step =
  | { readonly type: 'create'; readonly ordinal: number; readonly revision: 'current' | 'update' }
  /** `outdated`: to be made again by the new template. */
  | { readonly type: 'delete'; readonly pod: Pod; readonly outdated?: true }
  /** Its claims are missing, or go with the wrong owner. */
  | { readonly type: 'claims'; readonly pod: Pod }
  /** Its labels or volumes are not those of its name, or its claims were not: then it is written as it is. */
  | { readonly type: 'identify'; readonly pod: Pod }

export interface StatefulSetPlanInput {
  readonly set: StatefulSet
  readonly pods: readonly Pod[]
  /** The name of the revision that pods are to have in the end. */
  readonly updateRevision: string
  readonly nowMs: number
  /** Claims of the pod that are not there. */
  lacksClaims(pod: Pod): boolean
  /** The owners of its claims are not those of the retention policy. */
  hasWrongClaims(pod: Pod): boolean
  /** A claim of this ordinal goes with a former pod. */
  hasStaleClaims(ordinal: number): boolean
}

export interface StatefulSetPlan {
  /** One after the other; within one, steps do not depend on each other. */
  readonly phases: readonly (readonly Step[])[]
  /** Claims have to go before there can be a new pod: nothing else will tell when they have. */
  readonly waitsForClaims: boolean
}

interface Replica {
  readonly ordinal: number
  readonly pod: Pod | undefined
}

const isMarked = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined
export const isRunningAndReady = (pod: Pod): boolean => pod.status?.phase === 'Running' && isReady(pod)
const isHealthy = (pod: Pod | undefined): boolean => pod !== undefined && isRunningAndReady(pod) && !isMarked(pod)
export const isParallel = (set: StatefulSet): boolean => set.spec?.podManagementPolicy === 'Parallel'

export function planSync(input: StatefulSetPlanInput): StatefulSetPlan {
  const { set, pods } = input
  const parallel = isParallel(set)
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]))
  const replicas = Array.from({ length: statefulSetReplicas(set) }, (_, index): Replica => {
    const ordinal = startOf(set) + index
    return { ordinal, pod: byOrdinal.get(ordinal) }
  })
  const condemned = pods
    .filter((pod) => ordinalOf(set, pod) >= 0 && !isOrdinalInRange(set, ordinalOf(set, pod)))
    .sort((a, b) => ordinalOf(set, b) - ordinalOf(set, a))
  const phases: Step[][] = []
  let waitsForClaims = false

  const steady: Step[] = []
  phases.push(steady)
  for (const replica of replicas) {
    const { steps, done, stale } = stepsFor(input, replica)
    steady.push(...steps)
    if (stale) waitsForClaims = true
    if (!done && !parallel) return { phases, waitsForClaims }
  }
  phases.push(condemned.filter(input.hasWrongClaims).map((pod) => ({ type: 'claims', pod })))
  phases.push(scaleDown(input, replicas, condemned))
  if (condemned.length === 0 || parallel) phases.push(update(input, replicas))
  return { phases, waitsForClaims }
}

/** `done`: those after it need not wait. */
function stepsFor(
  input: StatefulSetPlanInput,
  { ordinal, pod }: Replica,
): { steps: Step[]; done: boolean; stale?: true } {
  const { set } = input
  if (pod === undefined) {
    if (input.hasStaleClaims(ordinal)) return { steps: [], done: false, stale: true }
    return { steps: [{ type: 'create', ordinal, revision: revisionFor(set, ordinal) }], done: false }
  }
  if (isTerminated(pod)) {
    // It is made again when it has gone.
    return { steps: isMarked(pod) ? [] : [{ type: 'delete', pod }], done: false }
  }
  const pending = pod.status?.phase === 'Pending'
  const available = isAvailable(pod, minReadySecondsOf(set), input.nowMs)
  const done = !isMarked(pod) && isRunningAndReady(pod) && available
  const settled = done || isParallel(set)
  const steps: Step[] = []
  const hasWrongClaims = (pending || settled) && input.hasWrongClaims(pod)
  if (hasWrongClaims || (pending && input.lacksClaims(pod))) steps.push({ type: 'claims', pod })
  if (settled && ((hasWrongClaims && !pending) || withIdentity(set, pod) !== pod)) steps.push({ type: 'identify', pod })
  return { steps, done }
}

/** Below the partition, pods stay what they are. */
function revisionFor(set: StatefulSet, ordinal: number): 'current' | 'update' {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  return type === 'RollingUpdate' && ordinal < startOf(set) + (rollingUpdate?.partition ?? 0) ? 'current' : 'update'
}

/** From the highest ordinal down. An unhealthy pod is waited for, but for the lowest of them. */
function scaleDown(input: StatefulSetPlanInput, replicas: readonly Replica[], condemned: readonly Pod[]): Step[] {
  if (isParallel(input.set)) return condemned.filter((pod) => !isMarked(pod)).map((pod) => ({ type: 'delete', pod }))
  const [last] = condemned
  if (last === undefined || isMarked(last)) return []
  const firstUnhealthy =
    replicas.find(({ pod }) => !isHealthy(pod))?.pod ?? condemned.findLast((pod) => !isHealthy(pod))
  const ready = isRunningAndReady(last) && isAvailable(last, minReadySecondsOf(input.set), input.nowMs)
  return ready || last === firstUnhealthy ? [{ type: 'delete', pod: last }] : []
}

/**
 * Outdated pods from the highest ordinal down to the partition, as many as may be unavailable together. Those that are
 * unavailable already cost nothing.
 */
function update({ set, updateRevision, nowMs }: StatefulSetPlanInput, replicas: readonly Replica[]): Step[] {
  const { type, rollingUpdate } = set.spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return []
  const isUp = ({ pod }: Replica) =>
    pod !== undefined && isHealthy(pod) && isAvailable(pod, minReadySecondsOf(set), nowMs)
  const most = Math.max(1, scaled(rollingUpdate?.maxUnavailable ?? 1, replicas.length, Math.floor))
  let left = most - replicas.filter((replica) => !isUp(replica)).length
  const steps: Step[] = []
  for (const replica of replicas.slice(rollingUpdate?.partition ?? 0).reverse()) {
    const { pod } = replica
    if (pod === undefined || isMarked(pod) || revisionOfPod(pod) === updateRevision) continue
    if (isUp(replica) && left-- <= 0) continue
    steps.push({ type: 'delete', pod, outdated: true })
  }
  return steps
}
