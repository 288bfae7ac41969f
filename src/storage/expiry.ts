/** Deletes keys whose lease ran out (events after an hour), by the injected clock, through the ordinary write path. */
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { Write, WriteResult } from './storage.ts'
import type { Expiry, Tables } from './tables.ts'

/** Expiries that fall into the same second are swept together. */
const COARSE_MS = 1000
const BATCH = 500

export interface ExpiryTarget {
  write(write: Write): Promise<WriteResult>
  /**
   * These expiries are over, with the deletes written before or after them. Resolves when that is durable.
   * @throws when the store refuses it
   */
  end(expiries: readonly Expiry[]): Promise<void>
}

export function createExpirySweeper(runtime: Runtime, tables: Tables, target: ExpiryTarget) {
  let timer: Timer | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let stopped = false

  function schedule(expiresAt: number): void {
    const at = Math.ceil(expiresAt / COARSE_MS) * COARSE_MS
    if (stopped || at >= timerAt) return
    timer?.cancel()
    timerAt = at
    const ms = Math.max(0, at - runtime.clock.now())
    const recurrence = { everyMs: COARSE_MS, nothingBefore: () => at, goesOn: true }
    timer = runtime.clock.setTimer(ms, 'storage expiry', () => void sweep(), recurrence)
  }

  async function sweep(): Promise<void> {
    const due: Expiry[] = []
    const now = runtime.clock.now()
    for (const expiry of tables.expiries()) {
      if (expiry.expiresAt > now || due.length === BATCH) break
      due.push(expiry)
    }
    // A key written again since then has a lease of its own, or none.
    const deletes = due
      .filter(({ key, revision }) => tables.entry(key)?.modRevision === revision)
      .map(({ key, revision }) => target.write({ type: 'delete', key, expectRevision: revision }))
    const ended = due.length > 0 ? [target.end(due)] : []
    const results = await Promise.allSettled([...deletes, ...ended])
    timerAt = Number.POSITIVE_INFINITY
    if (results.every((result) => result.status === 'fulfilled')) scheduleFirst()
  }

  function scheduleFirst(): void {
    for (const { expiresAt } of tables.expiries()) {
      schedule(expiresAt)
      return
    }
  }

  scheduleFirst()
  return {
    /** These are durable now. */
    added(expiries: readonly Expiry[]): void {
      for (const { expiresAt } of expiries) schedule(expiresAt)
    },
    /** The store takes writes again after it refused them. */
    resume: scheduleFirst,
    stop(): void {
      stopped = true
      timer?.cancel()
    },
  }
}
