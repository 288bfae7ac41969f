/**
 * Names that pods' annotations give are resolved few at a time, and waited for so long at most. The system's resolver blocks a thread of the
 * process for each name, of which there are four, for all that is done with files, too; it cannot be stopped, so that one that
 * hangs keeps its place here until it ends.
 */
import type { Clock } from '../../../base/clock.ts'
import { RuntimeError } from '../runtime.ts'

const MOST_AT_ONCE = 2
export const LONGEST_LOOKUP_MS = 5000

/** @throws RuntimeError once it takes too long, the signal's reason, what the lookup throws */
export type NameLookups = (name: string, clock: Clock, signal: AbortSignal) => Promise<readonly string[]>

export function createNameLookups(lookup: (name: string) => Promise<readonly string[]>): NameLookups {
  let running = 0
  const waiting = new Set<() => void>()

  function ended(): void {
    running--
    const [next] = waiting
    if (next === undefined) return
    waiting.delete(next)
    next()
  }

  return (name, clock, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const begin = () => {
        running++
        const found = lookup(name)
        found.then(ended, ended)
        found.then(
          (addresses) => settle(() => resolve(addresses)),
          (error) => settle(() => reject(error)),
        )
      }
      const aborted = () => settle(() => reject(signal.reason))
      const late = () =>
        settle(() =>
          reject(new RuntimeError(`${name} cannot be resolved: no answer within ${LONGEST_LOOKUP_MS / 1000} s`)),
        )
      const timer = clock.setTimer(LONGEST_LOOKUP_MS, 'name lookup', late)
      const settle = (how: () => void) => {
        timer.cancel()
        signal.removeEventListener('abort', aborted)
        waiting.delete(begin)
        how()
      }
      signal.addEventListener('abort', aborted, { once: true })
      if (running < MOST_AT_ONCE) begin()
      else waiting.add(begin)
    })
}
