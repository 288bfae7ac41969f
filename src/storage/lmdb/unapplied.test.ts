import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Expiry } from '../tables.ts'
import { expiryKey } from './records.ts'
import { createUnapplied } from './unapplied.ts'

const expiry = (revision: number): Expiry => ({ expiresAt: 1000 * revision, revision, key: `/k/${revision}` })

test('leases of the log come between those of the tables, of which no more are read than are asked for', () => {
  const unapplied = createUnapplied()
  const nothing = { changes: [], newExpiries: [], endedExpiries: [], journal: undefined }
  unapplied.add({ ...nothing, newExpiries: [expiry(6), expiry(3), expiry(4), expiry(50)] })
  unapplied.add({ ...nothing, endedExpiries: [expiry(1), expiry(3)] })
  let read = 0
  function* rows() {
    // The fourth is in the tables already.
    for (const revision of [1, 2, 4, 5, 7, 8, 9]) {
      read++
      yield { key: expiryKey(expiry(revision)), value: Buffer.from(`/k/${revision}`) }
    }
  }
  for (const { revision } of unapplied.expiries(rows())) {
    assert.equal(revision, 2)
    break
  }
  assert.equal(read, 2)
  assert.deepEqual(
    [...unapplied.expiries(rows())],
    [2, 4, 5, 6, 7, 8, 9, 50].map((revision) => expiry(revision)),
  )
})
