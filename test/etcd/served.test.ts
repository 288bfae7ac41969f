/**
 * A store here as clients of etcd are shown it (storage/etcd/served-etcd.ts): the same writes, then the same questions to it and to a
 * real etcd, whose answers are compared whole.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type ClientDuplexStream,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  type ServiceClientConstructor,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { createEngine } from '../../src/storage/engine.ts'
import { serveEtcd } from '../../src/storage/etcd/served-etcd.ts'
import { memoryTables } from '../../src/storage/memory.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { lacks } from '../machine.ts'
import { startEtcd } from './member.ts'

const PROTO = fileURLToPath(new URL('../../src/storage/etcd/protos/etcd.proto', import.meta.url))
const OPTIONS = { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: false }
const services = loadPackageDefinition(loadSync(PROTO, OPTIONS))['etcdserverpb'] as GrpcObject

interface Asked {
  /** The answer without what is each server's own, or the error's words. */
  call(service: string, method: string, request: object): Promise<unknown>
  /** What a watch tells, until as many events have come, or it has ended. */
  watch(create: object, events: number): Promise<unknown>
  close(): void
}

function client(address: string): Asked {
  const clients = new Map(
    ['KV', 'Watch', 'Maintenance', 'Cluster'].map((name) => {
      const Service = services[name] as ServiceClientConstructor
      return [name, new Service(address, credentials.createInsecure())] as const
    }),
  )
  return {
    call: (service, method, request) =>
      new Promise((resolve) => {
        const of = clients.get(service) as unknown as Record<string, (request: object, done: unknown) => void>
        of[method]?.(request, (error: { details: string; code: number } | null, answer: object) =>
          resolve(error === null ? withoutIds(answer) : `${error.code}: ${error.details}`),
        )
      }),
    watch: (create, wanted) =>
      new Promise((resolve) => {
        const of = clients.get('Watch') as unknown as { Watch(): ClientDuplexStream<object, never> }
        const stream = of.Watch()
        const told: unknown[] = []
        let events = 0
        const end = () => {
          stream.cancel()
          resolve(told)
        }
        stream.on('error', () => {})
        stream.on('data', (response: { events: object[]; created: boolean; canceled: boolean }) => {
          if (response.events.length === 0) told.push(withoutIds(response))
          else told.push(...response.events)
          events += response.events.length
          if (events >= wanted || response.canceled) end()
        })
        stream.write({ create_request: create })
      }),
    close: () => {
      for (const one of clients.values()) one.close()
    },
  }
}

const withoutIds = (answer: object): object => {
  const { header, ...rest } = answer as { header: { revision: number } }
  return { revision: header.revision, ...rest }
}

describe('a store shown as an etcd answers as a real etcd', { skip: lacks.etcd() }, () => {
  const closing: (() => unknown)[] = []
  let real: Asked
  let ours: Asked
  let store: Storage
  after(async () => {
    for (const close of closing.toReversed()) await close()
  })

  before(async () => {
    const etcd = await startEtcd()
    closing.push(etcd.stop)
    real = client(etcd.servers.replace('http://', ''))
    const runtime = liveRuntime()
    store = createEngine(runtime, memoryTables(runtime))
    const served = serveEtcd(store, '3.7.3')
    const server = createServer((socket) => served.take(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    ours = client(`127.0.0.1:${(server.address() as AddressInfo).port}`)
    closing.push(
      () => server.close(),
      () => store.close(),
      served.stop,
      () => real.close(),
      () => ours.close(),
    )
    const writes: [string, string | undefined][] = [
      ['/registry/pods/default/b', 'one'],
      ['/registry/pods/default/a', 'two'],
      ['/registry/pods/default/b', 'three'],
      ['/registry/pods/default/c', 'four'],
      ['/registry/pods/default/a', undefined],
      ['/registry/pods/other/b', 'five'],
      ['/registry/pods/default/a', 'a'],
      ['/registry/secrets/default/ä', 'six'],
      ['/registry/pods/default/a', 'seven'],
    ]
    for (const [key, value] of writes) {
      const { item } = await store.get(key)
      const expectRevision = item?.modRevision ?? 0
      const op = { key: Buffer.from(key) }
      if (value === undefined) {
        await store.write({ type: 'delete', key, expectRevision })
        await real.call('KV', 'Txn', { success: [{ request_delete_range: op }] })
      } else {
        await store.write({ type: 'put', key, value: Buffer.from(value), expectRevision })
        await real.call('KV', 'Txn', { success: [{ request_put: { ...op, value: Buffer.from(value) } }] })
      }
    }
  })

  const pods = { key: Buffer.from('/registry/pods/'), range_end: Buffer.from('/registry/pods0') }
  const all = { key: Buffer.of(0), range_end: Buffer.of(0) }
  const RANGES: Record<string, object> = {
    'one key': { key: Buffer.from('/registry/pods/default/a') },
    'a key that is not there': { key: Buffer.from('/registry/pods/default/') },
    'no key': {},
    everything: all,
    'from a key on': { key: Buffer.from('/registry/pods/other/'), range_end: Buffer.of(0) },
    'an end before the start': { key: Buffer.from('b'), range_end: Buffer.from('a') },
    'a prefix, two at most': { ...pods, limit: 2 },
    'a prefix, as many as there are': { ...pods, limit: 4 },
    'the count alone': { ...pods, count_only: true },
    'keys alone': { ...pods, keys_only: true },
    'in descending order': { ...pods, sort_order: 'DESCEND', limit: 3 },
    'by what was changed last': { ...pods, sort_order: 'DESCEND', sort_target: 'MOD', limit: 2 },
    'by what was made first': { ...pods, sort_target: 'CREATE' },
    'by version': { ...all, sort_target: 'VERSION', sort_order: 'DESCEND' },
    'by value': { ...all, sort_target: 'VALUE' },
    'changed since': { ...all, min_mod_revision: 5, max_mod_revision: 9 },
    'made since, one at most': { ...all, min_create_revision: 4, limit: 1 },
    'as it was': { ...pods, revision: 5 },
    'as it was between a deletion and a creation': { ...pods, revision: 6 },
    'as it will be': { ...pods, revision: 99 },
  }
  for (const [name, request] of Object.entries(RANGES))
    test(`range: ${name}`, async () =>
      assert.deepEqual(await ours.call('KV', 'Range', request), await real.call('KV', 'Range', request)))

  const WATCHES: Record<string, [create: object, events: number]> = {
    'all that was': [{ ...all, start_revision: 2 }, 9],
    'with what was before': [{ ...pods, start_revision: 3, prev_kv: true }, 7],
    'without removals': [{ ...pods, start_revision: 5, filters: ['NODELETE'], prev_kv: true }, 4],
    'removals alone': [{ ...pods, start_revision: 2, filters: ['NOPUT'] }, 1],
    'one key': [{ key: Buffer.from('/registry/pods/default/a'), start_revision: 1, watch_id: 7 }, 4],
  }
  for (const [name, [create, events]] of Object.entries(WATCHES))
    test(`watch: ${name}`, async () =>
      assert.deepEqual(await ours.watch(create, events), await real.watch(create, events)))

  test('a watch is told of what comes, in order, and of no more than was asked for', async () => {
    const told = ours.watch({ ...pods, prev_kv: true }, 2)
    // The watch has begun once another one of the same client has.
    await ours.watch({ ...pods, start_revision: 3 }, 1)
    const key = '/registry/pods/default/new'
    const made = await store.write({ type: 'put', key, value: Buffer.from('x'), expectRevision: 0 })
    await store.write({ type: 'put', key: '/registry/secrets/default/s', value: Buffer.from('y'), expectRevision: 0 })
    await store.write({ type: 'delete', key, expectRevision: made.revision })
    const events = (await told) as {
      type?: string
      kv?: { mod_revision: number }
      prev_kv?: { value: Buffer } | null
    }[]
    assert.deepEqual(
      events.flatMap(({ type, kv }) => (type === undefined ? [] : [[type, kv?.mod_revision]])),
      [
        ['PUT', made.revision],
        ['DELETE', made.revision + 2],
      ],
    )
    assert.equal(events[1]?.prev_kv, null)
    assert.equal(events[2]?.prev_kv?.value.toString(), 'x')
  })

  test('what the compaction has dropped is told as etcd tells it', async () => {
    await store.compact(6)
    await real.call('KV', 'Compact', { revision: 6 })
    const past = { ...pods, revision: 4 }
    assert.deepEqual(await ours.call('KV', 'Range', past), await real.call('KV', 'Range', past))
    const [ourEnd, realEnd] = await Promise.all(
      [ours, real].map((asked) => asked.watch({ ...pods, start_revision: 3 }, 1) as Promise<Record<string, unknown>[]>),
    )
    for (const what of ['canceled', 'compact_revision', 'watch_id'])
      assert.equal(ourEnd?.at(-1)?.[what], realEnd?.at(-1)?.[what], what)
  })

  test('writes are refused in one line, and change nothing', async () => {
    const { revision } = store
    const put = { success: [{ request_put: { key: Buffer.from('/registry/x'), value: Buffer.from('y') } }] }
    for (const [method, request] of [
      ['Txn', put],
      ['Compact', { revision: 7 }],
    ] as const)
      assert.equal(
        await ours.call('KV', method, request),
        '7: etcdserver: skiff shows what is stored and takes no writes here: write through kube-apiserver',
      )
    assert.equal(store.revision, revision)
  })
})
