/** What a controller that publishes one thing tells of its syncs: how many there were and how long they took, by how they ended. */
import { exponentialBuckets } from '../base/metrics.ts'
import type { Runtime } from '../base/runtime.ts'
import { statusOf } from '../client/response.ts'

const SECONDS = exponentialBuckets(0.001, 2, 15)

/** `sync`, counted as `NAME_sync_total` by the code that the API server refused it with, 200 where it went well; as it is where no metrics are kept. */
export function countedSync<T>(
  { metrics, clock }: Pick<Runtime, 'metrics' | 'clock'>,
  name: string,
  sync: (item: T) => Promise<void>,
): (item: T) => Promise<void> {
  if (metrics === undefined) return sync
  const syncs = metrics.counter(`${name}_sync_total`, 'Syncs, by the code they ended with.', ['code'])
  const seconds = metrics.histogram(`${name}_sync_duration_seconds`, 'Seconds that a sync took.', ['code'], SECONDS)
  return async (item) => {
    const began = clock.monotonic()
    let code = 200
    try {
      await sync(item)
    } catch (error) {
      code = statusOf(error)?.code ?? 500
      throw error
    } finally {
      syncs.child(String(code)).add()
      seconds.child(String(code)).observe((clock.monotonic() - began) / 1000)
    }
  }
}
