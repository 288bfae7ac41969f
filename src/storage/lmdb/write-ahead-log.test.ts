import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createEngine } from '../engine.ts'
import type { Group, KeyChange, Tables } from '../tables.ts'
import { openLmdbTables } from './tables.ts'

const root = mkdtempSync(join(tmpdir(), 'skiff-log-'))
after(() => rmSync(root, { recursive: true, force: true }))

const change = (revision: number, key = `/k/${revision}`, value: string | null = `v${revision}`): KeyChange => ({
  revision,
  key,
  createRevision: revision,
  previousRevision: 0,
  value: value === null ? undefined : Buffer.from(value),
})

const group = (changes: readonly KeyChange[], more: Partial<Group> = {}): Group => ({
  hasWaited: false,
  compaction: undefined,
  endedExpiries: [],
  newExpiries: [],
  changes,
  ...more,
})

const aTurn = () => new Promise((resolve) => setImmediate(resolve))

async function openLogged(name: string): Promise<{ tables: Tables; dir: string }> {
  const dir = join(root, name)
  const tables = openLmdbTables(simulatedRuntime(1), dir, { log: 'start' })
  while (tables.isInPlace !== true) await aTurn()
  return { tables, dir }
}

/** What a process leaves that is killed now. */
function killed(dir: string): string {
  const copy = `${dir}-killed-${readFileSync(join(dir, 'log-0')).length}-${copies++}`
  cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith('holder') })
  return copy
}
let copies = 0

function readlinkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

const reopened = (dir: string) => openLmdbTables(simulatedRuntime(1), dir)

/** Everything there is to read. */
const contents = (tables: Tables) => ({
  entries: [...tables.entries('', '\u{10ffff}')].map(
    ([key, { modRevision, deleted }]) => `${key} ${modRevision} ${deleted}`,
  ),
  changes: [...tables.changes(0, 10_000)].map(({ revision, value }) => `${revision} ${value}`),
  heads: [...tables.changeHeads(0, 10_000)].map(({ revision, isDelete }) => `${revision} ${isDelete}`),
  expiries: [...tables.expiries()].map(({ revision, expiresAt }) => `${revision} ${expiresAt}`),
  journal: [...tables.journal(0)].map(({ revision, value }) => `${revision} ${value}`),
})

const entryOf = (revision: number) => ({ revision, text: { shared: 'a', own: `${revision}` } })

test('what was logged is read as if it were in the tables, is there after a kill, and after a close', async () => {
  const { tables, dir } = await openLogged('all')
  await tables.flush(
    group([change(2, '/b'), change(3, '/d')], { newExpiries: [{ key: '/b', revision: 2, expiresAt: 9000 }] }),
  )
  await tables.flush(group([change(4, '/c', null)], { journal: { added: [entryOf(4)], dropped: [] } }))
  const gone = { key: '/b', revision: 2, expiresAt: 9000 }
  const ending = { newExpiries: [{ key: '/a', revision: 5, expiresAt: 70 }], endedExpiries: [gone] }
  await tables.flush(group([change(5, '/a'), change(6, '/b')], ending))
  await tables.flush(group([change(7, '/e', null)], { journal: { added: [entryOf(7)], dropped: [4] } }))
  const expected = {
    entries: ['/a 5 false', '/b 6 false', '/c 4 true', '/d 3 false', '/e 7 true'],
    changes: ['2 v2', '3 v3', '4 undefined', '5 v5', '6 v6', '7 undefined'],
    heads: ['2 false', '3 false', '4 true', '5 false', '6 false', '7 true'],
    expiries: ['5 70'],
    journal: ['7 a7'],
  }
  assert.deepEqual(contents(tables), expected)
  assert.deepEqual(
    [...tables.entries('/b', '/d')].map(([key]) => key),
    ['/b', '/c'],
  )
  assert.deepEqual(
    [...tables.changes(3, 6)].map(({ revision }) => revision),
    [4, 5, 6],
  )
  assert.equal(tables.entry('/b')?.modRevision, 6)
  assert.equal(tables.change(3)?.key, '/d')
  const other = reopened(killed(dir))
  assert.equal(other.initial.revision, 7)
  assert.deepEqual(contents(other), expected)
  await other.close()
  // The tables and the log, both of which are read.
  await tables.flush(
    group([change(8, '/c')], {
      compaction: { compactedRevision: 2, sweptRevision: 2, dropChanges: [2], dropKeys: [] },
    }),
  )
  await tables.flush(group([change(9, '/cc')]))
  assert.deepEqual(contents(tables).entries, [
    '/a 5 false',
    '/b 6 false',
    '/c 8 false',
    '/cc 9 false',
    '/d 3 false',
    '/e 7 true',
  ])
  assert.deepEqual(contents(tables).changes, [...expected.changes.slice(1), '8 v8', '9 v9'])
  const before = contents(tables)
  await tables.close()
  const again = reopened(dir)
  assert.deepEqual(contents(again), before)
  await again.close()
})

test('more than the log holds goes into the tables meanwhile; each moment is whole, read or killed', async () => {
  const { tables, dir } = await openLogged('turns')
  let revision = 1
  for (let round = 0; round < 60; round++) {
    const count = 1 + ((round * 37) % 90)
    await tables.flush(group(Array.from({ length: count }, () => change(++revision, `/k/${revision % 50}`))))
    if (round % 3 === 0) await aTurn()
    const all = [...tables.changes(0, revision)].map((one) => one.revision)
    assert.equal(all.length, revision - 1, `round ${round}`)
    assert.equal(new Set(all).size, revision - 1)
    assert.equal(tables.entry(`/k/${revision % 50}`)?.modRevision, revision)
    assert.equal([...tables.entries('/k/', '/k0')].length, Math.min(50, revision - 1))
    if (round % 10 !== 9) continue
    const other = reopened(killed(dir))
    assert.equal(other.initial.revision, revision)
    assert.deepEqual(contents(other), contents(tables))
    await other.close()
  }
  await tables.close()
})

test('a group that is too large for the log, or came while it is not there, is in order with the others', async () => {
  const { tables, dir } = await openLogged('large')
  await tables.flush(group([change(2)]))
  await tables.flush(group([change(3, '/large', 'x'.repeat(600_000))]))
  await tables.flush(group([change(4)]))
  await tables.flush(group(Array.from({ length: 300 }, (_, i) => change(5 + i))))
  await tables.flush(group([change(305, '/nearly', 'x'.repeat(400_000))]))
  await tables.flush(group([change(306, '/nearly', 'y'.repeat(400_000))]))
  for (const at of [tables, reopened(killed(dir))]) {
    assert.deepEqual(
      [...at.changes(0, 1000)].map(({ revision }) => revision),
      Array.from({ length: 305 }, (_, i) => 2 + i),
    )
    assert.equal(String(at.change(306)?.value), 'y'.repeat(400_000))
    await at.close()
  }
})

test('a group that leaves revisions out, as of another store, is not logged: what was written until a kill is there', async () => {
  const { tables, dir } = await openLogged('gaps')
  await tables.flush(group([change(2)]))
  await tables.flush(group([change(5), change(9)], { hasWaited: true }))
  await tables.flush(group([change(20)]))
  await tables.flush(group([change(21)]))
  const other = reopened(killed(dir))
  assert.deepEqual(contents(other).changes, ['2 v2', '5 v5', '9 v9', '20 v20', '21 v21'])
  await other.close()
  await tables.close()
})

test('a group that was refused once it was logged is none where others have its revisions', async () => {
  const { tables, dir } = await openLogged('refused')
  await tables.flush(group([change(2), change(3), change(4)]))
  const copy = killed(dir)
  await tables.close()
  const since = join(root, 'since')
  const other = openLmdbTables(simulatedRuntime(1), since, { log: 'never' })
  await other.flush(group([change(2, '/other'), change(3, '/other')]))
  await other.close()
  cpSync(join(copy, 'log-0'), join(since, 'log-0'))
  const again = reopened(since)
  assert.deepEqual(contents(again).entries, ['/other 3 false'])
  await again.close()
})

test('room is made, and the tables are read anew, once nothing writes to their file beside', async () => {
  for (const [name, task] of [
    ['room', (tables: Tables) => tables.makeRoom?.(1, false)],
    ['anew', (tables: Tables) => tables.reload?.()],
  ] as const) {
    const tables = openLmdbTables(simulatedRuntime(1), join(root, name), { log: 'start' })
    await task(tables)
    assert.equal(tables.isInPlace, true, name)
    await tables.close()
  }
})

test('a record whose write was not finished is none; one that is damaged, or missing, is told', async () => {
  const { tables, dir } = await openLogged('torn')
  for (let revision = 2; revision < 8; revision++) await tables.flush(group([change(revision)]))
  const log = (copy: string) => join(copy, 'log-0')
  const places = (bytes: Buffer) => {
    const found: number[] = []
    for (let at = 0; bytes.readUInt32LE(at) > 0; at += 8 + bytes.readUInt32LE(at)) found.push(at)
    return found
  }
  const spoilt = (spoil: (bytes: Buffer) => void) => {
    const copy = killed(dir)
    const bytes = readFileSync(log(copy))
    spoil(bytes)
    writeFileSync(log(copy), bytes)
    return copy
  }
  const torn = reopened(
    spoilt((bytes) => bytes.fill(0, (places(bytes).at(-1) ?? 0) + 30, (places(bytes).at(-1) ?? 0) + 40)),
  )
  assert.equal(torn.initial.revision, 6)
  assert.equal(torn.entry('/k/7'), undefined)
  await torn.close()
  const damaged = spoilt((bytes) => bytes.fill(0, (places(bytes)[2] ?? 0) + 30, (places(bytes)[2] ?? 0) + 40))
  assert.throws(() => reopened(damaged), /the store is corrupt: a record of its log is damaged/)
  for (const [record, bit] of [
    [0, 6],
    [2, 4],
    [2, 31],
    [4, 9],
  ] as const) {
    const place = (bytes: Buffer) => (places(bytes)[record] ?? 0) + (bit >> 3)
    const flipped = spoilt((bytes) => bytes.writeUInt8(bytes.readUInt8(place(bytes)) ^ (1 << (bit & 7)), place(bytes)))
    assert.throws(() => reopened(flipped), /the store is corrupt: a record of its log is damaged/, `${record} ${bit}`)
  }
  if (process.platform === 'linux') {
    const held = () =>
      readdirSync('/proc/self/fd').filter((fd) => readlinkIfThere(`/proc/self/fd/${fd}`)?.startsWith(damaged))
    for (let turns = 0; held().length > 0 && turns < 1000; turns++) await aTurn()
    assert.deepEqual(held(), [], 'what could not be opened is closed')
  }
  const missing = spoilt((bytes) => bytes.copy(bytes, 0, places(bytes)[1]))
  assert.throws(() => reopened(missing), /the store is corrupt: its log has no change of revision 2, and newer ones/)
  await tables.close()
})

test('writes of one turn are one group, once several came in one; what comes alone is written at once', async () => {
  const { tables } = await openLogged('gathered')
  const sizes: number[] = []
  const flush = tables.flush.bind(tables)
  const counted = new Proxy(tables, {
    get: (target, name) =>
      name === 'flush'
        ? (one: Group) => {
            sizes.push(one.changes.length)
            return flush(one)
          }
        : Reflect.get(target, name),
  })
  const runtime = simulatedRuntime(1)
  const storage = createEngine(runtime, counted)
  let keys = 0
  const put = () => storage.write({ type: 'put', key: `/k/${keys++}`, value: Buffer.from('x'), expectRevision: 0 })
  const together = async (count: number) => {
    let isDone = false
    const all = Promise.all(Array.from({ length: count }, put)).then(() => {
      isDone = true
    })
    while (!isDone) {
      await runtime.settle()
      await aTurn()
    }
    await all
  }
  await together(1)
  assert.deepEqual(sizes.splice(0), [1])
  await together(40)
  await together(40)
  assert.ok(sizes.length <= 4 && sizes.at(-1) === 40, `${sizes}`)
  await storage.close()
})
