/**
 * Rows of the table `journal`: what one group of writes leaves there is one row, under the revision of its last entry, since a row costs as
 * much as what is in it. Integers are big-endian.
 */
import type { JournalEntry } from '../journal.ts'
import { corrupt } from './records.ts'

/** How such a row begins. One of `skiff store 1` is the value of a single entry, which is text. */
const ROW = 2
const ENTRY_HEADER = 6 + 4

export function encodeJournalRow(entries: readonly JournalEntry[]): Buffer {
  const length = entries.reduce((bytes, { value }) => bytes + ENTRY_HEADER + value.length, 1)
  const row = Buffer.allocUnsafe(length)
  row[0] = ROW
  let at = 1
  for (const { revision, value } of entries) {
    row.writeUIntBE(revision, at, 6)
    row.writeUInt32BE(value.length, at + 6)
    row.set(value, at + ENTRY_HEADER)
    at += ENTRY_HEADER + value.length
  }
  return row
}

/** The entries of the row under a revision, in order, with values of their own. @throws StoreError for a row that is not as it was written */
export function decodeJournalRow(revision: number, row: Buffer): readonly JournalEntry[] {
  if (row[0] !== ROW) return [{ revision, value: Buffer.from(row) }]
  const entries: JournalEntry[] = []
  for (let at = 1; at < row.length; ) {
    const start = at + ENTRY_HEADER
    const end = start <= row.length ? start + row.readUInt32BE(at + 6) : Number.POSITIVE_INFINITY
    if (end > row.length) throw corrupt(`the journal's row of revision ${revision} is damaged`)
    entries.push({ revision: row.readUIntBE(at, 6), value: Buffer.from(row.subarray(start, end)) })
    at = end
  }
  return entries
}
