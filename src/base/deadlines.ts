/** Many waits of the same length, nearly all of which end early: one timer for all of them, instead of one for each. */
import type { Clock, Timer } from './clock.ts'

export interface Deadlines {
  /** Runs `task` once, the deadlines' length from now, unless it is cancelled before. */
  add(task: () => void): Timer
}

interface Entry extends Timer {
  readonly due: number
  readonly task: () => void
}

export function createDeadlines(clock: Clock, ms: number, label: string): Deadlines {
  /** In the order in which they are due, since all are equally long. */
  const open = new Set<Entry>()
  let armed = false

  function arm(delay: number): void {
    armed = true
    clock.setTimer(delay, label, () => {
      armed = false
      const now = clock.monotonic()
      for (const entry of open) {
        if (entry.due > now) {
          arm(entry.due - now)
          return
        }
        open.delete(entry)
        entry.task()
      }
    })
  }

  return {
    add(task) {
      const entry: Entry = { due: clock.monotonic() + ms, task, cancel: () => open.delete(entry) }
      open.add(entry)
      if (!armed) arm(ms)
      return entry
    },
  }
}
