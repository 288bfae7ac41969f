/** A Deployment of many pods comes and goes, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

for (const seed of [1, 2, 3]) {
  test(`status writes do not collide with those before them (seed ${seed})`, async () => {
    const runtime = simulatedRuntime(seed)
    const stage = await startStage(runtime, { nodes: 1 })
    const done = <T>(promise: Promise<T>) => runtime.complete(promise)
    const deployments = stage.user.resource({ group: 'apps', version: 'v1', resource: 'deployments' })
    const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
    const labels = { app: 'd' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 20, selector: { matchLabels: labels }, template }
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }
    stage.mark()
    await done(deployments.namespace(namespace).create(deployment as unknown as KubeObject))
    await runtime.advance(10_000)
    assert.equal((await done(deployments.namespace(namespace).get('d')))['status'].readyReplicas, 20)
    await done(deployments.namespace(namespace).delete('d', { propagationPolicy: 'Foreground' }))
    await runtime.advance(60_000)
    assert.deepEqual((await done(pods.list())).items, [])

    const refused = (controller: string) =>
      stage.writes.filter(({ user, uri, code }) => user.endsWith(controller) && uri.includes('/status') && code === 409)
        .length
    assert.equal(refused('replicaset-controller'), 0)
    // The sync that makes the first ReplicaSet writes twice, as on a real cluster.
    assert.ok(refused('deployment-controller') <= 1)
    await stage.stop()
  })
}
