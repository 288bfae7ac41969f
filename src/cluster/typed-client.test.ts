import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCluster } from './index.ts'

test('what is asked of no name does not reach the collection', async () => {
  const cluster = await startCluster({ storage: 'memory', components: ['apiserver'] })
  try {
    const maps = cluster.client.core.configMaps('default')
    await maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } })
    const missing = undefined as unknown as string
    for (const name of ['', missing])
      for (const asked of [maps.get(name), maps.delete(name), maps.patch(name, 'merge', {})])
        await assert.rejects(asked, { name: 'StatusError', code: 400, message: 'resource name may not be empty' })
    assert.equal((await maps.get('one')).metadata.name, 'one')
  } finally {
    await cluster.stop()
  }
})

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
