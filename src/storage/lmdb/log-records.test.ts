import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { decodeLog, encodeLogRecord, type JournalRows, type LoggedGroup } from './log-records.ts'

const BEGIN = { newExpiries: [], endedExpiries: [] }
const change = { key: '/registry/a', revision: 5, value: undefined, previousRevision: 4, createRevision: 4 }

const journalOf = (row: string): JournalRows => ({ revision: 5, row: Buffer.from(row), droppedUpTo: 2 })

function recordWith(journal: JournalRows | undefined): Buffer {
  const log = Buffer.alloc(1024)
  const encoded = encodeLogRecord(log, 0, [change], {
    ...BEGIN,
    journal: journal && { ...journal, text: `${journal.row}` },
  })
  assert.ok(encoded)
  return log.subarray(0, encoded.end)
}

const read = (log: Buffer): readonly (JournalRows | undefined)[] =>
  [...decodeLog(log, 4)].map(({ journal }: LoggedGroup) => journal && { ...journal, row: Buffer.from(journal.row) })

test("the journal's row comes out of the log byte for byte", () => {
  const journal = journalOf('\u0003five ü\n\nlines\n')
  assert.deepEqual(read(recordWith(journal)), [journal])
})

test('a record for which the log has not the room is none, wherever it would be cut off', () => {
  const journal = { revision: 5, droppedUpTo: 2, text: 'ü'.repeat(40) }
  const newExpiries = [{ expiresAt: 7, revision: 5, key: '/registry/ü' }]
  for (const beside of [
    { ...BEGIN, journal: undefined },
    { ...BEGIN, newExpiries, journal: undefined },
    { ...BEGIN, newExpiries, journal },
  ]) {
    const { end = 0 } = encodeLogRecord(Buffer.alloc(1024), 0, [change], beside) ?? {}
    assert.ok(end > 0)
    assert.equal(encodeLogRecord(Buffer.alloc(end), 0, [change], beside)?.end, end)
    for (let size = 0; size < end; size++)
      assert.equal(encodeLogRecord(Buffer.alloc(size), 0, [change], beside), undefined, `${size} of ${end}`)
  }
})

test('a record whose journal stands within its JSON, as records did first, is read', () => {
  const { row, ...rest } = journalOf('\u0003five ü\n\nlines\n')
  const without = recordWith(undefined)
  const json = Buffer.from(JSON.stringify({ journal: { ...rest, row: row.toString('latin1') } }))
  const record = Buffer.concat([without, json])
  record.writeUInt32LE(json.length, without.length - 4)
  record.writeUInt32LE(record.length - 8, 0)
  record.writeUInt32LE(crc32(record.subarray(8)), 4)
  assert.deepEqual(read(record), [{ ...rest, row }])
})
