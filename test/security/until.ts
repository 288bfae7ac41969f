/** Waiting for what another process does in its own time: asked for again until it is so. */
import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE_MS = 20_000

/** What `find` gives when that is something. @throws when it gives nothing for twenty seconds */
export async function until<T>(find: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(10)) {
    const found = await find()
    if (found) return found
  }
  throw new Error('what was waited for did not come')
}
