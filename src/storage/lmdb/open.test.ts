import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { open as openEnvironment } from 'lmdb'
import { liveRuntime } from '../../base/live-runtime.ts'
import { openStorage } from '../open.ts'
import { StoreError } from '../storage.ts'
import { OBJECT_DICTIONARY } from './dictionary.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-open-'))
after(() => rmSync(root, { recursive: true, force: true }))
const runtime = liveRuntime({ log: { write() {} } })
const open = (dir: string) => openStorage({ runtime, driver: 'lmdb', dir })

async function filledStore(name: string): Promise<string> {
  const dir = join(root, name)
  const storage = await open(dir)
  const writes = Array.from({ length: 50 }, (_, i) =>
    storage.write({ type: 'put', key: `/registry/${i}`, value: Buffer.alloc(3000, `v${i}`), expectRevision: 0 }),
  )
  await Promise.all(writes)
  await storage.close()
  return dir
}

const oneLine = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StoreError, String(error))
  assert.match(error.message, pattern)
  assert.ok(!error.message.includes('\n'))
  return true
}

test('a store that is open cannot be opened again, here or in another process', async () => {
  const dir = join(root, 'held')
  const storage = await open(dir)
  await assert.rejects(open(dir), oneLine(new RegExp(`held by process ${process.pid}`)))
  const script = `
    import { openStorage } from ${JSON.stringify(join(import.meta.dirname, '../open.ts'))}
    import { liveRuntime } from ${JSON.stringify(join(import.meta.dirname, '../../base/live-runtime.ts'))}
    await openStorage({ runtime: liveRuntime(), driver: 'lmdb', dir: ${JSON.stringify(dir)} }).catch((e) => console.log(e.message))`
  const other = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.match(other.stdout, new RegExp(`held by process ${process.pid}`), other.stderr)
  await storage.close()
  await (await open(dir)).close()
})

test('a store of a newer format is refused, and left as it is', async () => {
  const dir = await filledStore('newer')
  const environment = openEnvironment<Buffer, string>({ path: dir, noSubdir: false, maxDbs: 8 })
  const meta = environment.openDB<Buffer, Buffer>({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' })
  const format = Buffer.from('format')
  const own = meta.get(format)
  assert.match(String(own), /^skiff store \d+$/)
  meta.putSync(format, Buffer.from('skiff store 999'))
  await environment.close()
  const before = readFileSync(join(dir, 'data.mdb'))
  await assert.rejects(open(dir), oneLine(/has the format "skiff store 999", this version reads "skiff store \d+"/))
  assert.ok(before.equals(readFileSync(join(dir, 'data.mdb'))))
})

test('a store of the format before, in which nothing is compressed, is read, and goes on in that of this version', async () => {
  const dir = await filledStore('older')
  const table = (environment: ReturnType<typeof openEnvironment>, name: string) =>
    environment.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' })
  const format = Buffer.from('format')
  const older = openEnvironment({ path: dir, noSubdir: false, maxDbs: 8 })
  const compressed = older.openDB<Buffer, Buffer>({
    name: 'changes',
    encoding: 'binary',
    keyEncoding: 'binary',
    compression: { threshold: 1, dictionary: OBJECT_DICTIONARY },
  })
  const plain = [...compressed.getRange()].map(({ key, value }) => [Buffer.from(key), Buffer.from(value)] as const)
  await compressed.close()
  const changes = table(older, 'changes')
  for (const [key, value] of plain) changes.putSync(key, value)
  table(older, 'meta').putSync(format, Buffer.from('skiff store 1'))
  await older.close()

  const storage = await open(dir)
  const { items } = await storage.range('/registry/', '/registry0')
  assert.equal(items.length, 50)
  const { value, modRevision } = items.find(({ key }) => key === '/registry/7')!
  assert.equal(Buffer.compare(value, Buffer.alloc(3000, 'v7')), 0)
  const written = await storage.write({ type: 'put', key: '/registry/7', value, expectRevision: modRevision })
  assert.equal(written.ok, true)
  await storage.close()
  const newer = openEnvironment({ path: dir, noSubdir: false, maxDbs: 8 })
  assert.equal(String(table(newer, 'meta').get(format)), 'skiff store 3')
  await newer.close()
  const again = await open(dir)
  assert.equal((await again.range('/registry/', '/registry0')).items.length, 50)
  await again.close()
})

test('what the store presumes before each value is what it was when that was stored', () => {
  // Another one is another format.
  const sum = createHash('sha256').update(OBJECT_DICTIONARY).digest('hex')
  assert.equal(sum, 'c1ad58d57bc42437695c942cdb95a4992804ee03b5d7360af397f9e83807a322')
})

test('values of any size and content come back as they were, and objects take a part of their room', async () => {
  const dir = join(root, 'sizes')
  const storage = await open(dir)
  const pod = (i: number) =>
    Buffer.from(OBJECT_DICTIONARY.subarray(-3000).toString('latin1').replaceAll('nginx', `image-${i}`))
  const values = [
    ...[0, 1, 1499, 1500, 4096, 70_000, 1_500_000].flatMap((size) => [randomBytes(size), Buffer.alloc(size, 250)]),
    ...Array.from({ length: 1000 }, (_, i) => pod(i)),
  ]
  const put = async (value: Buffer, i: number) =>
    assert.equal((await storage.write({ type: 'put', key: `/registry/${i}`, value, expectRevision: 0 })).ok, true)
  await Promise.all(values.slice(0, 14).map(put))
  const before = statSync(join(dir, 'data.mdb')).size
  await Promise.all(values.slice(14).map((value, i) => put(value, i + 14)))
  await storage.close()
  const grown = statSync(join(dir, 'data.mdb')).size - before
  assert.ok(grown < 1000 * 3000 * 0.5, `${grown} bytes for 1000 pods of 3000`)
  const again = await open(dir)
  const { items } = await again.range('/registry/', '/registry0')
  const found = new Map(items.map(({ key, value }) => [key, value]))
  for (const [i, value] of values.entries())
    assert.equal(Buffer.compare(found.get(`/registry/${i}`) ?? Buffer.alloc(0), value), 0, `value ${i}`)
  await again.close()
})

test('the lock of a process that is gone is no lock', async () => {
  const dir = await filledStore('stale')
  const gone = spawnSync(process.execPath, ['-e', '']).pid
  writeFileSync(join(dir, 'holder'), `${gone} 12345\n`)
  await (await open(dir)).close()
  // The pid lives, but it is another process that has it now.
  writeFileSync(join(dir, 'holder'), `${process.ppid} 1\n`)
  await (await open(dir)).close()
  assert.equal(existsSync(join(dir, 'holder')), false)
})

test('a file that is no store, or cut off, is refused and left as it is', async () => {
  const cases: [string, (path: string) => void, RegExp][] = [
    ['garbage', (path) => writeFileSync(path, 'not a store '.repeat(2000)), /corrupt.*is not a store/],
    ['cut', (path) => truncateSync(path, 20_000), /corrupt.*cut off/],
    ['stub', (path) => truncateSync(path, 100), /corrupt.*is not a store/],
  ]
  for (const [name, damage, message] of cases) {
    const dir = await filledStore(name)
    const path = join(dir, 'data.mdb')
    damage(path)
    const before = readFileSync(path)
    await assert.rejects(open(dir), oneLine(message))
    assert.deepEqual(readFileSync(path), before)
  }
})

/** Killed after a transaction took ten pages more and gave them back: they are not written. `end`: where the file ends. */
async function looseStore(name: string) {
  const dir = await filledStore(name)
  const path = join(dir, 'data.mdb')
  const bytes = readFileSync(path)
  const pageSize = bytes.readUInt32LE(48)
  const lastPages = [0, pageSize].map((page) => Number(bytes.readBigUInt64LE(page + 144)))
  for (const [i, page] of [0, pageSize].entries()) bytes.writeBigUInt64LE(BigInt(lastPages[i]! + 10), page + 144)
  const end = (Math.max(...lastPages) + 1) * pageSize
  writeFileSync(path, bytes.subarray(0, end))
  return { dir, path, end, pageSize }
}

test('a file that ends before pages which nothing uses is whole', async () => {
  const { dir, path, end, pageSize } = await looseStore('loose')
  const storage = await open(dir)
  assert.ok(statSync(path).size >= end + 10 * pageSize)
  assert.equal((await storage.range('/registry/', '/registry0')).items.length, 50)
  await storage.write({ type: 'put', key: '/registry/more', value: Buffer.alloc(100_000), expectRevision: 0 })
  await storage.close()
})

test('a file that ends before pages which something uses is cut off', async () => {
  const { dir, path, end, pageSize } = await looseStore('loose-and-cut')
  truncateSync(path, end - pageSize)
  await assert.rejects(open(dir), oneLine(/corrupt.*cut off/))
  assert.equal(statSync(path).size, end - pageSize)
})

test('a damaged value is found by its checksum, whether it is compressed or not', async () => {
  const object = (i: number, copies: number) =>
    Buffer.from(`${'"kind":"Pod","apiVersion":"v1"'.repeat(copies)}value ${i}!`)
  for (const copies of [1, 100]) {
    const dir = join(root, `flipped-${copies}`)
    const filled = await open(dir)
    for (let i = 0; i < 20; i++)
      await filled.write({ type: 'put', key: `/registry/${i}`, value: object(i, copies), expectRevision: 0 })
    await filled.close()
    const path = join(dir, 'data.mdb')
    const bytes = readFileSync(path)
    // Every occurrence: unused ends of other pages hold what their memory held before.
    for (let at = bytes.indexOf('value 17!'); at >= 0; at = bytes.indexOf('value 17!', at)) bytes[at] = bytes[at]! ^ 1
    writeFileSync(path, bytes)
    const storage = await open(dir)
    await assert.rejects(
      storage.range('/registry/', '/registry0'),
      oneLine(/corrupt: the change of revision 19 is damaged/),
    )
    await storage.close()
  }
})

test('a directory that cannot be made is named', async () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  await assert.rejects(open(join(file, 'store')), oneLine(/cannot make the store's directory .*file\/store/))
})
