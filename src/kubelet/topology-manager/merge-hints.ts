/** How the hints of several providers become one: nodes that all of them can give something on, as few as can be. */
import { countOf, type NumaMask, nodesOf, type TopologyHint, type TopologyHints } from './topology-hints.ts'

export interface NumaDistances {
  readonly nodes: readonly number[]
  /** From one node to another. */
  between(one: number, other: number): number
}

/** For each resource one of these hints is to be chosen. */
type Choices = readonly (readonly TopologyHint[])[]

interface Merged {
  readonly affinity: NumaMask
  readonly preferred: boolean
  /** The nodes of each hint that names some, as long as it is preferred. */
  readonly same: NumaMask | undefined
}

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
  for (const one of merged()) best = better(best, one)
  return { affinity: best?.affinity ?? everywhere, preferred: best?.preferred ?? false }

  /**
   * What each combination of choices comes to, once: choice by choice, because there are few such outcomes, and as many combinations as the
   * product of all choices. Preferred is one of preferred hints that all have the same nodes.
   */
  function merged(): Iterable<Merged> {
    let all = new Map<string, Merged>([['', { affinity: everywhere, preferred: true, same: undefined }]])
    for (const own of choices) {
      const next = new Map<string, Merged>()
      for (const one of all.values())
        for (const hint of own) {
          const isSame = one.same === undefined || hint.affinity === undefined || hint.affinity === one.same
          const affinity = one.affinity & (hint.affinity ?? everywhere)
          const preferred = one.preferred && hint.preferred && isSame
          const same = preferred ? (one.same ?? hint.affinity) : undefined
          if (affinity !== 0) next.set(`${affinity}/${preferred}/${same}`, { affinity, preferred, same })
        }
      all = next
    }
    return all.values()
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
