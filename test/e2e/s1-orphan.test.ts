/** S1: an owner deleted with --cascade=orphan goes; what it owned lives on without the reference. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, isReady, ownedBy, readyDeployment, startE2eCluster } from './cluster.ts'
import { trail, trailOfMeta, versionOf } from './trail.ts'

describe('S1', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster()
  })
  after(() => cluster.stop())

  test('a Deployment: its ReplicaSet loses the reference and lives on, with its Pod', async () => {
    const kubectl = await cluster.namespace('s1')
    using a = await readyDeployment(kubectl, 'a')
    const { resourceVersion, name: replicaSet } = a.replicaSet.metadata
    await kubectl('delete', 'deployment', 'a', '--cascade=orphan', '--wait=false')
    const gone = await a.deployments.until(({ type }) => type === 'DELETED')
    const orphaned = await a.replicaSets.until(({ object }) => object.metadata.ownerReferences === undefined)

    // The deployment: marked with the finalizer and answered, its status observed, then gone as it was last stored.
    const seen = trail(a.deployments.seen, 'a', a.deployment.metadata.resourceVersion)
    assert.equal(
      seen[0],
      'MODIFIED metadata.deletionGracePeriodSeconds metadata.deletionTimestamp metadata.finalizers metadata.generation',
    )
    for (const line of seen.slice(1, -1)) assert.match(line, /^MODIFIED( status\.\S+)+$/)
    assert.equal(seen.at(-1), 'DELETED')
    const marked = a.deployments.seen.find(({ object }) => object.metadata.deletionTimestamp !== undefined)
    assert.deepEqual(marked?.object.metadata.finalizers, ['orphan'])
    assert.equal(marked?.object.metadata.deletionGracePeriodSeconds, 0)
    assert.equal(marked?.object.metadata.generation, 2)
    assert.deepEqual(gone.object.metadata.finalizers, ['orphan'])

    // The replica set: one write took the reference away, after the mark and before the owner went.
    assert.deepEqual(trailOfMeta(a.replicaSets.seen, replicaSet, resourceVersion), [
      'MODIFIED metadata.ownerReferences',
    ])
    assert.ok(marked && versionOf(marked) < versionOf(orphaned) && versionOf(orphaned) < versionOf(gone))

    // A collector that had anything more to do would have done it before what was asked later.
    await collectsSomethingElse(kubectl)
    assert.deepEqual(trailOfMeta(a.pods.seen, a.pod.metadata.name, a.pod.metadata.resourceVersion), [])
    const left = await kubectl.json('get', 'replicasets,pods')
    assert.deepEqual(
      left.items.map(({ kind, metadata }: { kind: string; metadata: object }) => [
        kind,
        'deletionTimestamp' in metadata,
      ]),
      [
        ['ReplicaSet', false],
        ['Pod', false],
      ],
    )

    // The orphan still does its work.
    await kubectl('scale', 'replicaset', replicaSet, '--replicas=2')
    await a.pods.until(({ object }) => object.metadata.name !== a.pod.metadata.name && isReady(object))
  })

  test('dependents of another kind, and one with a second owner, keep everything but that reference', async () => {
    const kubectl = await cluster.namespace('s1-config-maps')
    await kubectl.send('create', configMap('owner'), configMap('other'))
    const [owner, other] = [
      await kubectl.json('get', 'configmap', 'owner'),
      await kubectl.json('get', 'configmap', 'other'),
    ]
    const both = { ownerReferences: [...ownedBy(owner).ownerReferences, ...ownedBy(other).ownerReferences] }
    await kubectl.send('create', configMap('one', ownedBy(owner)), configMap('two', both))
    using watch = kubectl.watch('configmaps')
    const one = await watch.until(({ object }) => object.metadata.name === 'one')
    const two = await watch.until(({ object }) => object.metadata.name === 'two')
    await kubectl('delete', 'configmap', 'owner', '--cascade=orphan', '--wait=false')
    await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'owner')
    for (const { object } of [one, two])
      assert.deepEqual(trail(watch.seen, object.metadata.name, object.metadata.resourceVersion), [
        'MODIFIED metadata.ownerReferences',
      ])
    const kept = await kubectl.json('get', 'configmap', 'two')
    assert.deepEqual(kept.metadata.ownerReferences, ownedBy(other).ownerReferences)
  })

  async function collectsSomethingElse(kubectl: Awaited<ReturnType<E2eCluster['namespace']>>): Promise<void> {
    await kubectl.send('create', configMap('later'))
    const later = await kubectl.json('get', 'configmap', 'later')
    await kubectl.send('create', configMap('dependent', ownedBy(later)))
    using watch = kubectl.watch('configmaps', 'dependent')
    await watch.until(({ type }) => type === 'ADDED')
    await kubectl('delete', 'configmap', 'later')
    await watch.until(({ type }) => type === 'DELETED')
  }
})
