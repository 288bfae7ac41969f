/** Stores that are damaged in every way are refused in one line, or read as they were: none ends the process, and none is changed. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { liveRuntime } from '../../base/live-runtime.ts'
import { seededRandom } from '../../base/random.ts'
import { openStorage } from '../open.ts'
import { type Storage, StoreError } from '../storage.ts'
import { checkFile } from './check.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-pages-'))
after(() => rmSync(root, { recursive: true, force: true }))
const runtime = liveRuntime({ log: { write() {} } })
const open = (dir: string) => openStorage({ runtime, driver: 'lmdb', dir })
const random = seededRandom(1)
const below = (limit: number) => Math.floor(random.float() * limit)

const whole = join(root, 'whole')
let good: Buffer
let pageSize: number
let pages: number
let objects: ReadonlyMap<string, string>

before(async () => {
  const storage = await open(whole)
  // Every third can be compressed.
  const value = (i: number) =>
    Buffer.from(
      Array.from({ length: i % 40 === 0 ? 12_000 : 1700 }, (_, at) => (i % 3 === 0 ? (at >> 5) & 255 : below(256))),
    )
  for (let round = 0; round < 3; round++) {
    const writes = Array.from({ length: 200 }, (_, i) =>
      storage.write({ type: 'put', key: `/registry/${i + 150 * round}`, value: value(i), expectRevision: 0 }),
    )
    await Promise.all(writes)
  }
  await storage.compact(300)
  objects = await read(storage)
  await storage.close()
  good = readFileSync(join(whole, 'data.mdb'))
  pageSize = good.readUInt32LE(48)
  pages =
    Number(
      [0, pageSize]
        .map((page) => good.readBigUInt64LE(page + 144))
        .toSorted()
        .at(-1),
    ) + 1
})

async function read(storage: Storage): Promise<ReadonlyMap<string, string>> {
  const { items } = await storage.range('/registry/', '/registry0')
  return new Map(items.map(({ key, value }) => [key, createHash('sha256').update(value).digest('hex')]))
}

/** The store's directory with other bytes in its file. */
function withBytes(bytes: Buffer): string {
  const dir = join(root, 'damaged')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir)
  writeFileSync(join(dir, 'data.mdb'), bytes)
  return dir
}

function damaged(page: number, damage: (page: Buffer) => void): Buffer {
  const bytes = Buffer.from(good)
  damage(bytes.subarray(page * pageSize, (page + 1) * pageSize))
  return bytes
}

/** What is said of a page that is overwritten. */
function refusal(page: number, damage: (page: Buffer) => void): string | undefined {
  try {
    checkFile(withBytes(damaged(page, damage)))
    return undefined
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error))
    assert.match(error.message, /^the store is corrupt: [^\n]*; it was left as it is: move its directory away, then /)
    return error.message
  }
}

const garbage = (page: Buffer) => {
  for (let i = 0; i < page.length; i++) page[i] = below(256)
}

test('a page that is used is refused when it is overwritten, whichever it is', async () => {
  const ways: Readonly<Record<string, (page: Buffer) => void>> = {
    zeros: (page) => page.fill(0),
    ones: (page) => page.fill(255),
    garbage,
    'another page': (page) => good.copy(page, 0, 2 * pageSize, 3 * pageSize),
  }
  const used = new Set<number>()
  for (const [way, damage] of Object.entries(ways))
    for (let page = 0; page < pages; page++) {
      if (way === 'another page' && page === 2) continue
      // Of a large value only the first page says what it is; of the others its checksum tells.
      if (refusal(page, damage) !== undefined) used.add(page)
      else assert.ok(!used.has(page), `page ${page} with ${way}`)
    }
  assert.ok(used.size > pages / 3, `${used.size} of ${pages} pages`)
  // What is not used may be anything.
  for (let page = 2; page < pages; page++) {
    if (used.has(page)) continue
    const storage = await open(withBytes(damaged(page, garbage)))
    const found = await read(storage).catch((error) => {
      assert.ok(error instanceof StoreError, String(error))
      return objects
    })
    assert.deepEqual(found, objects, `page ${page}`)
    await storage.close()
  }
})

test('the two pages that say where everything is: damage of either is told, and a newer format of LMDB is no store', () => {
  for (const page of [0, 1]) {
    assert.match(refusal(page, (bytes) => bytes.fill(0, 0, 64)) ?? '', new RegExp(`page ${page} of .* says where`))
    assert.match(
      refusal(page, (bytes) => bytes.writeUInt32LE(3, 28)) ?? '',
      new RegExp(`page ${page} of .* says where`),
    )
  }
})

const newestMeta = () =>
  [0, 1].toSorted((a, b) =>
    Number(good.readBigUInt64LE(b * pageSize + 152) - good.readBigUInt64LE(a * pageSize + 152)),
  )[0]!

test('a list of free pages that names others, or some that are used, is refused', () => {
  const meta = newestMeta() * pageSize
  const list = Number(good.readBigUInt64LE(meta + 88))
  const top = good.readBigUInt64LE(meta + 136)
  const numbers = 24 + good.readUInt16LE(list * pageSize + 24) + 8 + 8
  const refused = (...entries: readonly bigint[]) =>
    refusal(list, (bytes) => {
      for (const [i, entry] of entries.entries()) bytes.writeBigInt64LE(entry, numbers + 8 + 8 * i)
    })
  assert.ok(good.readBigInt64LE(list * pageSize + numbers) >= 2n)
  assert.match(refused(1n << 40n) ?? '', /the list of free pages is damaged/)
  assert.match(refused(-5n, BigInt(pages - 4)) ?? '', /the list of free pages is damaged/)
  assert.match(refused(top) ?? '', new RegExp(`page ${top} is used, and in the list of free pages`))
  assert.match(refused(-1n, top) ?? '', new RegExp(`page ${top} is used, and in the list of free pages`))
  assert.match(refused(-2n, top - 1n) ?? '', /page \d+ is used, and in the list of free pages/)
})

test('a file that is told to be much longer than what is known of it is refused, and not made longer', () => {
  for (const more of [1n << 22n, 1n << 50n]) {
    const message = refusal(newestMeta(), (bytes) => bytes.writeBigUInt64LE(bytes.readBigUInt64LE(144) + more, 144))
    assert.match(message ?? '', /it is told to have \d+ pages, and has \d+/)
    assert.equal(statSync(join(root, 'damaged', 'data.mdb')).size, good.length)
  }
})

test('bits that turn anywhere are told, or were of no use: nothing is read that was not written', async () => {
  for (let round = 0; round < 150; round++) {
    const at = below(pageSize)
    const page = below(pages)
    const bytes = damaged(page, (found) => {
      found[at] = found[at]! ^ (1 << below(8))
    })
    const dir = withBytes(bytes)
    try {
      const storage = await open(dir)
      try {
        for (const [key, value] of await read(storage)) assert.equal(value, objects.get(key), `${page}:${at}`)
      } finally {
        await storage.close()
      }
    } catch (error) {
      assert.ok(error instanceof StoreError, `${page}:${at} ${String(error).slice(0, 100)}`)
      assert.ok(!error.message.includes('\n'))
    }
  }
})

test('what is no file is named', async () => {
  const dir = join(root, 'folder')
  mkdirSync(join(dir, 'data.mdb'), { recursive: true })
  await assert.rejects(open(dir), /the store .*data\.mdb is no file: move it away, or restore a backup/)
  const copy = join(root, 'copy')
  cpSync(whole, copy, { recursive: true })
  rmSync(join(copy, 'lock.mdb'))
  mkdirSync(join(copy, 'lock.mdb'))
  await assert.rejects(open(copy), /^StoreError: the store in .*copy cannot be opened: EISDIR/)
  rmSync(join(copy, 'lock.mdb'), { recursive: true })
  await (await open(copy)).close()
})
