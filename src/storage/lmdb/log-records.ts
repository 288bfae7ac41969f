/**
 * Records of the write-ahead log: one for each group of writes, written so that a record that is cut off, or was overwritten in part, is told
 * from a whole one. All integers are little-endian, but those within a change's row.
 *
 *     length (4), checksum of what follows (4), revision of the first change (6), changes (4)
 *     for each change: length (4), its row as the table `changes` has it
 *     length (4), what else there is as JSON, and in a line behind it the journal's row as it is; nothing where there is nothing
 */
import { crc32 } from 'node:zlib'
import { corrupt } from '../storage.ts'
import type { Expiry, KeyChange } from '../tables.ts'
import { decodeChange, encodeChangeInto } from './records.ts'

export interface ChangeRow {
  readonly change: KeyChange
  /** As the table `changes` has it, before compression. */
  readonly row: Buffer
}

/** A group as it is logged: of the tables' rows. Of the journal there is one row at most. */
export interface LoggedGroup {
  readonly changes: readonly ChangeRow[]
  readonly newExpiries: readonly Expiry[]
  readonly endedExpiries: readonly Expiry[]
  readonly journal: JournalRows | undefined
}

export interface JournalRows {
  /** Revision of the newest entry of a row. */
  readonly revision: number
  readonly row: Buffer
  /** Older entries up to this revision go. */
  readonly droppedUpTo: number
}

const HEADER = 4 + 4 + 6 + 4

interface Rest {
  readonly newExpiries?: readonly Expiry[]
  readonly endedExpiries?: readonly Expiry[]
  /** With its row in Latin-1 in records that were written before rows had a line of their own. */
  readonly journal?: { readonly revision: number; readonly row?: string; readonly droppedUpTo: number }
}

export interface EncodedRecord {
  readonly end: number
  readonly group: LoggedGroup
}

/** What a group is to be logged with, beside its changes. */
export interface Beside extends Pick<LoggedGroup, 'newExpiries' | 'endedExpiries'> {
  readonly journal: JournalRowText | undefined
}

export interface JournalRowText extends Omit<JournalRows, 'row'> {
  /** The row is its UTF-8. */
  readonly text: string
}

/** Writes a group from `at` on. undefined: it does not fit, and some of it was written. The rows are parts of `target`. */
export function encodeLogRecord(
  target: Buffer,
  at: number,
  changes: readonly KeyChange[],
  beside: Beside,
): EncodedRecord | undefined {
  const first = changes[0]
  if (first === undefined || at + HEADER > target.length) return undefined
  target.writeUIntLE(first.revision, at + 8, 6)
  target.writeUInt32LE(changes.length, at + 14)
  let end = at + HEADER
  const rows: ChangeRow[] = []
  for (const change of changes) {
    const length = encodeChangeInto(target, end + 4, change)
    if (length === undefined) return undefined
    target.writeUInt32LE(length, end)
    rows.push({ change, row: target.subarray(end + 4, end + 4 + length) })
    end += 4 + length
  }
  const rest = writeRest(target, end + 4, beside)
  if (rest === undefined) return undefined
  target.writeUInt32LE(rest.end - end - 4, end)
  end = rest.end
  target.writeUInt32LE(end - at - 8, at)
  target.writeUInt32LE(crc32(target.subarray(at + 8, end)), at + 4)
  const { newExpiries, endedExpiries } = beside
  return { end, group: { changes: rows, newExpiries, endedExpiries, journal: rest.journal } }
}

/** JSON is one line. */
const LINE_END = 10

interface WrittenRest {
  readonly end: number
  /** Its row is a part of what was written. */
  readonly journal: JournalRows | undefined
}

/** undefined: it does not fit. The row goes there at once: bytes of its own would cost as much as all else of it. */
function writeRest(target: Buffer, at: number, beside: Beside): WrittenRest | undefined {
  const { newExpiries, endedExpiries, journal } = beside
  if (newExpiries.length === 0 && endedExpiries.length === 0 && journal === undefined)
    return at > target.length ? undefined : { end: at, journal: undefined }
  const rest: Rest = {
    ...(newExpiries.length === 0 ? {} : { newExpiries }),
    ...(endedExpiries.length === 0 ? {} : { endedExpiries }),
    ...(journal === undefined ? {} : { journal: { revision: journal.revision, droppedUpTo: journal.droppedUpTo } }),
  }
  const json = JSON.stringify(rest)
  if (journal === undefined) {
    const end = writeText(target, at, json)
    return end === undefined ? undefined : { end, journal: undefined }
  }
  const { text, ...place } = journal
  const begin = writeText(target, at, `${json}\n`)
  const end = begin === undefined ? undefined : writeText(target, begin, text)
  return end === undefined ? undefined : { end, journal: { ...place, row: target.subarray(begin, end) } }
}

/** Where it ends; undefined: it does not fit. */
function writeText(target: Buffer, at: number, text: string): number | undefined {
  const room = target.length - at
  if (text.length > room || (text.length * MOST_OF_A_UNIT > room && Buffer.byteLength(text) > room)) return undefined
  return at + target.write(text, at, 'utf8')
}

/** Bytes in UTF-8. */
const MOST_OF_A_UNIT = 3

function decodeRest(bytes: Buffer): Omit<LoggedGroup, 'changes'> {
  const textEnd = bytes.indexOf(LINE_END)
  const text = bytes.toString('utf8', 0, textEnd < 0 ? bytes.length : textEnd)
  const { newExpiries = [], endedExpiries = [], journal }: Rest = text === '' ? {} : JSON.parse(text)
  const row = textEnd < 0 ? Buffer.from(journal?.row ?? '', 'latin1') : bytes.subarray(textEnd + 1)
  return { newExpiries, endedExpiries, journal: journal && { ...journal, row } }
}

/** Where a record that begins there ends, by its own length; undefined: that cannot be a length. */
function endOfRecord(log: Buffer, at: number): number | undefined {
  if (at + HEADER > log.length) return undefined
  const end = at + 8 + log.readUInt32LE(at)
  return end < at + HEADER || end > log.length ? undefined : end
}

const isWhole = (log: Buffer, at: number, end: number) => crc32(log.subarray(at + 8, end)) === log.readUInt32LE(at + 4)

const firstRevision = (log: Buffer, at: number) => log.readUIntLE(at + 8, 6)

/** More than the groups that are not in the tables can have together. */
const MOST_AHEAD = 512

function isPlausible(log: Buffer, at: number, newest: number): boolean {
  const count = log.readUInt32LE(at + 14)
  return count > 0 && count <= MOST_AHEAD && firstRevision(log, at) <= newest
}

/**
 * Whether behind `from` a whole record begins that is newer than `than`. Where a length is damaged nothing else tells where the next
 * record is. Old whole ones are passed over, so that what a value holds is not taken for a record.
 */
function hasNewer(log: Buffer, from: number, than: number): boolean {
  for (let at = from; at + HEADER <= log.length; ) {
    const end = endOfRecord(log, at)
    if (end === undefined || !isPlausible(log, at, than + MOST_AHEAD) || !isWhole(log, at, end)) at++
    else if (firstRevision(log, at) > than) return true
    else at = end
  }
  return false
}

/**
 * The groups that a log begins with, in order, up to a record that is not whole or does not follow the one before it: its write was not
 * finished, or what follows is older.
 * @param known revision of what is in the tables
 * @throws StoreError where a record is not whole that another was written behind
 */
export function* decodeLog(log: Buffer, known: number): Generator<LoggedGroup> {
  let at = 0
  let next: number | undefined
  while (at + HEADER <= log.length) {
    const end = endOfRecord(log, at)
    if (end === undefined || !isWhole(log, at, end)) {
      if (hasNewer(log, at + 1, Math.max(known, next ?? 0))) throw corrupt('a record of its log is damaged')
      return
    }
    const first = firstRevision(log, at)
    const count = log.readUInt32LE(at + 14)
    if (next !== undefined && first !== next) return
    const changes: ChangeRow[] = []
    let place = at + HEADER
    for (let revision = first; revision < first + count; revision++) {
      const length = log.readUInt32LE(place)
      const row = log.subarray(place + 4, place + 4 + length)
      changes.push({ change: decodeChange(revision, row), row })
      place += 4 + length
    }
    yield { changes, ...decodeRest(log.subarray(place + 4, end)) }
    next = first + count
    at = end
  }
}
