/**
 * To wait for a disk costs least where its work is needed: to wake another thread for it takes longer than a quick disk does. But
 * a wait in place holds up the whole process, so a disk that is slow on the average of late is left to another thread.
 */
export interface Patience {
  /** Whether it may be waited for in place. */
  readonly isQuick: boolean
  /** What it took just now, here or on another thread, in milliseconds. */
  took(ms: number): void
}

/** Of the newest in the average. */
const WEIGHT = 1 / 8
/** However long one took, a dozen quick ones make up for it. */
const MOST_MS = 200

/** @param quickMs that it may take on the average */
export function createPatience(quickMs: number): Patience {
  let average = 0
  return {
    get isQuick() {
      return average <= quickMs
    },
    took(ms) {
      average += (Math.min(ms, MOST_MS) - average) * WEIGHT
    },
  }
}
