import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openLog } from './open-log.ts'

let root: string
before(() => {
  root = mkdtempSync(join(tmpdir(), 'skiff-logs-'))
  for (const pod of ['own', 'other']) {
    mkdirSync(join(root, pod, 'c'), { recursive: true })
    writeFileSync(join(root, pod, 'c/0.log'), pod)
  }
})
after(() => rmSync(root, { recursive: true, force: true }))

async function read(path: string): Promise<string> {
  const file = await openLog(join(root, path))
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

test('a log is read where it is', async () => {
  assert.equal(await read('own/c/0.log'), 'own')
})

test('a link in the place of a log, of its container’s or its pod’s directory leads to no other file; a pipe keeps nothing waiting', async () => {
  symlinkSync(join(root, 'other/c/0.log'), join(root, 'own/c/1.log'))
  symlinkSync(join(root, 'other/c'), join(root, 'own/linked'))
  symlinkSync(join(root, 'other'), join(root, 'pod'))
  assert.equal(spawnSync('mkfifo', [join(root, 'own/c/2.log')]).status, 0)
  await assert.rejects(read('own/c/1.log'), { code: 'ELOOP' })
  await assert.rejects(read('own/linked/0.log'), /leads to another place/)
  await assert.rejects(read('pod/c/0.log'), /leads to another place/)
  await assert.rejects(read('own/c/2.log'), /is no file/)
})
