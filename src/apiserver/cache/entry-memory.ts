/** Where the bytes of entries lie. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

/**
 * Memory for bytes: many small ones share one allocation, which costs the machine less than one for each. A slab lives as long as anything in
 * it. Those of a kind of which there are many are as large as glibc needs to give memory back to the machine (bin/skiff.js): smaller ones leave
 * gaps between others, which stay resident for good.
 */
const SLAB_BYTES = 256 * 1024
/** Of a kind, since of most of a thousand kinds there are few objects. */
const FIRST_BYTES = 1024
/** Larger pieces are allocations of their own. */
const MOST_IN_SLAB = SLAB_BYTES / 8

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

/** `first`: bytes of the first, from which they double. */
function createSlabs(first = FIRST_BYTES): EntryMemory['allocate'] {
  let slab = Buffer.alloc(0)
  let used = 0
  return (size) => {
    if (size > MOST_IN_SLAB) return Buffer.allocUnsafeSlow(size)
    if (used + size > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.min(SLAB_BYTES, Math.max(first, slab.length * 2, size)))
      used = 0
    }
    const bytes = slab.subarray(used, used + size)
    used += size
    return bytes
  }
}
