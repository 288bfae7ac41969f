/**
 * How much sooner or later the deed itself comes to an object in another order of what it asks for at once: a drain takes later what a budget
 * spares. What goes by the end of such an object (a claim made for a pod) goes as much sooner or later.
 */
import type { TimelineStep } from '../timeline/timeline-types.ts'
import type { Going, TimeSpan } from './plan.ts'

/** A deed that asks again waits at least so long; requests that take their time make less of a difference. */
const TURN_MS = 4000

interface Removal {
  readonly first: TimelineStep
  readonly markedMs: number | undefined
  readonly removedMs: number
}

/** Milliseconds; none where it is not the deed that asks first, or comes to it at the same time. */
export function turnsBetween(shown: Removal, other: Removal | undefined): readonly number[] {
  if (other === undefined || shown.first.cause.step !== undefined || other.first.cause.step !== undefined) return []
  const later = (other.markedMs ?? other.removedMs) - (shown.markedMs ?? shown.removedMs)
  return Math.abs(later) < TURN_MS ? [] : [later]
}

/** The same with times that span the turns, by uid, of what the deed asked for first. */
export function withDeedTurns(goes: readonly Going[], turns: ReadonlyMap<string, readonly number[]>): readonly Going[] {
  const causes = new Map(goes.map(({ object, cause }) => [object.uid, cause]))
  const rootOf = (uid: string): string => {
    const seen = new Set<string>()
    let at = uid
    for (let above = causes.get(at); above !== undefined && !seen.has(above); above = causes.get(at)) {
      seen.add(above)
      at = above
    }
    return at
  }
  return goes.map((going) => {
    const own = turns.get(rootOf(going.object.uid)) ?? []
    if (own.length === 0) return going
    const { marked, removed } = going
    return { ...going, marked: marked && spanning(marked, own), removed: spanning(removed, own) }
  })
}

const spanning = ({ least, most }: TimeSpan, turns: readonly number[]): TimeSpan => ({
  least: Math.max(0, least + Math.min(0, ...turns)),
  most: most + Math.max(0, ...turns),
})
