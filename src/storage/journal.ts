/**
 * The journal of a store: entries that writes leave beside the keys, each under its write's revision, bounded by count and by length.
 * What is in them is opaque here. They are no keys: no read, watch, snapshot or compaction of keys sees them.
 */
import type { JournalStep, Tables } from './tables.ts'

/** The text `shared` followed by `own`: writes that are alike have the first in common, which need not be kept for each. */
export interface JournalText {
  readonly shared: string
  readonly own: string
}

export interface JournalAddition {
  readonly revision: number
  readonly text: JournalText
}

/** As it is read. */
export interface JournalEntry {
  readonly revision: number
  readonly value: string
}

export interface JournalBounds {
  readonly entries: number
  /** Characters of their texts, what they have in common counted with each. */
  readonly bytes: number
}

/** Of a store of one process; about the ends of 20,000 pods. */
export const JOURNAL_BOUNDS: JournalBounds = { entries: 50_000, bytes: 24 << 20 }

/** Where a bound is passed this part of it goes at once: the old end of the table is then seldom touched. */
const DROPPED_PART = 1 / 32

export interface BoundedJournal {
  /** What becomes of the journal when these are added. */
  step(added: readonly JournalAddition[]): JournalStep
  /** What was said to be added may not be there. */
  forget(): void
}

/** Sizes are read when the first entry comes, not when the store is opened. */
export function createJournalBounds(tables: Pick<Tables, 'journal'>, bounds: JournalBounds): BoundedJournal {
  let known: Sizes | undefined
  return {
    step(added) {
      known ??= sizesOf(tables.journal(0))
      for (const { revision, text } of added) known.add(revision, text.shared.length + text.own.length)
      return { added, dropped: known.beyond(bounds) }
    },
    forget() {
      known = undefined
    },
  }
}

interface Sizes {
  add(revision: number, bytes: number): void
  /** Takes out the oldest where there are too many, but never the newest. */
  beyond(bounds: JournalBounds): number[]
}

/** How large each entry is, in the order of revisions. */
export function sizesOf(
  entries: Iterable<{ readonly revision: number; readonly value: { readonly length: number } }>,
): Sizes {
  let revisions: number[] = []
  let lengths: number[] = []
  /** Of those that are there: the ones before it have gone. */
  let first = 0
  let total = 0
  const add = (revision: number, bytes: number) => {
    revisions.push(revision)
    lengths.push(bytes)
    total += bytes
  }
  for (const { revision, value } of entries) add(revision, value.length)
  return {
    add,
    beyond(bounds) {
      if (revisions.length - first <= bounds.entries && total <= bounds.bytes) return []
      const entries = bounds.entries * (1 - DROPPED_PART)
      const bytes = bounds.bytes * (1 - DROPPED_PART)
      const begin = first
      for (; first < revisions.length - 1 && (revisions.length - first > entries || total > bytes); first++)
        total -= lengths[first] ?? 0
      const dropped = revisions.slice(begin, first)
      if (first > revisions.length / 2) {
        revisions = revisions.slice(first)
        lengths = lengths.slice(first)
        first = 0
      }
      return dropped
    },
  }
}
