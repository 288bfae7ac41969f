/** Workloads that are deleted and made again under their name, faster than their controller hears of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const pod = { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels: { app: 'w' } }, spec: pod }
const selector = { matchLabels: { app: 'w' } }
const workloads: readonly { group: string; kind: string; resource: string; spec: Fields }[] = [
  { group: 'apps', kind: 'ReplicaSet', resource: 'replicasets', spec: { selector, template, replicas: 2 } },
  {
    group: 'apps',
    kind: 'StatefulSet',
    resource: 'statefulsets',
    spec: { selector, template, replicas: 2, podManagementPolicy: 'Parallel', serviceName: 'w' },
  },
  { group: 'apps', kind: 'DaemonSet', resource: 'daemonsets', spec: { selector, template } },
  {
    group: 'batch',
    kind: 'Job',
    resource: 'jobs',
    spec: { parallelism: 2, completions: 2, template: { spec: { ...pod, restartPolicy: 'Never' } } },
  },
]

for (const { group, kind, resource, spec } of workloads) {
  test(`a ${kind} made again under its name does not wait for pods that its forerunner expected`, async () => {
    for (const seed of [7, 9, 13, 15, 19]) {
      const runtime = simulatedRuntime(seed)
      const stage = await startStage(runtime, { nodes: 2 })
      const done = <T>(promise: Promise<T>) => runtime.complete(promise)
      const objects = stage.user.resource({ group, version: 'v1', resource }).namespace(namespace)
      const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
      const object = { apiVersion: `${group}/v1`, kind, metadata: { name: 'w' }, spec } as KubeObject
      await done(objects.create(object))
      for (let again = 0; again < 3; again++) {
        await done(objects.delete('w', { propagationPolicy: 'Background' }))
        await done(objects.create(object))
      }
      await runtime.advance(60_000)
      const { uid } = (await done(objects.get('w'))).metadata
      const own = (await done(pods.list())).items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid)
      assert.equal(own.length, 2, `seed ${seed}`)
      await stage.stop()
    }
  })
}
