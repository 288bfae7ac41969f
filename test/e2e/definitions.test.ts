/** kubectl follows the objects of a definition while it changes, goes and comes back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { type E2eCluster, startE2eCluster } from './cluster.ts'

const definition = (shortNames: readonly string[] = []) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.t.org' },
  spec: {
    group: 't.org',
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

describe('kubectl get -w of a custom resource', { skip: withoutKubectl }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--components', 'apiserver')
  })
  after(() => cluster?.stop())

  test('ends when the definition changes or goes, without an error, and begins anew with what is there', async () => {
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
})
