/** S3: an owner deleted in the foreground stays, marked, until what blocks it has gone: pod, replica set, deployment. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, ownedBy, readyDeployment, startE2eCluster } from './cluster.ts'
import { trail, trailOfMeta, versionOf } from './trail.ts'

const MARKED = 'metadata.deletionGracePeriodSeconds metadata.deletionTimestamp'

describe('S3', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster()
  })
  after(() => cluster.stop())

  test('a Deployment waits for its ReplicaSet, which waits for its Pod', async () => {
    const kubectl = await cluster.namespace('s3')
    using a = await readyDeployment(kubectl, 'a')
    await kubectl('delete', 'deployment', 'a', '--cascade=foreground')
    const deployment = await a.deployments.until(({ type }) => type === 'DELETED')
    const replicaSet = await a.replicaSets.until(({ type }) => type === 'DELETED')
    const pod = await a.pods.until(({ type }) => type === 'DELETED')

    assert.ok(versionOf(pod) < versionOf(replicaSet) && versionOf(replicaSet) < versionOf(deployment))
    const expected = [`MODIFIED ${MARKED} metadata.finalizers metadata.generation`, 'DELETED']
    assert.deepEqual(trailOfMeta(a.deployments.seen, 'a', a.deployment.metadata.resourceVersion), expected)
    const { name, resourceVersion } = a.replicaSet.metadata
    assert.deepEqual(trailOfMeta(a.replicaSets.seen, name, resourceVersion), expected)
    assert.deepEqual(trailOfMeta(a.pods.seen, a.pod.metadata.name, a.pod.metadata.resourceVersion), [
      `MODIFIED ${MARKED} metadata.generation`,
      `MODIFIED ${MARKED}`,
      'DELETED',
    ])
    for (const { object } of [deployment, replicaSet])
      assert.deepEqual(object.metadata.finalizers, ['foregroundDeletion'])

    // Marked from the top down: each dependent after its owner.
    const marks = [a.deployments, a.replicaSets, a.pods].map(({ seen }) =>
      seen.find(({ object }) => object.metadata.deletionTimestamp !== undefined),
    )
    const [first, second, third] = marks.map((event) => (event ? versionOf(event) : Number.NaN)) as [
      number,
      number,
      number,
    ]
    assert.ok(first < second && second < third, `${first} ${second} ${third}`)
    // While it waits, the replica set counts the pod as terminating, and does not replace it.
    assert.ok(
      a.replicaSets.seen.some(({ object: { status } }) => status.replicas === 0 && status.terminatingReplicas === 1),
    )
    assert.equal(new Set(a.pods.seen.map(({ object }) => object.metadata.name)).size, 1)
  })

  test('only dependents that block hold the owner back', async () => {
    const kubectl = await cluster.namespace('s3-blocking')
    await kubectl.send('create', configMap('owner'))
    const owner = await kubectl.json('get', 'configmap', 'owner')
    const held = { finalizers: ['example.com/held'] }
    await kubectl.send(
      'create',
      configMap('blocking', { ...ownedBy(owner, { blockOwnerDeletion: true }), ...held }),
      configMap('free', { ...ownedBy(owner), ...held }),
    )
    using watch = kubectl.watch('configmaps')
    await watch.until(({ object }) => object.metadata.name === 'owner')
    await kubectl('delete', 'configmap', 'owner', '--cascade=foreground', '--wait=false')
    const marked =
      (wanted: string) =>
      ({ object: { metadata } }: (typeof watch.seen)[number]) =>
        metadata.name === wanted && metadata.deletionTimestamp !== undefined
    for (const name of ['owner', 'blocking', 'free']) await watch.until(marked(name))
    assert.equal((await kubectl.json('get', 'configmap', 'owner')).metadata.finalizers[0], 'foregroundDeletion')
    await kubectl('patch', 'configmap', 'blocking', '-p', '{"metadata":{"finalizers":null}}')
    await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'owner')
    assert.equal(await kubectl('get', 'configmaps', 'free', '-o', 'name'), 'configmap/free\n')
    await kubectl('patch', 'configmap', 'free', '-p', '{"metadata":{"finalizers":null}}')
    await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'free')
    assert.deepEqual(
      watch.seen.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name),
      ['blocking', 'owner', 'free'],
    )
    assert.deepEqual(trail(watch.seen, 'owner', owner.metadata.resourceVersion), [
      `MODIFIED ${MARKED} metadata.finalizers`,
      'DELETED',
    ])
  })
})
