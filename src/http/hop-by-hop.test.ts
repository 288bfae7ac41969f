import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hopByHop } from './hop-by-hop.ts'

const kept = (connection: Parameters<typeof hopByHop>[0], ...names: readonly string[]) => {
  const isOfConnection = hopByHop(connection)
  return names.filter((name) => !isOfConnection(name))
}

test('some headers belong to the connection by their names', () => {
  const names = ['connection', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'transfer-encoding', 'upgrade']
  for (const connection of [undefined, '', 'close']) assert.deepEqual(kept(connection, ...names, 'x-own'), ['x-own'])
})

test('others because Connection names them, in any case, among others and in several lines', () => {
  assert.deepEqual(kept('close, X-Secret ,,\tX-Other', 'x-secret', 'x-other', 'x-own', 'close-to'), [
    'x-own',
    'close-to',
  ])
  assert.deepEqual(kept(['x-one', 'x-two'], 'x-one', 'x-two', 'x-three'), ['x-three'])
})
