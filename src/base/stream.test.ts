import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stream } from './stream.ts'

test('items come out in the order they were pushed, waiting or not', async () => {
  const stream = new Stream<number>()
  const first = stream.next()
  stream.push(1)
  stream.push(2)
  stream.push(3)
  assert.equal(await first, 1)
  assert.equal(await stream.next(), 2)
  assert.deepEqual(stream.drain(), [3])
})

test('a full stream refuses the item', () => {
  const stream = new Stream<number>({ capacity: 2 })
  assert.deepEqual([stream.push(1), stream.push(2), stream.push(3)], [true, true, false])
  assert.deepEqual(stream.drain(), [1, 2])
})

test('what was buffered before close is still read, then undefined or the error', async () => {
  const ended = new Stream<number>()
  ended.push(1)
  ended.close()
  assert.equal(ended.push(2), false)
  assert.equal(await ended.next(), 1)
  assert.equal(await ended.next(), undefined)
  const failed = new Stream<number>()
  failed.push(1)
  failed.close(new Error('lost'))
  assert.equal(await failed.next(), 1)
  await assert.rejects(failed.next(), /lost/)
})

test('close does not wait behind a pending next', async () => {
  let closes = 0
  const stream = new Stream<number>({ onClose: () => closes++ })
  const pending = stream.next()
  stream.close()
  stream.close()
  assert.equal(await pending, undefined)
  assert.equal(closes, 1)
})

test('its signal closes it, also one aborted before', async () => {
  const controller = new AbortController()
  const stream = new Stream<number>({ signal: controller.signal })
  const pending = stream.next()
  controller.abort()
  assert.equal(await pending, undefined)
  assert.equal(new Stream({ signal: controller.signal }).closed, true)
})

test('a second pending next is an error', async () => {
  const stream = new Stream<number>()
  void stream.next()
  await assert.rejects(stream.next(), /another next/)
})

test('a long-lived stream gives back the memory of what was read', async () => {
  const stream = new Stream<number>({ capacity: 10_000 })
  for (let i = 0; i < 5000; i++) stream.push(i)
  for (let i = 0; i < 5000; i++) assert.equal(await stream.next(), i)
  assert.equal(stream.length, 0)
})
