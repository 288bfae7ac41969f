/** S2: an owner deleted in the background goes at once; what it owned is collected after it, level by level. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, ownedBy, readyDeployment, startE2eCluster } from './cluster.ts'
import { trail, versionOf } from './trail.ts'

const MARKED = 'metadata.deletionGracePeriodSeconds metadata.deletionTimestamp'

describe('S2', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster()
  })
  after(() => cluster.stop())

  test('the Deployment, then its ReplicaSet, both unmarked; then its Pod, gracefully', async () => {
    const kubectl = await cluster.namespace('s2')
    using a = await readyDeployment(kubectl, 'a')
    await kubectl('delete', 'deployment', 'a')
    const deployment = await a.deployments.until(({ type }) => type === 'DELETED')
    const replicaSet = await a.replicaSets.until(({ type }) => type === 'DELETED')
    const pod = await a.pods.until(({ type }) => type === 'DELETED')

    assert.deepEqual(trail(a.deployments.seen, 'a', a.deployment.metadata.resourceVersion), ['DELETED'])
    const { name, resourceVersion } = a.replicaSet.metadata
    assert.deepEqual(trail(a.replicaSets.seen, name, resourceVersion), ['DELETED'])
    assert.deepEqual(replicaSet.object.metadata.ownerReferences[0].name, 'a', 'its reference dangles to the end')
    // Between the mark and the last delete only the kubelet's reports: one or two, as its container ends at once.
    const [marked, ...reported] = trail(a.pods.seen, a.pod.metadata.name, a.pod.metadata.resourceVersion)
    assert.equal(marked, `MODIFIED ${MARKED} metadata.generation`)
    assert.deepEqual(reported.splice(-2), [`MODIFIED ${MARKED}`, 'DELETED'])
    assert.ok(
      reported.length >= 1 && reported.every((line) => /^MODIFIED( status\.\S+)+$/.test(line)),
      reported.join('\n'),
    )
    assert.equal(pod.object.status.phase, 'Succeeded')
    assert.ok(versionOf(deployment) < versionOf(replicaSet) && versionOf(replicaSet) < versionOf(pod))
    assert.equal(await kubectl('get', 'deployments,replicasets,pods', '--ignore-not-found', '-o', 'name'), '')
  })

  test('what has another living owner only loses the reference; a whole chain goes', async () => {
    const kubectl = await cluster.namespace('s2-chain')
    await kubectl.send('create', configMap('owner'), configMap('other'))
    const [owner, other] = (await kubectl.json('get', 'configmaps', 'owner', 'other')).items
    const both = { ownerReferences: [...ownedBy(owner).ownerReferences, ...ownedBy(other).ownerReferences] }
    await kubectl.send('create', configMap('child', ownedBy(owner)), configMap('shared', both))
    const child = await kubectl.json('get', 'configmap', 'child')
    await kubectl.send('create', configMap('grandchild', ownedBy(child)))
    using watch = kubectl.watch('configmaps')
    const shared = await watch.until(({ object }) => object.metadata.name === 'shared')
    await kubectl('delete', 'configmap', 'owner', '--cascade=background')
    await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'grandchild')
    const lost = await watch.until(({ type, object }) => type === 'MODIFIED' && object.metadata.name === 'shared')
    assert.deepEqual(lost.object.metadata.ownerReferences, ownedBy(other).ownerReferences)
    assert.deepEqual(trail(watch.seen, 'shared', shared.object.metadata.resourceVersion), [
      'MODIFIED metadata.ownerReferences',
    ])
    assert.deepEqual(
      watch.seen.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name),
      ['owner', 'child', 'grandchild'],
    )
  })
})
