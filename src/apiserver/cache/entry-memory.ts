/** Where the bytes of entries lie. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import { createSlabs, SLAB_BYTES } from '../../base/slabs.ts'

/** For the entries of one resource. */
export interface EntryMemory {
  /** Bytes with arbitrary content, for what stays. */
  allocate(this: void, size: number): Buffer
  /** For what is soon another's: the newest revisions, and those that history holds. */
  allocatePassing(this: void, size: number): Buffer
  /** Allocated for what stays, since the start or since that was moved together. */
  readonly allocated: number
  /** From now on nothing is put beside what was allocated before: what stays is moved together. */
  beginAnew(): void
  /** The beginning of the bytes looked at last, up to `"metadata":{`: those of the next object are mostly the same. */
  lastHead: Buffer
}

export function createEntryMemory(): EntryMemory {
  let slabs = createSlabs()
  let allocated = 0
  return {
    lastHead: Buffer.alloc(0),
    get allocated() {
      return allocated
    },
    allocate(size) {
      allocated += size
      return slabs(size)
    },
    allocatePassing: createSlabs(),
    beginAnew() {
      slabs = createSlabs(SLAB_BYTES)
      allocated = 0
    },
  }
}

/**
 * Memory for what is written, by kind: objects of one kind live about as long as one another. Beside Pods and Leases, whose revisions go, the
 * bytes of an Event, which stays as it was made, would take three times their size.
 */
export function createWrittenMemory(): (kind: string) => EntryMemory['allocate'] {
  const slabs = new Map<string, EntryMemory['allocate']>()
  return (kind) => getOrInsertComputed(slabs, kind, () => createSlabs())
}
