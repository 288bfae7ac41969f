/** An etcd that knows its clients by the names in their certificates, and lets this one touch what it needs alone. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { issue } from '../../src/cluster/certificate.ts'
import { tellsProgress } from '../../src/storage/etcd/changes.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { StoreError } from '../../src/storage/storage.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const runtime = liveRuntime({ log: { write: () => {} } })
const folder = mkdtempSync(join(tmpdir(), 'skiff-auth-'))
const undo: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true, force: true })]
after(async () => {
  for (let end = undo.pop(); end !== undefined; end = undo.pop()) await end()
})

const write = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const ca = issue(runtime, { commonName: 'etcd-ca', usage: 'ca', validDays: 1 })
const caFile = write('ca.crt', ca.cert)

function certificateOf(commonName: string, usage: 'server' | 'client', issuer = ca) {
  const hosts = usage === 'server' ? { hosts: ['127.0.0.1', 'localhost'] } : {}
  const { cert, key } = issue(runtime, { commonName, usage, ...hosts, validDays: 1 }, issuer)
  return { certFile: write(`${commonName}.crt`, cert), keyFile: write(`${commonName}.key`, key) }
}

test('a role for its prefix, its journal and the marker of compactions is enough; what lacks is said in words', {
  skip: lacks.etcd(),
}, async (t) => {
  const serving = certificateOf('etcd', 'server')
  const etcd = await startEtcd({ tls: { ca: caFile, cert: serving.certFile, key: serving.keyFile } })
  undo.push(etcd.stop)
  const root = certificateOf('root', 'client')
  const ctl = (...args: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync(
      'etcdctl',
      ['--endpoints', etcd.servers, '--cacert', caFile, '--cert', root.certFile, '--key', root.keyFile, ...args],
      { env: { ...process.env, ETCDCTL_API: '3' } },
    )
    assert.equal(status, 0, stderr.toString())
    return stdout.toString()
  }
  ctl('user', 'add', 'root', '--no-password')
  ctl('user', 'grant-role', 'root', 'root')
  for (const role of ['cluster', 'other']) ctl('role', 'add', role)
  ctl('role', 'grant-permission', 'cluster', '--prefix=true', 'readwrite', '/registry/')
  ctl('role', 'grant-permission', 'cluster', '--prefix=true', 'readwrite', '/skiff.dev/journal/registry/')
  ctl('role', 'grant-permission', 'cluster', 'readwrite', 'compact_rev_key')
  ctl('role', 'grant-permission', 'other', '--prefix=true', 'readwrite', '/other/')
  for (const [user, role] of [
    ['skiff', 'cluster'],
    ['stranger', 'other'],
  ] as const) {
    ctl('user', 'add', user, '--no-password')
    ctl('user', 'grant-role', user, role)
  }
  const version: string = JSON.parse(ctl('endpoint', 'status', '-w', 'json'))[0].Status.version
  ctl('auth', 'enable')
  const own = { servers: etcd.servers, caFile, ...certificateOf('skiff', 'client') }
  const isLacking = (error: Error) =>
    error instanceof StoreError && /refuses what this client asks .* begin with \/registry\//.test(error.message)
  await assert.rejects(openEtcd(runtime, { ...own, ...certificateOf('stranger', 'client') }), isLacking)
  if (!tellsProgress(version)) {
    await assert.rejects(openEtcd(runtime, own), (error: Error) => isLacking(error) && /every key/.test(error.message))
    ctl('role', 'grant-permission', 'cluster', '--prefix=true', 'read', '')
  }

  const storage = await openEtcd(runtime, { ...own, compactEveryMs: 300 })
  undo.push(() => storage.close())
  const write = { type: 'put', key: '/registry/a', value: Buffer.from('a') } as const
  const made = await storage.write({
    ...write,
    expectRevision: 0,
    leaseSeconds: 60,
    journal: () => ({ shared: '', own: 'j' }),
  })
  assert.ok(made.ok)
  await storage.fresh()
  const gone = await storage.write({ ...write, expectRevision: made.revision, thenDelete: true })
  assert.ok(gone.ok)
  assert.equal((await storage.history('/registry/', made.revision)).events.length, 2)
  // What is not for its eyes moves the revision too.
  ctl('put', '/foreign', 'x')
  await storage.fresh()
  assert.ok(storage.revision > gone.revision)
  assert.ok(((await storage.size?.()) ?? 0) > 0)
  // Some versions let root alone compact.
  const isForRoot = await storage.compact(made.revision).then(() => false, isLacking)
  t.diagnostic(`etcd ${version}: ${isForRoot ? 'root alone compacts' : 'any client that may write compacts'}`)
  if (isForRoot) ctl('user', 'grant-role', 'skiff', 'root')
  while (storage.compactedRevision <= made.revision) await new Promise((resolve) => setTimeout(resolve, 20))
  if (isForRoot) ctl('user', 'revoke-role', 'skiff', 'root')
  assert.equal((await storage.journal(0)).length, 1)

  // A right that is taken away is missed in words, and all goes on when it is given back.
  const taken = ['revoke-permission', 'cluster', '--prefix=true', '/registry/'] as const
  ctl('role', ...taken)
  await assert.rejects(storage.write({ ...write, expectRevision: 0 }), isLacking)
  ctl('role', 'grant-permission', 'cluster', '--prefix=true', 'readwrite', '/registry/')
  assert.ok((await storage.write({ ...write, expectRevision: 0 })).ok)
  await storage.fresh()

  // Where a subscriber is behind then, what it has missed cannot be told: the store has failed, and writes do not wait for it.
  const another = await openEtcd(runtime, { ...own, compactEveryMs: 0 })
  undo.push(() => another.close())
  const since = another.revision
  assert.ok((await another.write({ ...write, key: '/registry/b', expectRevision: 0 })).ok)
  ctl('role', ...taken)
  if (!tellsProgress(version)) ctl('role', 'revoke-permission', 'cluster', '--prefix=true', '')
  const told = Promise.withResolvers<unknown>()
  another.subscribe('/registry/', since, { events: () => {}, failed: told.resolve })
  const why = await told.promise
  assert.ok(why instanceof Error && isLacking(why), String(why))
  assert.equal(another.failure, why)
  await assert.rejects(another.write({ ...write, key: '/registry/c', expectRevision: 0 }), isLacking)
})

test('certificates that were renewed in their files are shown with the next connection, half-written ones are waited for', {
  skip: lacks.etcd(),
  timeout: 120_000,
}, async (t) => {
  const before = issue(runtime, { commonName: 'before', usage: 'ca', validDays: 1 })
  const trusted = write('renewed-ca.crt', before.cert)
  const serving = certificateOf('renewed-etcd', 'server', before)
  const etcd = await startEtcd({ tls: { ca: trusted, cert: serving.certFile, key: serving.keyFile } })
  undo.push(etcd.stop)
  const own = certificateOf('renewed', 'client', before)
  const told = new EventEmitter()
  const { log } = liveRuntime({ log: { write: (line) => void (line.includes('cannot be used') && told.emit('half')) } })
  const storage = await openEtcd(
    { ...runtime, log },
    {
      ...{ servers: etcd.servers, caFile: trusted, ...own, compactEveryMs: 0 },
      onState: ({ type }) => told.emit(type),
    },
  )
  undo.push(() => storage.close())
  const put = { type: 'put', value: Buffer.from('a'), expectRevision: 0 } as const
  assert.ok((await storage.write({ ...put, key: '/registry/a' })).ok)

  // Another authority for all; of the client's pair only the certificate is there at first.
  const renewed = issue(runtime, { commonName: 'after', usage: 'ca', validDays: 1 })
  const { cert, key } = issue(runtime, { commonName: 'renewed', usage: 'client', validDays: 1 }, renewed)
  const half = Promise.all([once(told, 'waiting', t), once(told, 'half', t)])
  await etcd.members[0]?.kill()
  write('renewed-ca.crt', renewed.cert)
  certificateOf('renewed-etcd', 'server', renewed)
  writeFileSync(own.certFile, cert)
  await etcd.members[0]?.start()
  await half
  const well = once(told, 'well', t)
  writeFileSync(own.keyFile, key)
  await well
  assert.ok((await storage.write({ ...put, key: '/registry/c' })).ok)
})
