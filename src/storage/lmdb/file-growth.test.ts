import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Clock } from '../../base/clock.ts'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import type { Group, KeyChange, Tables } from '../tables.ts'
import { newestMeta } from './check.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-room-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** No compression makes them less. */
const NOISE = randomBytes(300_000)

function change(revision: number, bytes = 3000): KeyChange {
  const value = Buffer.concat([Buffer.from(`v${revision} `), NOISE]).subarray(0, bytes)
  return { revision, key: `/k/${revision}`, createRevision: revision, previousRevision: 0, value }
}

function group(changes: readonly KeyChange[], hasWaited = false): Group {
  return { hasWaited, compaction: undefined, endedExpiries: [], changes, newExpiries: [] }
}

/** Writes the change by itself, and tells whether that was done in place: for another thread microtasks would not do. */
async function isWrittenHere(tables: Tables, one: Group): Promise<boolean> {
  let isWritten = false
  const written = tables.flush(one).then(() => {
    isWritten = true
  })
  for (let i = 0; i < 50; i++) await undefined
  const here = isWritten
  await written
  return here
}

async function writeEach(tables: Tables, from: number, count: number, hasWaited = false): Promise<boolean[]> {
  const here: boolean[] = []
  for (let i = 0; i < count; i++) here.push(await isWrittenHere(tables, group([change(from + i)], hasWaited)))
  return here
}

function openTables(name: string, clock: Clock = simulatedRuntime(1).clock, mapSize?: number) {
  const dir = join(root, name)
  const tables = openLmdbTables({ machineClock: clock, log: simulatedRuntime(1).log }, dir, {
    log: 'never',
    ...(mapSize === undefined ? {} : { mapSize }),
  })
  const path = join(dir, 'data.mdb')
  return { tables, dir, path, size: () => statSync(path).size }
}

test('while nobody waits the file is made longer than it is used, and everything is in it', async () => {
  const { tables, dir, path, size } = openTables('ahead')
  for (let at = 2; at < 402; at++) {
    await tables.flush(group([change(at)]))
    // Between two requests some time passes.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const many = Array.from({ length: 2000 }, (_, i) => change(402 + i, 5000))
  await tables.flush(group(many))
  await writeEach(tables, 2402, 40)
  await tables.close()
  const file = openSync(path, 'r')
  const { lastPage, pageSize } = newestMeta(file) as { lastPage: number; pageSize: number }
  closeSync(file)
  assert.ok(size() - lastPage * pageSize > 500_000, `${size()} bytes, ${lastPage * pageSize} used`)
  const again = openLmdbTables(simulatedRuntime(1), dir)
  const found = [...again.changes(1, 3000)]
  assert.equal(found.length, 2440)
  for (const { revision, value } of found) assert.deepEqual(value, change(revision, value?.length).value)
  await again.close()
})

test('a transaction waits for room that is being made, whose zeros would otherwise be written over it', async () => {
  const { tables, size } = openTables('waits')
  await writeEach(tables, 2, 10)
  const before = size()
  let elsewhere = 0
  // As much as there is room, between two looks at it.
  for (let at = 12; at < 76; at++) if (!(await isWrittenHere(tables, group([change(at, 300_000)])))) elsewhere++
  assert.ok(size() - before > 8 * (2 << 20))
  // Eight had to wait, and four looked whether others come.
  assert.ok(elsewhere >= 8, `${elsewhere}`)
  for (const { revision, value } of tables.changes(11, 75)) assert.deepEqual(value, change(revision, 300_000).value)
  await tables.close()
})

test('the file is never made longer than the store may be', async () => {
  const { tables, size } = openTables('bounded', undefined, 1 << 20)
  await writeEach(tables, 2, 40)
  assert.ok(size() <= 1 << 20)
  await tables.close()
})

test('writes that come one by one are written in place, all but those that look whether others come', async () => {
  const { tables } = openTables('alone')
  let at = 2
  const write = async (count: number, hasWaited = false) => {
    const here = await writeEach(tables, at, count, hasWaited)
    at += count
    return here.filter(Boolean).length
  }
  await write(10)
  assert.equal(await write(32), 30)
  // Something came while another thread wrote.
  assert.equal(await write(1, true), 0)
  assert.equal(await write(8), 0)
  assert.ok((await write(4)) >= 3)
  await tables.flush(group([change(at++), change(at++)]))
  assert.equal(await write(8), 0)
  await tables.close()
})

test('a slow disk is left to another thread', async () => {
  let now = 0
  let step = 0
  const monotonic = () => {
    now += step
    return now
  }
  const { tables } = openTables('slow', { ...simulatedRuntime(1).clock, monotonic })
  await writeEach(tables, 2, 10)
  assert.ok((await writeEach(tables, 12, 4)).includes(true))
  step = 20
  await writeEach(tables, 16, 10)
  assert.deepEqual(await writeEach(tables, 26, 4), [false, false, false, false])
  step = 0
  assert.ok((await writeEach(tables, 30, 20)).includes(true))
  await tables.close()
})
