import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepFor } from './ttl-controller.ts'

test('steps are taken up beyond their end and down before their beginning', () => {
  assert.deepEqual(
    [0, 100, 101, 501, 20_000].map((nodes) => stepFor(nodes, 0)),
    [0, 0, 1, 2, 5],
  )
  assert.deepEqual(
    [95, 90, 89].map((nodes) => stepFor(nodes, 1)),
    [1, 1, 0],
  )
  assert.equal(stepFor(10, 5), 0)
})
