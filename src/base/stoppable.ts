/** A Runtime whose timers and hand-overs end with a signal: a process that was stopped does nothing any more. */
import type { Clock, Timer } from './clock.ts'
import type { Runtime } from './runtime.ts'

export function stoppable(runtime: Runtime, signal: AbortSignal): Runtime {
  const { scheduler } = runtime
  const timers = new Set<Timer>()
  /** Ends what is counted as under way: it may wait for what comes no more. */
  const underWay = new Set<() => void>()
  const unlessStopped = (task: () => void) => () => {
    if (!signal.aborted) task()
  }
  signal.addEventListener(
    'abort',
    () => {
      for (const timer of timers) timer.cancel()
      timers.clear()
      for (const end of underWay) end()
      underWay.clear()
    },
    { once: true },
  )
  function stoppableTimer(set: (task: () => void) => Timer, task: () => void): Timer {
    if (signal.aborted) return stopped
    const inner = set(() => {
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
  }
  function during<T>(work: Promise<T>): Promise<T> {
    if (signal.aborted) return work
    void scheduler.during(
      new Promise<void>((resolve) => {
        const end = () => {
          underWay.delete(end)
          resolve()
        }
        underWay.add(end)
        work.then(end, end)
      }),
    )
    return work
  }
  const stoppableClock = (clock: Clock): Clock => ({
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (ms, label, task, recurrence) =>
      stoppableTimer((own) => clock.setTimer(ms, label, own, recurrence), task),
    keeps: (name) => clock.keeps?.(name) ?? false,
  })
  return {
    ...runtime,
    clock: stoppableClock(runtime.clock),
    machineClock: stoppableClock(runtime.machineClock),
    scheduler: {
      handOver: (label, task, lane) => scheduler.handOver(label, unlessStopped(task), lane),
      later: (label, task, lane) => scheduler.later(label, unlessStopped(task), lane),
      soon: (ms, label, task) => stoppableTimer((own) => scheduler.soon(ms, label, own), task),
      during,
    },
  }
}

const stopped: Timer = { cancel() {} }
