/**
 * Work on many objects, a few milliseconds at a time, so that other requests are answered in between. However many such works
 * are under way, one of them goes on in a turn of the event loop.
 */
import { getOrInsertComputed } from './get-or-insert.ts'
import type { Runtime } from './runtime.ts'
import type { Scheduler } from './scheduler.ts'

export interface Turns {
  /** This piece of the work has taken long enough. */
  isOver(): boolean
  /** Resolves when others have had theirs. */
  next(): Promise<void>
}

const PIECE_MS = 8
/** So many are asked about before the clock is. */
const STEPS = 16

/** By the machine's clock: a clock that is moved by hand stands still while work is done. */
export function createTurns({ machineClock: clock, scheduler }: Runtime, label: string): Turns {
  let began = clock.monotonic()
  let steps = 0
  return {
    isOver() {
      if (++steps % STEPS !== 0) return false
      return clock.monotonic() - began > PIECE_MS
    },
    async next() {
      await new Promise<void>((resolve) => wait(scheduler, label, resolve))
      began = clock.monotonic()
    },
  }
}

/** Those that wait to go on, by the loop they are in. */
const waiting = new WeakMap<Scheduler, (() => void)[]>()

function wait(scheduler: Scheduler, label: string, goOn: () => void): void {
  const queue = getOrInsertComputed(waiting, scheduler, () => [])
  const next = () => {
    queue.shift()?.()
    if (queue.length > 0) scheduler.later(label, next)
  }
  if (queue.push(goOn) === 1) scheduler.later(label, next)
}

/** What `act` makes of each item, in their order. */
export async function inTurns<T, R>(
  runtime: Runtime,
  label: string,
  items: readonly T[],
  act: (item: T) => R,
): Promise<R[]> {
  const turns = createTurns(runtime, label)
  const made: R[] = []
  for (const item of items) {
    made.push(act(item))
    if (turns.isOver()) await turns.next()
  }
  return made
}

/** Work that stops after each small step of it, so that others may go on: what it returns is its result. */
export type Steps<Result> = Generator<void, Result, void>

/** The result of work in steps, with turns for others in between. */
export async function stepsInTurns<Result>(runtime: Runtime, label: string, work: Steps<Result>): Promise<Result> {
  const turns = createTurns(runtime, label)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (turns.isOver()) await turns.next()
  }
}

/** The result of work in steps, all of them at once. */
export function stepsAtOnce<Result>(work: Steps<Result>): Result {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}
