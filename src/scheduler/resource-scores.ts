/** What is left of a node's resources, or used of them, as a score (plugin NodeResourcesFit). Whole numbers, 0 to 100. */
import { addInt64, type Int64 } from '../api/objects/integers.ts'
import type { NodeInfo } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'
import type { ScoringStrategy, UtilizationShape } from './profile.ts'

const MAX = 100
/** Of a shape's scores, which go to 10. */
const SHAPE_SCALE = 10
/** Every container is taken to need some of these. */
const ASSUMED = ['cpu', 'memory']
const NATIVE = [...ASSUMED, 'ephemeral-storage']

export const sum = (a: Int64 | undefined, b: Int64 | undefined): number => Number(addInt64(a ?? 0, b ?? 0))

export function resourceScore(info: PodInfo, node: NodeInfo, { type, resources, shape }: ScoringStrategy): number {
  let total = 0
  let weights = 0
  for (const { name, weight } of resources) {
    const capacity = Number(node.allocatable.get(name) ?? 0)
    // One that the pod does not ask for tells nothing, unless every node has it.
    if (capacity === 0 || (!NATIVE.includes(name) && !info.requests.get(name))) continue
    const used = ASSUMED.includes(name)
      ? sum(node.assumed.get(name), info.assumed.get(name))
      : sum(node.requested.get(name), info.requests.get(name))
    const score = scoreOf(type, used, capacity, shape)
    if (type === 'RequestedToCapacityRatio' && score === 0) continue
    total += score * weight
    weights += weight
  }
  if (weights === 0) return 0
  return type === 'RequestedToCapacityRatio' ? Math.round(total / weights) : Math.floor(total / weights)
}

function scoreOf(type: ScoringStrategy['type'], used: number, capacity: number, shape: UtilizationShape): number {
  switch (type) {
    case 'LeastAllocated':
      return Math.floor((MAX * Math.max(0, capacity - used)) / capacity)
    case 'MostAllocated':
      return Math.floor((MAX * Math.min(used, capacity)) / capacity)
    case 'RequestedToCapacityRatio':
      return onShape(shape, used > capacity ? MAX : Math.floor((MAX * used) / capacity))
  }
}

/** Of a shape at this many percent, 0 to 100. */
export function onShape(shape: UtilizationShape, utilization: number): number {
  const at = shape.findIndex((point) => utilization <= point.utilization)
  const scoreAt = (i: number) => (shape[i]?.score ?? 0) * SHAPE_SCALE
  if (at <= 0) return scoreAt(at < 0 ? shape.length - 1 : 0)
  const from = shape[at - 1]?.utilization ?? 0
  const to = shape[at]?.utilization ?? 0
  return scoreAt(at - 1) + Math.trunc(((scoreAt(at) - scoreAt(at - 1)) * (utilization - from)) / (to - from))
}

/** How alike the use of these resources is with `more` on the node: 100 when it is the same. */
export function balance(
  node: NodeInfo,
  names: readonly string[],
  more: ReadonlyMap<string, Int64>,
  asked: PodInfo,
): number {
  const fractions: number[] = []
  for (const name of names) {
    const capacity = Number(node.allocatable.get(name) ?? 0)
    if (capacity === 0 || (!NATIVE.includes(name) && !asked.requests.get(name))) continue
    fractions.push(Math.min(1, sum(node.requested.get(name), more.get(name)) / capacity))
  }
  return Math.floor(MAX * (1 - deviation(fractions)))
}

function deviation(fractions: readonly number[]): number {
  if (fractions.length < 2) return 0
  if (fractions.length === 2) return Math.abs((fractions[0] as number) - (fractions[1] as number)) / 2
  const mean = fractions.reduce((all, one) => all + one, 0) / fractions.length
  return Math.sqrt(fractions.reduce((all, one) => all + (one - mean) ** 2, 0) / fractions.length)
}
