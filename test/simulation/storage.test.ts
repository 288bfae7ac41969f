import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { parseFieldSelector } from '../../src/api/objects/field-selector.ts'
import { everything } from '../../src/api/objects/label-selector.ts'
import { createCaches } from '../../src/apiserver/cache/caches.ts'
import { sleep } from '../../src/base/clock.ts'
import type { SimulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { openStorage } from '../../src/storage/open.ts'
import { startCompactor } from '../../src/storage/periodic-compaction.ts'
import { explore } from './explore.ts'

/** Two writers at work on a few keys, and a watcher that keeps a copy from events alone, sometimes starting anew. */
async function watchersCopy(runtime: SimulatedRuntime, fieldSelector: string): Promise<void> {
  const { random, clock } = runtime
  const storage = await openStorage({ runtime, driver: 'memory' })
  const stop = startCompactor(runtime, storage, { keepMs: 3000, everyMs: 1000 })
  const caches = await createCaches(runtime, storage)
  const maps = caches.resource('configmaps')
  const matches = (object: KubeObject) => object['data'].n % 3 !== 0
  const selection = {
    labels: everything,
    fields: parseFieldSelector(fieldSelector),
    fieldsOf: (object: KubeObject) => ({ chosen: String(matches(object)) }),
    namespaced: true,
  }

  async function writer(): Promise<void> {
    for (let i = 0; i < 25; i++) {
      const name = `m${Math.floor(random.float() * 5)}`
      const key = `/registry/configmaps/default/${name}`
      const current = maps.get(key)
      const object = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name },
        data: { n: Math.floor(random.float() * 9) },
      }
      const expectRevision = current?.revision ?? 0
      if (current && random.float() < 0.3) await storage.write({ type: 'delete', key, expectRevision })
      else await storage.write({ type: 'put', key, value: caches.encode(object), expectRevision })
      if (random.float() < 0.3) await sleep(clock, random.float() * 1000)
    }
  }

  const copy = new Map<string, string>()
  let seen = 0
  const end = new AbortController()
  async function watcher(): Promise<void> {
    let from: number | 'initial' = 'initial'
    while (!end.signal.aborted) {
      const cut = new AbortController()
      const signal = AbortSignal.any([end.signal, cut.signal])
      if (from === 'initial') copy.clear()
      const reader = maps.watch({ from, kind: 'ConfigMap', apiVersion: 'v1', bookmarks: true, selection, signal })
      for (let event = await reader.next(); event; event = await reader.next()) {
        if (event.type === 'ERROR') {
          from = 'initial'
          break
        }
        const { name = '', resourceVersion } = event.object.metadata
        const revision = Number(resourceVersion)
        if (from !== 'initial' || event.type === 'BOOKMARK') assert.ok(revision >= seen, 'the revision never goes back')
        if (event.type === 'DELETED') assert.ok(copy.delete(name), `${name} was known`)
        else if (event.type !== 'BOOKMARK') {
          assert.equal(copy.has(name), event.type === 'MODIFIED', `${event.type} ${name}`)
          copy.set(name, resourceVersion!)
        }
        if (from !== 'initial' || event.type === 'BOOKMARK') {
          seen = revision
          from = revision
        }
        if (random.float() < 0.1) cut.abort()
      }
      reader.close()
      if (from === 'initial') continue
      if (random.float() < 0.1) await sleep(clock, 5000)
    }
  }

  const watching = watcher()
  await Promise.all([writer(), writer()])
  await sleep(clock, 80_000)
  end.abort()
  await watching
  stop()
  const expected = maps.list().filter(({ object }) => matches(object))
  assert.deepEqual(
    [...copy].sort(),
    expected.map(({ object }) => [object.metadata.name, object.metadata.resourceVersion]),
  )
}

for (const [found, fieldSelector] of [
  ['by what its selector fixes', 'chosen=true'],
  ['by the log', 'chosen!=false'],
] as const)
  test(`a watcher that keeps a copy has the truth in the end, told ${found}, in every order`, async (t) => {
    const options = { seeds: 300, twiceEvery: 30, say: (line: string) => t.diagnostic(line) }
    await explore((runtime) => runtime.complete(watchersCopy(runtime, fieldSelector)), options)
  })
