/**
 * Memory for bytes: many small ones share one allocation, which costs the machine less than one for each. A slab lives as long as anything in
 * it. Those of a kind of which there are many are as large as glibc needs to give memory back to the machine (bin/skiff.js): smaller ones leave
 * gaps between others, which stay resident for good.
 */
export const SLAB_BYTES = 256 * 1024
/** Of a kind, since of most of a thousand kinds there are few objects. */
const FIRST_BYTES = 1024
/** Larger pieces are allocations of their own. */
const MOST_IN_SLAB = SLAB_BYTES / 8

/** Bytes with arbitrary content. */
export type Allocate = (this: void, size: number) => Buffer

/** `first`: bytes of the first slab, from which they double. */
export function createSlabs(first = FIRST_BYTES): Allocate {
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
