/** A pod that is resized in place tells of it as soon as it is done. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Cluster, startCluster } from '../src/cluster/index.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster({ storage: 'memory', clock: 'manual' })
})
after(() => cluster?.stop())

test('a resize that needs no restart is told to have begun and to be done, at once', async () => {
  const pods = cluster.client.core.pods('default')
  const resources = { requests: { cpu: '10m' }, limits: { cpu: '100m' } }
  await pods.create({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'x', resources }] },
  })
  await cluster.clock.advance('5s')
  const body = { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '20m' } } }] } }
  await pods.patch('p', 'strategic', body, { subresource: 'resize' })
  await cluster.clock.advance('2s')
  const { items } = await cluster.client.core.events('default').list()
  assert.deepEqual(
    items.map(({ reason }) => reason).filter((reason) => reason?.startsWith('Resize')),
    ['ResizeStarted', 'ResizeCompleted'],
  )
})
