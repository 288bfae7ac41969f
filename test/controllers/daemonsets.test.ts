/** Daemon sets as nodes come, change and go, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

test('a new node gets its pod, a tainted one loses it, a cordoned one keeps it; the ended are tried again', async () => {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const sets = stage.user.resource({ group: 'apps', version: 'v1', resource: 'daemonsets' }).namespace(namespace)
  const pods = stage.user.resource({ group: '', version: 'v1', resource: 'pods' }).namespace(namespace)
  const nodes = stage.user.resource({ group: '', version: 'v1', resource: 'nodes' })
  const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { selector: { matchLabels: { app: 'd' } }, template }
  await done(
    sets.create({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd' }, spec } as unknown as KubeObject),
  )
  const placed = async () => {
    await runtime.advance(5000)
    return (await done(pods.list())).items.map((pod) => pod['spec'].nodeName as string).sort()
  }
  const taint = (name: string, ...taints: readonly Fields[]) =>
    done(nodes.patch(name, 'merge', { spec: { taints } } as never))
  assert.deepEqual(await placed(), ['kwok-1'])
  await done(stage.nodes.add('kwok-2'))
  assert.deepEqual(await placed(), ['kwok-1', 'kwok-2'])
  await taint('kwok-2', { key: 'x', effect: 'NoExecute' })
  assert.deepEqual(await placed(), ['kwok-1'])
  await taint('kwok-2')
  assert.deepEqual(await placed(), ['kwok-1', 'kwok-2'])
  await done(nodes.patch('kwok-1', 'merge', { spec: { unschedulable: true } }))
  assert.deepEqual(await placed(), ['kwok-1', 'kwok-2'])
  await done(nodes.delete('kwok-2'))
  const counted = async () => (await done(sets.get('d')))['status'].desiredNumberScheduled
  await runtime.advance(5000)
  assert.equal(await counted(), 2, 'that a node has gone is not looked at')
  // Until the pod collection is sure that the node will not come back.
  await runtime.advance(90_000)
  assert.deepEqual(await placed(), ['kwok-1'])
  const { desiredNumberScheduled, numberReady } = (await done(sets.get('d')))['status']
  assert.deepEqual([desiredNumberScheduled, numberReady], [1, 1])
  await stage.stop()
})
