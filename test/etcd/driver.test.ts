/** What the driver does beside the contract that all drivers have (contract.test.ts). */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { type EtcdStorageOptions, openEtcd } from '../../src/storage/etcd/etcd.ts'
import { type KeyValue, NoRoomError, type Storage, StoreError } from '../../src/storage/storage.ts'
import { lacks } from '../machine.ts'
import { type EtcdCluster, type EtcdClusterOptions, startEtcd } from './member.ts'
import { startProxy } from './proxy.ts'

const skip = lacks.etcd()
const runtime = liveRuntime({ log: { write: () => {} } })
const folder = mkdtempSync(join(tmpdir(), 'skiff-driver-'))
const undo: (() => Promise<unknown>)[] = []
after(async () => {
  for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
  rmSync(folder, { recursive: true, force: true })
})

async function started(options: EtcdClusterOptions = {}): Promise<EtcdCluster> {
  const etcd = await startEtcd(options)
  undo.push(etcd.stop)
  return etcd
}

async function opened(options: EtcdStorageOptions): Promise<Storage> {
  const storage = await openEtcd(runtime, { compactEveryMs: 0, ...options })
  undo.push(() => storage.close())
  return storage
}

const put = (storage: Storage, name: string, value = 'v', expectRevision = 0) =>
  storage.write({ type: 'put', key: `/registry/${name}`, value: Buffer.from(value), expectRevision })
const namesOf = async (storage: Storage) =>
  (await storage.range('/registry/', '/registry0')).items.map(({ key }) => key.slice('/registry/'.length))
const moment = () => new Promise((resolve) => setTimeout(resolve, 20))

test('another process is heard of, by events and by freshness', { skip }, async () => {
  const { servers } = await started()
  const [one, two] = [await opened({ servers }), await opened({ servers })]
  const heard: string[] = []
  two.subscribe('/registry/', two.revision, { events: (events) => heard.push(...events.map(({ key }) => key)) })
  for (let i = 0; i < 50; i++) {
    const result = await put(one, `k${i}`)
    await two.fresh()
    assert.ok(result.ok && two.revision >= result.revision)
    assert.equal(heard.length, i + 1)
  }
  // What is no concern of this cluster moves the revision too.
  const foreign = await opened({ servers, prefix: '/other' })
  await put(foreign, 'x')
  await two.fresh()
  assert.equal(two.revision, foreign.revision)
  assert.equal(heard.length, 50)
  assert.deepEqual(await namesOf(foreign), ['x'])
  assert.equal((await namesOf(two)).length, 50)
})

test('between a put and the delete that follows at once another process may write: then its state stays', {
  skip,
}, async () => {
  const { servers } = await started()
  const [one, two] = [await opened({ servers }), await opened({ servers })]
  const made = await put(one, 'a', 'first')
  assert.ok(made.ok)
  const revisions: number[] = []
  two.subscribe('/registry/', two.revision, {
    events(events) {
      // As soon as the mark is heard of, and most often before the delete.
      for (const { type, key, revision, value } of events)
        if (type === 'put' && Buffer.from(value ?? []).toString() === 'mark') {
          revisions.push(revision)
          void put(two, key.slice('/registry/'.length), 'theirs', revision)
        }
    },
  })
  let stayed = 0
  for (let i = 0; i < 40; i++) {
    const name = `n${i}`
    const created = await put(one, name)
    assert.ok(created.ok)
    const key = `/registry/${name}`
    const removal = {
      type: 'put',
      key,
      value: Buffer.from('mark'),
      expectRevision: created.revision,
      thenDelete: true,
    } as const
    const result = await one.write(removal)
    const { item } = await one.get(key)
    if (result.ok) assert.equal(item, undefined)
    else {
      stayed++
      assert.equal(textOf(result.current), 'theirs')
      assert.equal(textOf(item), 'theirs')
    }
  }
  assert.ok(revisions.length > 0)
  console.log(`the other process was between ${stayed} of 40 times`)
})

const textOf = (item: KeyValue | undefined) => item && Buffer.from(item.value).toString()

test('history is compacted once for all, by the marker that Kubernetes has', { skip }, async () => {
  const { servers, members } = await started()
  const every = { compactEveryMs: 300 }
  const [one, two] = [await opened({ servers, ...every }), await opened({ servers, ...every })]
  const first = await put(one, 'a')
  assert.ok(first.ok)
  const marker = () => etcdctl(members[0]?.url ?? '', 'get', 'compact_rev_key', '--print-value-only').trim()
  while (one.compactedRevision <= first.revision || two.compactedRevision <= first.revision) await moment()
  assert.ok(Number(marker()) >= Math.min(one.compactedRevision, two.compactedRevision))
  await assert.rejects(one.range('/registry/', '/registry0', { revision: first.revision }), /compacted/)
  // A version of the marker for each round, though two have looked.
  const json = JSON.parse(etcdctl(members[0]?.url ?? '', 'get', 'compact_rev_key', '-w', 'json'))
  const revisions = json.kvs[0]
  assert.ok(revisions.version >= 2)
})

const etcdctl = (endpoint: string, ...args: readonly string[]): string => {
  const { stdout, stderr, status } = spawnSync('etcdctl', ['--endpoints', endpoint, ...args], {
    env: { ...process.env, ETCDCTL_API: '3' },
  })
  assert.equal(status, 0, stderr.toString())
  return stdout.toString()
}

test('a process that was cut off for longer than history is kept reads everything anew', { skip }, async () => {
  const { servers, members } = await started()
  const one = await opened({ servers })
  await put(one, 'kept')
  const gone = await put(one, 'gone')
  const [member] = members
  assert.ok(member !== undefined && gone.ok)
  // The other one does not get its events: its process stands still.
  const script = `
    import { liveRuntime } from '${new URL('../../src/base/live-runtime.ts', import.meta.url).pathname}'
    import { openEtcd } from '${new URL('../../src/storage/etcd/etcd.ts', import.meta.url).pathname}'
    const storage = await openEtcd(liveRuntime(), { servers: '${servers}', compactEveryMs: 0 })
    const say = (what) => process.stdout.write(what + '\\n')
    storage.subscribe('/registry/', storage.revision, {
      events: (events) => events.forEach(({ type, key }) => say(type + ' ' + key)),
      reset: (items) => say('reset ' + items.map(({ key }) => key).join()),
    })
    say('ready')
    setInterval(() => {}, 1000)
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  undo.push(async () => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString()
  })
  while (!said.includes('ready')) await moment()
  child.kill('SIGSTOP')
  await member.kill()
  await member.start()
  await one.fresh()
  assert.ok((await one.write({ type: 'delete', key: '/registry/gone', expectRevision: gone.revision })).ok)
  await put(one, 'made')
  await one.compact(one.revision)
  child.kill('SIGCONT')
  while (!said.includes('reset')) await moment()
  assert.match(said, /reset \/registry\/kept,\/registry\/made/)
})

test('a subscriber that is behind hears everything, though the connection breaks off while it catches up', {
  skip,
}, async () => {
  const { members } = await started()
  const [member] = members
  assert.ok(member !== undefined)
  const proxy = await startProxy(Number(new URL(member.url).port))
  undo.push(proxy.stop)
  const writer = await opened({ servers: member.url })
  const reader = await opened({ servers: `http://127.0.0.1:${proxy.port}` })
  const before = reader.revision
  for (let i = 0; i < 50; i++) await put(writer, `b${i}`)
  await reader.fresh()
  const heard: string[] = []
  const failures: unknown[] = []
  const hasAll = Promise.withResolvers<void>()
  reader.subscribe('/registry/', before, {
    events(events) {
      heard.push(...events.map(({ key }) => key))
      if (heard.length >= 51) hasAll.resolve()
    },
    failed(error) {
      failures.push(error)
      hasAll.resolve()
    },
  })
  proxy.cut()
  await put(writer, 'last')
  await hasAll.promise
  assert.deepEqual(failures, [])
  assert.deepEqual(heard, [...Array.from({ length: 50 }, (_, i) => `/registry/b${i}`), '/registry/last'])
})

test('a write that is left without an answer names the member that it was sent to', { skip }, async () => {
  const { members } = await started()
  const [member] = members
  assert.ok(member !== undefined)
  const proxy = await startProxy(Number(new URL(member.url).port))
  undo.push(proxy.stop)
  const storage = await opened({ servers: `http://127.0.0.1:${proxy.port},${member.url}` })
  proxy.swallow(true)
  await assert.rejects(
    put(storage, 'a'),
    new RegExp(
      `^StoreError: etcd at 127.0.0.1:${proxy.port}: it was left for another member; whether it was done is not known$`,
    ),
  )
  const done = await put(storage, 'b')
  assert.ok(done.ok)
})

test('by certificate: https with an authority, and a certificate to show', { skip }, async () => {
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const ca = issue(runtime, { commonName: 'etcd-ca', usage: 'ca', validDays: 1 })
  const serving = issue(
    runtime,
    { commonName: 'etcd', usage: 'server', hosts: ['127.0.0.1', 'localhost'], validDays: 1 },
    ca,
  )
  const client = issue(runtime, { commonName: 'root', usage: 'client', organizations: [], validDays: 1 }, ca)
  const files = {
    ca: write('ca.crt', ca.cert),
    cert: write('s.crt', serving.cert),
    key: write('s.key', serving.key),
    clientCert: write('c.crt', client.cert),
    clientKey: write('c.key', client.key),
  }
  const { servers } = await started({ tls: files })
  const storage = await opened({ servers, caFile: files.ca, certFile: files.clientCert, keyFile: files.clientKey })
  assert.ok((await put(storage, 'a')).ok)
  assert.deepEqual(await namesOf(storage), ['a'])
  const failing = (options: Partial<EtcdStorageOptions>) => openEtcd(runtime, { servers, startMs: 500, ...options })
  await assert.rejects(
    failing({}),
    (error: Error) => error instanceof StoreError && /etcd cannot be reached/.test(error.message),
  )
  await assert.rejects(failing({ caFile: files.ca }), StoreError)
  // Not that the last try had no time left.
  await assert.rejects(failing({ servers: 'http://127.0.0.1:1' }), /cannot be reached \(connect ECONNREFUSED/)
  await assert.rejects(failing({ caFile: join(folder, 'none') }), /--etcd-cafile cannot be read/)
})

test('an etcd over its quota refuses writes with what is to be done, answers reads and removals, and takes writes once that is done', {
  skip,
}, async () => {
  const { servers } = await started({ args: ['--quota-backend-bytes', String(2 << 20)] })
  const storage = await opened({ servers })
  const made: string[] = []
  const refused = await (async () => {
    for (;;)
      try {
        await put(storage, `big${made.length}`, 'v'.repeat(1 << 20))
        made.push(`big${made.length}`)
      } catch (error) {
        return error
      }
  })()
  assert.ok(refused instanceof NoRoomError)
  assert.equal(
    refused.message,
    'etcdserver: mvcc: database space exceeded: compact and defragment etcd, or give it more --quota-backend-bytes, then etcdctl alarm disarm',
  )
  const [member = ''] = servers.split('//').slice(1)
  assert.deepEqual(await storage.faults?.(), [
    `alarm NOSPACE of the member at ${member}: its database is as large as its quota, so no write is taken: compact and defragment etcd, or give it more --quota-backend-bytes, then etcdctl alarm disarm`,
  ])
  // An etcd whose file grows past the quota between taking a write and applying it keeps that write, and refuses it.
  const kept = await namesOf(storage)
  assert.ok(kept.length <= made.length + 1)
  assert.deepEqual(kept, [...made, `big${made.length}`].slice(0, kept.length))
  assert.deepEqual(kept.slice(0, made.length), made)
  for (const name of kept) {
    const { item } = await storage.get(`/registry/${name}`)
    const gone = await storage.write({
      type: 'delete',
      key: `/registry/${name}`,
      expectRevision: item?.modRevision ?? 0,
    })
    assert.ok(gone.ok)
  }
  await assert.rejects(put(storage, 'small'), NoRoomError)
  await storage.compact(storage.revision)
  for (const args of [['defrag'], ['alarm', 'disarm']])
    assert.equal(
      spawnSync('etcdctl', args, { env: { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: servers } }).status,
      0,
    )
  assert.deepEqual(await storage.faults?.(), [])
  assert.ok((await put(storage, 'small')).ok)
})

test('what the flags may not say', async () => {
  const refused = async (options: EtcdStorageOptions) => {
    try {
      await openEtcd(runtime, options)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.match(await refused({ servers: 'http://10.0.0.1:2379' }), /in the clear/)
  assert.match(await refused({ servers: 'http://127.0.0.1:1,https://127.0.0.1:2' }), /http and https/)
  assert.match(await refused({ servers: 'etcd' }), /is no URL/)
  assert.match(await refused({ servers: 'unix:///x' }), /neither an http nor an https URL/)
  assert.match(await refused({ servers: '' }), /is no URL/)
  assert.match(await refused({ servers: 'https://a/x' }), /more than a host and a port/)
  assert.match(await refused({ servers: 'https://a', certFile: 'x' }), /go together/)
  assert.match(await refused({ servers: 'http://127.0.0.1', caFile: 'x' }), /are for https/)
  for (const prefix of ['', '/', '..', 'two words']) {
    assert.match(await refused({ servers: 'http://127.0.0.1', prefix }), /is no path/, prefix)
  }
})
