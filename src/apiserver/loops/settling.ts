/**
 * Work that follows changes: begun a moment after the first of them, one turn at a time, tried again when it fails. A loop looks at
 * everything in each turn, or, where there may be much of it, at what the changes concern (startKeyedLoop).
 */

import type { Handler } from '../../api/request.ts'
import type { Timer } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Change } from '../cache/event-log.ts'
import type { CacheReads } from '../reads.ts'

/** What each loop of the server is given. */
export interface LoopOptions {
  readonly runtime: Runtime
  readonly handler: Handler
  readonly reads: CacheReads
  /** Tells of every change under these storage prefixes; returns the way to end it. */
  readonly follow: (prefixes: readonly string[], listener: (change: Change) => void) => () => void
  readonly signal: AbortSignal
}

export interface SettlingLoop {
  readonly runtime: Runtime
  /** What is worked on, for timers and the log: `ip addresses`. */
  readonly name: string
  readonly work: () => Promise<void>
  /** Calls the listener at every change that the work depends on, until the function that it returns is called. */
  readonly onChange: (listener: () => void) => () => void
  readonly signal: AbortSignal
  /** How long changes are gathered before a turn, in milliseconds. */
  readonly settleMs: number
  /** From a failure to the next turn, in milliseconds. */
  readonly retryMs: number
  /** From a turn that went well to the next one where nothing changes, in milliseconds; absent: there is none. */
  readonly everyMs?: number
}

/** A loop that follows what is stored under some prefixes. */
export function startLoop(
  { runtime, follow, signal }: LoopOptions,
  loop: Omit<SettlingLoop, 'runtime' | 'onChange' | 'signal'> & { readonly followed: readonly string[] },
): void {
  const onChange = (listener: () => void) => follow(loop.followed, listener)
  startSettlingLoop({ ...loop, runtime, onChange, signal })
}

export interface KeyedLoop extends Pick<SettlingLoop, 'name' | 'settleMs' | 'retryMs'> {
  readonly followed: readonly string[]
  /** What there is to look at in the first turn. */
  readonly all: () => Iterable<string>
  /** What a change makes worth another look. Called once for each change, in their order. */
  readonly concerned: (change: Change) => Iterable<string>
  /** What fails is tried again in the next turn; the others go on. */
  readonly work: (key: string) => Promise<void>
}

/** A loop over things that have keys: after its first turn a change costs those that it concerns, not all there are. */
export function startKeyedLoop({ runtime, follow, signal }: LoopOptions, loop: KeyedLoop): void {
  const due = new Set(loop.all())
  startSettlingLoop({
    ...loop,
    runtime,
    signal,
    onChange: (listener) =>
      follow(loop.followed, (change) => {
        const before = due.size
        for (const key of loop.concerned(change)) due.add(key)
        if (due.size > before) listener()
      }),
    async work() {
      const keys = [...due]
      const failures: unknown[] = []
      for (const key of keys) {
        if (signal.aborted) return
        due.delete(key)
        try {
          await loop.work(key)
        } catch (error) {
          due.add(key)
          failures.push(error)
        }
      }
      if (failures.length > 0) throw failures[0]
    },
  })
}

/** The first turn is at once. What changes during a turn asks for another; changes never put off a turn that is near. */
export function startSettlingLoop(options: SettlingLoop): void {
  const { runtime, name, work, signal, settleMs, retryMs, everyMs } = options
  // A server may be stopped while it starts.
  if (signal.aborted) return
  let timer: Timer | undefined
  let near = false
  let running = false
  let again = false
  /** Its next turn only looks again. */
  let wentWell = false

  const schedule = (ms: number) => {
    timer?.cancel()
    near = ms <= settleMs
    const begin = () => void turn()
    if (near) timer = runtime.scheduler.soon(ms, name, begin)
    else timer = runtime.clock.setTimer(ms, name, begin, wentWell ? { everyMs: ms } : undefined)
  }
  const changed = () => {
    if (running) again = true
    else if (!near) schedule(settleMs)
  }
  const turn = async () => {
    near = false
    running = true
    wentWell = everyMs !== undefined
    let next = everyMs
    try {
      await work()
    } catch (error) {
      if (!signal.aborted) runtime.log.error(`${name} were not brought up to date`, error)
      next = retryMs
      wentWell = false
    }
    running = false
    if (signal.aborted) return
    if (again) next = settleMs
    again = false
    if (next !== undefined) schedule(next)
  }
  toldUntilAborted(options, changed, () => timer?.cancel())
  schedule(0)
}

/** Turns are at whole multiples of the period since the start; those before which nothing has changed are left out. What fails is tried again at the next. */
export function startTickedLoop(
  options: Pick<SettlingLoop, 'runtime' | 'name' | 'work' | 'onChange' | 'signal'> & { readonly periodMs: number },
): void {
  const { runtime, name, periodMs, work, signal } = options
  if (signal.aborted) return
  const { clock } = runtime
  const begun = clock.monotonic()
  let timer: Timer | undefined
  const changed = () => {
    timer ??= clock.setTimer(periodMs - ((clock.monotonic() - begun) % periodMs), name, () => void turn())
  }
  const turn = async () => {
    timer = undefined
    try {
      await work()
    } catch (error) {
      if (signal.aborted) return
      runtime.log.error(`${name} was not brought up to date`, error)
      changed()
    }
  }
  toldUntilAborted(options, changed, () => timer?.cancel())
}

function toldUntilAborted(
  { onChange, signal }: Pick<SettlingLoop, 'onChange' | 'signal'>,
  changed: () => void,
  ended: () => void,
): void {
  const unsubscribe = onChange(changed)
  const end = () => {
    ended()
    unsubscribe()
  }
  signal.addEventListener('abort', end, { once: true })
}
