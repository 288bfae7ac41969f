import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClientPool } from './client-pool.ts'

test('an endpoint has one client, and of many endpoints those asked last are kept', () => {
  const closed: string[] = []
  const pool = createClientPool(2, ({ server }) => ({
    send: () => Promise.reject(new Error('not asked')),
    upgrade: () => Promise.reject(new Error('not asked')),
    close: () => closed.push(server),
  }))
  const first = pool.clientOf({ server: 'https://a' })
  pool.clientOf({ server: 'https://b' })
  assert.equal(pool.clientOf({ server: 'https://a' }), first)
  assert.notEqual(pool.clientOf({ server: 'https://a', serverName: 'other' }), first)
  assert.deepEqual(closed, ['https://b'])
  pool.close()
  assert.deepEqual(closed, ['https://b', 'https://a', 'https://a'])
})
