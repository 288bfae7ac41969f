import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../base/live-runtime.ts'
import { fill, memoryOf, type StoreImage } from './image.ts'
import { decodeImage, encodeImage } from './image-file.ts'
import { openLmdbTables } from './lmdb/tables.ts'
import { openStorage } from './open.ts'
import { type Storage, StoreError } from './storage.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-image-'))
after(() => rmSync(root, { recursive: true, force: true }))
const runtime = liveRuntime({ log: { write() {} } })
const ABOUT = { version: 'v1', time: '2026-01-01T00:00:00.000000Z' }

const text = (value: Uint8Array | undefined) => Buffer.from(value ?? []).toString()

async function put(storage: Storage, key: string, value: string, expectRevision = 0, leaseSeconds?: number) {
  const lease = leaseSeconds === undefined ? {} : { leaseSeconds }
  const result = await storage.write({ type: 'put', key, value: Buffer.from(value), expectRevision, ...lease })
  assert.ok(result.ok)
  return result.revision
}

/** Keys made, written again, removed, removed and made again, and with a time to live; the last write is a removal. */
async function filled(): Promise<Storage> {
  const storage = await openStorage({ runtime, driver: 'memory' })
  for (const key of ['a', 'b', 'c', 'd']) await put(storage, `/registry/${key}`, `${key}1`)
  await put(storage, '/registry/b', 'b2', 3)
  await storage.write({ type: 'delete', key: '/registry/c', expectRevision: 4 })
  await put(storage, '/registry/c', 'c2')
  await put(storage, '/registry/event', 'e', 0, 3600)
  await storage.write({ type: 'delete', key: '/registry/d', expectRevision: 5 })
  return storage
}

const shown = async (storage: Storage) =>
  (await storage.range('/registry/', '/registry0')).items.map(({ key, value, modRevision, createRevision }) => [
    key,
    text(value),
    modRevision,
    createRevision,
  ])

async function opened(image: StoreImage, driver: 'memory' | 'lmdb'): Promise<Storage> {
  if (driver === 'memory') return openStorage({ runtime, driver, memory: memoryOf(image) })
  const dir = mkdtempSync(join(root, 'store-'))
  const tables = openLmdbTables(runtime, dir)
  await fill(tables, image)
  await tables.close()
  return openStorage({ runtime, driver, dir })
}

for (const driver of ['memory', 'lmdb'] as const) {
  test(`a ${driver} store that begins with an image has its objects, their revisions and its own`, async () => {
    const source = await filled()
    const image = source.image?.() as StoreImage
    const store = await opened(decodeImage(Buffer.concat(encodeImage(image, ABOUT)), 'it').image, driver)
    assert.deepEqual(await shown(store), await shown(source))
    assert.equal(store.revision, source.revision)
    assert.equal(await put(store, '/registry/new', 'n'), source.revision + 1)
    await assert.rejects(store.get('/registry/b', 3), /compacted/)
    assert.deepEqual(
      store.image?.().expiries.map(({ key }) => key),
      ['/registry/event'],
    )
    await put(store, '/registry/b', 'b3', 6)
    await store.compact(store.revision)
    assert.equal(text((await store.get('/registry/b')).item?.value), 'b3')
    assert.equal(text((await source.get('/registry/b')).item?.value), 'b2')
    await store.close()
    await source.close()
  })
}

test('an image shares its values with the store, and with the image before', async () => {
  const store = await filled()
  const before = store.image?.() as StoreImage
  assert.equal(store.image?.(), before)
  await put(store, '/registry/a', 'a2', 2)
  const later = store.image?.() as StoreImage
  const changed = later.items.filter((item) => !before.items.includes(item)).map(({ key }) => key)
  assert.deepEqual(changed, ['/registry/a'])
  assert.equal(text(before.items[0]?.value), 'a1')
  await store.close()
})

test('a file whose hash is right and whose items are no store is refused in one line', async () => {
  const sealed = (...pieces: readonly (string | Uint8Array)[]) => {
    const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
    return Buffer.concat([bytes, createHash('sha256').update(bytes).digest()])
  }
  const head = (changed: object) =>
    `skiff snapshot\n${JSON.stringify({ format: 1, revision: 5, items: 1, version: 'v', time: '2026-01-01T00:00:00Z', ...changed })}\n`
  const item = (key: string, mod: number, create: number, keyLength = key.length, valueLength = 2) => {
    const bytes = Buffer.alloc(32)
    bytes.writeUInt32LE(keyLength, 0)
    bytes.writeDoubleLE(mod, 4)
    bytes.writeDoubleLE(create, 12)
    bytes.writeUInt32LE(valueLength, 28)
    return Buffer.concat([bytes, Buffer.from(`${key}{}`)])
  }
  const good = item('/registry/a', 3, 2)
  assert.equal(decodeImage(sealed(head({}), good), 'FILE').image.items.length, 1)
  for (const bytes of [
    sealed('skiff snapshot\nnull\n'),
    sealed(head({ revision: 'x' }), good),
    sealed(head({ time: 'x' }), good),
    sealed(head({ items: 2 }), good),
    sealed(head({ items: 2 }), good, item('/registry/a', 4, 2)),
    sealed(head({ items: 2 }), good, item('/registry/b', 3, 3)),
    sealed(head({}), 'abc'),
    sealed(head({}), item('/registry/a', 3, 2, 1e9)),
    sealed(head({}), item('/registry/a', 3, 2, 11, 20)),
    sealed(head({}), item('/registry/a', Number.NaN, 2)),
    sealed(head({}), item('/registry/a', 2, 3)),
    sealed(head({}), item('/registry/a', 6, 2)),
    sealed(head({}), item('registry', 3, 2)),
  ])
    assert.throws(() => decodeImage(bytes, 'FILE'), { name: 'StoreError', message: /^FILE is damaged [^\n]+$/ })
})

test('what is damaged anywhere, cut off or of another format is refused in one line', async () => {
  const store = await filled()
  const bytes = Buffer.concat(encodeImage(store.image?.() as StoreImage, ABOUT))
  await store.close()
  const refused = (damaged: Buffer, message: RegExp) =>
    assert.throws(
      () => decodeImage(damaged, 'FILE'),
      (error) => {
        assert.ok(error instanceof StoreError, String(error))
        assert.match(error.message, message)
        assert.ok(!error.message.includes('\n'))
        return true
      },
    )
  for (let at = 0; at < bytes.length; at += 7) {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] as number) ^ 0x20
    refused(damaged, /^FILE (is damaged|is no snapshot|has the format)/)
  }
  for (const length of [0, 5, 20, 60, bytes.length - 1]) refused(bytes.subarray(0, length), /^FILE is/)
  refused(Buffer.concat([bytes, Buffer.from('x')]), /^FILE is damaged/)
  refused(
    Buffer.from('skiff snapshot\n{"format":2,"version":"v9"}\nwhatever'),
    /has the format 2, this version reads 1/,
  )
})
