/**
 * An API server whose caches lag behind a store that another one writes to: nothing reaches them but its own writes, and what is
 * there when it asks the store whether it is fresh. Whatever answers without asking is wrong here every time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liveRuntime } from '../../src/base/live-runtime.ts'
import { openStorage } from '../../src/storage/open.ts'
import { type Storage, type StorageEvent, type StorageSubscriber, StoreError } from '../../src/storage/storage.ts'
import { startTestApi, type TestApi } from '../harness.ts'

interface Lagging extends Storage {
  /** How often it was asked whether it is fresh. */
  readonly questions: number
  /** Gives up what was not told, as a compaction does. */
  forget(): Promise<void>
}

function lagging(storage: Storage): Lagging {
  let held: { readonly events: readonly StorageEvent[]; readonly revision: number }[] = []
  let told: StorageSubscriber | undefined
  let questions = 0
  const tell = () => {
    const all = held
    held = []
    for (const { events, revision } of all) told?.events(events, revision)
  }
  return {
    ...storage,
    get revision() {
      return storage.revision
    },
    get compactedRevision() {
      return storage.compactedRevision
    },
    get failure() {
      return storage.failure
    },
    async write(write) {
      const result = await storage.write(write)
      if (result.ok) tell()
      return result
    },
    get questions() {
      return questions
    },
    async fresh() {
      questions++
      tell()
    },
    subscribe(prefix, after, subscriber) {
      told = subscriber
      return storage.subscribe(prefix, after, {
        ...subscriber,
        events: (events, revision) => held.push({ events, revision }),
      })
    },
    async forget() {
      held = []
      const { items, revision } = await storage.range('/registry/', '/registry0')
      told?.reset?.(items, revision)
    },
  }
}

const MAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, k = '0') => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { k } })
const MERGE = { 'content-type': 'application/merge-patch+json' }

async function servers(): Promise<{ writer: TestApi; behind: TestApi; store: Lagging; stop(): Promise<void> }> {
  const runtime = liveRuntime()
  const storage = await openStorage({ runtime, driver: 'memory' })
  const store = lagging(storage)
  const writer = await startTestApi(runtime, { storage })
  await writer.namespace('default')
  const behind = await startTestApi(runtime, { storage: store })
  const stop = async () => {
    await behind.server.stop()
    await writer.stop()
  }
  return { writer, behind, store, stop }
}

test('a GET, a list and a watch without a version know what another server was answered', async () => {
  const { writer, behind, stop } = await servers()
  await writer.request('POST', MAPS, configMap('a'))
  assert.equal((await behind.request('GET', `${MAPS}/a`)).code, 200)
  await writer.request('POST', MAPS, configMap('b'))
  assert.equal((await behind.request('GET', MAPS)).body.items.length, 2)
  await writer.request('POST', MAPS, configMap('c'))
  assert.equal((await behind.request('GET', `${MAPS}?fieldSelector=metadata.name%3Dc`)).body.items.length, 1)
  await writer.request('POST', MAPS, configMap('d'))
  assert.equal((await behind.request('GET', `${MAPS}/d?resourceVersion=0`)).code, 404, 'any version will do')
  const ending = new AbortController()
  const names: string[] = []
  for await (const event of await behind.watch(`${MAPS}?watch=1`, ending.signal)) {
    names.push(event.object.metadata.name ?? '')
    if (names.length === 4) break
  }
  ending.abort()
  assert.deepEqual(names, ['a', 'b', 'c', 'd'])
  const { body } = await writer.request('POST', MAPS, configMap('e'))
  const version = body.metadata.resourceVersion
  assert.equal((await behind.request('GET', `${MAPS}?resourceVersion=${version}`)).body.items.length, 5)
  await stop()
})

test('nothing is answered by an older state: neither an error, nor that there is nothing to do', async () => {
  const { writer, behind, stop } = await servers()
  const { body: made } = await writer.request('POST', MAPS, configMap('a', '1'))
  await behind.request('GET', `${MAPS}/a`)
  await writer.request('PATCH', `${MAPS}/a`, { data: { k: '2' } }, MERGE)
  const again = await behind.request('PATCH', `${MAPS}/a`, { data: { k: '1' } }, MERGE)
  assert.ok(Number(again.body.metadata.resourceVersion) > Number(made.metadata.resourceVersion) + 1, 'it was written')
  const { body: newer } = await writer.request('PATCH', `${MAPS}/a`, { data: { k: '3' } }, MERGE)
  assert.equal((await behind.request('PUT', `${MAPS}/a`, { ...newer, data: { k: '4' } })).code, 200)
  await writer.request('POST', MAPS, configMap('b'))
  assert.equal((await behind.request('PATCH', `${MAPS}/b`, { data: { k: '1' } }, MERGE)).code, 200)
  await writer.request('POST', MAPS, configMap('c'))
  assert.equal((await behind.request('DELETE', `${MAPS}/c`)).code, 200)
  await writer.request('POST', MAPS, configMap('d'))
  assert.equal((await behind.request('POST', `${MAPS}?dryRun=All`, configMap('d'))).code, 409)
  await writer.request('DELETE', `${MAPS}/a`)
  assert.equal((await behind.request('DELETE', `${MAPS}/a?dryRun=All`)).code, 404)
  assert.equal((await behind.request('PATCH', `${MAPS}/a`, { data: { k: '4' } }, MERGE)).code, 404)
  await stop()
})

test('a quota and a limit range that another server was given hold at once, and a quota that it charges is never exceeded', async () => {
  const { writer, behind, store, stop } = await servers()
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { configmaps: '3' } },
  }
  const { body: made } = await writer.request('POST', quotas, quota)
  const counted = { ...made, status: { hard: { configmaps: '3' }, used: { configmaps: '0' } } }
  await writer.request('PUT', `${quotas}/q/status`, counted)
  assert.equal((await behind.request('POST', MAPS, configMap('a'))).code, 201)
  const codes: number[] = []
  for (const [i, server] of [writer, behind, writer, behind].entries())
    codes.push((await server.request('POST', MAPS, configMap(`b${i}`))).code)
  assert.deepEqual(codes, [201, 201, 403, 403])
  await writer.request('DELETE', `${quotas}/q`)
  assert.equal((await behind.request('POST', MAPS, configMap('c'))).code, 201, 'one that is gone limits nothing')
  const range = { limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } }] }
  await writer.request('POST', '/api/v1/namespaces/default/limitranges', {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'r' },
    spec: range,
  })
  const pod = (name: string, resources: object) =>
    behind.request('POST', '/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i', resources }] },
    })
  assert.equal((await pod('large', { limits: { cpu: '2' } })).code, 403)
  const before = store.questions
  assert.equal((await pod('small', {})).body['spec'].containers[0].resources.limits.cpu, '500m')
  assert.equal(store.questions - before, 1, 'one question is for both')
  await stop()
})

test('a write of which nobody knows whether it was done is not decided anew by what it may have done itself', async () => {
  const runtime = liveRuntime()
  const storage = await openStorage({ runtime, driver: 'memory' })
  let isCut = false
  const cut: Storage = {
    ...lagging(storage),
    async write(write) {
      const result = await storage.write(write)
      if (isCut) throw new StoreError('the connection was cut')
      return result
    },
  }
  const api = await startTestApi(runtime, { storage: cut })
  await api.namespace('default')
  const { body } = await api.request('POST', MAPS, configMap('a'))
  await api.request('GET', `${MAPS}/a`)
  isCut = true
  const written = { ...body, data: { k: '1' } }
  assert.equal((await api.request('PUT', `${MAPS}/a`, written)).code, 500)
  assert.equal((await api.request('DELETE', `${MAPS}/a`)).code, 500)
  await api.stop()
})

test('a delete keeps to its preconditions when another server made the object anew', async () => {
  const { writer, behind, stop } = await servers()
  const { body: first } = await writer.request('POST', MAPS, configMap('a'))
  await behind.request('GET', `${MAPS}/a`)
  await writer.request('DELETE', `${MAPS}/a`)
  await writer.request('POST', MAPS, configMap('a'))
  const preconditions = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: first.metadata.uid } }
  assert.equal((await behind.request('DELETE', `${MAPS}/a`, preconditions)).code, 409)
  assert.equal((await writer.request('GET', `${MAPS}/a`)).code, 200)
  await stop()
})

test('caches that missed what the store gave up are right again, and watches begin anew', async () => {
  const { writer, behind, store, stop } = await servers()
  for (const name of ['kept', 'changed', 'gone']) await writer.request('POST', MAPS, configMap(name))
  const listed = await behind.request('GET', MAPS)
  const from = listed.body.metadata.resourceVersion
  const ending = new AbortController()
  const watch = await behind.watch(`${MAPS}?watch=1&resourceVersion=${from}`, ending.signal)
  await writer.request('PATCH', `${MAPS}/changed`, { data: { k: '1' } }, MERGE)
  await writer.request('DELETE', `${MAPS}/gone`)
  await writer.request('POST', MAPS, configMap('made'))
  await store.forget()
  for await (const event of watch) assert.fail(`the watch went on with ${event.type} over a gap`)
  const { body } = await behind.request('GET', `${MAPS}?resourceVersion=0`)
  const items: readonly { metadata: { name: string }; data: { k: string } }[] = body.items
  assert.deepEqual(
    items.map(({ metadata, data }) => `${metadata.name} ${data.k}`),
    ['changed 1', 'kept 0', 'made 0'],
  )
  const again = await behind.request('GET', `${MAPS}?watch=1&resourceVersion=${from}&timeoutSeconds=1`)
  assert.match(again.text, /"code":410/)
  await stop()
})
