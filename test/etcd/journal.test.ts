/** The journal of deletions in an etcd: what is kept, what goes, what is lost with the process, and who may not write it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { openEtcd } from '../../src/storage/etcd/etcd.ts'
import { startEtcdJournal } from '../../src/storage/etcd/journal.ts'
import { connectMembers } from '../../src/storage/etcd/members.ts'
import { etcdServers } from '../../src/storage/etcd/servers.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

test('the oldest go when there are too many; another server of the cluster reads the same, one of another prefix nothing', {
  skip: lacks.etcd(),
}, async () => {
  const runtime = liveRuntime()
  const cluster = await startEtcd()
  const members = connectMembers(runtime, etcdServers({ servers: cluster.servers }))
  try {
    const journal = startEtcdJournal(runtime, members, '/registry', { entries: 40, bytes: 1000 })
    const revisions = async (of = journal, after = 0) => (await of.read(after)).map(({ revision }) => revision)
    for (let revision = 1; revision <= 300; revision++) journal.add({ revision, text: { shared: 'fo', own: 'ur' } })
    const kept = await revisions()
    assert.ok(kept.length <= 40 + 128 && kept.at(-1) === 300, `${kept}`)
    for (let revision = 301; revision <= 310; revision++) journal.add({ revision, text: { shared: 'fo', own: 'ur' } })
    const later = await revisions()
    assert.ok(later.length <= 40, `${later.length} left`)
    assert.deepEqual(
      later,
      Array.from({ length: later.length }, (_, at) => 310 - later.length + 1 + at),
    )
    journal.add({ revision: 311, text: { shared: '', own: ' '.repeat(900) } })
    journal.add({ revision: 312, text: { shared: '', own: '     ' } })
    journal.add({ revision: 313, text: { shared: '', own: '     ' } })
    assert.deepEqual(await revisions(journal, 310), [311, 312, 313])
    const other = startEtcdJournal(runtime, members, '/registry', { entries: 40, bytes: 1000 })
    assert.deepEqual(await revisions(other), await revisions())
    const elsewhere = startEtcdJournal(runtime, members, '/other', { entries: 40, bytes: 1000 })
    assert.deepEqual(await revisions(elsewhere), [])
  } finally {
    members.close()
    await cluster.stop()
  }
})

test('a store that is closed has written what waited', { skip: lacks.etcd() }, async () => {
  const runtime = liveRuntime()
  const cluster = await startEtcd()
  try {
    const open = () => openEtcd(runtime, { servers: cluster.servers, compactEveryMs: 0 })
    const key = '/registry/a'
    const first = await open()
    await first.write({ type: 'put', key, value: Buffer.from('1'), expectRevision: 0 })
    await first.write({ type: 'delete', key, expectRevision: 2, journal: () => ({ shared: '', own: 'removed' }) })
    await first.close()
    const second = await open()
    assert.deepEqual(
      (await second.journal(0)).map(({ revision, value }) => `${revision} ${value}`),
      ['3 removed'],
    )
    await second.close()
  } finally {
    await cluster.stop()
  }
})
