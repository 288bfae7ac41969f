import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../base/metrics.ts'
import { storageSizeMetric } from './state-metrics.ts'

test('how much disk the storage takes is told as it was found last, and not where it cannot be asked', async () => {
  const answers: (number | Error)[] = [4096, 8192, new Error('no etcd answers'), 8192]
  const metrics = createMetrics()
  storageSizeMetric(metrics, {
    size: async () => {
      const answer = answers.shift() ?? 0
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  const told = async () => {
    await new Promise(setImmediate)
    return metrics.text().match(/^apiserver_storage_size_bytes\{storage_cluster_id="etcd-0"\} (.*)$/m)?.[1]
  }
  assert.deepEqual([await told(), await told(), await told(), await told()], ['4096', '8192', undefined, '8192'])
})
