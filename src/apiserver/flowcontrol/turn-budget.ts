/**
 * How many requests are begun in one turn of the event loop. The process has one thread: what is begun in a turn, and what
 * comes of it, holds up everything else, health checks and new connections among it (of which a turn accepts a few only). So
 * requests beyond the budget wait in the queues of their levels, as those do for which there is no seat. The budget follows
 * what turns are seen to take.
 */
import type { Clock } from '../../base/clock.ts'
import type { Scheduler } from '../../base/scheduler.ts'

/** Turns are to take so long. */
const TURN_MS = 25
/** Whatever a turn took, so many may begin in the next. */
const LEAST = 8
/** More than this were never held back: a budget that has grown beyond it is none. */
const MOST = 2048
const GROWTH = 1.25

/** What a level has begun of the turn it last began something in. */
export interface BegunTurn {
  turn: number
  requests: number
}

export interface TurnBudget {
  /** Whether one more may begin in this turn: while some of the budget is left, or the level has not had its own share (0 to 1). */
  allows(begun: BegunTurn, share: number): boolean
  begin(begun: BegunTurn): void
}

/** `renewed` is called at the beginning of each turn that follows one in which something began. */
export function createTurnBudget(clock: Clock, scheduler: Scheduler, renewed: () => void): TurnBudget {
  let turn = 0
  let begunInAll = 0
  let budget = Number.POSITIVE_INFINITY
  /** When the first request of this turn began; undefined while the server was nearly idle. */
  let since: number | undefined

  const next = () => {
    const now = clock.monotonic()
    const took = now - (since ?? now)
    if (took > TURN_MS) budget = Math.max(LEAST, (Math.min(budget, begunInAll) * TURN_MS) / took)
    else if (budget !== Number.POSITIVE_INFINITY) {
      budget *= GROWTH
      if (budget > MOST) budget = Number.POSITIVE_INFINITY
    }
    turn++
    begunInAll = 0
    since = undefined
    renewed()
  }
  return {
    allows: (begun, share) => begunInAll < budget || begun.turn !== turn || begun.requests < budget * share,
    begin(begun) {
      if (begun.turn !== turn) {
        begun.turn = turn
        begun.requests = 0
      }
      begun.requests++
      // A few at a time need no turns, nor an immediate for each of them.
      if (++begunInAll < LEAST || since !== undefined) return
      since = clock.monotonic()
      scheduler.later('turn of the event loop', next)
    },
  }
}
