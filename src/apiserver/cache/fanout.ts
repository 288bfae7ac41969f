/**
 * When watchers are told. The writer is answered first: watchers run in a later turn. Few watchers are each handed over to
 * by themselves, at once. Many are told in passes, some per turn so that requests come between, with a short pause
 * between passes: each then carries what came together meanwhile, in one write per watcher.
 */
import type { Runtime } from '../../base/runtime.ts'

export interface Woken {
  /** Looks for news. Must not throw. */
  wake(): void
  /** Ends it, with an error if there is one to tell. */
  close(error?: unknown): void
}

export interface Fanout {
  /** There is something new for these. */
  notify(watchers: ReadonlySet<Woken>): void
}

const FEW = 50
const PER_TURN = 50
/** The more there are, the longer a pass takes, and the more it saves to carry two events with one. */
const pauseMs = (watchers: number) => Math.min(4 + watchers / 64, 24)

export function createFanout(runtime: Runtime): Fanout {
  const { scheduler, clock } = runtime
  /** Watchers that have a hand-over coming. */
  const handed = new WeakSet<Woken>()
  let passing = false
  let again = false

  function pass(watchers: ReadonlySet<Woken>): void {
    passing = true
    again = false
    const all = [...watchers]
    let next = 0
    const some = () => {
      for (const end = Math.min(next + PER_TURN, all.length); next < end; next++) all[next]!.wake()
      if (next < all.length) scheduler.later('watch fan-out', some)
      else {
        clock.setTimer(pauseMs(all.length), 'watch fan-out pause', () => {
          passing = false
          if (again) pass(watchers)
        })
      }
    }
    scheduler.later('watch fan-out', some)
  }

  return {
    notify(watchers) {
      if (watchers.size > FEW || passing) {
        if (passing) again = true
        else pass(watchers)
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
    },
  }
}
