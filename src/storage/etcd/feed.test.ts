import assert from 'node:assert/strict'
import { test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { StoreError } from '../storage.ts'
import { EtcdError } from './errors.ts'
import { type FeedHost, startFeed } from './feed.ts'
import { createKeys } from './keys.ts'
import type { Members } from './members.ts'
import type { WatchRequest, WatchResponse } from './messages.ts'

const CLUSTER = 7
const KEY = '/registry/configmaps/default/a'

/** Members of which each watch is told by hand; one that is left ends its watch, as a connection that is closed does. */
function watchedBy(addresses: readonly string[], host: Partial<FeedHost> = {}, versions: readonly string[] = []) {
  const runtime = simulatedRuntime(1)
  let at = 0
  let open: { address: string; take(response: WatchResponse): void; ended(error: EtcdError): void } | undefined
  const failures: StoreError[] = []
  const watched: string[] = []
  const sent: WatchRequest[] = []
  const members: Members = {
    get address() {
      return addresses[at] ?? ''
    },
    get version() {
      return versions[at]
    },
    call: () => Promise.reject(new Error('not asked here')),
    watch(take, ended) {
      const own = { address: members.address, take, ended }
      open = own
      watched.push(own.address)
      return {
        send: (request) => void sent.push(request),
        version: (tell) => tell(members.version ?? '3.4.23'),
        close: () => {
          if (open === own) open = undefined
        },
      }
    },
    states: () => Promise.reject(new Error('not asked here')),
    leave(address) {
      if (address !== members.address) return
      at = (at + 1) % addresses.length
      const left = open
      open = undefined
      runtime.scheduler.later('left', () => left?.ended(new EtcdError('Cancelled', status.CANCELLED, false)))
    },
    close: () => {},
  }
  const response = (revision: number, more: Partial<WatchResponse>): WatchResponse => ({
    ...{ header: { cluster_id: CLUSTER, member_id: 1, revision }, created: false, canceled: false },
    ...{ compact_revision: 0, cancel_reason: '', events: [], ...more },
  })
  const feed = startFeed(
    runtime,
    { members, keys: createKeys('/registry') },
    {
      ownValue: (_key, value) => value,
      readAll: () => Promise.reject(new Error('not read here')),
      newest: () => Promise.reject(new Error('not asked here')),
      state: () => {},
      failed: (error) => failures.push(error),
      ...host,
    },
    { revision: 10, clusterId: CLUSTER },
  )
  return {
    ...{ runtime, feed, failures, watched, sent },
    stands: (revision: number) => open?.take(response(revision, { created: true })),
    tells: (revision: number) => {
      const kv = { key: Buffer.from(KEY), value: Buffer.from('{}'), mod_revision: revision, create_revision: revision }
      open?.take(response(revision, { events: [{ type: 'PUT', kv: { ...kv, version: 1 }, prev_kv: null }] }))
    },
    isCompacted: () => open?.take(response(20, { canceled: true, compact_revision: 15 })),
    says: (revision: number) => open?.take(response(revision, {})),
    leaves: () => members.leave(members.address),
  }
}

test('a member that was away and knows less than others answered is no etcd that has lost what it had', async () => {
  const { feed, failures, runtime, stands, tells } = watchedBy(['one', 'two'], { newest: async () => 12 })
  const heard: number[] = []
  feed.subscribe('/registry/', 10, { events: (_events, revision) => heard.push(revision) })
  stands(7)
  await runtime.advance(100)
  tells(11)
  assert.deepEqual([failures, heard], [[], [11]])
  feed.close()
})

test('an etcd whose majority knows less than it did has lost what it had', async () => {
  const { failures, runtime, stands } = watchedBy(['one', 'two'], { newest: async () => 8 })
  stands(7)
  await runtime.advance(100)
  assert.match(failures[0]?.message ?? '', /^etcd is at revision 8, which was at 10: it has lost what it had/)
})

test('while nobody can say how far etcd is, the watch is begun anew', async () => {
  const { failures, runtime, stands, watched } = watchedBy(['one', 'two'], {
    newest: () => Promise.reject(new Error('no answer')),
  })
  stands(7)
  await runtime.advance(100)
  assert.deepEqual([failures, watched], [[], ['one', 'one']])
})

test('where what a watch begins with cannot be judged the next one waits longer each time, and what hinders is told', async () => {
  const states: (string | undefined)[] = []
  const { failures, runtime, stands, watched, feed } = watchedBy(['one'], {
    newest: () => Promise.reject(new Error('no answer')),
    state: (hindrance) => states.push(hindrance?.message),
  })
  for (let ms = 0; ms < 60_000; ms += 10) {
    stands(7)
    await runtime.advance(10)
  }
  // Ten within the first five seconds, and one each second.
  assert.ok(watched.length > 50 && watched.length < 80, `${watched.length} watches`)
  assert.match(states[0] ?? '', /no answer/)
  assert.ok(!states.includes(undefined))
  assert.deepEqual(failures, [])
  feed.close()
})

test('where everything cannot be read anew each try waits longer, and what hinders is told', async () => {
  const states: (string | undefined)[] = []
  let tries = 0
  const { runtime, stands, isCompacted, feed } = watchedBy(['one'], {
    readAll: () => {
      tries++
      return tries < 70 ? Promise.reject(new Error('not now')) : Promise.resolve({ items: [], revision: 20 })
    },
    state: (hindrance) => states.push(hindrance?.message),
  })
  for (let ms = 0; ms < 60_000; ms += 10) {
    stands(20)
    isCompacted()
    await runtime.advance(10)
  }
  assert.ok(tries > 50 && tries < 70, `${tries} tries`)
  assert.match(states.at(-1) ?? '', /not now/)
  assert.equal(states.lastIndexOf(undefined), 0)
  await runtime.advance(20_000)
  stands(20)
  assert.deepEqual([states.at(-1), feed.revision], [undefined, 20])
  feed.close()
})

test('a watch that ends because its member was left is begun at the next one, not at that behind it', async () => {
  const { runtime, leaves, stands, watched, feed } = watchedBy(['one', 'two', 'three'])
  stands(10)
  leaves()
  await runtime.advance(100)
  stands(10)
  assert.deepEqual(watched, ['one', 'two'])
  feed.close()
})

test('a watch that brings nothing of what there is is begun at the next member', async () => {
  const { feed, runtime, stands, tells, watched } = watchedBy(['one', 'two', 'three'])
  stands(10)
  let isReached = false
  void feed.reached(11).then(() => {
    isReached = true
  })
  await runtime.advance(3000)
  assert.deepEqual(watched, ['one'])
  await runtime.advance(2000)
  assert.deepEqual(watched, ['one', 'two'])
  stands(11)
  tells(11)
  await runtime.advance(0)
  assert.ok(isReached)
  // Nothing is waited for any more.
  await runtime.advance(60_000)
  assert.deepEqual(watched, ['one', 'two'])
  feed.close()
})

test('each member is asked for progress where its own version tells it in order, and where not every key of it is watched', async () => {
  const { feed, runtime, stands, says, leaves, sent } = watchedBy(['new', 'old'], {}, ['3.5.16', '3.4.23'])
  const asksProgress = () => sent.some((request) => 'progress_request' in request)
  const isEverything = () => {
    const [begun] = sent
    return begun !== undefined && 'create_request' in begun && begun.create_request.key.toString() === '\0'
  }
  stands(10)
  const reached: number[] = []
  for (const revision of [11, 12]) void feed.reached(revision).then(() => reached.push(revision))
  assert.deepEqual([isEverything(), asksProgress()], [false, true])
  says(11)
  await runtime.advance(0)
  assert.deepEqual(reached, [11])
  sent.length = 0
  leaves()
  await runtime.advance(100)
  stands(10)
  says(12)
  await runtime.advance(0)
  assert.deepEqual([isEverything(), asksProgress(), reached], [true, false, [11]])
  feed.close()
})

test('what etcd said is told once where a read has put it into words already', async () => {
  const states: (string | undefined)[] = []
  const said = new EtcdError('no leader', status.UNAVAILABLE, false)
  const { runtime, stands, isCompacted, feed } = watchedBy(['one'], {
    readAll: () => Promise.reject(new StoreError(`etcd at one: ${said.message}`, { cause: said })),
    state: (hindrance) => states.push(hindrance?.message),
  })
  for (let ms = 0; ms < 3000; ms += 10) {
    stands(20)
    isCompacted()
    await runtime.advance(10)
  }
  assert.match(states.at(-1) ?? '', /^etcd cannot be reached \(no leader\): /)
  feed.close()
})
