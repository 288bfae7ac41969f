/** Compaction, in steps small enough to share the disk with writers. */
import type { CompactionStep, Tables } from './tables.ts'

const STEP_CHANGES = 1000

/**
 * What to drop next: a change that a later one (up to `compactedRevision`) replaced, and a delete, together with the
 * entry of its key. The newest change of a living key always stays.
 */
export function sweepStep(
  tables: Tables,
  sweptRevision: number,
  compactedRevision: number,
  isQueued: (key: string) => boolean,
): CompactionStep {
  const dropChanges: number[] = []
  const dropKeys: string[] = []
  let swept = sweptRevision
  let count = 0
  for (const change of tables.changeHeads(sweptRevision, compactedRevision)) {
    if (change.previousRevision > 0) dropChanges.push(change.previousRevision)
    if (change.isDelete) {
      dropChanges.push(change.revision)
      // A queued write of the key is about to give it a new entry, and links to this change.
      if (tables.entry(change.key)?.modRevision === change.revision && !isQueued(change.key)) dropKeys.push(change.key)
    }
    swept = change.revision
    if (++count === STEP_CHANGES) return { compactedRevision, sweptRevision: swept, dropChanges, dropKeys }
  }
  return { compactedRevision, sweptRevision: compactedRevision, dropChanges, dropKeys }
}
