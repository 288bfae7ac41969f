import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedRuntime } from '../../base/simulated-runtime.ts'
import { createMemory } from '../../storage/memory.ts'
import { openStorage } from '../../storage/open.ts'
import type { Storage } from '../../storage/storage.ts'
import { REPLICAS_PREFIX, readReplicas, startReplica } from './replicas.ts'

async function fixture() {
  const runtime = simulatedRuntime(1)
  const storage = await openStorage({ runtime, driver: 'memory', memory: createMemory() })
  const ending = new AbortController()
  const start = (url: string, seenBy: Storage = storage) =>
    runtime.complete(startReplica({ runtime, storage: seenBy, url, host: 'h', signal: ending.signal }))
  const read = () => runtime.complete(readReplicas(storage))
  return { runtime, storage, start, read, end: () => ending.abort() }
}

test('each server is told of while it lives; one that stops is gone at once, one that was killed within half a minute', async () => {
  const { runtime, start, read, end } = await fixture()
  await start('https://b')
  const a = await start('https://a')
  await runtime.advance(60_000)
  const told = await read()
  assert.deepEqual(
    told.map(({ url }) => url),
    ['https://a', 'https://b'],
  )
  // They write at the same moment: neither has seen the other's key then.
  assert.ok(told.every(({ behind }) => behind <= 1))
  assert.equal(told[0]?.id, a.id)
  assert.equal(told[0]?.at, runtime.clock.now())
  end()
  await runtime.complete(a.stop())
  assert.deepEqual(
    (await read()).map(({ url }) => url),
    ['https://b'],
  )
  await runtime.advance(31_000)
  assert.deepEqual(await read(), [])
})

test('what is being told of a server when it stops does not outlive it, nor does a write whose answer was lost', async () => {
  const { runtime, storage, read } = await fixture()
  for (const isLost of [false, true]) {
    let answers = Promise.resolve()
    const slow: Storage = {
      ...storage,
      revision: 1,
      async write(write) {
        await answers
        const result = await storage.write(write)
        if (isLost && write.type === 'put' && write.expectRevision > 0) throw new Error('no answer')
        return result
      },
    }
    let tell = () => {}
    const kubelets = {
      areThere: false,
      onChange(listener: () => void) {
        tell = listener
        return () => {}
      },
    }
    const ending = new AbortController()
    const own = await runtime.complete(
      startReplica({ runtime, storage: slow, url: 'https://a', host: 'h', signal: ending.signal, kubelets }),
    )
    const answered = Promise.withResolvers<void>()
    answers = answered.promise
    tell()
    await runtime.advance(0)
    ending.abort()
    const stopped = own.stop()
    answered.resolve()
    await runtime.complete(stopped)
    assert.deepEqual(await read(), [])
  }
})

test('one that has not seen what others wrote is told to be behind by that', async () => {
  const { runtime, storage, start, read } = await fixture()
  const lagging: Storage = { ...storage, revision: 1, write: (write) => storage.write(write) }
  for (const name of ['x', 'y', 'z'])
    await runtime.complete(
      storage.write({ type: 'put', key: `/registry/${name}`, value: Buffer.from('1'), expectRevision: 0 }),
    )
  await start('https://slow', lagging)
  assert.deepEqual(
    (await read()).map(({ behind }) => behind),
    [3],
  )
})

test('a key that another wrote or that has ended does not stop it, and what is not understood is left out', async () => {
  const { runtime, storage, start, read } = await fixture()
  const { id } = await start('https://a')
  const key = `${REPLICAS_PREFIX}${id}`
  const { item } = await runtime.complete(storage.get(key))
  await runtime.complete(storage.write({ type: 'delete', key, expectRevision: item?.modRevision ?? 0 }))
  await runtime.complete(
    storage.write({ type: 'put', key: `${REPLICAS_PREFIX}odd`, value: Buffer.from('{'), expectRevision: 0 }),
  )
  await runtime.advance(12_000)
  assert.deepEqual(
    (await read()).map(({ url }) => url),
    ['https://a'],
  )
})
