/** A Runtime whose timers and hand-overs end with a signal: a process that was stopped does nothing any more. */
import type { Timer } from './clock.ts'
import type { Runtime } from './runtime.ts'

export function stoppable(runtime: Runtime, signal: AbortSignal): Runtime {
  const { clock, scheduler } = runtime
  const timers = new Set<Timer>()
  const unlessStopped = (task: () => void) => () => {
    if (!signal.aborted) task()
  }
  signal.addEventListener(
    'abort',
    () => {
      for (const timer of timers) timer.cancel()
      timers.clear()
    },
    { once: true },
  )
  return {
    ...runtime,
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer(ms, label, task) {
        if (signal.aborted) return stopped
        const inner = clock.setTimer(ms, label, () => {
          timers.delete(timer)
          task()
        })
        const timer: Timer = {
          cancel() {
            timers.delete(timer)
            inner.cancel()
          },
        }
        timers.add(timer)
        return timer
      },
    },
    scheduler: {
      handOver: (label, task, lane) => scheduler.handOver(label, unlessStopped(task), lane),
      later: (label, task, lane) => scheduler.later(label, unlessStopped(task), lane),
    },
  }
}

const stopped: Timer = { cancel() {} }
