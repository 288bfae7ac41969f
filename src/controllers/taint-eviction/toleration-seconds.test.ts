import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toleratedMs } from './toleration-seconds.ts'

const taint = (key: string) => ({ key, effect: 'NoExecute' })
const toleration = (key: string, tolerationSeconds?: number | bigint) => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})

test('the shortest time of all taints counts, and a taint that is not tolerated ends it at once', () => {
  const taints = [taint('a'), taint('b')]
  assert.equal(toleratedMs(taints, [toleration('a', 5), toleration('b', 3)]), 3000)
  assert.equal(toleratedMs(taints, [toleration('a', 3), toleration('b', 5)]), 3000)
  assert.equal(toleratedMs(taints, [toleration('a', 5), toleration('b')]), 5000)
  assert.equal(toleratedMs(taints, [toleration('a'), toleration('b')]), Number.POSITIVE_INFINITY)
  assert.equal(toleratedMs(taints, [toleration('a', 5)]), 0)
  assert.equal(toleratedMs(taints, [toleration('a', 5), toleration('b', -1)]), 0)
})

test('the first toleration of a taint counts, whatever later ones allow', () => {
  assert.equal(toleratedMs([taint('a')], [toleration('a', 5), toleration('a', 1)]), 5000)
})

test('more seconds than 64 bits of nanoseconds hold are for ever', () => {
  assert.equal(toleratedMs([taint('a')], [toleration('a', 9223372036854775807n)]), Number.POSITIVE_INFINITY)
  assert.equal(toleratedMs([taint('a')], [toleration('a', 9223372037)]), Number.POSITIVE_INFINITY)
  assert.equal(toleratedMs([taint('a')], [toleration('a', 9223372036)]), 9223372036000)
})
