/**
 * The simulated Runtime: a clock that moves only when told, chance from a seed, and a scheduler that holds every
 * hand-over until its turn. The same seed gives the same run, to the last hand-over (compare `trace()`).
 *
 * Nothing that runs in it may wait for native asynchrony (files, sockets, zlib, WebCrypto): between two hand-overs only
 * microtasks are drained.
 */
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'
import { seededInts, seededRandom } from './random.ts'
import type { Runtime } from './runtime.ts'
import type { Lane, Scheduler } from './scheduler.ts'
import { createTimers } from './timers.ts'

export interface SimulatedRuntimeOptions {
  /** Milliseconds since the epoch at which the clock stands. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number
  /** `seeded`: the seed picks which waiting hand-over comes next. `fifo`: first in, first out. Default `seeded`. */
  readonly order?: 'seeded' | 'fifo'
  /** Chance that time passes to the next timer although hand-overs wait, as on a busy machine; see `setEarlyTimers`. Default 0. */
  readonly earlyTimers?: number
  /** Receives what is logged up to `level`; default: nothing is. */
  readonly log?: { readonly level: number; write(line: string): void }
}

export interface RunOptions {
  /** Looked at after every hand-over. */
  readonly until: () => boolean
  /** Hand-overs after which the run fails. Default 100,000. */
  readonly maxSteps?: number
  /** Milliseconds of simulated time after which the run fails. Default: no limit. */
  readonly maxMs?: number
}

export interface SimulatedRuntime extends Runtime {
  readonly seed: number
  /** Hand-overs waiting now. */
  readonly ready: number
  /** Lets one hand-over happen and drains microtasks. False when none waits. Never moves the clock. */
  step(): Promise<boolean>
  /** Steps until no hand-over waits. Never moves the clock. @throws when that takes more than `maxSteps` (100,000) */
  settle(maxSteps?: number): Promise<void>
  /** Lets `ms` pass: what is ready first, then timers in the order of their time. */
  advance(ms: number): Promise<void>
  /** Steps until the condition holds; when nothing is ready, time passes to the next timer. @throws SimulationStuckError */
  run(options: RunOptions): Promise<void>
  /** Runs until the promise settles, and gives its value. */
  complete<T>(promise: Promise<T>, options?: Omit<RunOptions, 'until'>): Promise<T>
  /**
   * From now on: before a hand-over that waits, time passes to the next timer with this chance, as on a busy machine.
   * The clock moves so by at most `longestMs` (default: no limit) from the moment at which nothing waited.
   */
  setEarlyTimers(chance: number, longestMs?: number): void
  /** Milliseconds by which the clock has moved so far while hand-overs waited: no hand-over was late by more. */
  readonly earlyMs: number
  /** A hash over the sequence of hand-overs (label and time). Equal seeds give equal traces. */
  trace(): string
}

export class SimulationStuckError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SimulationStuckError'
  }
}

interface Task {
  readonly label: string
  readonly run: () => void
  readonly lane: Lane | undefined
}

export function simulatedRuntime(seed: number, options: SimulatedRuntimeOptions = {}): SimulatedRuntime {
  const fifo = options.order === 'fifo'
  let earlyTimers = options.earlyTimers ?? 0
  let longestEarlyMs = Number.POSITIVE_INFINITY
  let earlyMs = 0
  const pick = seededInts(seed + 0x5eed)
  const timers = simulatedTimers(options.startMs ?? Date.UTC(2026, 0, 1), (label, task) => handOver(label, task))
  let hash1 = 0x811c9dc5
  let hash2 = 0x1b873593
  let steps = 0
  /** Since when there has always been something that waited; undefined: nothing does. */
  let busySince: number | undefined

  // Seeded: any of `ready` may be next, so removal swaps with the last. Of a lane only the first task is in `ready`,
  // the others wait in `lanes`. Fifo: `ready` is a queue with its head at `first`.
  const ready: Task[] = []
  const lanes = new Map<Lane, Task[]>()
  let first = 0

  function handOver(label: string, run: () => void, lane?: Lane): void {
    const task: Task = { label, run, lane }
    busySince ??= timers.now()
    if (lane !== undefined && !fifo) {
      const waiting = lanes.get(lane)
      if (waiting) {
        waiting.push(task)
        return
      }
      lanes.set(lane, [])
    }
    ready.push(task)
  }

  function next(): Task | undefined {
    if (fifo) {
      const task = ready[first]
      if (!task) return undefined
      first++
      if (first > 1024 && first * 2 > ready.length) {
        ready.splice(0, first)
        first = 0
      }
      return task
    }
    if (ready.length === 0) return undefined
    const index = ready.length === 1 ? 0 : pick() % ready.length
    const task = ready[index] as Task
    const last = ready.pop() as Task
    if (index < ready.length) ready[index] = last
    if (task.lane !== undefined) {
      const waiting = lanes.get(task.lane)
      const follower = waiting?.shift()
      if (follower) ready.push(follower)
      else lanes.delete(task.lane)
    }
    return task
  }

  function record(label: string): void {
    for (let i = 0; i < label.length; i++) {
      hash1 = Math.imul(hash1 ^ label.charCodeAt(i), 0x01000193)
    }
    hash2 = Math.imul(hash2 ^ hash1 ^ Math.floor(timers.now()), 0x85ebca6b)
    hash2 ^= hash2 >>> 13
  }

  const waitingCount = () => ready.length - first

  function fireEarly(): void {
    const due = timers.next()
    if (due === undefined || due - (busySince ?? due) > longestEarlyMs || pick() / 2 ** 32 >= earlyTimers) return
    earlyMs += Math.max(0, due - timers.now())
    timers.fireNext()
  }

  async function step(): Promise<boolean> {
    if (earlyTimers > 0 && waitingCount() > 0) fireEarly()
    const task = next()
    if (!task) return false
    record(task.label)
    task.run()
    await drainMicrotasks(++steps)
    if (waitingCount() === 0) busySince = undefined
    return true
  }

  async function settle(maxSteps = 100_000): Promise<void> {
    await drainMicrotasks(++steps)
    for (let count = 0; await step(); count++) {
      if (count >= maxSteps) throw stuck(`no rest after ${maxSteps} hand-overs`)
    }
  }

  async function advance(ms: number): Promise<void> {
    const end = timers.now() + ms
    await settle()
    for (let due = timers.next(); due !== undefined && due <= end; due = timers.next()) {
      timers.fireNext()
      await settle()
    }
    timers.moveTo(end)
  }

  async function run({ until, maxSteps = 100_000, maxMs = Number.POSITIVE_INFINITY }: RunOptions): Promise<void> {
    const end = timers.now() + maxMs
    await drainMicrotasks(++steps)
    for (let count = 0; !until(); count++) {
      if (count >= maxSteps) throw stuck(`condition does not hold after ${maxSteps} hand-overs`)
      if (await step()) continue
      const due = timers.next()
      if (due === undefined) throw stuck('condition does not hold, and nothing is left to happen')
      if (due > end) throw stuck(`condition does not hold after ${maxMs} ms`)
      timers.fireNext()
    }
  }

  async function complete<T>(promise: Promise<T>, limits?: Omit<RunOptions, 'until'>): Promise<T> {
    let settled = false
    const done = () => {
      settled = true
    }
    promise.then(done, done)
    await run({ ...limits, until: () => settled })
    return promise
  }

  function stuck(message: string): SimulationStuckError {
    const next = ready.slice(first, first + 10).map((task) => task.label)
    return new SimulationStuckError(
      `${message} (seed ${seed}, ${steps} steps; waiting: ${next.join(', ') || 'nothing'})`,
    )
  }

  const scheduler: Scheduler = {
    handOver,
    later: handOver,
    soon: timers.clock.setTimer,
    during: (work) => work,
  }
  return {
    seed,
    clock: timers.clock,
    machineClock: timers.clock,
    random: seededRandom(seed),
    scheduler,
    log: simulatedLogger(options.log, timers.clock, ''),
    get ready() {
      return waitingCount()
    },
    step,
    settle,
    advance,
    run,
    complete,
    setEarlyTimers(chance, longestMs = Number.POSITIVE_INFINITY) {
      earlyTimers = chance
      longestEarlyMs = longestMs
    },
    get earlyMs() {
      return earlyMs
    },
    trace: () => `${steps}:${(hash1 >>> 0).toString(16)}${(hash2 >>> 0).toString(16)}`,
  }
}

/**
 * Resolves when the microtask queue is empty. A nextTick callback asked for from within a microtask runs when all
 * microtasks are done, and costs a tenth of a turn of the event loop; now and then a whole turn lets the process
 * breathe (a test runner's timeout, a signal).
 */
async function drainMicrotasks(step: number): Promise<void> {
  if (step % 4096 === 0) await new Promise((resolve) => setImmediate(resolve))
  else await Promise.resolve()
  await new Promise<void>((resolve) => process.nextTick(resolve))
}

/** The clock that moves along its timers; those that are due are handed over. */
function simulatedTimers(startMs: number, handOver: (label: string, task: () => void) => void) {
  const timers = createTimers()
  let now = startMs

  /** Moves the clock to the earliest timer and hands over all that are due then. */
  function fireNext(): void {
    const due = timers.next()
    if (due === undefined) return
    now = Math.max(now, due)
    for (let time: number | undefined = due; time !== undefined && time <= now; time = timers.next()) {
      const timer = timers.take()
      // A timer may still be cancelled between its time and its turn.
      if (timer !== undefined) handOver(timer.label, timer.run)
    }
  }

  const clock: Clock = {
    now: () => now,
    monotonic: () => now - startMs,
    setTimer: (ms, label, task) => timers.add(now + Math.max(0, ms), label, task),
  }
  return {
    clock,
    now: () => now,
    next: timers.next,
    fireNext,
    moveTo(time: number) {
      now = Math.max(now, time)
    },
  }
}

function simulatedLogger(
  log: SimulatedRuntimeOptions['log'],
  clock: Clock,
  name: string,
  verbosity = { level: log?.level ?? -1 },
): Logger {
  const write = (message: string, fields: Readonly<Record<string, unknown>> | undefined) =>
    log?.write(
      `${(clock.monotonic() / 1000).toFixed(3)} ${name} ${message}${fields ? ` ${JSON.stringify(fields)}` : ''}`,
    )
  return {
    get level() {
      return verbosity.level
    },
    setLevel(level) {
      verbosity.level = level
    },
    info(level, message, fields) {
      if (log && level <= verbosity.level) write(message, fields)
    },
    error(message, error, fields) {
      if (log) write(`${message}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, fields)
    },
    named: (part) => simulatedLogger(log, clock, name === '' ? part : `${name}.${part}`, verbosity),
  }
}
