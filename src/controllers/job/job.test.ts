import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { formatIndexes, parseIndexes, pendingIndexes } from './completion-indexes.ts'
import { createJobBackoff } from './pod-retry-delay.ts'

const pod = (phase: string, finishedAt: string): KubeObject =>
  ({
    metadata: {},
    status: { phase, containerStatuses: [{ state: { terminated: { finishedAt } } }] },
  }) as unknown as KubeObject
const start = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()

test('indexes are told as single numbers and, from three in a row, as ranges', () => {
  assert.equal(formatIndexes(new Set([4, 0, 1, 7, 5, 6])), '0,1,4-7')
  assert.deepEqual([...parseIndexes('0,1,4-7', 6)], [0, 1, 4, 5])
  assert.equal(formatIndexes(new Set()), '')
  assert.deepEqual(pendingIndexes(2, new Set([0, 2]), 5), [1, 3])
})

test('each failure doubles the wait, a success ends it', () => {
  const backoff = createJobBackoff()
  assert.equal(backoff.remaining('j', [], start), 0)
  assert.equal(backoff.remaining('j', [pod('Failed', at(0))], start + 4000), 6000)
  backoff.finished('j', [pod('Failed', at(0)), pod('Failed', at(5))], start)
  assert.equal(backoff.remaining('j', [], start + 5000), 20_000)
  const many = Array.from({ length: 12 }, () => pod('Failed', at(10)))
  assert.equal(backoff.remaining('j', many, start + 10_000), 600_000)
  backoff.finished('j', [pod('Succeeded', at(20))], start)
  assert.equal(backoff.remaining('j', [], start + 20_000), 0)
})
