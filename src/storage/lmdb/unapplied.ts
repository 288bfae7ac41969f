/**
 * Groups that are on disk in the log and not in the tables yet, and what they add to what the tables say. They follow what is in the
 * tables, in order, and are taken out when they have come there.
 */
import type { ChangeHead, Expiry, KeyChange, KeyEntry } from '../tables.ts'
import type { JournalRows, LoggedGroup } from './log-records.ts'
import { decodeExpiry, expiryKey } from './records.ts'

/** Reads of these groups alone. */
export interface UnappliedReads {
  /** Of the oldest change; undefined: there is none. */
  readonly firstRevision: number | undefined
  entry(key: string): KeyEntry | undefined
  change(revision: number): KeyChange | undefined
  /** In the order of keys. */
  entries(start: string, end: string): (readonly [key: string, entry: KeyEntry])[]
  changes(after: number, upTo: number): KeyChange[]
  heads(after: number, upTo: number): ChangeHead[]
  /** Those of the tables' rows and of these groups, in the order of their time. No more rows are read than are asked for. */
  expiries(rows: Iterable<ExpiryRow>): Iterable<Expiry>
  journal(): JournalRows[]
}

export interface ExpiryRow {
  readonly key: Buffer
  readonly value: Buffer
}

/** In batches, each of which goes into the tables as one. */
export interface Unapplied extends UnappliedReads {
  readonly lastRevision: number | undefined
  /** How many changes the newest batch has. */
  readonly batchChanges: number
  /** Of all batches, or of the oldest. */
  groups(which: 'all' | 'oldest'): readonly LoggedGroup[]
  /** What is added from now on belongs to another batch. */
  beginBatch(): void
  add(group: LoggedGroup): void
  /** The oldest batch is in the tables. */
  dropOldest(): void
  /** All are. */
  clear(): void
}

interface Batch {
  readonly groups: LoggedGroup[]
  readonly changes: KeyChange[]
  readonly entries: Map<string, KeyEntry>
}

const emptyBatch = (): Batch => ({ groups: [], changes: [], entries: new Map() })

export function createUnapplied(): Unapplied {
  /** Oldest first. There are few, so that a read asks few. */
  let batches: Batch[] = []
  let newest = emptyBatch()

  const groups = () => batches.flatMap((batch) => batch.groups)

  function changes(after: number, upTo: number): KeyChange[] {
    const all = batches.flatMap((batch) => batch.changes)
    return all.filter(({ revision }) => revision > after && revision <= upTo)
  }

  return {
    get firstRevision() {
      return batches[0]?.changes[0]?.revision
    },
    get lastRevision() {
      return batches.at(-1)?.changes.at(-1)?.revision
    },
    get batchChanges() {
      return newest.changes.length
    },
    groups: (which) => (which === 'all' ? groups() : (batches[0]?.groups ?? [])),
    beginBatch() {
      newest = emptyBatch()
    },
    add(group) {
      if (newest.groups.length === 0) batches.push(newest)
      newest.groups.push(group)
      for (const { change } of group.changes) {
        const { key, revision, createRevision, value } = change
        newest.changes.push(change)
        newest.entries.set(key, { modRevision: revision, createRevision, deleted: value === undefined })
      }
    },
    dropOldest() {
      if (batches.shift() === newest) newest = emptyBatch()
    },
    clear() {
      batches = []
      newest = emptyBatch()
    },
    entry(key) {
      for (let i = batches.length - 1; i >= 0; i--) {
        const entry = batches[i]?.entries.get(key)
        if (entry !== undefined) return entry
      }
      return undefined
    },
    change(revision) {
      for (const { changes } of batches) {
        const at = revision - (changes[0]?.revision ?? 0)
        if (at >= 0 && at < changes.length) return changes[at]
      }
      return undefined
    },
    entries(start, end) {
      const found = new Map<string, KeyEntry>()
      for (const { entries } of batches)
        for (const [key, entry] of entries)
          if (compareKeys(key, start) >= 0 && compareKeys(key, end) < 0) found.set(key, entry)
      return [...found].sort(([a], [b]) => compareKeys(a, b))
    },
    changes,
    heads: (after, upTo) =>
      changes(after, upTo).map(({ revision, key, previousRevision, value }) => ({
        revision,
        key,
        previousRevision,
        isDelete: value === undefined,
      })),
    *expiries(rows) {
      const all = groups()
      const ended = new Set(all.flatMap(({ endedExpiries }) => endedExpiries).map(placeOf))
      const added = all
        .flatMap(({ newExpiries }) => newExpiries)
        .map((expiry) => ({ place: placeOf(expiry), expiry }))
        .filter(({ place }) => !ended.has(place))
        .sort((a, b) => (a.place < b.place ? -1 : 1))
      let next = 0
      for (const { key, value } of rows) {
        const place = key.toString('latin1')
        for (let before = added[next]; before !== undefined && before.place < place; before = added[++next])
          yield before.expiry
        if (added[next]?.place === place) yield added[next++]!.expiry
        else if (!ended.has(place)) yield decodeExpiry(key, value)
      }
      for (const { expiry } of added.slice(next)) yield expiry
    },
    journal: () => groups().flatMap(({ journal }) => (journal === undefined ? [] : [journal])),
  }
}

/** Its row's key, as a string with the same order. */
const placeOf = (expiry: Expiry) => expiryKey(expiry).toString('latin1')

/** As their bytes are ordered, which is not the order of strings where there are surrogates. */
export function compareKeys(a: string, b: string): number {
  if (SURROGATES.test(a) || SURROGATES.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}

const SURROGATES = /[\ud800-\udfff]/
