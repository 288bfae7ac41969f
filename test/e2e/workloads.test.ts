/** The everyday commands: rollouts, scaling, draining a node, ending a namespace. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Any, withoutKubectl } from '../kubectl.ts'
import { configMap, type E2eCluster, isReady, pod, startE2eCluster } from './cluster.ts'
import { trail } from './trail.ts'

describe('everyday commands', { skip: withoutKubectl, concurrency: true }, () => {
  let cluster: E2eCluster
  before(async () => {
    cluster = await startE2eCluster('--nodes', '3')
  })
  after(() => cluster.stop())

  test('rollout: an update keeps enough pods available, has a history, and can be undone', async () => {
    const kubectl = await cluster.namespace('rollout')
    await kubectl('create', 'deployment', 'web', '--image=nginx:1', '--replicas=4')
    const status = () => kubectl('rollout', 'status', 'deployment/web', '--timeout=20s')
    assert.match(await status(), /deployment "web" successfully rolled out/)
    using watch = kubectl.watch('deployments', 'web')
    const before = await watch.until(({ object }) => object.status.availableReplicas === 4)
    await kubectl('set', 'image', 'deployment/web', 'nginx=nginx:2')
    await status()
    const isDone = ({ object: { metadata, status } }: Any) =>
      status.observedGeneration === metadata.generation && status.updatedReplicas === 4 && status.replicas === 4
    await watch.until((event) => event.object.metadata.generation === 2 && isDone(event))
    const from = watch.seen.findIndex(({ object }) => object === before.object)
    for (const { object } of watch.seen.slice(from + 1)) {
      assert.ok((object.status.availableReplicas ?? 0) >= 3, 'maxUnavailable is a quarter')
      assert.ok(object.status.replicas <= 5, 'maxSurge is a quarter')
    }
    assert.match(await kubectl('rollout', 'history', 'deployment/web'), /^1 .*\n2 /m)
    await kubectl('rollout', 'undo', 'deployment/web')
    await status()
    assert.match(await kubectl('rollout', 'history', 'deployment/web'), /^2 .*\n3 /m)
    const images = '-o=jsonpath={.items[*].spec.containers[*].image}'
    assert.equal(
      await kubectl('get', 'pods', '--field-selector=status.phase=Running', images),
      'nginx:1 nginx:1 nginx:1 nginx:1',
    )
  })

  test('scale: up and down, through the scale subresource', async () => {
    const kubectl = await cluster.namespace('scale')
    await kubectl('create', 'deployment', 'web', '--image=nginx')
    using watch = kubectl.watch('replicasets')
    await kubectl('scale', 'deployment/web', '--replicas=5')
    await watch.until(({ object: { status } }) => status.readyReplicas === 5)
    await kubectl('scale', 'deployment/web', '--replicas=1', '--current-replicas=5')
    await watch.until(({ object: { status } }) => status.replicas === 1 && status.readyReplicas === 1)
    const { err } = await kubectl.run(['scale', 'deployment/web', '--replicas=3', '--current-replicas=9'])
    assert.match(err, /Expected replicas to be 9, was 1/)
  })

  test('drain: the node takes no more pods and its pods move, each evicted once', async () => {
    const kubectl = await cluster.namespace('drain')
    // Before there are pods: were there one such node at first, all of them would go to it.
    await cluster.kubectl('label', 'node', 'skiff-2', 'skiff-3', 'pool=drained')
    await kubectl.send('create', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'moves' } },
        template: {
          metadata: { labels: { app: 'moves' } },
          spec: { nodeSelector: { pool: 'drained' }, containers: [{ name: 'main', image: 'nginx' }] },
        },
      },
    })
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=20s')
    using nodes = cluster.kubectl.watch('nodes', 'skiff-3')
    using pods = kubectl.watch('pods')
    await pods.until(({ object }) => isReady(object))
    const drained = await cluster.kubectl('drain', 'skiff-3', '--pod-selector=app=moves', '--timeout=20s')
    assert.match(drained, /node\/skiff-3 drained/)
    await nodes.until(({ object }) => object.spec.unschedulable === true)
    const evicted = [...drained.matchAll(/pod\/(\S+) evicted/g)].map(([, name]) => name as string)
    assert.ok(evicted.length > 0, drained)
    for (const name of evicted) {
      const gone = await pods.until(({ type, object }) => type === 'DELETED' && object.metadata.name === name)
      const target = gone.object.status.conditions.find(({ type }: Any) => type === 'DisruptionTarget')
      assert.equal(target?.reason, 'EvictionByEvictionAPI')
    }
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=20s')
    const left = await kubectl.json('get', 'pods', '--field-selector=status.phase=Running')
    assert.deepEqual([...new Set(left.items.map(({ spec }: Any) => spec.nodeName))], ['skiff-2'])
    await cluster.kubectl('uncordon', 'skiff-3')
  })

  test('a namespace: everything in it goes, what a finalizer holds holds it, and its conditions say so', async () => {
    const kubectl = await cluster.namespace('ending')
    await kubectl.send(
      'create',
      pod('p', {}, { spec: { terminationGracePeriodSeconds: 1 } }),
      configMap('held', { finalizers: ['example.com/held'] }),
      configMap('free'),
    )
    using namespaces = cluster.kubectl.watch('namespaces', 'ending')
    using pods = kubectl.watch('pods', 'p')
    using maps = kubectl.watch('configmaps')
    await pods.until(({ object }) => isReady(object))
    await cluster.kubectl('delete', 'namespace', 'ending', '--wait=false')
    const waits = await namespaces.until(({ object }) =>
      object.status.conditions?.some(
        ({ type, status }: Any) => type === 'NamespaceFinalizersRemaining' && status === 'True',
      ),
    )
    const remaining = waits.object.status.conditions.find(({ type }: Any) => type === 'NamespaceFinalizersRemaining')
    assert.equal(remaining.reason, 'SomeFinalizersRemain')
    assert.match(remaining.message, /example\.com\/held in 1 resource instances/)
    await pods.until(({ type }) => type === 'DELETED')
    await maps.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'free')
    await kubectl('patch', 'configmap', 'held', '-p', '{"metadata":{"finalizers":null}}')
    await namespaces.until(({ type }) => type === 'DELETED')
    const [first, ...rest] = trail(
      namespaces.seen,
      'ending',
      namespaces.seen[0]?.object.metadata.resourceVersion as string,
    )
    assert.equal(first, 'MODIFIED metadata.deletionTimestamp status.phase')
    assert.match(rest.at(-1) ?? '', /^DELETED/)
    for (const line of rest.slice(0, -1)) assert.match(line, /^MODIFIED (status|spec)/)
  })
})
