/** What every namespace has, and how it goes, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const resource = (name: string) => ({ group: '', version: 'v1', resource: name })

async function stageOf() {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const within = (name: string) => stage.user.resource(resource(name)).namespace(namespace)
  return { runtime, stage, within, namespaces: stage.user.resource(resource('namespaces')) }
}

test('a deleted default service account and a changed root CA come back', async () => {
  const { runtime, stage, within } = await stageOf()
  const before = await runtime.complete(within('serviceaccounts').get('default'))
  await runtime.complete(within('serviceaccounts').delete('default'))
  await runtime.complete(within('configmaps').patch('kube-root-ca.crt', 'merge', { data: { 'ca.crt': 'other' } }))
  await runtime.advance(5000)
  const after = await runtime.complete(within('serviceaccounts').get('default'))
  assert.notEqual(after.metadata.uid, before.metadata.uid)
  const published = await runtime.complete(within('configmaps').get('kube-root-ca.crt'))
  assert.match(published['data']['ca.crt'], /BEGIN CERTIFICATE/)
  await runtime.complete(within('configmaps').delete('kube-root-ca.crt'))
  await runtime.advance(5000)
  await runtime.complete(within('configmaps').get('kube-root-ca.crt'))
  await stage.stop()
})

test('a namespace says what holds it, and goes when that has gone', async () => {
  const { runtime, stage, within, namespaces } = await stageOf()
  const held: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'held', finalizers: ['example.com/f'] },
  }
  await runtime.complete(within('configmaps').create(held))
  await runtime.complete(namespaces.delete(namespace))
  await runtime.advance(20_000)
  const { status } = (await runtime.complete(namespaces.get(namespace))) as Fields
  const conditions = Object.fromEntries(
    (status.conditions as readonly Fields[]).map(({ type, status: value, reason, message }) => [
      type,
      [value, reason, message],
    ]),
  )
  assert.deepEqual(conditions, {
    NamespaceDeletionDiscoveryFailure: ['False', 'ResourcesDiscovered', 'All resources successfully discovered'],
    NamespaceDeletionGroupVersionParsingFailure: [
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    NamespaceDeletionContentFailure: [
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    NamespaceContentRemaining: [
      'True',
      'SomeResourcesRemain',
      'Some resources are remaining: configmaps. has 1 resource instances',
    ],
    NamespaceFinalizersRemaining: [
      'True',
      'SomeFinalizersRemain',
      'Some content in the namespace has finalizers remaining: example.com/f in 1 resource instances',
    ],
  })
  await runtime.complete(within('configmaps').patch('held', 'merge', { metadata: { finalizers: null } } as never))
  await runtime.advance(60_000)
  await assert.rejects(runtime.complete(namespaces.get(namespace)), { code: 404 })
  await stage.stop()
})
