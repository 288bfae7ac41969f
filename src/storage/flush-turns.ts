/**
 * When a group is written. A flush that is done in place ends before anything else comes, so that nothing would ever wait together: where
 * several writes come in one turn of the event loop they are gathered, as long as each turn brings more of them. To sync the disk takes as
 * long for many as for one, and while turns bring more there is other work than to wait for it. What comes alone is written at once.
 */
import type { Clock } from '../base/clock.ts'
import type { Scheduler } from '../base/scheduler.ts'

export interface FlushTurns {
  /** Has `flush` called: now, or when a turn brings no more than `waiting` told before. */
  begin(flush: () => void, isInPlace: boolean, waiting: () => number): void
  /** So many writes were in the group. */
  wrote(count: number): void
}

/** After so many groups of one write each nothing is gathered any more. */
const CALM_GROUPS = 8
/** So many are a group, whatever else comes: not many more are written in place (logged-commit.ts). */
const ENOUGH = 24
/** A group waits for others no longer than about that, in milliseconds: turns may be long. */
const LONGEST_MS = 2

export function createFlushTurns(scheduler: Scheduler, clock: Pick<Clock, 'monotonic'>): FlushTurns {
  let calm = CALM_GROUPS
  /** A group was begun in this turn, and not to gather others. */
  let hasBegun = false

  function gather(flush: () => void, waiting: () => number): void {
    const until = clock.monotonic() + LONGEST_MS
    let before = 0
    const endTurn = () => {
      const count = waiting()
      if (count === before || count >= ENOUGH || clock.monotonic() >= until) return flush()
      before = count
      scheduler.later('storage group', endTurn)
    }
    scheduler.later('storage group', endTurn)
  }

  return {
    begin(flush, isInPlace, waiting) {
      if (isInPlace && hasBegun) calm = 0
      if (isInPlace && calm < CALM_GROUPS) return gather(flush, waiting)
      if (isInPlace) {
        hasBegun = true
        scheduler.later('storage turn', () => {
          hasBegun = false
        })
      }
      scheduler.handOver('storage group', flush)
    },
    wrote(count) {
      if (count > 1) calm = 0
      else if (calm < CALM_GROUPS) calm++
    },
  }
}
