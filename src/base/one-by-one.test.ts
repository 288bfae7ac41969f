import assert from 'node:assert/strict'
import { test } from 'node:test'
import { oneByOne, oneByOneOfKey } from './one-by-one.ts'

test('work begins when what was given before it has ended, also where that has failed', async () => {
  const inOrder = oneByOne()
  const happened: string[] = []
  const first = Promise.withResolvers<void>()
  const failing = inOrder(async () => {
    happened.push('first begins')
    await first.promise
    happened.push('first ends')
    throw new Error('first')
  })
  const second = inOrder(async () => {
    happened.push('second')
    return 2
  })
  await Promise.resolve()
  assert.deepEqual(happened, ['first begins'])
  first.resolve()
  await assert.rejects(failing, { message: 'first' })
  assert.equal(await second, 2)
  assert.deepEqual(happened, ['first begins', 'first ends', 'second'])
})

test('work of one key waits for none of another', async () => {
  const inOrder = oneByOneOfKey()
  const happened: string[] = []
  const first = Promise.withResolvers<void>()
  const waiting = inOrder('a', () => first.promise)
  const behind = inOrder('a', async () => void happened.push('a'))
  await inOrder('b', async () => void happened.push('b'))
  assert.deepEqual(happened, ['b'])
  first.resolve()
  await Promise.all([waiting, behind])
  assert.deepEqual(happened, ['b', 'a'])
})
