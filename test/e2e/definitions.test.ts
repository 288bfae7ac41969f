/** kubectl follows the objects of a definition while it changes, goes and comes back; a definition goes when its last object is let go. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, startE2eCluster } from './cluster.ts'

const definition = (shortNames: readonly string[] = [], group = 't.org') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing', shortNames },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})
const thing = (name: string) => ({ apiVersion: 't.org/v1', kind: 'Thing', metadata: { name } })

describe('definitions with kubectl', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver')
  })
  after(() => cluster?.stop())

  test('get -w of a custom resource ends when the definition changes or goes, without an error, and begins anew with what is there', async () => {
    const { kubectl } = cluster
    const served = () => kubectl('wait', '--for=condition=Established', 'crd/things.t.org')
    await kubectl.send('create', definition())
    await served()
    await kubectl.send('create', thing('a'))

    let following = kubectl.watch('things.t.org')
    await following.until(({ object }) => object.metadata.name === 'a')
    await kubectl.send('apply', definition(['th']))
    await assert.rejects(
      following.until(({ type }) => type === 'DELETED'),
      /^Error: the watch ended ; seen: ADDED Thing\/a$/,
    )

    following = kubectl.watch('things.t.org')
    await following.until(({ object }) => object.metadata.name === 'a')
    await kubectl('delete', 'crd', 'things.t.org')
    await following.until(({ type }) => type === 'DELETED')
    await assert.rejects(
      following.until(({ type }) => type === 'MODIFIED'),
      /^Error: the watch ended ; seen: ADDED Thing\/a, DELETED Thing\/a$/,
    )

    await kubectl.send('create', definition())
    await served()
    await kubectl.send('create', thing('b'))
    using again = kubectl.watch('things.t.org')
    await again.until(({ object }) => object.metadata.name === 'b')
    assert.deepEqual(
      again.seen.map(({ type, object }) => `${type} ${object.metadata.name}`),
      ['ADDED b'],
    )
  })

  test('a definition that is deleted stays for an object that is held, and goes within seconds when it is let go', async () => {
    const { kubectl } = cluster
    await kubectl.send('create', definition([], 'held.org'))
    await kubectl('wait', '--for=condition=Established', 'crd/things.held.org')
    const metadata = { name: 'held', finalizers: ['held.org/f'] }
    await kubectl.send('create', { apiVersion: 'held.org/v1', kind: 'Thing', metadata })
    await kubectl('delete', 'crd', 'things.held.org', '--wait=false')
    await kubectl('wait', '--for=jsonpath={.metadata.deletionTimestamp}', 'things.held.org/held')
    await kubectl('patch', 'things.held.org', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
    await kubectl('wait', '--for=delete', 'crd/things.held.org', '--timeout=10s')
  })
})
