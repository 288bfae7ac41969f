import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeenPods } from './seen-pods.ts'

test('a pod says since when the kubelet has it, and that it is from the API, until it is forgotten', () => {
  let now = 1500
  const seen = createSeenPods({ now: () => now })
  const pod = { metadata: { name: 'p', uid: 'u', annotations: { k: 'v' } }, spec: { containers: [] } }
  const noted = (at: string) => ({ k: 'v', 'kubernetes.io/config.seen': at, 'kubernetes.io/config.source': 'api' })
  const first = '1970-01-01T00:00:01.500000Z'
  assert.deepEqual(seen.noted(pod as never).metadata.annotations, noted(first))
  now = 2500
  assert.deepEqual(seen.noted(pod as never).metadata.annotations, noted(first))
  seen.forget('u')
  assert.deepEqual(seen.noted(pod as never).metadata.annotations, noted('1970-01-01T00:00:02.500000Z'))
})
