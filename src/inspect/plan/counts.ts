/** How much of each part of a plan there is, and how much of it is sure: for whatever tells a plan in one line. */
import type { Plan } from './plan.ts'

export interface HowMany {
  readonly sure: number
  /** What becomes of these is chance. */
  readonly perhaps: number
  readonly ifOthersAct: number
}

export function countsOf({ goes, stays, orphaned }: Pick<Plan, 'goes' | 'stays' | 'orphaned'>): {
  readonly goes: HowMany
  readonly stays: HowMany
  readonly orphaned: HowMany
} {
  const { either = [], 'if others act': late = [] } = Object.groupBy(goes, ({ certainty }) => certainty)
  const chance = new Set(either.map(({ object }) => object.uid))
  const counted = (all: number, perhaps: number, ifOthersAct = 0): HowMany => ({
    sure: all - perhaps - ifOthersAct,
    perhaps,
    ifOthersAct,
  })
  return {
    goes: counted(goes.length, either.length, late.length),
    // What goes or not, by chance, is left over where it does not.
    stays: counted(
      stays.length,
      stays.filter(({ object, mayLiveOn }) => mayLiveOn === true || chance.has(object.uid)).length,
    ),
    orphaned: counted(orphaned.length, orphaned.filter(({ mayKeepOwners }) => mayKeepOwners === true).length),
  }
}
