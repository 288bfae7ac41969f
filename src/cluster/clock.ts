/**
 * The cluster's clock as its user has it: the machine's own, or one that stands still until it is moved. Where it stands is kept
 * in the cluster's directory, so that a restart goes on from there. What cannot be moved: docs/clock.md.
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type { EagerHandler } from '../api/request.ts'
import { isControl } from '../apiserver/request/long-running.ts'
import { type Clock, formatMicroTime, formatTime, sleep } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoDurationMs } from '../base/go-duration.ts'
import type { ManualTime } from '../base/manual-clock-runtime.ts'
import { parseRfc3339 } from '../base/rfc3339.ts'
import type { WatchTraffic } from '../http/watch-back-pressure.ts'
import { StartError } from './errors.ts'

/** `1h30m` as Go writes durations, or milliseconds. */
export type Duration = string | number

export interface ClockMoveOptions {
  /** Those outside must have been silent for so long (of real time) before a next timer fires. Default: no wait. */
  readonly settle?: Duration
  /** Ends the move where the clock then stands: it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export interface LimitedMove extends ClockMoveOptions {
  /** Of the cluster's time. Default 24h. */
  readonly atMost?: Duration
}

/** A clock that only moves when it is told to. One move at a time; each resolves when the cluster is at rest. */
export interface ClusterClock {
  /** It stands still until it is moved. */
  readonly isManual: boolean
  readonly now: Date
  /** All timers of that time fire in order, with the cluster at rest between. */
  advance(by: Duration, options?: ClockMoveOptions): Promise<void>
  /** @throws RangeError when that time has passed */
  advanceTo(time: Date | string, options?: ClockMoveOptions): Promise<void>
  /** From timer to timer until the condition holds, which is looked at whenever the cluster is at rest. @throws TimeoutError */
  runUntil(condition: () => boolean | Promise<boolean>, options?: LimitedMove): Promise<void>
  /** Until nothing waits any more but heartbeats and the like. @throws TimeoutError */
  runUntilIdle(options?: LimitedMove): Promise<void>
  /** What waits for its time, the next first. */
  waiting(limit?: number): readonly { readonly at: Date; readonly what: string }[]
}

/** What was waited for did not come to pass in the time that was given to it. */
export class TimeoutError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TimeoutError'
  }
}

export const LONGEST_MOVE = '24h'

/** @throws RangeError */
export function milliseconds(duration: Duration): number {
  if (!['number', 'string'].includes(typeof duration) || Number.isNaN(duration))
    throw new RangeError(`${String(duration)} is no duration: write '30s', '1h30m' or a number of milliseconds`)
  const ms = typeof duration === 'number' ? duration : durationOf(duration)
  if (ms < 0) throw new RangeError(`${duration} is less than nothing: time only goes forward`)
  if (!Number.isFinite(ms)) throw new RangeError(`${duration} has no end: a clock is moved by so much, or to a time`)
  return ms
}

function durationOf(text: string): number {
  try {
    return parseGoDurationMs(text)
  } catch (cause) {
    throw new RangeError(`${messageOf(cause)}: write 30s, 1h30m or 720h`, { cause })
  }
}

function timeOf(time: Date | string): number {
  const nanos = typeof time === 'string' ? parseRfc3339(time) : undefined
  const ms = nanos !== undefined ? Number(nanos / 1_000_000n) : time instanceof Date ? time.getTime() : Number.NaN
  if (Number.isNaN(ms)) {
    const said = typeof time === 'string' ? JSON.stringify(time) : String(time)
    throw new RangeError(`${said} is no time: write 2026-01-02T03:04:05Z`)
  }
  return ms
}

/** `last`: when the first of the certificates ends by which the cluster is reached. Behind it nothing could be asked or started any more. */
export function clusterClock(manual: ManualTime, last: number): ClusterClock {
  const upTo = (time: number) => {
    if (time > last)
      throw new RangeError(`the clock goes no further than ${formatTime(last)}: then the cluster's certificates end`)
    return time
  }
  const within = (ms: number) => upTo(manual.now() + ms) - manual.now()
  const moveOf = ({ settle = 0, signal }: ClockMoveOptions) => ({
    settleMs: milliseconds(settle),
    ...(signal === undefined ? {} : { signal }),
  })
  const limited = async (
    what: string,
    { atMost = LONGEST_MOVE }: LimitedMove,
    run: (atMostMs: number) => Promise<boolean>,
  ) => {
    if (await run(within(milliseconds(atMost)))) return
    const [next] = manual.waiting(1)
    const then = next === undefined ? '' : `; next is ${next.label} at ${formatMicroTime(next.due)}`
    throw new TimeoutError(`${what} after ${typeof atMost === 'number' ? `${atMost} ms` : atMost}${then}`)
  }
  return {
    isManual: true,
    get now() {
      return new Date(manual.now())
    },
    advance: async (by, options = {}) => manual.advance(within(milliseconds(by)), moveOf(options)),
    advanceTo: async (time, options = {}) => manual.advanceTo(upTo(timeOf(time)), moveOf(options)),
    runUntil: async (condition, options = {}) => {
      if (typeof condition !== 'function')
        throw new RangeError(`runUntil needs a function that tells whether to stop, not ${String(condition)}`)
      return limited('the condition does not hold', options, (atMostMs) =>
        manual.runUntil(condition, atMostMs, moveOf(options)),
      )
    },
    runUntilIdle: (options = {}) =>
      limited('the cluster is not idle', options, (atMostMs) => manual.runUntilIdle(atMostMs, moveOf(options))),
    waiting: (limit = 10) => manual.waiting(limit).map(({ due, label }) => ({ at: new Date(due), what: label })),
  }
}

/** The machine's time, which cannot be moved. */
export function realClock(clock: Clock): ClusterClock {
  const refuse = async () => {
    throw new StartError(
      "the cluster's clock is the machine's: only one that was started with a manual clock can be moved",
    )
  }
  return {
    isManual: false,
    get now() {
      return new Date(clock.now())
    },
    advance: refuse,
    advanceTo: refuse,
    runUntil: refuse,
    runUntilIdle: refuse,
    waiting: () => [],
  }
}

/** Where a manual clock stands, in a file. */
export interface ClockFile {
  write(now: number): void
  close(): void
}

/** Milliseconds since the epoch; undefined where the cluster has no clock of its own. @throws StartError */
export function readClock(file: string): number | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const ms = Date.parse(text.trim())
  if (Number.isNaN(ms)) throw new StartError(`${file} does not tell a time: write 2026-01-02T03:04:05Z into it`)
  return ms
}

/** Written in place, over what was there: a process that is killed has written it, and no file is empty in between. */
export function openClockFile(file: string, now: number): ClockFile {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600)
  const write = (ms: number) => writeSync(descriptor, `${formatMicroTime(Math.ceil(ms))}\n`, 0)
  ftruncateSync(descriptor, write(now))
  return { write, close: () => closeSync(descriptor) }
}

export function forgetClock(file: string): void {
  rmSync(file, { force: true })
}

/** What is known of those outside, so that the clock can wait for them. */
export interface Outside {
  /** Counts what comes through it. */
  around(handler: EagerHandler): EagerHandler
  watches(traffic: WatchTraffic): void
  /** As ManualRuntimeOptions has it. */
  rest(silenceMs: number): Promise<void> | undefined
}

/** A watch that does not take what it is told in this time is not waited for; the server ends it. */
const LONGEST_WRITE_MS = 10_000

export function createOutside(clock: Clock, during: <T>(work: Promise<T>) => Promise<T>): Outside {
  let traffic: WatchTraffic | undefined
  /** Rises with each request, answer and watch event. */
  let signs = 0
  let lastSign = Number.NEGATIVE_INFINITY
  let seenWrites = 0
  let seenSigns = 0
  const sign = () => {
    signs++
    lastSign = clock.monotonic()
  }

  async function silent(silenceMs: number): Promise<void> {
    for (let left = silenceMs; left > 0; left = lastSign + silenceMs - clock.monotonic()) await sleep(clock, left)
  }

  async function heard(written: Promise<void> | undefined, silenceMs: number): Promise<void> {
    await written
    if (silenceMs > 0) await silent(silenceMs)
    seenSigns = signs
  }

  return {
    around: (handler) => (request) => {
      if (isControl(request.path)) return handler(request)
      const isOutside = request.connection !== undefined
      if (isOutside) sign()
      const answered = handler(request)
      if (!(answered instanceof Promise)) return answered
      void during(answered).then(
        () => isOutside && sign(),
        () => {},
      )
      return answered
    },
    watches(of) {
      traffic = of
    },
    rest(silenceMs) {
      if (traffic === undefined) return undefined
      let written: Promise<void> | undefined
      if (traffic.writes !== seenWrites) {
        seenWrites = traffic.writes
        written = traffic.written(clock, LONGEST_WRITE_MS)
        sign()
      }
      const isLoud = silenceMs > 0 && signs !== seenSigns
      return written === undefined && !isLoud ? undefined : heard(written, isLoud ? silenceMs : 0)
    },
  }
}
