import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Group } from '../tables.ts'
import { decodeJournalRow, encodeJournalRow } from './journal-rows.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-journal-rows-'))
after(() => rmSync(root, { recursive: true, force: true }))
const text = (value: Uint8Array) => Buffer.from(value).toString()
const entry = (revision: number, value = `e${revision}`) => ({ revision, value: Buffer.from(value) })

function group(revisions: readonly number[], dropped: readonly number[] = []): Group {
  const changes = revisions.map((revision) => ({
    ...{ revision, key: `/k/${revision}`, createRevision: revision, previousRevision: 0 },
    value: Buffer.from('v'),
  }))
  const journal = { added: revisions.map((revision) => entry(revision)), dropped }
  return { hasWaited: true, compaction: undefined, endedExpiries: [], changes, newExpiries: [], journal }
}

test('a row holds the entries of a group; one of the format before is a single entry', () => {
  const entries = [entry(7, ''), entry(9, '{"a":1}'), entry(2 ** 47, 'x'.repeat(70_000))]
  assert.deepEqual(decodeJournalRow(2 ** 47, encodeJournalRow(entries)), entries)
  assert.deepEqual(decodeJournalRow(5, Buffer.from('{"old":true}')), [entry(5, '{"old":true}')])
  const cut = encodeJournalRow(entries).subarray(0, -1)
  assert.throws(() => decodeJournalRow(9, cut), /corrupt: the journal's row of revision 9 is damaged/)
  for (let length = 2; length < 11; length++)
    assert.throws(() => decodeJournalRow(9, cut.subarray(0, length)), /damaged/)
})

test('what is read after a revision begins in the midst of a row; what is dropped goes with its row', async () => {
  const tables = openLmdbTables(simulatedRuntime(1), join(root, 'store'))
  const read = (after: number) => [...tables.journal(after)].map(({ revision, value }) => `${revision} ${text(value)}`)
  await tables.flush(group([2, 3, 4]))
  await tables.flush(group([5, 6]))
  assert.deepEqual(read(3), ['4 e4', '5 e5', '6 e6'])
  await tables.flush(group([7], [2, 3, 4, 5]))
  assert.deepEqual(read(0), ['5 e5', '6 e6', '7 e7'])
  await tables.flush(group([8, 9], [5, 6]))
  assert.deepEqual(read(0), ['7 e7', '8 e8', '9 e9'])
  await tables.close()
})
