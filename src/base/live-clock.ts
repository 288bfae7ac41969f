/** The machine's own time, for code that needs no more of the live runtime than that. */
import type { Clock } from './clock.ts'

/**
 * The machine's, as they were when this was loaded: a test that takes the globals' place (vi.useFakeTimers, mock.timers of node:test) moves
 * the time of its own code, not that of a cluster in the same process.
 */
const { Date: MachineDate, setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis
const { timeOrigin } = performance
const sinceStart = performance.now.bind(performance)

/** Stands around what a timer or a hand-over calls. */
export type TaskGuard = (task: () => void) => () => void

/** setTimeout counts in 32 bits; longer waits are made of several. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** Timers that are due at the same time run for so long; then it is the turn of I/O. */
const TIMERS_TURN_MS = 25

export function liveClock(guard: TaskGuard = (task) => task): Clock {
  // Date.now() has only milliseconds; the monotonic clock has the rest. It follows the wall clock, which is changed now and then: what is stamped
  // here is of the same millisecond as what another process stamps at that time, so that nothing is older than the request for it.
  let origin = timeOrigin
  let last = 0
  const inTurns = timerTurns()
  return {
    now() {
      const wall = MachineDate.now()
      let time = origin + sinceStart()
      if (time < wall || time >= wall + 1) {
        origin += wall - time
        time = wall
      }
      // Within one of its milliseconds time does not go back.
      if (Math.floor(last) === wall && time < last) time = last
      last = time
      return time
    },
    monotonic: sinceStart,
    setTimer(ms, _label, task) {
      const guarded = guard(task)
      let handle: NodeJS.Timeout
      let cancelled = false
      const due = () => {
        if (!cancelled) guarded()
      }
      const wait = (left: number) => {
        const part = Math.min(left, LONGEST_TIMEOUT_MS)
        handle = setTimeout(() => (left > part ? wait(left - part) : inTurns(due)), part)
        handle.unref()
      }
      wait(Math.max(0, ms))
      return {
        cancel() {
          cancelled = true
          clearTimeout(handle)
        },
      }
    },
  }
}

/**
 * Node runs all timers that are due before it looks at any connection, and those that come due meanwhile too: on a machine that has too
 * little time for this process that may be for ever. So what takes longer than its turn goes on in the next ones, in the order in which it was due.
 */
function timerTurns(): (task: () => void) => void {
  let began: number | undefined
  let waiting = 0
  const hasTime = () => {
    if (began === undefined) {
      began = sinceStart()
      setImmediate(() => {
        began = undefined
      })
    }
    return sinceStart() - began < TIMERS_TURN_MS
  }
  const later = (task: () => void) => {
    setImmediate(() => {
      if (!hasTime()) return later(task)
      waiting--
      task()
    })
  }
  return (task) => {
    if (waiting === 0 && hasTime()) return task()
    waiting++
    later(task)
  }
}

/** Timers let the process end; from this call on it lives until the function that is returned is called. */
export function holdProcess(): () => void {
  const handle = setInterval(() => {}, LONGEST_TIMEOUT_MS)
  return () => clearInterval(handle)
}

/**
 * What was handed over behind the I/O that is ready runs for so long; then it is the turn of I/O again. Shorter turns cost: with 15 ms 10,000
 * pods on 1,000 nodes took a fifth more of the processor (more is under way at once, and outlives the young generation), with 60 nothing.
 */
const LATER_TURN_MS = 60
/** So many of them at most in one turn: each is an immediate of Node's, so that its microtasks are done before the next. */
const MOST_IN_TURN = 4096
/** So many that are done stand before those that wait at most. */
const MOST_DONE = 4096

/**
 * Behind the I/O that is ready now, in the order given. Node runs all immediates there are before it looks at any connection: of thousands that
 * were handed over together (the status writers of as many nodes) the last would hold up everything else until all before it are done. So
 * what takes longer than its turn goes on behind the I/O that has become ready meanwhile.
 */
export function behindReadyIoInTurns(): (task: () => void) => void {
  let waiting: (() => void)[] = []
  let next = 0
  /** Immediates that each begin one of them. */
  let armed = 0
  let began: number | undefined
  const hasTime = () => {
    if (began !== undefined) return sinceStart() - began < LATER_TURN_MS
    began = sinceStart()
    setImmediate(() => {
      began = undefined
    })
    return true
  }
  const arm = () => {
    armed++
    setImmediate(go)
  }
  const go = () => {
    armed--
    const run = hasTime()
    const task = run ? waiting[next++] : undefined
    if (next === waiting.length || next === MOST_DONE) {
      waiting = waiting.slice(next)
      next = 0
    }
    if (armed < Math.min(waiting.length - next, MOST_IN_TURN)) arm()
    task?.()
  }
  return (task) => {
    waiting.push(task)
    if (armed < MOST_IN_TURN) arm()
  }
}

/** Behind the I/O that is ready now, and before any that becomes so. */
export const behindReadyIo = (task: () => void): void => void setImmediate(task)
