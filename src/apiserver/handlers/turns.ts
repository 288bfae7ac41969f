/** Work on many objects, a few milliseconds at a time, so that other requests are answered in between. */
import type { Runtime } from '../../base/runtime.ts'

export interface Turns {
  /** This piece of the work has taken long enough. */
  isOver(): boolean
  /** Resolves when others have had theirs. */
  next(): Promise<void>
}

const PIECE_MS = 8
/** So many are asked about before the clock is. */
const STEPS = 16

export function createTurns({ clock, scheduler }: Runtime, label: string): Turns {
  let began = clock.monotonic()
  let steps = 0
  return {
    isOver() {
      if (++steps % STEPS !== 0) return false
      return clock.monotonic() - began > PIECE_MS
    },
    async next() {
      await new Promise<void>((resolve) => scheduler.later(label, resolve))
      began = clock.monotonic()
    },
  }
}

/** What `act` makes of each item, in their order. */
export async function inTurns<T, R>(
  runtime: Runtime,
  label: string,
  items: readonly T[],
  act: (item: T) => R,
): Promise<R[]> {
  const turns = createTurns(runtime, label)
  const made: R[] = []
  for (const item of items) {
    made.push(act(item))
    if (turns.isOver()) await turns.next()
  }
  return made
}
