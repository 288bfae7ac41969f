/** The memory of this process, as the machine counts it. */
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const PAGE_BYTES = 4096

/**
 * Bytes that only this process has: what a store has mapped of its file is the machine's to take back. Where the machine does not
 * tell them apart, all that is resident.
 */
export function usedMemory(): number {
  try {
    // `size resident shared …`, in pages.
    const [, resident = Number.NaN, shared = Number.NaN] = readFileSync('/proc/self/statm', 'latin1')
      .split(' ')
      .map(Number)
    const used = (resident - shared) * PAGE_BYTES
    if (used > 0) return used
  } catch {
    // Not Linux.
  }
  return process.memoryUsage.rss()
}

let collect: (() => void) | undefined

/** Collects all garbage now, which takes some hundred milliseconds for each GiB of live objects. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
