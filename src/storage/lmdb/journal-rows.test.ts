import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Group } from '../tables.ts'
import { decodeJournalRow, journalRowText } from './journal-rows.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-journal-rows-'))
after(() => rmSync(root, { recursive: true, force: true }))
const added = (revision: number, own = `${revision}`, shared = 'e') => ({ revision, text: { shared, own } })

function group(revisions: readonly number[], dropped: readonly number[] = []): Group {
  const changes = revisions.map((revision) => ({
    ...{ revision, key: `/k/${revision}`, createRevision: revision, previousRevision: 0 },
    value: Buffer.from('v'),
  }))
  const journal = { added: revisions.map((revision) => added(revision)), dropped }
  return { hasWaited: true, compaction: undefined, endedExpiries: [], changes, newExpiries: [], journal }
}

test('a row holds the entries of a group, and once what they have in common', () => {
  const entries = [
    added(7, '', ''),
    added(9, ',"a":1}', '{"b":"é\\n\n\n"'),
    added(10, ',"a":2}', '{"b":"é\\n\n\n"'),
    added(11, ',"a":3}', '{'),
    added(2 ** 47, 'x'.repeat(70_000)),
  ]
  const row = Buffer.from(journalRowText(entries))
  assert.deepEqual(
    decodeJournalRow(2 ** 47, row),
    entries.map(({ revision, text: { shared, own } }) => ({ revision, value: shared + own })),
  )
  assert.equal(row.toString().split('"b":').length - 1, 1)
  for (const cut of [
    row.subarray(0, -1),
    Buffer.concat([row, Buffer.from('x')]),
    row.subarray(0, 9),
    row.subarray(0, 1),
  ])
    assert.throws(() => decodeJournalRow(9, cut), /corrupt: the journal's row of revision 9 is damaged/)
})

test('rows of the formats before are read', () => {
  assert.deepEqual(decodeJournalRow(5, Buffer.from('{"old":true}')), [{ revision: 5, value: '{"old":true}' }])
  const row = Buffer.from('02000000000007000000000000000000090000000178', 'hex')
  assert.deepEqual(decodeJournalRow(9, row), [
    { revision: 7, value: '' },
    { revision: 9, value: 'x' },
  ])
  for (let length = 2; length < 11; length++)
    assert.throws(() => decodeJournalRow(9, row.subarray(0, length)), /the journal's row of revision 9 is damaged/)
})

test('what is read after a revision begins in the midst of a row; what is dropped goes with its row', async () => {
  const tables = openLmdbTables(simulatedRuntime(1), join(root, 'store'))
  const read = (after: number) => [...tables.journal(after)].map(({ revision, value }) => `${revision} ${value}`)
  await tables.flush(group([2, 3, 4]))
  await tables.flush(group([5, 6]))
  assert.deepEqual(read(3), ['4 e4', '5 e5', '6 e6'])
  await tables.flush(group([7], [2, 3, 4, 5]))
  assert.deepEqual(read(0), ['5 e5', '6 e6', '7 e7'])
  await tables.flush(group([8, 9], [5, 6]))
  assert.deepEqual(read(0), ['7 e7', '8 e8', '9 e9'])
  await tables.close()
})
