/** The memory driver's tables: for tests, simulation and throw-away clusters. No native asynchrony. */
import sortedBTree from 'sorted-btree'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import type { Change, Expiry, Group, KeyEntry, Tables } from './tables.ts'

const BTree = sortedBTree.default

const compareStrings = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const compareExpiries = (a: Expiry, b: Expiry) => a.expiresAt - b.expiresAt || a.revision - b.revision

export function memoryTables(runtime: Runtime): Tables {
  const keys = new BTree<string, KeyEntry>(undefined, compareStrings)
  const log = new Map<number, Change>()
  const expiries = new BTree<Expiry, undefined>(undefined, compareExpiries)

  function apply(group: Group): void {
    for (const revision of group.compaction?.dropChanges ?? []) log.delete(revision)
    for (const key of group.compaction?.dropKeys ?? []) keys.delete(key)
    for (const expiry of group.endedExpiries) expiries.delete(expiry)
    for (const change of group.changes) {
      log.set(change.revision, change)
      keys.set(change.key, {
        modRevision: change.revision,
        createRevision: change.createRevision,
        deleted: change.value === undefined,
      })
    }
    for (const expiry of group.newExpiries) expiries.set(expiry, undefined)
  }

  return {
    initial: { revision: 1, compactedRevision: 0, sweptRevision: 0 },
    entry: (key) => keys.get(key),
    change: (revision) => log.get(revision),
    *entries(start, end) {
      for (const pair of keys.entries(start)) {
        if (pair[0] >= end) return
        yield pair as [string, KeyEntry]
      }
    },
    *changes(after, upTo) {
      for (let revision = after + 1; revision <= upTo; revision++) {
        const change = log.get(revision)
        if (change) yield change
      }
    },
    expiries: () => expiries.keys(),
    async flush(group) {
      await turn(runtime.scheduler, 'storage flush')
      apply(group)
    },
    close: () => Promise.resolve(),
  }
}
