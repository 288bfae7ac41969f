/** --shutdown-delay-duration: what a load balancer in front of API servers sees of one that stops. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBenchClient } from '../bench/client.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { startCluster } from '../src/cluster/index.ts'

test('a server that was told to stop fails /readyz at once, and serves all the same until its delay is over', async () => {
  const security = { shutdownDelayDuration: '1s' }
  const cluster = await startCluster({ storage: 'memory', components: ['apiserver'], security })
  const client = createBenchClient(endpointFromKubeconfig(cluster.kubeconfig))
  const code = async (path: string) => (await client.request('GET', path)).code
  assert.equal(await code('/readyz'), 200)
  const began = performance.now()
  const stopped = cluster.stop()
  assert.equal(await code('/readyz'), 500)
  assert.equal(await code('/readyz/shutdown'), 500)
  assert.equal(await code('/livez'), 200)
  assert.equal(await code('/api/v1/namespaces/default'), 200)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } }
  const bytes = Buffer.from(JSON.stringify(namespace))
  assert.equal((await client.request('POST', '/api/v1/namespaces', { bytes })).code, 201)
  assert.ok(performance.now() - began < 1000, 'the machine is too slow to see anything')
  await stopped
  assert.ok(performance.now() - began >= 1000)
  await assert.rejects(code('/livez'))
  client.close()
})

test('a delay that is none is refused', async () => {
  for (const [text, message] of [
    ['soon', /--shutdown-delay-duration: time: invalid duration "soon"/],
    ['-1s', /--shutdown-delay-duration can not be negative value/],
  ] as const)
    await assert.rejects(startCluster({ storage: 'memory', security: { shutdownDelayDuration: text } }), { message })
})
