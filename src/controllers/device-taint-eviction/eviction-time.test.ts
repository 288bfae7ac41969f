import assert from 'node:assert/strict'
import { test } from 'node:test'
import { earlier, evictionTime, type FoundTaint } from './eviction-time.ts'

const added = Date.parse('2026-01-01T00:00:00Z')
const found = (effect = 'NoExecute', rule?: string): FoundTaint => ({
  taint: { key: 'k', effect, timeAdded: '2026-01-01T00:00:00Z' },
  rule,
})
const tolerated = (tolerationSeconds?: number) => ({
  key: 'k',
  operator: 'Exists',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
})

test('a taint that is not tolerated evicts from when it was added', () => {
  assert.deepEqual(evictionTime([found()], [], added + 5000), { at: added, rules: [] })
})

test('tolerated for seconds it does so later, for ever never', () => {
  assert.equal(evictionTime([found()], [tolerated(3)], added).at, added + 3000)
  assert.equal(evictionTime([found()], [tolerated(3), tolerated()], added).at, Number.POSITIVE_INFINITY)
  assert.equal(evictionTime([found()], [tolerated(-1)], added).at, added)
})

test('taints with other effects evict no pod', () => {
  assert.equal(evictionTime([found('NoSchedule'), found('None')], [], added).at, Number.POSITIVE_INFINITY)
})

test('the earliest counts, and every rule that evicts has a part', () => {
  const first = evictionTime([found('NoExecute', 'a')], [tolerated(3)], added)
  const second = evictionTime([found('NoExecute', 'b')], [], added)
  assert.deepEqual(earlier(first, second), { at: added, rules: ['a', 'b'] })
})
