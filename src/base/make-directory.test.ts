import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeDirectory } from './make-directory.ts'

test('a directory is made with those above it, for its owner alone, and may be there already', (t) => {
  const base = mkdtempSync(join(tmpdir(), 'skiff-directory-'))
  t.after(() => rmSync(base, { recursive: true }))
  const path = join(base, 'a/b/c')
  makeDirectory(path)
  makeDirectory(path)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  writeFileSync(join(base, 'file'), '')
  assert.throws(() => makeDirectory(join(base, 'file')), { code: 'EEXIST' })
  assert.throws(() => makeDirectory(join(base, 'file/below')), { code: 'ENOTDIR' })
})

test('a file system that lets nobody make a directory is an error, not an endless attempt', {
  skip: process.platform === 'linux' ? false : 'only Linux has /proc',
}, () => {
  assert.throws(() => makeDirectory('/proc/nowhere/cluster'), { code: 'ENOENT' })
})
