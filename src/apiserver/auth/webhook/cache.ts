/** What was answered lately: bounded in number, each answer for a time of its own, the longest unused ones forgotten first. */
import type { Clock } from '../../../base/clock.ts'
import { createExpiringMap } from '../../../base/expiring-map.ts'

export interface AnswerCache<T> {
  /** The answer kept for `key`, or the one that `ask` gives; a caller that comes while it is on its way waits for the same. */
  get(key: string, ask: () => Promise<T>): T | Promise<T>
}

/** `keepMs`: how long an answer is good for; 0 keeps it not at all. A rejection is never kept. */
export function createAnswerCache<T>(clock: Clock, most: number, keepMs: (answer: T) => number): AnswerCache<T> {
  const known = createExpiringMap<T>(clock, most)
  const asking = new Map<string, Promise<T>>()
  return {
    get(key, ask) {
      const found = known.get(key)
      if (found !== undefined) return found.value
      const onItsWay = asking.get(key)
      if (onItsWay !== undefined) return onItsWay
      const answered = ask()
        .then((answer) => {
          known.set(key, answer, keepMs(answer))
          return answer
        })
        .finally(() => asking.delete(key))
      asking.set(key, answered)
      return answered
    },
  }
}
