/** Load of a given width, and how long it took. */
import { type Answer, expectOk } from './client.ts'

export interface Load {
  readonly count: number
  readonly seconds: number
  readonly perSecond: number
}

/** `ask(0)` to `ask(count - 1)`, `width` at once. @throws what the first request that fails was answered */
export async function load(count: number, width: number, ask: (index: number) => Promise<Answer>): Promise<Load> {
  let next = 0
  const begin = performance.now()
  const one = async () => {
    while (next < count) expectOk(await ask(next++))
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, one))
  return timed(count, begin)
}

export function timed(count: number, begin: number): Load {
  const seconds = (performance.now() - begin) / 1000
  return { count, seconds, perSecond: count / seconds }
}

/** Asks every `everyMs` until the answer is yes. @throws Error after `withinMs` */
export async function until(what: string, withinMs: number, everyMs: number, holds: () => Promise<boolean>) {
  const begin = performance.now()
  while (!(await holds())) {
    if (performance.now() - begin > withinMs) throw new Error(`${what} not within ${withinMs / 1000} s`)
    await pause(everyMs)
  }
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
