/** Autoscalers keep their targets within bounds, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

test('too few are made more, too many fewer, and the autoscaler says so', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  stage.mark()
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const resource = (group: string, version: string, name: string) =>
    stage.user.resource({ group, version, resource: name }).namespace(namespace)
  const sets = resource('apps', 'v1', 'replicasets')
  const autoscalers = resource('autoscaling', 'v2', 'horizontalpodautoscalers')
  const labels = { app: 'a' }
  const object = (apiVersion: string, kind: string, spec: Fields) =>
    ({ apiVersion, kind, metadata: { name: 'a' }, spec }) as unknown as KubeObject
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await done(sets.create(object('apps/v1', 'ReplicaSet', { replicas: 1, selector: { matchLabels: labels }, template })))
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a' }
  const spec = { scaleTargetRef, minReplicas: 2, maxReplicas: 3 }
  await done(autoscalers.create(object('autoscaling/v2', 'HorizontalPodAutoscaler', spec)))
  const replicas = async () => {
    await runtime.advance(20_000)
    return (await done(sets.get('a')))['status'].readyReplicas
  }
  assert.equal(await replicas(), 2)
  await done(sets.patch('a', 'merge', { spec: { replicas: 7 } }, { subresource: 'scale' }))
  assert.equal(await replicas(), 3)
  const { conditions, desiredReplicas } = (await done(autoscalers.get('a')))['status'] as Fields
  assert.equal(desiredReplicas, 3)
  assert.ok((conditions as readonly Fields[]).some(({ type, status }) => type === 'AbleToScale' && status === 'True'))
  const told = stage.events.filter(({ reason }) => reason === 'SuccessfulRescale').map(({ message }) => message)
  assert.deepEqual(told, [
    'New size: 2; reason: Current number of replicas below Spec.MinReplicas',
    'New size: 3; reason: Current number of replicas above Spec.MaxReplicas',
  ])
  await stage.stop()
})
