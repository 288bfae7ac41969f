import assert from 'node:assert/strict'
import { test } from 'node:test'
import { volumeEntry, volumeMetrics } from './volume-stats.ts'

const one = {
  podUid: 'u',
  name: 'v',
  namespace: 'n',
  claim: 'c',
  time: 0,
  stats: { capacityBytes: 100, availableBytes: 60, usedBytes: 40 },
}

test('a volume is told of under its claim, once however many pods have it, and nothing that is not known', () => {
  assert.deepEqual(volumeEntry(one), {
    time: '1970-01-01T00:00:00Z',
    capacityBytes: 100,
    availableBytes: 60,
    usedBytes: 40,
    name: 'v',
    pvcRef: { name: 'c', namespace: 'n' },
  })
  const text = volumeMetrics([one, { ...one, podUid: 'w' }])
  assert.match(text, /^kubelet_volume_stats_used_bytes\{namespace="n",persistentvolumeclaim="c"\} 40$/m)
  assert.equal(text.match(/capacity_bytes\{/g)?.length, 1)
  assert.doesNotMatch(text, /inodes/)
  assert.equal(volumeMetrics([]), '')
})
