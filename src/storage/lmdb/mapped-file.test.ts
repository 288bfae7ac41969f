import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { createEngine } from '../engine.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-mapped-'))
after(() => rmSync(root, { recursive: true, force: true }))
const MIB = 2 ** 20

/** Of the store's file, in bytes, by Linux' account of this process. */
function resident(dir: string): number {
  const maps = readFileSync('/proc/self/smaps', 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const own = maps.filter((map) => map.split('\n')[0]?.endsWith(join(dir, 'data.mdb')) === true)
  return own.reduce((sum, map) => sum + Number(/^Rss:\s+(\d+) kB$/m.exec(map)?.[1]) * 1024, 0)
}

async function residentAfterWrites(name: string, mostTouched: number): Promise<number> {
  const dir = join(root, name)
  const storage = createEngine(
    liveRuntime({ log: { write() {} } }),
    openLmdbTables(liveRuntime(), dir, { mostTouched }),
  )
  for (let round = 0; round < 24; round++)
    await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        storage.write({ type: 'put', key: `/r/${round}/${i}`, value: randomBytes(16384), expectRevision: 0 }),
      ),
    )
  await storage.range('/r/', '/r0')
  await storage.write({ type: 'put', key: '/r/last', value: randomBytes(16), expectRevision: 0 })
  const bytes = resident(dir)
  await storage.close()
  return bytes
}

test('of a file that has grown only what was touched last stays resident', {
  skip: process.platform !== 'linux',
}, async () => {
  assert.ok((await residentAfterWrites('kept', Number.POSITIVE_INFINITY)) > 12 * MIB)
  assert.ok((await residentAfterWrites('anew', 2 * MIB)) < 6 * MIB)
})

test('a store whose directory is moved away goes on in its file, and is no other', async () => {
  const dir = join(root, 'moved')
  const options = { mostTouched: 1 }
  const storage = createEngine(liveRuntime({ log: { write() {} } }), openLmdbTables(liveRuntime(), dir, options))
  const put = (key: string) => storage.write({ type: 'put', key, value: randomBytes(100), expectRevision: 0 })
  for (const key of ['/r/1', '/r/2', '/r/3']) assert.ok((await put(key)).ok)
  renameSync(dir, `${dir}-away`)
  for (const key of ['/r/4', '/r/5', '/r/6']) assert.ok((await put(key)).ok)
  assert.equal((await put('/r/1')).ok, false)
  assert.equal((await storage.range('/r/', '/r0')).items.length, 6)
  assert.equal(existsSync(dir), false)
  await storage.close()
  const again = createEngine(liveRuntime(), openLmdbTables(liveRuntime(), `${dir}-away`))
  assert.equal((await again.range('/r/', '/r0')).items.length, 6)
  await again.close()
})
