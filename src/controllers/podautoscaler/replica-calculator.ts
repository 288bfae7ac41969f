/** How many replicas a metric asks for. Pure: metrics and pods are given. Amounts are in thousandths. */
import type { Pod } from '../../api/generated/types.ts'
import { quantityMilliValue } from '../../api/values/quantity.ts'
import { isReady } from '../pods/pod.ts'
import type { PodMetric, PodMetrics } from './metrics-client.ts'
import { groupPods } from './pod-groups.ts'
import type { PodAutoscalerOptions } from './settings.ts'

/** How far the ratio of usage to target may be from one, downward and upward. */
export interface Tolerances {
  readonly down: number
  readonly up: number
}

export interface CountedReplicas {
  readonly pods: readonly Pod[]
  readonly nowMs: number
  readonly options: PodAutoscalerOptions
  readonly tolerances: Tolerances
}

export interface Proposal {
  readonly replicas: number
  /** The value found: of all, or on average. */
  readonly milli: bigint
  /** Percent of what was requested. */
  readonly utilization?: number
}

const MOST = 2_147_483_647
/** @throws Error for what is no number: remembered as a recommendation, it would spoil all that follow */
function roundUp(replicas: number): number {
  if (!Number.isFinite(replicas)) throw new Error('the metric and its target make no number of replicas')
  return Math.min(Math.ceil(replicas), MOST)
}
const isWithin = (ratio: number, { down, up }: Tolerances): boolean => 1 - down <= ratio && ratio <= 1 + up
const sumOf = (metrics: PodMetrics): bigint => [...metrics.values()].reduce((sum, { milli }) => sum + milli, 0n)

/** Percent of the pods' requests of the resource. `container`: of that one alone. @throws Error in Kubernetes' words */
export function utilizationReplicas(
  current: number,
  targetUtilization: number,
  resource: string,
  container: string | undefined,
  metrics: PodMetrics,
  counted: CountedReplicas,
): Proposal {
  if (counted.pods.length === 0) throw new Error('No pods returned by selector while calculating replica count')
  const groups = groupPods(counted.pods, metrics, resource, counted.nowMs, counted.options)
  const known = without(metrics, [...groups.ignored, ...groups.unready])
  if (known.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  const requests = requestsOf(counted.pods, container, resource)
  const utilizationOf = (of: PodMetrics) => {
    const matched = new Map([...of].filter(([name]) => requests.has(name)))
    const requested = [...matched.keys()].reduce((sum, name) => sum + (requests.get(name) ?? 0n), 0n)
    if (requested === 0n) throw new Error('no metrics returned matched known pods')
    const used = sumOf(matched)
    const utilization = Number((used * 100n) / requested)
    return { ratio: utilization / targetUtilization, utilization, milli: used / BigInt(matched.size) }
  }
  const { ratio, utilization, milli } = utilizationOf(known)
  // A pod that tells nothing is held to use all that it asked for when there is too little to do.
  const assumed = BigInt(Math.max(100, targetUtilization))
  const missing = (name: string) => ((requests.get(name) ?? 0n) * assumed) / 100n
  const ratioOf = (of: PodMetrics) => utilizationOf(of).ratio
  return {
    replicas: replicasFor(current, ratio, known, groups, missing, ratioOf, counted.tolerances),
    utilization,
    milli,
  }
}

/** The average over the pods. `resource`: where it is of one. @throws Error in Kubernetes' words */
export function averageReplicas(
  current: number,
  target: bigint,
  resource: string,
  metrics: PodMetrics,
  counted: CountedReplicas,
): Proposal {
  if (counted.pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const groups = groupPods(counted.pods, metrics, resource, counted.nowMs, counted.options)
  const known = without(metrics, [...groups.ignored, ...groups.unready])
  if (known.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  const averageOf = (of: PodMetrics) => sumOf(of) / BigInt(of.size)
  const ratioOf = (of: PodMetrics) => Number(averageOf(of)) / Number(target)
  const replicas = replicasFor(current, ratioOf(known), known, groups, () => target, ratioOf, counted.tolerances)
  return { replicas, milli: averageOf(known) }
}

function without(metrics: PodMetrics, names: readonly string[]): PodMetrics {
  const left = new Map(metrics)
  for (const name of names) left.delete(name)
  return left
}

/** Pods that told nothing are assumed to be against what would be done. */
function replicasFor(
  current: number,
  ratio: number,
  known: PodMetrics,
  { ready, unready, missing }: ReturnType<typeof groupPods>,
  missingWhenFewer: (name: string) => bigint,
  ratioOf: (metrics: PodMetrics) => number,
  tolerances: Tolerances,
): number {
  const unreadyCount = unready.size > 0 && ratio > 1
  if (!unreadyCount && missing.size === 0) return isWithin(ratio, tolerances) ? current : roundUp(ratio * ready)
  const all = new Map(known)
  const assume = (name: string, milli: bigint) => all.set(name, { milli, atMs: 0, windowMs: 0 } satisfies PodMetric)
  for (const name of missing) {
    if (ratio < 1) assume(name, missingWhenFewer(name))
    else if (ratio > 1) assume(name, 0n)
  }
  if (unreadyCount) for (const name of unready) assume(name, 0n)
  const assumed = ratioOf(all)
  const turned = (ratio < 1 && assumed > 1) || (ratio > 1 && assumed < 1)
  if (isWithin(assumed, tolerances) || turned) return current
  const replicas = roundUp(assumed * all.size)
  const wrongWay = (assumed < 1 && replicas > current) || (assumed > 1 && replicas < current)
  return wrongWay ? current : replicas
}

/** A value for the whole target: as many times the ready pods as it is times its own target. @throws Error in Kubernetes' words */
export function valueReplicas(
  current: number,
  target: bigint,
  milli: bigint,
  { pods, tolerances }: Pick<CountedReplicas, 'pods' | 'tolerances'>,
): Proposal {
  const ratio = Number(milli) / Number(target)
  if (current === 0) return { replicas: roundUp(ratio), milli }
  if (isWithin(ratio, tolerances)) return { replicas: current, milli }
  if (pods.length === 0)
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod)).length
  return { replicas: roundUp(ratio * ready), milli }
}

/** What Kubernetes tells where there is nothing to share it among. */
const NO_SHARE = -(2n ** 63n)

/** A value to be shared out over the replicas that there are. */
export function sharedReplicas(present: number, target: bigint, milli: bigint, tolerances: Tolerances): Proposal {
  const ratio = Number(milli) / (Number(target) * present)
  const replicas = isWithin(ratio, tolerances) ? present : roundUp(Number(milli) / Number(target))
  const share = present === 0 ? NO_SHARE : BigInt(Math.ceil(Number(milli) / present))
  return { replicas, milli: share }
}

/** By the pod's name. @throws Error for a container that asks for nothing of it */
function requestsOf(
  pods: readonly Pod[],
  container: string | undefined,
  resource: string,
): ReadonlyMap<string, bigint> {
  const requests = new Map<string, bigint>()
  for (const { metadata, spec } of pods) {
    const { name: pod = '' } = metadata
    const own = container === undefined ? spec?.resources?.requests?.[resource] : undefined
    if (own !== undefined) {
      requests.set(pod, quantityMilliValue(own))
      continue
    }
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
    const counted = [...(spec?.containers ?? []), ...sidecars].filter(
      ({ name }) => container === undefined || name === container,
    )
    let sum = 0n
    for (const { name, resources } of counted) {
      const amount = resources?.requests?.[resource]
      if (amount === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${pod}`)
      sum += quantityMilliValue(amount)
    }
    requests.set(pod, sum)
  }
  return requests
}
