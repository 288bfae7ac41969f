/**
 * Rows of the table `journal`: what one group of writes leaves there is one row, under the revision of its last entry, since a row costs as
 * much as what is in it. It is text: a line for each entry (its revision and the lengths of its two parts; no first length where that part is
 * the one before's), an empty line, and then the parts, one after the other.
 */
import type { JournalAddition, JournalEntry } from '../journal.ts'
import { corrupt } from '../storage.ts'

/** How such a row begins. */
const ROW = 3
/** A row of integers and values, as `skiff store 2` had them first. One of `skiff store 1` is the value of a single entry, which is text. */
const BINARY_ROW = 2
const BINARY_HEADER = 6 + 4

/** A row as text, the bytes of which are those of its UTF-8. */
export function journalRowText(entries: readonly JournalAddition[]): string {
  let lines = String.fromCharCode(ROW)
  let parts = ''
  let before = ''
  for (const { revision, text } of entries) {
    const { shared, own } = text
    const isShared = shared === before
    lines += `${revision} ${isShared ? '' : shared.length} ${own.length}\n`
    parts += isShared ? own : shared + own
    before = shared
  }
  return `${lines}\n${parts}`
}

/** The entries of the row under a revision, in order. @throws StoreError for a row that is not as it was written */
export function decodeJournalRow(revision: number, row: Buffer): readonly JournalEntry[] {
  if (row[0] === BINARY_ROW) return decodeBinary(revision, row)
  if (row[0] !== ROW) return [{ revision, value: row.toString() }]
  const text = row.toString('utf8', 1)
  const headEnd = text.indexOf('\n\n')
  if (headEnd < 0) throw damaged(revision)
  const entries: JournalEntry[] = []
  let at = headEnd + 2
  let shared = ''
  const take = (length: number) => {
    at += length
    return text.slice(at - length, at)
  }
  for (const line of text.slice(0, headEnd).split('\n')) {
    const [, of, first, second] = LINE.exec(line) ?? []
    if (second === undefined) throw damaged(revision)
    if (first !== '') shared = take(Number(first))
    entries.push({ revision: Number(of), value: shared + take(Number(second)) })
  }
  if (at !== text.length) throw damaged(revision)
  return entries
}

const LINE = /^(\d+) (\d*) (\d+)$/

function decodeBinary(revision: number, row: Buffer): readonly JournalEntry[] {
  const entries: JournalEntry[] = []
  for (let at = 1; at < row.length; ) {
    const start = at + BINARY_HEADER
    const end = start <= row.length ? start + row.readUInt32BE(at + 6) : Number.POSITIVE_INFINITY
    if (end > row.length) throw damaged(revision)
    entries.push({ revision: row.readUIntBE(at, 6), value: row.toString('utf8', start, end) })
    at = end
  }
  return entries
}

const damaged = (revision: number) => corrupt(`the journal's row of revision ${revision} is damaged`)
