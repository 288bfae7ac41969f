/**
 * distribute-cpus-across-numa: where one NUMA node does not have enough CPUs for a container, as few as can be give it the same number each.
 * Of several ways the one after which all nodes have the most equal numbers left is taken.
 */
import { type CpuSet, cpuDifference, cpuUnion } from './cpu-set.ts'
import type { CpuTopology } from './cpu-topology.ts'
import { freeCpus, notEnough, type PackedOptions, takePacked } from './packed-cpus.ts'

interface Way {
  readonly nodes: readonly number[]
  /** Of these the rest is taken that cannot be shared equally. */
  readonly remainderNodes: readonly number[]
  readonly balance: number
}

/** `groupSize`: CPUs are given in groups of so many, those of a core. @throws Error when there are not enough of them */
export function takeDistributed(
  topology: CpuTopology,
  available: CpuSet,
  wanted: number,
  groupSize: number,
  options: PackedOptions = {},
): CpuSet {
  if (wanted <= 0) return []
  if (available.length < wanted) throw notEnough(wanted, available.length)
  const packed = () => takePacked(topology, available, wanted, options)
  if (wanted % groupSize !== 0) return packed()
  const nodes = freeCpus(topology, available, wanted).sorted('numaNode')
  const freeOn = new Map(
    nodes.map((node) => [node, available.filter((cpu) => topology.idOf('numaNode', cpu) === node)]),
  )
  const counts = new Map([...freeOn].map(([node, cpus]) => [node, cpus.length]))
  const groups = Math.ceil(wanted / groupSize)
  const groupsPerNode = Math.floor(Math.ceil(topology.cpus.length / groupSize) / topology.numaNodes.length)
  const most = Math.min(groups, nodes.length)
  for (let size = Math.ceil(groups / Math.max(1, groupsPerNode)); size <= most; size++) {
    const way = bestWay(nodes, counts, size, wanted, groupSize)
    if (way !== undefined) return takeBy(way, size)
  }
  return packed()

  function takeBy({ nodes: chosen, remainderNodes }: Way, size: number): CpuSet {
    let taken: CpuSet = []
    const leftOn = (node: number) => cpuDifference(freeOn.get(node) ?? [], taken)
    const takeOn = (node: number, count: number) => {
      taken = cpuUnion(taken, takePacked(topology, leftOn(node), count, options))
    }
    const each = evenShare(wanted, size, groupSize)
    for (const node of chosen) takeOn(node, each)
    while (taken.length < wanted)
      for (const node of remainderNodes)
        if (taken.length < wanted && leftOn(node).length >= groupSize) takeOn(node, groupSize)
    return taken
  }
}

const evenShare = (wanted: number, nodes: number, groupSize: number): number =>
  Math.floor(Math.floor(wanted / nodes) / groupSize) * groupSize

function bestWay(
  nodes: readonly number[],
  counts: ReadonlyMap<number, number>,
  size: number,
  wanted: number,
  groupSize: number,
): Way | undefined {
  let best: Way | undefined
  const each = evenShare(wanted, size, groupSize)
  for (const chosen of combinations(nodes, size)) {
    if (best?.balance === 0) break
    const have = chosen.map((node) => counts.get(node) ?? 0)
    const inGroups = have.reduce((sum, count) => sum + Math.floor(count / groupSize), 0) * groupSize
    if (inGroups < wanted || have.some((count) => count < each)) continue
    const left = new Map(counts)
    for (const node of chosen) left.set(node, (left.get(node) ?? 0) - each)
    const way = withRemainder(chosen, left, wanted - each * size, groupSize)
    if (way !== undefined && (best === undefined || way.balance < best.balance)) best = way
  }
  return best
}

/** `left`: what the nodes have once the shares are taken. */
function withRemainder(
  nodes: readonly number[],
  left: ReadonlyMap<number, number>,
  remainder: number,
  groupSize: number,
): Way | undefined {
  if (remainder === 0) return { nodes, remainderNodes: [], balance: deviation([...left.values()]) }
  const able = nodes.filter((node) => (left.get(node) ?? 0) >= groupSize)
  let best: Way | undefined
  for (let size = 1; size <= Math.min(remainder / groupSize, able.length); size++)
    for (const remainderNodes of combinations(able, size)) {
      if (best?.balance === 0) return best
      const after = new Map(left)
      let open = remainder
      for (let progress = true; open > 0 && progress; ) {
        progress = false
        for (const node of remainderNodes) {
          const has = after.get(node) ?? 0
          if (open === 0 || has < groupSize) continue
          after.set(node, has - groupSize)
          open -= groupSize
          progress = true
        }
      }
      if (open > 0) continue
      const balance = deviation([...after.values()])
      if (best === undefined || balance < best.balance) best = { nodes, remainderNodes, balance }
    }
  return best
}

/** To the third digit: what differs by less is the same. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return Math.round(Math.sqrt(variance) * 1000) / 1000
}

/** In the order of their first members. */
export function* combinations<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  if (size === 0) {
    yield []
    return
  }
  for (const [at, item] of items.entries())
    for (const rest of combinations(items.slice(at + 1), size - 1)) yield [item, ...rest]
}
