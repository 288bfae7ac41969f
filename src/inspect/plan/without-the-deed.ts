/**
 * The same cluster without the deed, in a twin of its own: what of owners elsewhere goes on there too is not moved by the deed. It is started
 * only when that is asked, for most plans never ask.
 */
import type { Journal } from '../../api/journal.ts'
import type { StartedFork } from '../../cluster/fork.ts'
import type { OwnersAbove } from './comes-of-the-deed.ts'

export interface WithoutTheDeed {
  /** @returns the owners under which anything was written between two times of the twins, in milliseconds */
  movedBetween(from: number, to: number): Promise<ReadonlySet<string>>
  stop(): Promise<void>
}

export function createWithoutTheDeed(start: () => Promise<StartedFork>, owners: OwnersAbove): WithoutTheDeed {
  let started: Promise<StartedFork> | undefined
  let revision = 0
  const moved: { readonly time: number; readonly owners: readonly string[] }[] = []
  return {
    async movedBetween(from, to) {
      started ??= start()
      const twin = await started
      const now = twin.clock.now.getTime()
      if (to > now) await twin.clock.advance(to - now)
      const { body } = await twin.client.raw('GET', `/skiff.dev/journal?after=${revision}`)
      const journal = JSON.parse(body) as Journal
      revision = journal.revision
      for (const { uid, time, before, after } of journal.records)
        moved.push({ time, owners: owners.of(uid, after?.ownerReferences ?? before.ownerReferences).map((o) => o.uid) })
      return new Set(moved.flatMap((one) => (one.time >= from && one.time <= to ? one.owners : [])))
    },
    async stop() {
      // One that could not be started has told so already.
      const twin = await started?.catch(() => undefined)
      await twin?.stop()
    },
  }
}
