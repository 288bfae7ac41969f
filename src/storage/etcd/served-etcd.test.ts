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
