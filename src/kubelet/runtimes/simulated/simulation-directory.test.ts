import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LARGEST_FILE, readBelow } from './simulation-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-sim-'))
after(() => rmSync(root, { recursive: true, force: true }))
const directory = join(root, 'given')
mkdirSync(join(directory, 'logs'), { recursive: true })
writeFileSync(join(root, 'secret'), 'secret')
writeFileSync(join(directory, 'logs', 'a.log'), 'one\ntwo\n')

test('a file below the folder is read', async () => {
  assert.equal(String((await readBelow(directory, 'logs/a.log')).bytes), 'one\ntwo\n')
  symlinkSync(directory, join(root, 'by-link'))
  assert.equal(String((await readBelow(join(root, 'by-link'), 'logs/a.log')).bytes), 'one\ntwo\n')
})

test('of one that is too long the end is read', async () => {
  const path = join(directory, 'long.log')
  writeFileSync(path, Buffer.alloc(LARGEST_FILE))
  appendFileSync(path, 'the end')
  const { bytes, offset } = await readBelow(directory, 'long.log')
  assert.deepEqual([bytes.length, offset], [LARGEST_FILE, 'the end'.length])
  assert.ok(String(bytes).endsWith('the end'))
  appendFileSync(path, '\nmore')
  const { bytes: cut, offset: from } = await readBelow(directory, 'long.log')
  assert.deepEqual([String(cut), from], ['more', LARGEST_FILE + 'the end\n'.length])
})

test('a file is read on from where it was read to, and from its beginning once it is another or shorter', async () => {
  const path = join(directory, 'grows.log')
  writeFileSync(path, 'one\n')
  const first = await readBelow(directory, 'grows.log')
  const from = { offset: 4, file: first.file }
  const said = async () => String((await readBelow(directory, 'grows.log', from)).bytes)
  assert.equal(await said(), '')
  appendFileSync(path, 'two\n')
  assert.equal(await said(), 'two\n')
  writeFileSync(path, 'x\n')
  assert.equal(await said(), 'x\n')
  writeFileSync(join(directory, 'new'), 'quite another\n')
  renameSync(join(directory, 'new'), path)
  assert.equal(await said(), 'quite another\n')
})

test('nothing else is', async () => {
  symlinkSync(join(root, 'secret'), join(directory, 'link'))
  symlinkSync(root, join(directory, 'up'))
  symlinkSync(join(directory, 'logs'), join(directory, 'inside'))
  spawnSync('mkfifo', [join(directory, 'pipe')])
  const refused = (path: string, why: RegExp) => assert.rejects(readBelow(directory, path), why, path)
  for (const path of ['link', 'up/secret', 'inside/a.log']) await refused(path, /links are not followed/)
  for (const path of ['../secret', 'logs/../../secret', '/etc/passwd', '', '.', 'logs//a.log', 'logs/./a.log', 'a\0b'])
    await refused(path, /a path below the folder/)
  await refused('none', /there is none/)
  await refused('logs', /no plain file/)
  await refused('pipe', /no plain file/)
  await assert.rejects(readBelow(undefined, 'a'), /--sim-dir/)
})
