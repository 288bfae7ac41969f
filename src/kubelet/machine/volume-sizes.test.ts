import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createVolumeSizes, sizeOf } from './volume-sizes.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-sizes-'))
after(() => rmSync(root, { recursive: true }))

test('a link that leads out is not followed, and what is not there is nothing', async () => {
  const folder = join(root, 'links')
  mkdirSync(folder)
  writeFileSync(join(root, 'large'), Buffer.alloc(100_000, 1))
  symlinkSync(join(root, 'large'), join(folder, 'link'))
  symlinkSync('/', join(folder, 'root'))
  const { bytes, inodes } = await sizeOf(folder)
  assert.ok(bytes < 50_000)
  assert.equal(inodes, 3)
  assert.deepEqual(await sizeOf(join(folder, 'nothing')), { bytes: 0, inodes: 0 })
})

test('an emptyDir is counted once a minute, however many ask, also at once', async () => {
  const volume = join(root, 'volume')
  mkdirSync(volume)
  let now = 0
  let asked = 0
  const directory = () => {
    asked += 1
    return volume
  }
  const sizes = createVolumeSizes({ volume: directory }, { monotonic: () => now })
  const pod = {
    kind: 'Pod' as const,
    apiVersion: 'v1' as const,
    metadata: { name: 'p', uid: 'u' },
    spec: { containers: [], volumes: [{ name: 'disk', emptyDir: {} }] },
  }
  const inodes = async () => (await sizes(pod)).get('disk')?.inodes
  assert.deepEqual([await Promise.all([inodes(), inodes()]), asked], [[1, 1], 1])
  writeFileSync(join(volume, 'f'), 'text')
  now = 59_999
  assert.deepEqual([await inodes(), asked], [1, 1])
  now = 60_000
  assert.deepEqual([await inodes(), asked], [2, 2])
})
