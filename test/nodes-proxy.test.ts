/** What is written to a simulated node's kubelet through the API server comes to it whole. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpointFromKubeconfig } from '../src/client/read-kubeconfig.ts'
import { type Cluster, startCluster } from '../src/cluster/index.ts'
import { createHttpsClient } from '../src/http/client.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ storage: 'memory', clock: 'manual' })
})
after(() => cluster?.stop())

test("a kubelet's verbosity is set through the proxy of its node", async () => {
  const { server, ca = '', cert = '', key = '' } = endpointFromKubeconfig(cluster.kubeconfig)
  const client = createHttpsClient({ server, ca, cert, key })
  try {
    const path = '/api/v1/nodes/skiff-1/proxy/debug/flags/v'
    const answer = await client.send({ method: 'PUT', path, body: '0' })
    const said = Buffer.from(await answer.bytes()).toString()
    assert.deepEqual([answer.status, said], [200, 'successfully set klog.logging.verbosity to 0\n'])
  } finally {
    client.close()
  }
})
