/** APIServices of group versions that definitions serve: made, kept and removed by the API server itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAsker } from '../conformance/ask.ts'
import { startApiServer } from '../conformance/server.ts'
import { simulatedRuntime } from '../src/base/simulated-runtime.ts'
import { startTestApi } from './harness.ts'

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'
const MERGE = { 'content-type': 'application/merge-patch+json' }

const version = (name: string, served: boolean, storage = false) => ({
  name,
  served,
  storage,
  schema: { openAPIV3Schema: { type: 'object' } },
})
const definition = (plural: string, ...versions: readonly object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.a.io` },
  spec: { group: 'a.io', scope: 'Cluster', names: { plural, kind: plural }, versions },
})

async function started() {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime, { registerDefinitions: true }))
  const ask = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const { code, body: answer } = await runtime.complete(api.request(method, path, body, headers))
    await runtime.advance(1000)
    return { code, answer }
  }
  return {
    ask,
    names: async () =>
      (await ask('GET', SERVICES)).answer.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    service: async (name: string) => (await ask('GET', `${SERVICES}/${name}`)).answer,
    stop: () => runtime.complete(api.stop()),
  }
}

test('each served version of a definition has an available APIService, and it goes with the last definition of it', async () => {
  const { ask, names, service, stop } = await started()
  await ask(
    'POST',
    DEFINITIONS,
    definition('foos', version('v1', true, true), version('v1beta1', true), version('v2', false)),
  )
  await ask('POST', DEFINITIONS, definition('bars', version('v1', true, true)))
  assert.deepEqual(await names(), ['v1.a.io', 'v1beta1.a.io'])
  const { spec, status, metadata } = await service('v1.a.io')
  assert.deepEqual(spec, { group: 'a.io', groupPriorityMinimum: 1000, version: 'v1', versionPriority: 100 })
  assert.deepEqual(metadata.labels, { [AUTOMANAGED]: 'true' })
  assert.equal(status.conditions[0].reason, 'Local')
  await ask('DELETE', `${DEFINITIONS}/foos.a.io`)
  assert.deepEqual(await names(), ['v1.a.io'])
  await ask('DELETE', `${DEFINITIONS}/bars.a.io`)
  assert.deepEqual(await names(), [])
  await stop()
})

test('what is deleted or changed comes back; what lost its label, or never had it, is left alone', async () => {
  const { ask, names, service, stop } = await started()
  const theirs = { group: 'b.io', version: 'v1', groupPriorityMinimum: 5, versionPriority: 5 }
  await ask('POST', SERVICES, {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1.b.io' },
    spec: theirs,
  })
  await ask('POST', DEFINITIONS, definition('foos', version('v1', true, true), version('v2', true)))
  await ask('DELETE', `${SERVICES}/v1.a.io`)
  await ask('PATCH', `${SERVICES}/v2.a.io`, { spec: { versionPriority: 7 } }, MERGE)
  assert.deepEqual(await names(), ['v1.a.io', 'v1.b.io', 'v2.a.io'])
  assert.equal((await service('v2.a.io')).spec.versionPriority, 100)
  await ask(
    'PATCH',
    `${SERVICES}/v2.a.io`,
    { metadata: { labels: { [AUTOMANAGED]: null } }, spec: { versionPriority: 7 } },
    MERGE,
  )
  assert.equal((await service('v2.a.io')).spec.versionPriority, 7)
  await ask('DELETE', `${DEFINITIONS}/foos.a.io`)
  assert.deepEqual(await names(), ['v1.b.io', 'v2.a.io'])
  await stop()
})

test('a whole API server keeps them', { timeout: 60_000 }, async (t) => {
  const cluster = await startApiServer()
  t.after(() => cluster.stop())
  const asker = createAsker(cluster.kubeconfig)
  t.after(() => asker.close())
  const body = JSON.stringify(definition('foos', version('v1', true, true)))
  assert.equal((await asker.call({ m: 'POST', p: DEFINITIONS, b: body })).code, 201)
  const one = `${SERVICES}?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3Dv1.a.io`
  let seen = ''
  for (let i = 0; seen === '' && i < 20; i++) seen = (await asker.call({ m: 'GET', p: one })).text
  assert.equal(JSON.parse(seen.split('\n')[0] ?? '').object.status.conditions[0].reason, 'Local')
})
