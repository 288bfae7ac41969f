import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnersAbove } from './comes-of-the-deed.ts'
import { createWithoutTheDeed } from './without-the-deed.ts'

test('a twin that could not be started needs no stop: the other is stopped all the same', async () => {
  const without = createWithoutTheDeed(
    async () => {
      throw new Error('no port is free')
    },
    createOwnersAbove(() => undefined),
  )
  await without.stop()
  await assert.rejects(without.movedBetween(0, 1), /no port is free/)
  await without.stop()
})
