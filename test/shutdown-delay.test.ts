/** --shutdown-delay-duration: what a load balancer in front of API servers sees of one that stops. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBenchClient } from '../bench/client.ts'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { startCluster } from '../src/cluster/index.ts'

/** Long enough for a few requests on a machine that is busy with other tests. */
const DELAY_MS = 5000

test('a server that was told to stop fails /readyz at once, and serves all the same until its delay is over', async () => {
  const security = { shutdownDelayDuration: `${DELAY_MS / 1000}s` }
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
  assert.ok(performance.now() - began < DELAY_MS, 'the machine is too slow to see anything')
  await stopped
  assert.ok(performance.now() - began >= DELAY_MS)
  await assert.rejects(code('/livez'))
  client.close()
})

test('a server that stops answers what is in flight, tells others to come again, and ends watches first, where that is asked for', async () => {
  const security = { shutdownSendRetryAfter: true, shutdownWatchTerminationGracePeriod: '10s' }
  const cluster = await startCluster({ storage: 'memory', components: ['apiserver'], security })
  const endpoint = endpointFromKubeconfig(cluster.kubeconfig)
  const [client, waiting, watching] = [
    createBenchClient(endpoint),
    createBenchClient(endpoint),
    createBenchClient(endpoint),
  ]
  const metric = async (name: string) => {
    const { body } = await client.request('GET', '/metrics')
    const values = [...body.toString().matchAll(new RegExp(`^${name}\\S* (\\d+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    )
    return values.reduce((sum, value) => sum + value, 0)
  }
  const watches = await metric('apiserver_longrunning_requests')
  const reads = await metric('apiserver_current_inflight_requests{request_kind="readOnly"')
  // It waits three seconds for a version that does not come.
  const inFlight = waiting.request('GET', '/api/v1/namespaces?resourceVersion=99999999')
  const watch = watching.request('GET', '/api/v1/namespaces?watch=1')
  // Both have come to the server.
  while ((await metric('apiserver_longrunning_requests')) === watches) await new Promise((ready) => setImmediate(ready))
  while ((await metric('apiserver_current_inflight_requests{request_kind="readOnly"')) === reads)
    await new Promise((ready) => setImmediate(ready))
  const stopped = cluster.stop()
  assert.equal((await watch).code, 200)
  const refused = await client.request('GET', '/api/v1/namespaces/default')
  assert.equal(refused.code, 429)
  assert.equal(Buffer.from(refused.body).toString(), 'The apiserver is shutting down, please try again later.\n')
  // By a connection of its own each, as probes come.
  for (const [path, code] of [
    ['/api/v1/namespaces/default', 429],
    ['/readyz', 500],
    ['/livez', 200],
  ] as const) {
    const fresh = createBenchClient(endpoint)
    assert.equal((await fresh.request('GET', path)).code, code)
    fresh.close()
  }
  assert.equal((await inFlight).code, 504)
  await stopped
  for (const each of [client, waiting, watching]) each.close()
})

test('a delay that is none is refused', async () => {
  for (const [text, message] of [
    ['soon', /--shutdown-delay-duration: time: invalid duration "soon"/],
    ['-1s', /--shutdown-delay-duration can not be negative value/],
  ] as const)
    await assert.rejects(startCluster({ storage: 'memory', security: { shutdownDelayDuration: text } }), { message })
})
