/**
 * Finds nodes for pods: looks at as many as Kubernetes' scheduler looks at (percentageOfNodesToScore, by default less of
 * them the more there are), from where the search before stopped, so that all nodes get their turn. What was found of a node
 * for pods of one shape holds as long as the node's generation.
 */

import { getOrInsertComputed } from '../base/get-or-insert.ts'
import { createLruMap } from '../base/lru.ts'
import { type FilterState, type NodeRefusal, refusalOf } from './filters.ts'
import { NOT_NAMED, namedNodes } from './node-affinity.ts'
import type { ClusterNodes, NodeInfo } from './node-info.ts'
import { createNodeMemory, type NodeMemory } from './node-memory.ts'
import type { PodInfo } from './pod-info.ts'
import { bestNodes, type Recall } from './scores.ts'

export interface NodeSearch {
  find(info: PodInfo, state: FilterState): FoundNodes
  /** Of those that passed the filters for this pod. */
  best(info: PodInfo, fitting: readonly NodeInfo[], state: FilterState): readonly NodeInfo[]
}

export interface FoundNodes {
  /** Those that passed the filters. */
  readonly fitting: readonly NodeInfo[]
  /** Refused ones, with the reason: all others there are when none passed. A map is made with each call: most pods find a node and ask for none. */
  refusals(): Refusals
}

export type Refusals = ReadonlyMap<NodeInfo, NodeRefusal>

/** Below this number all nodes are looked at. */
const FEWEST = 100
const LEAST_PERCENT = 5
/** What is remembered for each of this many shapes is some bytes a node. */
const SHAPES = 16

/** How many fitting nodes are enough, of `count`; `asked`: percentageOfNodesToScore. */
export function enoughOf(count: number, asked = 0): number {
  if (count < FEWEST || asked >= 100) return count
  const percent = asked > 0 ? asked : Math.max(LEAST_PERCENT, 50 - Math.floor(count / 125))
  return Math.max(FEWEST, Math.floor((count * percent) / 100))
}

/** What filters and scores found of one node, for pods of one shape. */
interface Found {
  readonly refusal: NodeRefusal | undefined
  scores: readonly number[] | undefined
}

type Remembered = NodeMemory<Found>

export function createNodeSearch(cluster: ClusterNodes): NodeSearch {
  const shapes = createLruMap<string, Remembered>(SHAPES)
  let start = 0

  /** Undefined where what is on other nodes has a say. */
  function rememberedFor({ shape }: PodInfo, state: FilterState): Remembered | undefined {
    if (
      shape === undefined ||
      state.devicesOn !== undefined ||
      state.spread.some((constraint) => constraint.hard) ||
      cluster.withAntiAffinity.size > 0 ||
      cluster.withAffinity.size > 0
    )
      return undefined
    return getOrInsertComputed(shapes, `${state.profile.schedulerName} ${shape}`, () => createNodeMemory<Found>())
  }

  function foundOf(info: PodInfo, node: NodeInfo, state: FilterState, remembered: Remembered | undefined): Found {
    const known = remembered?.get(node)
    if (known !== undefined) return known
    const found: Found = { refusal: refusalOf(info, node, state), scores: undefined }
    remembered?.set(node, found)
    return found
  }

  /** Only these are asked; all others are refused alike. */
  function amongNamed(info: PodInfo, named: ReadonlySet<string>, all: readonly NodeInfo[], state: FilterState) {
    const asked = all.length <= named.size ? all : [...named].flatMap((name) => cluster.nodes.get(name) ?? [])
    const refused = new Map<NodeInfo, NodeRefusal>()
    const fitting: NodeInfo[] = []
    for (const node of asked) {
      if (node.node === undefined || !named.has(node.name)) continue
      const refusal = refusalOf(info, node, state)
      if (refusal) refused.set(node, refusal)
      else fitting.push(node)
    }
    const refusals = () =>
      fitting.length > 0 ? refused : new Map(all.map((node) => [node, refused.get(node) ?? NOT_NAMED]))
    return { fitting, refusals }
  }

  return {
    find(info, state) {
      const all = cluster.ready()
      const named = state.profile.preFilters.includes('NodeAffinity') ? namedNodes(info) : undefined
      if (named !== undefined) return amongNamed(info, named, all, state)
      const enough = enoughOf(all.length, state.profile.percentageOfNodesToScore)
      const remembered = rememberedFor(info, state)
      const fitting: NodeInfo[] = []
      const refused: NodeInfo[] = []
      const reasons: NodeRefusal[] = []
      let looked = 0
      let at = all.length > 0 ? start % all.length : 0
      for (; looked < all.length && fitting.length < enough; looked++) {
        const node = all[at] as NodeInfo
        if (++at === all.length) at = 0
        const { refusal } = foundOf(info, node, state, remembered)
        if (refusal) {
          refused.push(node)
          reasons.push(refusal)
        } else fitting.push(node)
      }
      start = at
      return { fitting, refusals: () => new Map(refused.map((node, i) => [node, reasons[i]!])) }
    },
    best(info, fitting, state) {
      const remembered = rememberedFor(info, state)
      const recall: Recall = (node, score) => {
        const found = remembered?.get(node)
        if (found === undefined) return score(node)
        found.scores ??= score(node)
        return found.scores
      }
      return bestNodes(info, fitting, state, recall)
    },
  }
}
