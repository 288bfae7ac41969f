/** Claims without a class get volumes of the default StorageClass, on simulated nodes: a StatefulSet with claims just runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim, StatefulSet } from '../src/api/generated/types.ts'
import { startCluster } from '../src/cluster/index.ts'

const CLAIMS = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
const VOLUMES = { group: '', version: 'v1', resource: 'persistentvolumes' }
const SETS = { group: 'apps', version: 'v1', resource: 'statefulsets' }
const EVENTS = { group: '', version: 'v1', resource: 'events' }

const claim = (name: string, accessMode: string): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: [accessMode], resources: { requests: { storage: '1Gi' } } },
})

test('a StatefulSet with claims runs, its volumes belong to the nodes of its pods, and go with their claims', async () => {
  const cluster = await startCluster({ clock: 'manual', nodes: 2, storage: 'memory' })
  try {
    const { client } = cluster
    const sets = client.resource<StatefulSet>(SETS).namespace('default')
    const claims = client.resource<PersistentVolumeClaim>(CLAIMS).namespace('default')
    const volumes = client.resource<PersistentVolume>(VOLUMES)
    const labels = { app: 'db' }
    await sets.create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
        },
        volumeClaimTemplates: [claim('data', 'ReadWriteOnce')],
      },
    })
    await cluster.clock?.advance('2m')
    assert.equal((await sets.get('db')).status?.readyReplicas, 2)
    const bound = (await claims.list()).items
    assert.deepEqual(
      bound.map(({ spec, status }) => [spec?.storageClassName, status?.phase]),
      [
        ['standard', 'Bound'],
        ['standard', 'Bound'],
      ],
    )
    const made = (await volumes.list()).items
    assert.deepEqual(
      made.map(({ metadata, spec }) => spec?.hostPath?.path === `/var/lib/skiff/volumes/${metadata.name}`),
      [true, true],
    )
    const chosen = bound.map(({ metadata }) => metadata.annotations?.['volume.kubernetes.io/selected-node'])
    const of = new Map(made.map((volume) => [volume.metadata.name, volume]))
    const tied = bound.map(({ spec }) => {
      const terms = of.get(spec?.volumeName)?.spec?.nodeAffinity?.required?.nodeSelectorTerms
      return terms?.[0]?.matchExpressions?.[0]?.values?.[0]
    })
    assert.deepEqual(tied, chosen)

    await sets.delete('db', { propagationPolicy: 'Foreground' })
    await cluster.clock?.advance('2m')
    await claims.deleteCollection()
    await cluster.clock?.advance('1m')
    assert.deepEqual([(await claims.list()).items.length, (await volumes.list()).items.length], [0, 0])
  } finally {
    await cluster.stop()
  }
})

test('a claim that several nodes would share is told why it gets no volume', async () => {
  const cluster = await startCluster({ clock: 'manual', nodes: 1, storage: 'memory' })
  try {
    const { client } = cluster
    await client.resource(CLAIMS).namespace('default').create(claim('shared', 'ReadWriteMany'))
    await client
      .resource({ group: '', version: 'v1', resource: 'pods' })
      .namespace('default')
      .create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: {
          containers: [{ name: 'c', image: 'i' }],
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'shared' } }],
        },
      } as never)
    await cluster.clock?.advance('1m')
    const { items } = await client.resource(EVENTS).namespace('default').list()
    const told = items.find((event) => event['reason'] === 'ProvisioningFailed')
    assert.equal(
      told?.['message'],
      'the access mode ReadWriteMany is not supported: use ReadWriteOnce or ReadWriteOncePod',
    )
  } finally {
    await cluster.stop()
  }
})
