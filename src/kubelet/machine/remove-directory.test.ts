import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { removeDirectory } from './remove-directory.ts'

let root: string
before(() => {
  root = mkdtempSync(join(tmpdir(), 'skiff-remove-'))
})
after(() => rmSync(root, { recursive: true, force: true }))

test('a directory goes with all that is in it, whatever its names are and however deep it is; what links lead to stays', async () => {
  const [volume, host] = [join(root, 'volume'), join(root, 'host')]
  mkdirSync(host)
  writeFileSync(join(host, 'file'), '')
  mkdirSync(join(volume, 'a/moved-1/b'), { recursive: true })
  mkdirSync(join(volume, 'a/empty'))
  writeFileSync(join(volume, 'moved-2'), '')
  writeFileSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.of(0xff, 0xfe)]), '')
  symlinkSync(host, join(volume, 'a/link'))
  symlinkSync('/nowhere', join(volume, 'dangling'))
  const here = process.cwd()
  process.chdir(volume)
  // Deeper than a path can be long.
  for (let i = 0; i < 50; i++) {
    mkdirSync('d'.repeat(200))
    process.chdir('d'.repeat(200))
  }
  process.chdir(here)
  await removeDirectory(volume)
  assert.equal(existsSync(volume), false)
  assert.deepEqual(readdirSync(host), ['file'])
  await removeDirectory(volume)
})

test('a link in the place of the directory goes alone', async () => {
  const target = join(root, 'target')
  mkdirSync(join(target, 'a'), { recursive: true })
  symlinkSync(target, join(root, 'link'))
  await removeDirectory(join(root, 'link'))
  assert.deepEqual([existsSync(join(root, 'link')), readdirSync(target)], [false, ['a']])
})

/** Exchanges directories for links to the host's, and back, as long as it can. */
const EXCHANGES = `
  const { renameSync } = require('node:fs')
  const { parentPort, workerData: { volume, count } } = require('node:worker_threads')
  const move = (from, to) => { try { renameSync(volume + from, volume + to); return true } catch { return false } }
  for (let round = 0, is = true; round < 2000 && is; round++) {
    is = false
    for (let i = 0; i < count; i++) is = (move('/a' + i, '/z/d' + i) && move('/z/l' + i, '/a' + i)) || is
    for (let i = 0; i < count; i++) is = (move('/a' + i, '/z/l' + i) && move('/z/d' + i, '/a' + i)) || is
    if (round === 0) parentPort.postMessage('begun')
  }
`

test('a container that exchanges directories for links meanwhile makes it remove nothing of the host', async () => {
  const host = join(root, 'etc')
  mkdirSync(host)
  for (let i = 0; i < 5; i++) writeFileSync(join(host, `file${i}`), '')
  const count = 60
  for (let round = 0; round < 3; round++) {
    const volume = join(root, `volume-${round}`)
    mkdirSync(join(volume, 'z'), { recursive: true })
    for (let i = 0; i < count; i++) {
      mkdirSync(join(volume, `a${i}`))
      writeFileSync(join(volume, `a${i}/x`), '')
      symlinkSync(host, join(volume, `z/l${i}`))
    }
    const worker = new Worker(EXCHANGES, { eval: true, workerData: { volume, count } })
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    await new Promise((resolve) => worker.once('message', resolve))
    // It may fail while it is written to, and is tried again then.
    await removeDirectory(volume).catch(() => {})
    await worker.terminate()
    await ended
    assert.equal(readdirSync(host).length, 5)
    await removeDirectory(volume)
    assert.equal(existsSync(volume), false)
  }
})
