import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBesideSyncs } from './beside-syncs.ts'

test('work of one name goes on once at a time, may fail in any way, and begins anew after', async () => {
  const beside = createBesideSyncs()
  const begun: string[] = []
  const throws = () => {
    begun.push('throws')
    throw new Error('at once')
  }
  const first = beside.begin('u', 'v', throws)
  assert.equal(beside.begin('u', 'v', throws), undefined)
  await first
  await beside.begin('u', 'v', () => Promise.reject(new Error('later')))
  await beside.begin('u', 'v', throws)
  assert.deepEqual(begun, ['throws', 'throws'])
  assert.equal(beside.end('u'), undefined)
})

test('the end of a pod is told to its work, and waits until that is over', async () => {
  const beside = createBesideSyncs()
  const written = Promise.withResolvers<void>()
  const told: string[] = []
  void beside.begin('u', 'v', async (signal) => {
    signal.addEventListener('abort', () => told.push('aborted'))
    await written.promise
    told.push('written')
  })
  await new Promise((resolve) => setImmediate(resolve))
  const ended = Promise.resolve(beside.end('u')).then(() => told.push('ended'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(told, ['aborted'])
  written.resolve()
  await ended
  assert.deepEqual(told, ['aborted', 'written', 'ended'])
})
