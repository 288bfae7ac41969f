/** The memory driver's tables: for tests, simulation and throw-away clusters. No native asynchrony. */
import sortedBTree from 'sorted-btree'
import type { Runtime } from '../base/runtime.ts'
import { turn } from '../base/scheduler.ts'
import type { Expiry, Group, KeyChange, KeyEntry, Tables } from './tables.ts'

const BTree = sortedBTree.default

const compareStrings = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const compareExpiries = (a: Expiry, b: Expiry) => a.expiresAt - b.expiresAt || a.revision - b.revision

/** What a disk would hold: it outlives the tables over it, so that a store can be opened over it again after its process died. */
export interface Memory {
  readonly keys: InstanceType<typeof BTree<string, KeyEntry>>
  readonly log: Map<number, KeyChange>
  readonly expiries: InstanceType<typeof BTree<Expiry, undefined>>
  /** In the order of revisions. */
  readonly journal: Map<number, string>
  state: Tables['initial']
  /** On its way to the disk: a process that dies now may find all of it afterwards, or nothing. */
  writing: Group | undefined
}

/** `entries`: what is there from the beginning, in the order of the keys. */
export function createMemory(entries?: [string, KeyEntry][]): Memory {
  return {
    keys: new BTree<string, KeyEntry>(entries, compareStrings),
    log: new Map(),
    expiries: new BTree<Expiry, undefined>(undefined, compareExpiries),
    journal: new Map(),
    state: { revision: 1, compactedRevision: 0, sweptRevision: 0 },
    writing: undefined,
  }
}

/** For a test that kills the process over this memory: the group on its way is there after all (`true`), or lost. */
export function endMemoryWrite(memory: Memory, isThere: boolean): void {
  if (memory.writing !== undefined && isThere) apply(memory, memory.writing)
  memory.writing = undefined
}

function apply(memory: Memory, group: Group): void {
  const { keys, log, expiries } = memory
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
  for (const revision of group.journal?.dropped ?? []) memory.journal.delete(revision)
  for (const { revision, text } of group.journal?.added ?? []) memory.journal.set(revision, text.shared + text.own)
  memory.state = {
    revision: group.changes.at(-1)?.revision ?? memory.state.revision,
    compactedRevision: group.compaction?.compactedRevision ?? memory.state.compactedRevision,
    sweptRevision: group.compaction?.sweptRevision ?? memory.state.sweptRevision,
  }
}

export function memoryTables(runtime: Runtime, memory = createMemory()): Tables {
  const { keys, log, expiries } = memory
  return {
    initial: memory.state,
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
    *changeHeads(after, upTo) {
      for (let revision = after + 1; revision <= upTo; revision++) {
        const change = log.get(revision)
        if (change) yield { ...change, isDelete: change.value === undefined }
      }
    },
    expiries: () => expiries.keys(),
    *journal(after) {
      for (const [revision, value] of memory.journal) if (revision > after) yield { revision, value }
    },
    async flush(group) {
      memory.writing = group
      await turn(runtime.scheduler, 'storage flush')
      endMemoryWrite(memory, true)
    },
    close: () => Promise.resolve(),
  }
}
