/** Quotas, with all controllers on the simulated clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { namespace, startStage } from '../scenarios/stage.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })

async function stageWith(hard: Fields) {
  const runtime = simulatedRuntime(1)
  const stage = await startStage(runtime, { nodes: 1 })
  const done = <T>(promise: Promise<T>) => runtime.complete(promise)
  const quotas = stage.user.resource(core('resourcequotas')).namespace(namespace)
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }
  await done(quotas.create(quota as unknown as KubeObject))
  await runtime.advance(1000)
  return {
    stage,
    runtime,
    done,
    quotas,
    used: async (): Promise<Fields> => (await done(quotas.get('q')))['status'].used ?? {},
  }
}
const object = (kind: string, name: string, rest: Fields = {}) =>
  ({ apiVersion: 'v1', kind, metadata: { name }, ...rest }) as unknown as KubeObject

test('a deleted object makes room at once; of many created at once no more come than fit', async () => {
  const { stage, runtime, done, used } = await stageWith({ configmaps: '3' })
  const maps = stage.user.resource(core('configmaps')).namespace(namespace)
  const many = await done(
    Promise.allSettled(Array.from({ length: 6 }, (_, i) => maps.create(object('ConfigMap', `c${i}`)))),
  )
  assert.equal(many.filter(({ status }) => status === 'fulfilled').length, 2, 'one is the CA of every namespace')
  assert.equal((await used())['configmaps'], '3')
  await done(maps.deleteCollection({}, { fieldSelector: 'metadata.name!=kube-root-ca.crt' }))
  await runtime.advance(100)
  assert.equal((await used())['configmaps'], '1')
  await stage.stop()
})

test('a kind that comes later is counted from then on', async () => {
  const { stage, runtime, done, used } = await stageWith({ 'count/widgets.example.com': '1' })
  assert.deepEqual(await used(), {})
  const group = 'example.com'
  await done(
    stage.user
      .resource({ group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' })
      .create({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `widgets.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      } as unknown as KubeObject),
  )
  await runtime.advance(40_000)
  assert.deepEqual(await used(), { 'count/widgets.example.com': '0' })
  const widgets = stage.user.resource({ group, version: 'v1', resource: 'widgets' }).namespace(namespace)
  const widget = (name: string) => ({ ...object('Widget', name), apiVersion: `${group}/v1` }) as KubeObject
  await done(widgets.create(widget('a')))
  await assert.rejects(done(widgets.create(widget('b'))), /exceeded quota: q, requested: count\/widgets/)
  await done(widgets.delete('a'))
  await runtime.advance(100)
  assert.deepEqual(await used(), { 'count/widgets.example.com': '0' })
  await stage.stop()
})

test('what admission charged and nobody made is given back within five minutes', async () => {
  const { stage, runtime, done, used, quotas } = await stageWith({ configmaps: '3' })
  await done(quotas.patch('q', 'merge', { status: { used: { configmaps: '3' } } }, { subresource: 'status' }))
  await runtime.advance(300_000)
  assert.equal((await used())['configmaps'], '1')
  await stage.stop()
})
