/** Load of a given width, and how long it took. */
import { type Answer, expectOk } from './client.ts'

export interface Load {
  readonly count: number
  readonly seconds: number
  readonly perSecond: number
}

/** What one part of a load took, in milliseconds: half of all took at most p50, 99 of a hundred at most p99. */
export interface Latency {
  readonly p50: number
  readonly p99: number
}

/** `ask(0)` to `ask(count - 1)`, `width` at once. @throws what the first request that fails was answered */
export async function load(
  count: number,
  width: number,
  ask: (index: number) => Promise<Answer>,
): Promise<Load & { readonly latency: Latency }> {
  let next = 0
  const took = new Float64Array(count)
  const begin = performance.now()
  const one = async () => {
    while (next < count) {
      const index = next++
      const sent = performance.now()
      expectOk(await ask(index))
      took[index] = performance.now() - sent
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, one))
  return { ...timed(count, begin), latency: latencyOf(took) }
}

/** Of times in milliseconds, in any order. */
export function latencyOf(took: Float64Array): Latency {
  const sorted = took.toSorted()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
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
