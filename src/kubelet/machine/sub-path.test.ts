import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, mock, test } from 'node:test'
import { mountSubPath, readVolumeFile } from './sub-path.ts'

const temporary = mkdtempSync(join(tmpdir(), 'skiff-sub-path-'))
after(() => rmSync(temporary, { recursive: true, force: true }))
afterEach(() => {
  mock.restoreAll()
  syncBuiltinESMExports()
})
let made = 0
const folder = () => {
  const path = join(temporary, String(made++))
  mkdirSync(path)
  return path
}
const openFiles = () => readdirSync('/proc/self/fd').length

/** What a container of the pod does right after such a call. */
function following(name: 'mkdirSync' | 'realpathSync', act: (path: string) => void): void {
  const real = fs[name] as (...all: unknown[]) => unknown
  mock.method(fs, name, (...all: unknown[]) => {
    const answer = real(...all)
    act(String(all[0]))
    return answer
  })
  syncBuiltinESMExports()
}

test('a subPath that leads out of its volume, by dots or by a link, is refused before anything is mounted', async () => {
  const base = folder()
  symlinkSync('/etc', join(base, 'out'))
  symlinkSync('..', join(base, 'up'))
  const target = join(folder(), 't')
  await assert.rejects(mountSubPath(base, '../x', target), /must be relative and not contain/)
  await assert.rejects(mountSubPath(base, '/etc', target), /must be relative/)
  await assert.rejects(mountSubPath(base, 'out/passwd', target), /not within volume path/)
  await assert.rejects(mountSubPath(base, 'up', target), /not within volume path/)
  assert.ok(!existsSync('/etc/passwd/x') && !existsSync(target))
})

test('a directory that is replaced by a link as soon as it is made gives no mode to what the link leads to', async () => {
  const volume = folder()
  chmodSync(volume, 0o777)
  const host = folder()
  chmodSync(host, 0o700)
  let times = 0
  following('mkdirSync', (path) => {
    if (!path.endsWith('/sub')) return
    times++
    fs.rmdirSync(path)
    symlinkSync(host, path)
  })
  await assert.rejects(mountSubPath(volume, 'sub', join(temporary, 'target')), /not within volume path/)
  assert.equal(times, 1)
  assert.equal(statSync(host).mode & 0o777, 0o700)
})

test('each directory that is made is for the same users as the volume', async () => {
  const volume = folder()
  chmodSync(volume, 0o2777)
  // What is mounted in the end leads out: nothing is.
  following('mkdirSync', (path) => {
    if (path.endsWith('/b')) symlinkSync('/', join(volume, 'a/b/out'))
  })
  await assert.rejects(mountSubPath(volume, 'a/b/out', join(temporary, 'target')), /not within volume path/)
  for (const name of ['a', 'a/b']) assert.equal((statSync(join(volume, name)).mode & 0o7777).toString(8), '2777')
})

test('of a file of variables no more is read than fits, no pipe is waited for, and without its volume there is none', () => {
  const volume = folder()
  writeFileSync(join(volume, 'env'), 'A=ä')
  assert.deepEqual(readVolumeFile(volume, 'env'), { text: 'A=ä', file: join(volume, 'env') })
  writeFileSync(join(volume, 'large'), 'x'.repeat(1024 * 1024))
  assert.equal(readVolumeFile(volume, 'large').text.length, 1024 * 1024)
  // Of blocks it has none.
  truncateSync(join(volume, 'large'), 3 * 1024 ** 3)
  const before = openFiles()
  assert.throws(() => readVolumeFile(volume, 'large'), /"large" has more than 1048576 bytes/)
  execFileSync('mkfifo', [join(volume, 'pipe')])
  assert.throws(() => readVolumeFile(volume, 'pipe'), /"pipe" is not a file/)
  assert.throws(() => readVolumeFile(undefined, 'env'), /volume of file "env" is not set up/)
  assert.equal(openFiles(), before)
})

test('a name that goes while it is looked for leaves nothing open', () => {
  const volume = folder()
  mkdirSync(join(volume, 'd'))
  const before = openFiles()
  following('realpathSync', (path) => {
    if (path.endsWith('/d/env')) rmSync(path)
  })
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(volume, 'd/env'), '')
    assert.throws(() => readVolumeFile(volume, 'd/env'), /ENOENT/)
  }
  assert.equal(openFiles(), before)
})
