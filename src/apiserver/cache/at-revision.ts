/** The objects of one resource as they were at a revision that the event log reaches back to: what there is now, with what came later undone. */
import type sortedBTree from 'sorted-btree'
import type { CacheEntry } from './entry.ts'
import type { EventLog } from './event-log.ts'

/** By key, what was there of each that changed later; undefined: it was not there. */
export type Undone = ReadonlyMap<string, CacheEntry | undefined>

/** The log must reach back to the revision. */
export function undoneSince(log: EventLog, revision: number): Undone {
  const undone = new Map<string, CacheEntry | undefined>()
  for (let at = log.after(revision); at < log.end; at++) {
    const { key, previous } = log.at(at)
    if (!undone.has(key)) undone.set(key, previous)
  }
  return undone
}

export interface KeyRange {
  readonly start: string
  /** The first key behind it. */
  readonly end: string
}

type Ordered = sortedBTree.default<string, CacheEntry>

/** How many of the range there are now, but no more than `most`. */
export function countNow(ordered: Ordered, { start, end }: KeyRange, most: number): number {
  let count = 0
  ordered.forRange(start, end, false, () => (++count >= most ? { break: true } : undefined))
  return count
}

/** The last key of the range that was there; undefined: none was. */
export function lastKeyThen(ordered: Ordered, undone: Undone, { start, end }: KeyRange): string | undefined {
  let last: string | undefined
  for (let key = ordered.nextLowerKey(end); key !== undefined && key >= start; key = ordered.nextLowerKey(key)) {
    if (undone.has(key) && undone.get(key) === undefined) continue
    last = key
    break
  }
  for (const [key, entry] of undone)
    if (entry !== undefined && key >= start && key < end && (last === undefined || key > last)) last = key
  return last
}

/** Gives each entry in key order, until one is answered with true. */
export function eachThen(
  ordered: Ordered,
  undone: Undone,
  { start, end }: KeyRange,
  give: (entry: CacheEntry) => boolean | undefined,
): void {
  const isOver = (entry: CacheEntry) => give(entry) === true
  if (undone.size === 0) {
    ordered.forRange(start, end, false, (_key, entry) => (isOver(entry) ? { break: true } : undefined))
    return
  }
  const then = [...undone]
    .filter(([key, entry]) => entry !== undefined && key >= start && key < end)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, entry]) => entry as CacheEntry)
  let next = 0
  let over = false
  ordered.forRange(start, end, false, (key, entry) => {
    for (; next < then.length && (then[next] as CacheEntry).key <= key; next++)
      if (isOver(then[next] as CacheEntry)) {
        over = true
        return { break: true }
      }
    if (undone.has(key)) return undefined
    over = isOver(entry)
    return over ? { break: true } : undefined
  })
  while (!over && next < then.length) over = isOver(then[next++] as CacheEntry)
}
