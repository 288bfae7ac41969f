/**
 * The pace of syncs that look at every pod: each event of a pod asks for one, and a set of a thousand pods needs no
 * thousand counts. The more pods the last sync looked at, the longer the next one waits for what else happens.
 */
import type { Clock } from '../../base/clock.ts'

/** A sync of fewer pods than this never waits. */
const FEW = 100
const MS_PER_POD = 0.05

export interface Pace {
  /** Milliseconds until the next sync, whole ones, so that the time has come when they are over; 0: now. */
  wait(key: string): number
  synced(key: string, pods: number): void
  forget(key: string): void
}

export function createPace(clock: Clock): Pace {
  const next = new Map<string, number>()
  return {
    wait(key) {
      const at = next.get(key)
      return at === undefined ? 0 : Math.max(0, Math.ceil(at - clock.monotonic()))
    },
    synced(key, pods) {
      if (pods < FEW) next.delete(key)
      else next.set(key, clock.monotonic() + pods * MS_PER_POD)
    },
    forget: (key) => void next.delete(key),
  }
}
