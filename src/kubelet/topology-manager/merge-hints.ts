/** How the hints of several providers become one: nodes that all of them can give something on, as few as can be. */
import { countOf, type NumaMask, nodesOf, type TopologyHint, type TopologyHints } from './topology-hints.ts'

export interface NumaDistances {
  readonly nodes: readonly number[]
  /** From one node to another. */
  between(one: number, other: number): number
}

/** For each resource one of these hints is to be chosen. */
type Choices = readonly (readonly TopologyHint[])[]

const ANYWHERE: TopologyHint = { affinity: undefined, preferred: true }
const NOWHERE: TopologyHint = { affinity: undefined, preferred: false }

export function choicesOf(all: readonly TopologyHints[]): Choices {
  return all.flatMap((hints): Choices => {
    if (hints.size === 0) return [[ANYWHERE]]
    return [...hints.values()].map((own) => (own === undefined ? [ANYWHERE] : own.length === 0 ? [NOWHERE] : own))
  })
}

/** Of those that are of one node and preferred. */
export const singleNodeChoices = (choices: Choices): Choices =>
  choices.map((own) =>
    own.filter(({ affinity, preferred }) => preferred && (affinity === undefined || countOf(affinity) === 1)),
  )

/** `prefersClosest`: of equally many nodes those that are nearest to each other. */
export function mergeHints(choices: Choices, { nodes, between }: NumaDistances, prefersClosest = false): TopologyHint {
  const everywhere = nodes.reduce((mask, node) => mask | (1 << node), 0)
  /** As few nodes as the resource has a hint of that needs the most. */
  const fewest = Math.max(
    0,
    ...choices.map((own) => {
      const counts = own.flatMap(({ affinity }) => (affinity === undefined ? [] : [countOf(affinity)]))
      return counts.length === 0 ? 0 : Math.min(...counts)
    }),
  )
  let best: TopologyHint | undefined
  for (const chosen of permutations(choices)) best = better(best, merged(chosen))
  return best ?? { affinity: everywhere, preferred: false }

  function merged(chosen: readonly TopologyHint[]): TopologyHint {
    const masks = chosen.flatMap(({ affinity }) => affinity ?? [])
    return {
      affinity: masks.reduce((mask, one) => mask & one, everywhere),
      preferred: chosen.every(({ preferred }) => preferred) && masks.every((mask) => mask === masks[0]),
    }
  }

  function better(current: TopologyHint | undefined, candidate: TopologyHint): TopologyHint | undefined {
    const [had, has] = [current?.affinity ?? 0, candidate.affinity ?? 0]
    if (has === 0) return current
    if (current === undefined) return candidate
    if (current.preferred !== candidate.preferred) return candidate.preferred ? candidate : current
    const narrower = isNarrower(has, had) ? candidate : current
    if (candidate.preferred) return narrower
    const [before, now] = [countOf(had), countOf(has)]
    // None of them is preferred: the one with just as many nodes as are needed, else the nearest to that from above, else from below.
    if (before > fewest) return narrower
    if (before === fewest) return now === fewest ? narrower : current
    if (now > fewest) return current
    if (now === fewest || now > before) return candidate
    return now < before ? current : narrower
  }

  function isNarrower(one: NumaMask, other: NumaMask): boolean {
    const [own, others] = [countOf(one), countOf(other)]
    if (own !== others) return own < others
    if (prefersClosest) {
      const [near, far] = [distanceOf(one), distanceOf(other)]
      if (near !== far) return near < far
    }
    return one < other
  }

  function distanceOf(mask: NumaMask): number {
    const own = nodesOf(mask)
    const all = own.flatMap((one) => own.map((other) => between(one, other)))
    return all.reduce((sum, distance) => sum + distance, 0) / all.length
  }
}

function* permutations(choices: Choices, at = 0): Generator<readonly TopologyHint[]> {
  const own = choices[at]
  if (own === undefined) {
    yield []
    return
  }
  for (const hint of own) for (const rest of permutations(choices, at + 1)) yield [hint, ...rest]
}
