/**
 * What comes together is done together: all requests that are here are handled in a row, then their answers written in a row.
 * The code and data of one step stay in the processor's caches, and a client is woken once for many answers: under load that
 * halves what a GET costs, against taking each request through all steps before the next one begins. What comes alone is done
 * at once.
 */
import type { Scheduler } from '../base/scheduler.ts'

export interface GatheringOptions<T> {
  readonly label: string
  /** Must not throw. */
  act(item: T): void
  /** When what had come together is done. */
  after?(): void
  /** So many wait for others, and no more. */
  readonly most?: number
}

export interface Gathering<T> {
  /** Acts on the item now or in a later turn, in the order in which items were added. */
  add(item: T): void
  /** Acts now on what waits. */
  flush(): void
}

/** After so many turns in which nothing came together nothing is gathered any more … */
const CALM_TURNS = 8
/** … but once in so many items it is looked whether others come in the same turn. */
const LOOKED_AT = 16

export function createGathering<T>(scheduler: Scheduler, options: GatheringOptions<T>): Gathering<T> {
  const { label, act, after, most = Number.POSITIVE_INFINITY } = options
  let waiting: T[] = []
  let isGathering = false
  /** Gathered in this turn, done or not. */
  let together = 0
  let calmTurns = CALM_TURNS
  let alone = 0

  function flush(): void {
    const items = waiting
    waiting = []
    for (const item of items) act(item)
  }

  function endTurn(): void {
    isGathering = false
    calmTurns = together > 1 ? 0 : calmTurns + 1
    together = 0
    flush()
    after?.()
  }

  return {
    add(item) {
      if (!isGathering) {
        const isCalm = calmTurns >= CALM_TURNS
        alone = (alone + 1) % LOOKED_AT
        if (isCalm && alone !== 0) return act(item)
        isGathering = true
        scheduler.later(label, endTurn)
        if (isCalm) return act(item)
      }
      together++
      if (waiting.push(item) >= most) flush()
    },
    flush,
  }
}
