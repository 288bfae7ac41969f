/**
 * What becomes of the number that metrics ask for: recent recommendations steady it, and policies and bounds limit the pace. The
 * memory is an autoscaler's own, and changed here; everything else is given.
 */
import type { HorizontalPodAutoscalerBehavior, HPAScalingPolicy, HPAScalingRules } from '../../api/generated/types.ts'

interface Recommendation {
  readonly replicas: number
  readonly atMs: number
}
interface ScaleEvent {
  readonly change: number
  readonly atMs: number
}

/** What the controller remembers of an autoscaler. */
export interface ScalingMemory {
  recommendations: Recommendation[]
  scaledUp: ScaleEvent[]
  scaledDown: ScaleEvent[]
}

export interface ScalingQuestion {
  readonly memory: ScalingMemory
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined
  readonly current: number
  /** What the metrics ask for. */
  readonly wanted: number
  readonly min: number
  readonly max: number
  readonly nowMs: number
  readonly downscaleStabilizationMs: number
}

interface Told {
  readonly reason: string
  readonly message: string
}
export interface ScalingAnswer {
  readonly replicas: number
  readonly able: Told
  readonly limited: Told & { readonly status: 'True' | 'False' }
}

const READY: Told = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const STABILIZED_DOWN: Told = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const STABILIZED_UP: Told = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}
const WITHIN: Told = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const TOO_FEW: Told = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const TOO_MANY: Told = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const UP_LIMIT: Told = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const DOWN_LIMIT: Told = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}
/** Without policies: twice as many at once, or so many. */
const SCALE_UP_FACTOR = 2
const SCALE_UP_AT_LEAST = 4

export function createScalingMemory(current: number, nowMs: number): ScalingMemory {
  return { recommendations: [{ replicas: current, atMs: nowMs }], scaledUp: [], scaledDown: [] }
}

export function limitScaling(question: ScalingQuestion): ScalingAnswer {
  const { behavior, wanted } = question
  const steadied = behavior === undefined ? steadyDown(question) : steadyByRules(question, behavior)
  const able =
    steadied === wanted ? READY : behavior !== undefined && wanted >= question.current ? STABILIZED_UP : STABILIZED_DOWN
  const { replicas, told } =
    behavior === undefined ? paced(question, steadied) : pacedByRules(question, behavior, steadied)
  return { replicas, able, limited: { status: replicas === steadied ? 'False' : 'True', ...told } }
}

/** Remembers that the target was scaled, as long as a policy asks. */
export function noteScaled(
  memory: ScalingMemory,
  behavior: HorizontalPodAutoscalerBehavior | undefined,
  from: number,
  to: number,
  nowMs: number,
): void {
  if (behavior === undefined) return
  const rules = to > from ? behavior.scaleUp : behavior.scaleDown
  const longest = Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds * 1000))
  const kept = (events: readonly ScaleEvent[]) => events.filter(({ atMs }) => atMs >= nowMs - longest)
  const event = { change: Math.abs(to - from), atMs: nowMs }
  if (to > from) memory.scaledUp = [...kept(memory.scaledUp), event]
  else memory.scaledDown = [...kept(memory.scaledDown), event]
}

/**
 * Looks come a period apart, and a moment more: what is as old as a window, to the millisecond of a clock that was moved by
 * hand, is out of it.
 */
const isRecent = (atMs: number, windowMs: number, nowMs: number): boolean => atMs > nowMs - windowMs

function remember(memory: ScalingMemory, recommendation: Recommendation, windowMs: number): void {
  const recent = memory.recommendations.filter(({ atMs }) => isRecent(atMs, windowMs, recommendation.atMs))
  memory.recommendations = [...recent, recommendation]
}

/** The highest one of a while. */
function steadyDown({ memory, wanted, nowMs, downscaleStabilizationMs: windowMs }: ScalingQuestion): number {
  remember(memory, { replicas: wanted, atMs: nowMs }, windowMs)
  return Math.max(...memory.recommendations.map(({ replicas }) => replicas))
}

function steadyByRules(question: ScalingQuestion, behavior: HorizontalPodAutoscalerBehavior): number {
  const { memory, current, wanted, nowMs, downscaleStabilizationMs } = question
  const windowOf = (rules: HPAScalingRules | undefined, usualMs: number) =>
    rules?.stabilizationWindowSeconds === undefined ? usualMs : rules.stabilizationWindowSeconds * 1000
  const upMs = windowOf(behavior.scaleUp, 0)
  const downMs = windowOf(behavior.scaleDown, downscaleStabilizationMs)
  const within = (windowMs: number) =>
    memory.recommendations.filter(({ atMs }) => isRecent(atMs, windowMs, nowMs)).map(({ replicas }) => replicas)
  const atLeast = Math.min(wanted, ...within(upMs))
  const atMost = Math.max(wanted, ...within(downMs))
  remember(memory, { replicas: wanted, atMs: nowMs }, Math.max(upMs, downMs))
  return Math.min(Math.max(current, atLeast), atMost)
}

function paced({ current, min, max }: ScalingQuestion, wanted: number) {
  const limit = Math.max(SCALE_UP_FACTOR * current, SCALE_UP_AT_LEAST)
  const [most, told] = max > limit ? [limit, UP_LIMIT] : [max, TOO_MANY]
  if (wanted < min) return { replicas: min, told: TOO_FEW }
  if (wanted > most) return { replicas: most, told }
  return { replicas: wanted, told: WITHIN }
}

function pacedByRules(question: ScalingQuestion, behavior: HorizontalPodAutoscalerBehavior, wanted: number) {
  const { current, min, max } = question
  if (wanted > current) {
    const limit = Math.max(current, upLimit(question, behavior.scaleUp))
    const [most, told] = max > limit ? [limit, UP_LIMIT] : [max, TOO_MANY]
    if (wanted > most) return { replicas: most, told }
  } else if (wanted < current) {
    const limit = Math.min(current, downLimit(question, behavior.scaleDown))
    const [fewest, told] = min < limit ? [limit, DOWN_LIMIT] : [min, TOO_FEW]
    if (wanted < fewest) return { replicas: fewest, told }
  }
  return { replicas: wanted, told: WITHIN }
}

/** What there were when the policy's period began. */
function replicasBefore({ memory, current, nowMs }: ScalingQuestion, { periodSeconds }: HPAScalingPolicy): number {
  const changed = (events: readonly ScaleEvent[]) =>
    events
      .filter(({ atMs }) => isRecent(atMs, periodSeconds * 1000, nowMs))
      .reduce((sum, { change }) => sum + change, 0)
  return current - changed(memory.scaledUp) + changed(memory.scaledDown)
}

function upLimit(question: ScalingQuestion, rules: HPAScalingRules | undefined): number {
  if (rules?.selectPolicy === 'Disabled') return question.current
  const limits = (rules?.policies ?? []).map((policy) => {
    const before = replicasBefore(question, policy)
    return policy.type === 'Pods' ? before + policy.value : Math.ceil(before * (1 + policy.value / 100))
  })
  return rules?.selectPolicy === 'Min' ? Math.min(...limits) : Math.max(...limits)
}

function downLimit(question: ScalingQuestion, rules: HPAScalingRules | undefined): number {
  if (rules?.selectPolicy === 'Disabled') return question.current
  const limits = (rules?.policies ?? []).map((policy) => {
    const before = replicasBefore(question, policy)
    return policy.type === 'Pods' ? before - policy.value : Math.trunc(before * (1 - policy.value / 100))
  })
  return rules?.selectPolicy === 'Min' ? Math.max(...limits) : Math.min(...limits)
}
