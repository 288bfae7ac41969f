/**
 * When a group is written. A flush that is done in place ends before anything else comes, so that nothing would ever wait together: writes
 * of one turn of the event loop are gathered, where several come in one. What comes alone is written at once.
 */
import type { Scheduler } from '../base/scheduler.ts'

export interface FlushTurns {
  /** Has `flush` called: now, or at the end of the turn. */
  begin(flush: () => void, isInPlace: boolean): void
  /** So many writes were in the group. */
  wrote(count: number): void
}

/** After so many groups of one write each nothing is gathered any more. */
const CALM_GROUPS = 8

export function createFlushTurns(scheduler: Scheduler): FlushTurns {
  let calm = CALM_GROUPS
  /** A group was begun in this turn, and not to gather others. */
  let hasBegun = false
  return {
    begin(flush, isInPlace) {
      if (isInPlace && hasBegun) calm = 0
      if (isInPlace && calm < CALM_GROUPS) return scheduler.later('storage group', flush)
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
