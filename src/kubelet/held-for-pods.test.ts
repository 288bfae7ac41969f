import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHeldForPods } from './held-for-pods.ts'

test('every part that was added lets go of a pod that is gone, and of no other', () => {
  const held = createHeldForPods()
  const partOf = () => {
    const uids = new Set(['a', 'b'])
    return held.add({ uids, forget: (uid: string) => void uids.delete(uid) })
  }
  const parts = [partOf(), partOf()]
  held.forget('a')
  assert.deepEqual(
    parts.map(({ uids }) => [...uids]),
    [['b'], ['b']],
  )
})
