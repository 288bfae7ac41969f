import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { clusterDirectory, hold, refuseHalfFilled } from './directory.ts'
import { restore, snapshotOf } from './snapshot.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-restore-'))
after(() => rmSync(root, { recursive: true, force: true }))
const keys = { 'ca.key': 'a key' }
const withItem = (name: string, ofKeys = keys) => {
  const item = { key: `/registry/x/${name}`, value: Buffer.from('{}'), modRevision: 3, createRevision: 3 }
  return snapshotOf({ revision: 3, items: [item], expiries: [] }, 0, false, ofKeys)
}

test('a restore with keys that fails leaves neither store nor keys, so that the next one is taken', async () => {
  const directory = clusterDirectory(join(root, 'keys'))
  await assert.rejects(restore(withItem('a'.repeat(5000)), directory), /^StartError: the snapshot cannot be restored/)
  assert.deepEqual(readdirSync(directory.path), [])
  await restore(withItem('a', { 'ca.key': 'another key' }), directory)
  assert.equal(readFileSync(join(directory.pki, 'ca.key'), 'utf8'), 'another key')
  rmSync(directory.store, { recursive: true })
  await assert.rejects(restore(withItem('a'), directory), /there are other keys in/)
  assert.deepEqual(readdirSync(directory.path), ['pki'])
})

test('what is said of a half filled store ends with that store: the next one is none of it', async () => {
  const directory = clusterDirectory(join(root, 'half'))
  mkdirSync(directory.store, { recursive: true })
  writeFileSync(directory.migration, 'another at revision 7')
  hold(directory)()
  assert.throws(
    () => refuseHalfFilled(directory),
    ({ message }: Error) => message.startsWith(`${directory.store} is half filled: `),
  )
  rmSync(directory.store, { recursive: true })
  hold(directory)()
  refuseHalfFilled(directory)
  writeFileSync(directory.migration, 'another at revision 7')
  await restore(withItem('a'), directory)
  refuseHalfFilled(directory)
  assert.ok(existsSync(directory.store))
})
