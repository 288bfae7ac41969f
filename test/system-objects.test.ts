/** What a cluster always has comes back when it is deleted, at the times of a Kubernetes API server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNotFound, startCluster } from '../src/cluster/index.ts'

test('the kubernetes Service, a system namespace and what priority and fairness goes by', async () => {
  const cluster = await startCluster({ storage: 'memory', clock: 'manual' })
  try {
    const { core, flowcontrol } = cluster.client
    const kept = [
      { what: core.services('default'), name: 'kubernetes', within: '10s' },
      { what: core.namespaces(), name: 'kube-node-lease', within: '1m10s' },
      { what: flowcontrol.flowSchemas(), name: 'probes', within: '1m' },
      { what: flowcontrol.priorityLevelConfigurations(), name: 'exempt', within: '1m' },
    ] as const
    for (const { what, name, within } of kept) {
      const { metadata } = await what.get(name)
      await what.delete(name)
      if (name !== 'kube-node-lease') await assert.rejects(what.get(name), isNotFound)
      await cluster.clock.advance(within)
      const back = await what.get(name)
      assert.notEqual(back.metadata.uid, metadata.uid, name)
      assert.equal(back.metadata.deletionTimestamp, undefined, name)
    }
    const spec = { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'workload-low' } }
    await flowcontrol.flowSchemas().patch('global-default', 'merge', { spec })
    await cluster.clock.advance('1m')
    assert.equal((await flowcontrol.flowSchemas().get('global-default')).spec?.matchingPrecedence, 9900)
  } finally {
    await cluster.stop()
  }
})
