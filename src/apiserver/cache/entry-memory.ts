/** What the entries of one server's caches share. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

/**
 * Memory for bytes that are kept: many small ones share one allocation, which costs the machine less than one for each. A
 * slab lives as long as anything in it, so it is small.
 */
const SLAB_BYTES = 16 * 1024
/** Of a kind, since of most of a thousand kinds there are few objects. */
const FIRST_BYTES = 1024

export interface EntryMemory {
  /** Bytes with arbitrary content. */
  allocate(this: void, size: number): Buffer
  /** The beginning of the bytes looked at last, up to `"metadata":{`: those of the next object are mostly the same. */
  lastHead: Buffer
}

export function createEntryMemory(): EntryMemory {
  return { lastHead: Buffer.alloc(0), allocate: createSlabs() }
}

/**
 * Memory for what is written, by kind: objects of one kind live about as long as one another. Beside Pods and Leases, whose revisions go, the
 * bytes of an Event, which stays as it was made, would take three times their size.
 */
export function createWrittenMemory(): (kind: string) => EntryMemory['allocate'] {
  const slabs = new Map<string, EntryMemory['allocate']>()
  return (kind) => getOrInsertComputed(slabs, kind, () => createSlabs(FIRST_BYTES))
}

/** `first`: bytes of the first, from which they double. */
function createSlabs(first = SLAB_BYTES): EntryMemory['allocate'] {
  let slab = Buffer.alloc(0)
  let used = 0
  return (size) => {
    if (size > SLAB_BYTES / 4) return Buffer.allocUnsafeSlow(size)
    if (used + size > slab.length) {
      slab = Buffer.allocUnsafeSlow(Math.min(SLAB_BYTES, Math.max(first, slab.length * 2, size)))
      used = 0
    }
    const bytes = slab.subarray(used, used + size)
    used += size
    return bytes
  }
}
