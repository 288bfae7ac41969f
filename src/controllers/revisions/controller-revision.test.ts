import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataOf } from './controller-revision.ts'

test('what a revision remembers has its keys in order, as those who compare its bytes expect', () => {
  const template = { spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'i' }] }, metadata: {} }
  assert.equal(
    JSON.stringify(dataOf(template)),
    '{"spec":{"template":{"$patch":"replace","metadata":{},"spec":{"containers":[{"image":"i","name":"c"}],"terminationGracePeriodSeconds":1}}}}',
  )
})
