/** All controllers together on the simulated clock, with a stand-in that runs pods at once: the life of a Deployment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import type { UserInfo } from '../../src/api/request.ts'
import { formatTime } from '../../src/base/clock.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { AUTHORITY } from '../authority.ts'
import { ADMIN, startTestApi } from '../harness.ts'

async function cluster(seed: number) {
  const runtime = simulatedRuntime(seed, seed === 0 ? { order: 'fifo' } : {})
  const api = await runtime.complete(startTestApi(runtime))
  const stop = new AbortController()
  const clientFor = (identity: { user: UserInfo; userAgent: string }) =>
    createClient(runtime, inProcessTransport(api.handler), identity)
  const admin = clientFor({ user: ADMIN, userAgent: 'user' })
  const starting = startControllerManager({ runtime, clientFor, rootCa: AUTHORITY, signal: stop.signal })
  await runtime.complete(starting, { maxSteps: 1_000_000 })
  const pods = admin.resource({ group: '', version: 'v1', resource: 'pods' })
  const gone: string[] = []
  const run = (pod: KubeObject) => {
    const own = pods.namespace(pod.metadata.namespace ?? '')
    const name = pod.metadata.name ?? ''
    if (pod.metadata.deletionTimestamp !== undefined) void own.delete(name, { gracePeriodSeconds: 0 }).catch(() => {})
    else if (pod['status']?.phase === 'Pending') {
      const lastTransitionTime = formatTime(runtime.clock.now())
      const conditions = ['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
        type,
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime,
      }))
      const status = { phase: 'Running', conditions }
      void own.patch(name, 'strategic', { status }, { subresource: 'status' }).catch(() => {})
    }
  }
  const informers = createInformerFactory(runtime, admin, stop.signal)
  const fell = (object: KubeObject) => void gone.push(object.kind)
  informers
    .informer({ group: '', version: 'v1', resource: 'pods' })
    .addHandlers({ added: run, updated: (_, pod) => run(pod), deleted: fell })
  for (const resource of ['replicasets', 'deployments'])
    informers.informer({ group: 'apps', version: 'v1', resource }).addHandlers({ deleted: fell })
  informers.start()
  const namespaces = admin.resource({ group: '', version: 'v1', resource: 'namespaces' })
  await runtime.complete(namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }))
  await runtime.advance(1000)
  const deployments = admin.resource({ group: 'apps', version: 'v1', resource: 'deployments' }).namespace('x')
  const create = (spec: Fields) =>
    deployments.create({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'a' } },
        template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
        ...spec,
      },
    })
  const end = async () => {
    stop.abort()
    await runtime.complete(api.stop())
  }
  const sets = admin.resource({ group: 'apps', version: 'v1', resource: 'replicasets' }).namespace('x')
  return { runtime, admin, namespaces, deployments, sets, pods: pods.namespace('x'), create, gone, end }
}

for (const seed of [0, 1, 2, 3]) {
  for (const type of ['RollingUpdate', 'Recreate']) {
    test(`a Deployment comes up, is updated by ${type} and goes in the foreground (seed ${seed})`, async () => {
      const { runtime, deployments, sets, pods, create, gone, end } = await cluster(seed)
      await runtime.complete(create({ strategy: { type } }))
      await runtime.advance(5000)
      const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } }
      await runtime.complete(deployments.patch('a', 'strategic', image))
      await runtime.advance(30_000)
      const { status } = (await runtime.complete(deployments.get('a'))) as Fields
      assert.equal(status.updatedReplicas, 3)
      assert.equal(status.availableReplicas, 3)
      assert.equal(status.observedGeneration, 2)
      const sizes = (await runtime.complete(sets.list())).items.map((set) => [set.metadata.name, set['spec'].replicas])
      assert.deepEqual(Object.fromEntries(sizes), { 'a-565f7894b6': 0, 'a-675784f59': 3 })
      gone.length = 0
      await runtime.complete(deployments.delete('a', { propagationPolicy: 'Foreground' }))
      await runtime.advance(30_000)
      assert.equal((await runtime.complete(pods.list())).items.length, 0)
      assert.equal(gone.at(-1), 'Deployment')
      assert.deepEqual(gone.toSorted(), ['Deployment', 'Pod', 'Pod', 'Pod', 'ReplicaSet', 'ReplicaSet'])
      await end()
    })
  }
}

test('a namespace takes all its content with it', async () => {
  const { runtime, namespaces, create, end } = await cluster(7)
  await runtime.complete(create({}))
  await runtime.advance(5000)
  await runtime.complete(namespaces.delete('x'))
  await runtime.advance(60_000)
  assert.deepEqual(
    (await runtime.complete(namespaces.list())).items.filter(({ metadata }) => metadata.name === 'x'),
    [],
  )
  await end()
})
