import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../api/object.ts'
import { formatIndexes, parseIndexes, pendingIndexes } from './completion-indexes.ts'
import { finishTime } from './job.ts'
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

test('a pod ended when its containers did; else when it was not ready any more, was asked to end, or was made', () => {
  const terminated = pod('Failed', at(5))
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status, lastTransitionTime: at(7) }] })
  const made = { creationTimestamp: at(1) }
  const asked = { ...made, deletionTimestamp: at(40), deletionGracePeriodSeconds: 30 }
  const ended = (metadata: object, status: object) => (finishTime({ metadata, status } as never) - start) / 1000
  assert.equal(ended(asked, { ...terminated['status'], ...ready('False') }), 5)
  assert.equal(ended(asked, ready('False')), 7)
  assert.equal(ended(asked, ready('True')), 10)
  assert.equal(ended(made, ready('True')), 1)
})

test('each failure doubles the wait, a success ends it', () => {
  const backoff = createJobBackoff()
  assert.equal(backoff.remaining('j', [], start), 0)
  assert.equal(backoff.remaining('j', [pod('Failed', at(0))], start + 4000), 6000)
  backoff.finished('j', [pod('Failed', at(0)), pod('Failed', at(5))])
  assert.equal(backoff.remaining('j', [], start + 5000), 20_000)
  const many = Array.from({ length: 12 }, () => pod('Failed', at(10)))
  assert.equal(backoff.remaining('j', many, start + 10_000), 600_000)
  backoff.finished('j', [pod('Succeeded', at(20))])
  assert.equal(backoff.remaining('j', [], start + 20_000), 0)
})
