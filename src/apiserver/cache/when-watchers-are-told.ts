/**
 * When watchers are told. The writer is answered first: watchers run in a later turn. Few watchers are each handed over to
 * by themselves, at once. Many are told in passes, some per turn so that requests come between, and what comes together goes
 * out in one write per watcher: a pass begins when no news has come for a moment, or when the oldest have waited as long as a
 * pass takes. So where no other pass is under way waiting at most doubles how long news take, and saves whole passes when many
 * come; what comes while watchers are told has to wait for the end of that and a rest.
 */
import type { Runtime } from '../../base/runtime.ts'

export interface Woken {
  /** Looks for news. Must not throw. */
  wake(): void
  /** Ends it, with an error if there is one to tell. */
  close(error?: unknown): void
}

export interface Fanout {
  /** There is something new for these; the same set each time. With `once` they are taken out of it when they are told. */
  notify(watchers: Set<Woken>): void
}

const FEW = 50
const PER_TURN = 50
/** About what it takes to tell one of many watchers: the server writing and the client reading. */
const TELL_MS = 0.1
const MOST_MS = 100
/** Of what a pass takes. For hundreds of watchers, a writer that waits for each answer has written again by then. */
const QUIET = 0.125
/** So long nothing is sent to watchers after a pass over them, in milliseconds: requests are served in that time. */
const restMs = (watchers: number) => Math.min(4 + watchers / 64, 24)

export function createFanout(runtime: Runtime, { once = false } = {}): Fanout {
  const { scheduler, machineClock: clock } = runtime
  /** Watchers that have a hand-over coming. */
  const handed = new WeakSet<Woken>()
  /** A pass is coming, under way, or just over. */
  let busy = false
  /** When the oldest and the newest of the news came that no pass has begun to tell. */
  let oldest: number | undefined
  let newest = 0

  function gather(watchers: Set<Woken>): void {
    if (oldest === undefined) {
      busy = false
      return
    }
    busy = true
    const now = clock.monotonic()
    const passMs = Math.min(watchers.size * TELL_MS, MOST_MS)
    const due = Math.min(newest + passMs * QUIET, oldest + passMs)
    if (now < due) scheduler.soon(due - now, 'watch fan-out', () => gather(watchers))
    else pass(watchers)
  }

  function pass(watchers: Set<Woken>): void {
    oldest = undefined
    const all = [...watchers]
    if (once) watchers.clear()
    let next = 0
    const some = () => {
      for (const end = Math.min(next + PER_TURN, all.length); next < end; next++) all[next]!.wake()
      if (next < all.length) scheduler.later('watch fan-out', some)
      else scheduler.soon(restMs(all.length), 'watch fan-out rest', () => gather(watchers))
    }
    scheduler.later('watch fan-out', some)
  }

  return {
    notify(watchers) {
      if (watchers.size > FEW || busy) {
        newest = clock.monotonic()
        oldest ??= newest
        if (!busy) gather(watchers)
        return
      }
      for (const watcher of watchers) {
        if (handed.has(watcher)) continue
        handed.add(watcher)
        scheduler.later(
          'watch event',
          () => {
            handed.delete(watcher)
            watcher.wake()
          },
          watcher,
        )
      }
      if (once) watchers.clear()
    },
  }
}
