import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/generated/types.ts'
import { isAvailable, nextAvailableAt } from './min-ready-seconds.ts'

const start = Date.parse('2026-01-01T00:00:00Z')
const podOf = (status: string, second?: number): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    status: {
      conditions: [
        {
          type: 'Ready',
          status,
          ...(second === undefined ? {} : { lastTransitionTime: new Date(start + second * 1000).toISOString() }),
        },
      ],
    },
  }) as Pod

test('a pod is available once it has been ready for so long, and that is the next of several moments', () => {
  const pods = [podOf('True', 3), podOf('True', 1), podOf('False', 0), podOf('True')]
  assert.equal(isAvailable(podOf('True', 3), 4, start + 6999), false)
  assert.equal(isAvailable(podOf('True', 3), 4, start + 7000), true)
  assert.equal(isAvailable(podOf('True'), 0, start), true)
  assert.equal(nextAvailableAt(pods, 4, start + 3000), start + 5000)
  assert.equal(nextAvailableAt(pods, 4, start + 5000), start + 7000)
  assert.equal(nextAvailableAt(pods, 4, start + 7000), undefined)
  assert.equal(nextAvailableAt(pods, 0, start), undefined)
})
