/**
 * Memory for bytes that are kept: many small ones share one allocation, which costs the machine less than one for each. A
 * slab lives as long as anything in it, so it is small.
 */
const SLAB_BYTES = 16 * 1024

let slab: Buffer = Buffer.alloc(0)
let used = 0

/** Bytes with arbitrary content. */
export function allocateKept(size: number): Buffer {
  if (size > SLAB_BYTES / 4) return Buffer.allocUnsafeSlow(size)
  if (used + size > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
    used = 0
  }
  const bytes = slab.subarray(used, used + size)
  used += size
  return bytes
}
