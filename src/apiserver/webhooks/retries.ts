/** Another try, and another: as kube-apiserver asks the servers that an administrator names. */
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'

const TRIES = 5
/** Each wait is half as long again, up to a fifth more by chance. */
const FACTOR = 1.5
const JITTER = 0.2

export interface Retries {
  readonly firstWaitMs: number
  /** Whether after this error another try is made. */
  readonly goesOn: (error: unknown) => boolean
  /** Once aborted nothing waits any more: what waits for another try has its last one at once. */
  readonly hurry?: AbortSignal
}

/** @throws what the last try did */
export async function withRetries<T>(
  { machineClock, random }: Pick<Runtime, 'machineClock' | 'random'>,
  { firstWaitMs, goesOn, hurry }: Retries,
  attempt: () => Promise<T>,
): Promise<T> {
  let wait = firstWaitMs
  for (let left = TRIES - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left === 0 || hurry?.aborted || !goesOn(error)) throw error
    }
    await sleep(machineClock, wait * (1 + JITTER * random.float()), hurry).catch(() => undefined)
    wait *= FACTOR
  }
}
