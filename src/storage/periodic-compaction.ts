/** Compacts by the clock: history is kept for five minutes, as a real cluster's API server has it. */
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import { CompactedError, type Storage } from './storage.ts'

export interface CompactorOptions {
  /** Milliseconds of history kept at least. Default five minutes. */
  readonly keepMs?: number
  /** Milliseconds between two compactions; each is so much the smaller. Default one minute. */
  readonly everyMs?: number
}

/** Runs until the returned function is called. What was written before the start counts as new at the start. */
export function startCompactor(runtime: Runtime, storage: Storage, options: CompactorOptions = {}): () => void {
  const { keepMs = 300_000, everyMs = 60_000 } = options
  /** The revision there was at a time, oldest first. */
  const marks: { readonly time: number; readonly revision: number }[] = []
  let timer: Timer | undefined
  let stopped = false

  async function tick(): Promise<void> {
    const now = runtime.clock.now()
    marks.push({ time: now, revision: storage.revision })
    let target = 0
    while (marks[0] && marks[0].time <= now - keepMs) target = marks.shift()!.revision
    try {
      if (target > storage.compactedRevision) await storage.compact(target)
    } catch (error) {
      // Another API server compacted further.
      if (!(error instanceof CompactedError) && !stopped) runtime.log.error('compaction failed', error)
    }
    if (!stopped) schedule()
  }

  function schedule(): void {
    timer = runtime.clock.setTimer(everyMs, 'storage compaction', () => void tick(), { everyMs })
  }

  marks.push({ time: runtime.clock.now(), revision: storage.revision })
  schedule()
  return () => {
    stopped = true
    timer?.cancel()
  }
}
