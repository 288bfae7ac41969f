/** skiff migrate, from a directory to etcd and back. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { messageOf } from '../../src/base/errors.ts'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { clusterDirectory } from '../../src/cluster/directory.ts'
import { startCluster } from '../../src/cluster/index.ts'
import { migrate } from '../../src/cluster/migrate.ts'
import { stoppedSnapshot } from '../../src/cluster/snapshot.ts'
import { snapshotOfEtcd } from '../../src/cluster/snapshot-of-etcd.ts'
import { MIGRATION_KEY } from '../../src/storage/copy-to-another-store.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const skip = lacks.etcd()
const root = mkdtempSync(join(tmpdir(), 'skiff-migrate-'))
const undo: (() => Promise<unknown>)[] = []
after(async () => {
  for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  rmSync(root, { recursive: true, force: true })
})
const runtime = liveRuntime({ log: { write: () => {} } })

async function contents(
  storage: Storage,
): Promise<{ all: readonly string[]; versions: readonly string[]; revision: number }> {
  const { items, revision } = await storage.range('/registry/', '/registry0')
  await storage.close()
  const all = items.map(({ key, value }) => `${key} ${Buffer.from(value)}`)
  return {
    all,
    versions: items.map(({ key, modRevision, createRevision }) => `${key} ${modRevision} ${createRevision}`),
    revision,
  }
}

const ofDirectory = async (dir: string) =>
  contents(await openStorage({ runtime, driver: 'lmdb', dir: join(dir, 'store') }))
const ofEtcd = async (servers: string) => contents(await openEtcd(runtime, { servers, compactEveryMs: 0 }))

/** Not what an API server said of itself, which no other store is told. */
const lasting = (line: string) => !/^\/registry\/(masterleases\/|skiff\.dev\/(replicas\/|pools ))/.test(line)

async function directoryWithCluster(name: string): Promise<string> {
  const dataDir = join(root, name)
  const cluster = await startCluster({ dataDir, components: ['apiserver'] })
  const maps = cluster.client.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('default')
  for (let i = 0; i < 20; i++)
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${i}` }, data: { i: String(i) } })
  await maps.delete('c19')
  await cluster.stop()
  return dataDir
}

test('a cluster moves to etcd and back: nothing is lost, and no version is of the future', { skip }, async () => {
  const from = await directoryWithCluster('a')
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const before = await ofDirectory(from)
  const there = await migrate({ from, to: etcd.servers, etcd: {} })
  const inEtcd = await ofEtcd(etcd.servers)
  assert.deepEqual(inEtcd.all, before.all)
  assert.equal(there.objects, before.all.length)
  assert.ok(inEtcd.revision >= before.revision, `${inEtcd.revision} follows ${before.revision}`)
  await assert.rejects(migrate({ from, to: etcd.servers, etcd: {} }), /holds a cluster already/)

  const cluster = await startCluster({ dataDir: from, components: ['apiserver'], etcd: { servers: etcd.servers } })
  await cluster.client
    .resource({ group: '', version: 'v1', resource: 'configmaps' })
    .namespace('default')
    .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'over-etcd' } })
  // Two keys with one revision: the Service, and that something was taken from the pool of addresses.
  await cluster.client.core
    .services('default')
    .create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'addressed' }, spec: { ports: [{ port: 80 }] } })
  await cluster.stop()
  const after = await ofEtcd(etcd.servers)
  const to = join(root, 'b')
  await migrate({ from: etcd.servers, to, etcd: {} })
  const back = await ofDirectory(to)
  assert.deepEqual(back.all, after.all.filter(lasting))
  assert.deepEqual(back.versions, after.versions.filter(lasting))
  assert.equal(back.revision, after.revision + 1)
  const again = await startCluster({ dataDir: to, components: ['apiserver'] })
  const maps = again.client.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('default')
  assert.equal((await maps.get('over-etcd')).metadata.name, 'over-etcd')
  await again.stop()
})

test('a migration that was broken off is begun again, and nothing starts over its half', { skip }, async () => {
  const from = await directoryWithCluster('c')
  const before = await ofDirectory(from)
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const half = await openEtcd(runtime, { servers: etcd.servers, compactEveryMs: 0 })
  const put = (key: string, text: string) =>
    half.write({ type: 'put', key, value: Buffer.from(text), expectRevision: 0 })
  await put(
    MIGRATION_KEY,
    JSON.stringify({ from: `${from} at revision ${before.revision}`, revision: before.revision }),
  )
  const [first = ''] = before.all
  await put(first.slice(0, first.indexOf(' ')), first.slice(first.indexOf(' ') + 1))
  await put('/registry/configmaps/default/c1', 'cut off')
  await half.close()
  const start = startCluster({ dataDir: join(root, 'd'), components: ['apiserver'], etcd: { servers: etcd.servers } })
  await assert.rejects(start, /half filled/)
  // Nor is the half taken for a whole, by a copy or by a backup.
  await assert.rejects(migrate({ from: etcd.servers, to: join(root, 'no'), etcd: {} }), /the source is half filled/)
  await assert.rejects(snapshotOfEtcd({ servers: etcd.servers }), /the source is half filled/)
  assert.equal(existsSync(join(root, 'no')), false)
  await migrate({ from, to: etcd.servers, etcd: {} })
  assert.deepEqual((await ofEtcd(etcd.servers)).all, before.all)

  const to = join(root, 'e')
  await migrate({ from: etcd.servers, to, etcd: {} })
  writeFileSync(join(to, 'migration.json'), 'another at revision 7')
  await assert.rejects(migrate({ from: etcd.servers, to, etcd: {} }), /half filled from another at revision 7/)
  await assert.rejects(startCluster({ dataDir: to, components: ['apiserver'] }), /half filled/)
  await assert.rejects(
    migrate({ from: to, to: etcd.servers, etcd: {} }),
    /is half filled: run skiff migrate to its end/,
  )
  await assert.rejects(stoppedSnapshot(clusterDirectory(to)), /is half filled: run skiff migrate to its end/)
  await assert.rejects(migrate({ from: to, to, etcd: {} }), /the same/)
})

test('an etcd that is written to is not moved: neither while an API server runs over it, nor half before a change and half behind it', {
  skip,
}, async () => {
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const cluster = await startCluster({
    dataDir: join(root, 'f'),
    components: ['apiserver'],
    etcd: { servers: etcd.servers },
  })
  const to = join(root, 'g')
  await assert.rejects(migrate({ from: etcd.servers, to, etcd: {} }), /an API server runs over the source/)
  assert.equal(existsSync(to), false)
  await cluster.stop()

  const writer = await openEtcd(runtime, { servers: etcd.servers, compactEveryMs: 0 })
  let isOver = false
  const writing = (async () => {
    for (let i = 0; !isOver; i++)
      await writer.write({
        ...{ type: 'put', key: `/registry/configmaps/default/w${i}`, expectRevision: 0 },
        value: Buffer.from(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w${i}"},"data":{}}`),
      })
  })()
  await assert.rejects(
    migrate({ from: etcd.servers, to, etcd: {} }),
    /the source was written to meanwhile \(.*\/w\d+\)/,
  )
  isOver = true
  await writing
  await writer.close()
  // It is of one revision, but not the last: nothing starts over it.
  await assert.rejects(startCluster({ dataDir: to, components: ['apiserver'] }), /half filled/)
  await assert.rejects(migrate({ from: etcd.servers, to, etcd: {} }), /empty it, and begin again/)
  rmSync(to, { recursive: true })
  await migrate({ from: etcd.servers, to, etcd: {} })
  assert.deepEqual((await ofDirectory(to)).all, (await ofEtcd(etcd.servers)).all.filter(lasting))
})

test('of two that move to one etcd at once no more than one does, and what is there then is the whole of it', {
  skip,
}, async () => {
  const sources = [await directoryWithCluster('h'), await directoryWithCluster('i')]
  const contentsOf = await Promise.all(sources.map(ofDirectory))
  for (let round = 0; round < 3; round++) {
    const etcd = await startEtcd()
    undo.push(etcd.stop)
    const results = await Promise.allSettled(sources.map((from) => migrate({ from, to: etcd.servers, etcd: {} })))
    const refusals = results.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []))
    assert.ok(refusals.length > 0, 'both moved')
    for (const refusal of refusals)
      assert.match(refusal, /half filled from|another process writes|holds a cluster already/)
    // The one whose name stands there goes on.
    const again = await Promise.allSettled(sources.map((from) => migrate({ from, to: etcd.servers, etcd: {} })))
    const done = [results, again].flatMap((all) => all.flatMap((one, i) => (one.status === 'fulfilled' ? [i] : [])))
    assert.equal(done.length, 1, JSON.stringify([results, again]))
    assert.deepEqual((await ofEtcd(etcd.servers)).all, contentsOf[done[0] ?? 0]?.all)
  }
  const first = sources[0] ?? ''
  const etcd = await startEtcd()
  undo.push(etcd.stop)
  const twice = await Promise.allSettled([1, 2].map(() => migrate({ from: first, to: etcd.servers, etcd: {} })))
  assert.equal(twice.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('where there is nothing, nothing is moved', { skip }, async () => {
  const etcd = await startEtcd()
  try {
    await assert.rejects(migrate({ from: etcd.servers, to: join(root, 'never'), etcd: {} }), /there are no objects/)
    assert.equal(existsSync(join(root, 'never')), false)
  } finally {
    await etcd.stop()
  }
})

test('what cannot be read leaves no directory behind', async () => {
  const [from, to] = [join(root, 'none'), join(root, 'never')]
  await assert.rejects(migrate({ from, to, etcd: {} }), /there is no store/)
  const noEtcd = { from: 'https://127.0.0.1:1', to, etcd: { caFile: join(root, 'no.crt') } }
  await assert.rejects(migrate(noEtcd), /no\.crt/)
  for (const place of [from, to]) assert.equal(existsSync(place), false, place)
  for (const place of ['', 'ftp://h', 'localhost:2379'])
    for (const options of [
      { from: place, to },
      { from, to: place },
    ])
      await assert.rejects(migrate({ ...options, etcd: {} }), /is neither a directory nor the URL of an etcd/)
})
