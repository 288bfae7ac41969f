/**
 * The manual Runtime: the machine's chance, event loop, sockets and disks, but a clock that stands still until it is moved. What is
 * due now is done by itself, as live; only later timers wait. Between the simulated runtime, which knows all that can happen,
 * and the live one: here it is counted what has been handed over and what is under way, and the cluster is at rest when nothing is.
 */
import type { Clock, Recurrence, Timer } from './clock.ts'
import { behindReadyIo } from './live-clock.ts'
import { guarding, type LiveRuntimeOptions, liveRuntime } from './live-runtime.ts'
import type { Runtime } from './runtime.ts'
import type { Scheduler } from './scheduler.ts'
import { createTimers, type DueTimer, type Timers } from './timers.ts'

export interface ManualRuntimeOptions extends LiveRuntimeOptions {
  /** Milliseconds since the epoch at which the clock stands. */
  readonly startMs: number
  /** Called each time before something is done at another time. */
  readonly onMove?: (now: number) => void
  /**
   * Resolves when those outside have heard all, and have been silent for `silenceMs`; undefined: that is so now. Asked whenever the
   * cluster has come to rest.
   */
  readonly outside?: (silenceMs: number) => Promise<void> | undefined
}

export interface ManualRuntime extends Runtime {
  readonly manual: ManualTime
}

export interface MoveOptions {
  /** For so many real milliseconds those outside must have been silent whenever the cluster has come to rest. Default 0. */
  readonly settleMs?: number
  /** Ends the move where the clock then stands: it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export interface ManualTime {
  now(): number
  /** Resolves when nothing is left that is due now. */
  settle(): Promise<void>
  /** Moves the clock by `ms`: timers in the order of their time, with everything at rest between them. */
  advance(ms: number, options?: MoveOptions): Promise<void>
  /** The same up to a time. @throws RangeError when that has passed */
  advanceTo(time: number, options?: MoveOptions): Promise<void>
  /**
   * Moves the clock from timer to timer until the condition holds, by at most `atMostMs`. False: it does not hold by then.
   * The condition is looked at with everything at rest.
   */
  runUntil(condition: () => boolean | Promise<boolean>, atMostMs: number, options?: MoveOptions): Promise<boolean>
  /** As runUntil, until no timer waits but those that recur and have nothing to do. */
  runUntilIdle(atMostMs: number, options?: MoveOptions): Promise<boolean>
  /** The earliest timers that are not just recurring, at most `limit`. */
  waiting(limit: number): readonly { readonly due: number; readonly label: string }[]
  /** From now on no timer comes any more: advances under way end. */
  stop(): void
}

interface Turn {
  readonly at: number
  readonly entry: Recurring
}

interface Recurring {
  timer: DueTimer
  /** The same timer at another time. */
  readonly again: (due: number) => DueTimer
  readonly recurrence: Recurrence
}

const nextTurn = () => new Promise<void>(behindReadyIo)

/** Real time after which a moment has passed though others are at work. */
const LONGEST_MOMENT_MS = 200

export function manualRuntime(options: ManualRuntimeOptions): ManualRuntime {
  const live = liveRuntime(options)
  const guard = guarding(options.onUncaught)
  const { onMove = () => {}, outside = () => undefined } = options
  const { startMs } = options
  let now = startMs
  let stopped = false
  let silenceMs = 0
  /** One advance at a time. */
  let turn: Promise<unknown> = Promise.resolve()

  const timers = createTimers()
  /** Recurring timers: in `hearts` those that keep something alive (`Recurrence.keeps`), in `idle` the others. */
  const hearts = createTimers()
  const idle = createTimers()
  const recurring = new Map<DueTimer, Recurring>()
  /** The recurring timers that name a time before which they have nothing to do (`nothingBefore`). */
  const watchful = new Set<Recurring>()
  const kept = new Map<string, number>()

  /** What is handed over or under way, and how often anything has been: unchanged through a turn of the loop, all is at rest. */
  let busy = 0
  let activity = 0
  let wakeUps: (() => void)[] = []

  function begin(): void {
    busy++
    activity++
  }
  function end(): void {
    if (--busy > 0 || wakeUps.length === 0) return
    const waiting = wakeUps
    wakeUps = []
    for (const wakeUp of waiting) wakeUp()
  }

  const counted = (task: () => void) => {
    begin()
    return guard(() => {
      try {
        task()
      } finally {
        end()
      }
    })
  }

  const moments = createTimers()
  let pendingMoments = 0
  let momentsNow = 0
  let isPassing = false

  /** Each moment passes, in the order of their length, once nothing else is left to do: however slow the machine is. */
  async function passMoments(): Promise<void> {
    isPassing = true
    while (moments.next() !== undefined) {
      const began = live.machineClock.monotonic()
      for (let before = -1; before !== activity || busy > pendingMoments; ) {
        // Clients outside may go on asking without end.
        if (live.machineClock.monotonic() - began > LONGEST_MOMENT_MS) break
        before = activity
        await nextTurn()
      }
      const moment = moments.take()
      if (moment === undefined) break
      momentsNow = Math.max(momentsNow, moment.due)
      moment.run()
    }
    isPassing = false
  }

  const scheduler: Scheduler = {
    handOver: (_label, task) => queueMicrotask(counted(task)),
    later: (_label, task) => behindReadyIo(counted(task)),
    soon(ms, label, task) {
      let isOver = false
      const over = () => {
        if (isOver) return
        isOver = true
        pendingMoments--
        end()
      }
      begin()
      pendingMoments++
      const moment = moments.add(momentsNow + ms, label, () => {
        try {
          guard(task)()
        } finally {
          over()
        }
      })
      if (!isPassing) void passMoments()
      return {
        cancel() {
          moment.cancel()
          over()
        },
      }
    },
    during(work) {
      begin()
      work.then(end, end)
      return work
    },
  }

  const clock: Clock = {
    now: () => now,
    monotonic: () => now - startMs,
    setTimer(ms, label, task, recurrence): Timer {
      if (recurrence !== undefined) return setRecurring(ms, label, task, recurrence)
      if (now + ms <= now) return atOnce(label, task)
      return timers.add(now + ms, label, guard(task))
    },
    keeps: (name) => (kept.get(name) ?? 0) > 0,
  }

  function atOnce(label: string, task: () => void): Timer {
    let isCancelled = false
    scheduler.later(label, () => {
      if (!isCancelled) task()
    })
    return {
      cancel() {
        isCancelled = true
      },
    }
  }

  function setRecurring(ms: number, label: string, task: () => void, recurrence: Recurrence): Timer {
    const forget = () => {
      if (!recurring.delete(entry.timer)) return
      watchful.delete(entry)
      if (recurrence.keeps !== undefined) kept.set(recurrence.keeps, (kept.get(recurrence.keeps) ?? 1) - 1)
    }
    const guarded = guard(task)
    const run = () => {
      forget()
      guarded()
    }
    const heap = recurrence.keeps === undefined ? idle : hearts
    const again = (due: number) => heap.add(due, label, run)
    const entry: Recurring = { recurrence, again, timer: again(now + Math.max(0, ms)) }
    recurring.set(entry.timer, entry)
    if (recurrence.nothingBefore !== undefined) watchful.add(entry)
    if (recurrence.keeps !== undefined) kept.set(recurrence.keeps, (kept.get(recurrence.keeps) ?? 0) + 1)
    return {
      cancel() {
        forget()
        entry.timer.cancel()
      },
    }
  }

  /** The turn at which it has something to do. */
  function dueByItself({ timer, recurrence }: Recurring): number {
    const from = recurrence.nothingBefore?.() ?? Number.POSITIVE_INFINITY
    return from <= timer.due
      ? timer.due
      : timer.due + Math.ceil((from - timer.due) / recurrence.everyMs) * recurrence.everyMs
  }

  function putBack(entry: Recurring): void {
    recurring.delete(entry.timer)
    entry.timer = entry.again(entry.timer.due)
    recurring.set(entry.timer, entry)
  }

  /** When something happens next that may not be left out. */
  function nextDue(): number {
    let next = timers.next() ?? Number.POSITIVE_INFINITY
    for (const entry of watchful) next = Math.min(next, dueByItself(entry))
    return Math.max(now, next)
  }

  const isNews = (entry: Recurring): boolean =>
    entry.recurrence.goesOn !== true && dueByItself(entry) !== Number.POSITIVE_INFINITY

  /** The same, but for what goes on for ever. */
  function nextNews(): number {
    let next = timers.next() ?? Number.POSITIVE_INFINITY
    for (const entry of watchful) if (entry.recurrence.goesOn !== true) next = Math.min(next, dueByItself(entry))
    return next
  }

  /** The last turn that is not behind `time`; of one that is late, now. */
  const lastTurn = ({ timer, recurrence }: Recurring, time: number): number =>
    Math.max(now, timer.due + Math.floor((time - timer.due) / recurrence.everyMs) * recurrence.everyMs)

  function moveTo(time: number): void {
    if (time <= now) return
    now = time
    onMove(now)
  }

  async function rest(): Promise<void> {
    for (;;) {
      const before = activity
      if (busy > 0) await new Promise<void>((resolve) => wakeUps.push(resolve))
      await nextTurn()
      if (busy === 0 && activity === before) return
    }
  }

  async function settle(): Promise<void> {
    for (;;) {
      await rest()
      const before = activity
      const heard = outside(silenceMs)
      if (heard === undefined) return
      await heard
      if (activity === before) return
    }
  }

  /** Takes out those that are due until then, with the time of their last turn. */
  function turnsOf(heap: Timers, until: number): Turn[] {
    const turns: Turn[] = []
    for (let due = heap.next(); due !== undefined && due <= until; due = heap.next()) {
      const entry = recurring.get(heap.take() as DueTimer)
      if (entry !== undefined) turns.push({ at: lastTurn(entry, until), entry })
    }
    // Equal times: in the order in which they were set.
    return turns.sort((a, b) => a.at - b.at)
  }

  /** False: something has come of one of them that is due before the others, which wait again. */
  async function take(turns: readonly Turn[], before: (at: number) => Promise<boolean>): Promise<boolean> {
    for (let i = 0; i < turns.length; i++) {
      const { at, entry } = turns[i] as Turn
      if (stopped || !(await before(at)) || nextDue() < Math.max(at, now)) {
        for (const { entry: left } of turns.slice(i)) putBack(left)
        return false
      }
      moveTo(at)
      entry.timer.run()
      // Those of one moment are written together, as live.
      const next = turns[i + 1]
      if (next?.at === at || (entry.recurrence.isAlone === true && next !== undefined)) continue
      await settle()
    }
    return true
  }

  /** Before a turn that may look for signs of life, those are given. */
  const takeHearts = (until: number) => take(turnsOf(hearts, until), async () => true)

  /** Up to the next timer, if that is not behind `end`: true. Otherwise what recurs up to there. */
  async function step(end: number): Promise<boolean> {
    const until = Math.min(nextDue(), end)
    if (!(await take(turnsOf(idle, until), takeHearts)) || !(await takeHearts(until))) return !stopped
    if (stopped) return false
    if (nextDue() > end) return until < end
    const due = timers.next()
    if (due === undefined || due > until) return true
    moveTo(due)
    timers.take()?.run()
    await settle()
    return true
  }

  function inTurn<T>({ settleMs = 0, signal }: MoveOptions, work: () => Promise<T>): Promise<T> {
    const mine = turn.then(() => {
      signal?.throwIfAborted()
      silenceMs = settleMs
      return work().finally(() => {
        silenceMs = 0
      })
    })
    turn = mine.catch(() => {})
    return mine
  }

  function goingOn(): void {
    if (stopped) throw new Error('the cluster has stopped')
  }

  async function advanceTo(time: number, { signal }: MoveOptions): Promise<void> {
    await settle()
    while (!stopped && (await step(time))) signal?.throwIfAborted()
    goingOn()
    moveTo(time)
    await settle()
  }

  const runUntil: ManualTime['runUntil'] = (condition, atMostMs, move = {}) =>
    inTurn(move, async () => {
      const end = now + atMostMs
      await settle()
      while (!(await condition())) {
        move.signal?.throwIfAborted()
        goingOn()
        if (now >= end) return false
        if (!(await step(end))) {
          moveTo(end)
          await settle()
        }
      }
      return true
    })

  return {
    ...live,
    clock,
    scheduler,
    manual: {
      now: () => now,
      settle,
      advance: (ms, move = {}) => inTurn(move, () => advanceTo(now + ms, move)),
      advanceTo: (time, move = {}) =>
        inTurn(move, () => {
          if (time < now)
            throw new RangeError(`${new Date(time).toISOString()} has passed: the cluster's time does not go back`)
          return advanceTo(time, move)
        }),
      runUntil,
      runUntilIdle: (atMostMs, move) => runUntil(() => nextNews() === Number.POSITIVE_INFINITY, atMostMs, move),
      waiting: (limit) =>
        [
          ...timers.list(),
          ...[...watchful].filter(isNews).map((entry) => ({ due: dueByItself(entry), label: entry.timer.label })),
        ]
          .toSorted((a, b) => a.due - b.due)
          .slice(0, limit)
          .map(({ due, label }) => ({ due, label })),
      stop() {
        stopped = true
      },
    },
  }
}
