import assert from 'node:assert/strict'
import fs, {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock, test } from 'node:test'
import { writeWhole } from './write-whole.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-write-whole-'))
after(() => rmSync(root, { recursive: true, force: true }))
const at = (name: string) => join(root, name)

test('what lies under the name that a file has while it is written gets none of it, and lends it no rights', () => {
  writeFileSync(at('a.part'), 'left by a run that was killed', { mode: 0o666 })
  writeWhole(at('a'), [Buffer.from('se'), Buffer.from('cret')])
  assert.equal(readFileSync(at('a'), 'utf8'), 'secret')
  assert.equal(statSync(at('a')).mode & 0o777, 0o600)
  writeFileSync(at('of another'), 'untouched')
  symlinkSync(at('of another'), at('b.part'))
  writeWhole(at('b'), [Buffer.from('secret')])
  assert.equal(readFileSync(at('of another'), 'utf8'), 'untouched')
  assert.deepEqual(readdirSync(root).sort(), ['a', 'b', 'of another'])
})

test('what cannot be written leaves the file that was there, and nothing else', () => {
  mkdirSync(at('c/within'), { recursive: true })
  assert.throws(() => writeWhole(at('c'), [Buffer.from('a file')]), /EISDIR|ENOTEMPTY/)
  assert.deepEqual(readdirSync(at('c')), ['within'])
  assert.throws(() => writeWhole(at('none/c'), []), /ENOENT/)
  assert.ok(!readdirSync(root).includes('c.part'))
})

test('a file is on disk under its name: first its bytes are synced, and once it has the name its directory', () => {
  const synced: string[] = []
  const { fsyncSync } = fs
  mock.method(fs, 'fsyncSync', (descriptor: number) => {
    const isDirectory = fstatSync(descriptor).ino === statSync(root).ino
    const isNamed = readdirSync(root).includes('d')
    synced.push(`${isDirectory ? 'directory' : 'file'}, ${isNamed ? 'named' : 'not named'}`)
    fsyncSync(descriptor)
  })
  syncBuiltinESMExports()
  try {
    writeWhole(at('d'), [Buffer.from('d')])
  } finally {
    mock.restoreAll()
    syncBuiltinESMExports()
  }
  assert.deepEqual(synced, ['file, not named', 'directory, named'])
})
