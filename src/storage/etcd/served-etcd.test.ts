import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { credentials, loadPackageDefinition, type ServiceClientConstructor, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { liveRuntime } from '../../base/live-runtime.ts'
import { createEngine } from '../engine.ts'
import { memoryTables } from '../memory.ts'
import { serveEtcd } from './served-etcd.ts'

const PROTO = fileURLToPath(new URL('./protos/etcd.proto', import.meta.url))

test('a request that is larger than etcd takes is refused before it is held in memory; the next is answered', async (t) => {
  const runtime = liveRuntime()
  const store = createEngine(runtime, memoryTables(runtime))
  const served = serveEtcd(store, '3.7.3')
  const server = createServer((socket) => served.take(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const services = loadPackageDefinition(loadSync(PROTO, { keepCase: true, defaults: true }))['etcdserverpb']
  const { KV } = services as unknown as Record<string, ServiceClientConstructor>
  assert.ok(KV)
  const client = new KV(`127.0.0.1:${(server.address() as AddressInfo).port}`, credentials.createInsecure())
  t.after(async () => {
    client.close()
    served.stop()
    server.close()
    await store.close()
  })
  const asked = client as unknown as { Range(request: object, done: (error: { code: number } | null) => void): void }
  const range = (key: Buffer) =>
    new Promise<number>((resolve) => asked.Range({ key }, (error) => resolve(error?.code ?? status.OK)))
  assert.equal(await range(Buffer.alloc(3 << 20, 'a')), status.RESOURCE_EXHAUSTED)
  assert.equal(await range(Buffer.from('a')), status.OK)
})

test('what reads is answered as JSON too, under the prefix that keys have there, as an etcd 3.7.3 was heard to (2026-11-27)', async (t) => {
  const runtime = liveRuntime()
  const store = createEngine(runtime, memoryTables(runtime))
  t.after(() => store.close())
  const first = store.revision + 1
  for (const name of ['a', 'b'])
    await store.write({ type: 'put', key: `/registry/pods/${name}`, value: Buffer.from('{}'), expectRevision: 0 })
  const served = serveEtcd(store, '3.7.3', '/other')
  t.after(served.stop)
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const ask = async (path: string, body: string) => {
    const answer = await served.json(path, body)
    return [answer?.status, JSON.parse(answer?.body ?? 'null')]
  }
  const header = { cluster_id: '1', member_id: '1', raft_term: '2', revision: String(store.revision) }
  const range = (more: object) => ask('/v3/kv/range', JSON.stringify(more))
  assert.deepEqual(await range({ key: base64('/'), rangeEnd: base64('0'), limit: '1', unknown: 1 }), [
    200,
    {
      header,
      kvs: [
        {
          key: base64('/other/pods/a'),
          create_revision: String(first),
          mod_revision: String(first),
          version: '1',
          value: base64('{}'),
        },
      ],
      more: true,
      count: '2',
    },
  ])
  const [, one] = await range({ key: base64('/other/pods/b'), keys_only: true })
  assert.equal(one.kvs[0].key, base64('/other/pods/b'))
  for (const none of ['/registry/pods/b', '/other/pods/c', '/other'])
    assert.deepEqual(await range({ key: base64(none) }), [200, { header }], none)
  assert.equal((await range({ key: base64('/other/pods/b'), range_end: base64('\0') }))[1].count, '1')
  assert.equal((await range({ key: base64('/z'), range_end: base64('\0') }))[1].count, undefined)
  assert.deepEqual(await range({}), [400, { code: 3, message: 'etcdserver: key is not provided' }])
  assert.equal((await range({ key: 1 }))[0], 400)
  assert.equal((await ask('/v3/kv/range', 'x'))[0], 400)
  assert.deepEqual((await ask('/v3/kv/foo', '{}'))[0], 403)
  assert.deepEqual(await ask('/v3/foo', '{}'), [404, { code: 5, message: 'Not Found' }])
  assert.equal((await ask('/v3/maintenance/status', '{}'))[1].version, '3.7.3')
  assert.match(await served.metrics(), /^etcd_debugging_mvcc_current_revision \d+$/m)
})
