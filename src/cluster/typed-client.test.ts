import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from './index.ts'

test('a refusal tells of the line that asked', async () => {
  const cluster = await startCluster({ storage: 'memory', components: ['apiserver'] })
  try {
    const maps = cluster.client.core.configMaps('default')
    const theLineThatAsks = async () => await maps.get('none')
    await assert.rejects(theLineThatAsks(), (error: Error) => {
      assert.match(error.stack ?? '', /^StatusError: configmaps "none" not found\n[\s\S]*at async theLineThatAsks \(/)
      return true
    })
  } finally {
    await cluster.stop()
  }
})
