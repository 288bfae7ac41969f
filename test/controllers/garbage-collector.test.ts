/** The garbage collector against an API server that does not tell it everything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject, OwnerReference } from '../../src/api/object.ts'
import { simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import type { Client } from '../../src/client/client.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { createGarbageCollector } from '../../src/controllers/garbage-collector/garbage-collector.ts'
import { createResourceQuotaController } from '../../src/controllers/resourcequota/resourcequota-controller.ts'
import { ADMIN, startTestApi } from '../harness.ts'

test('nothing is orphaned or collected before every group that can be discovered is', async () => {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  await runtime.complete(api.namespace('n'))
  const user = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const maps = user.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('n')
  const rbac = 'rbac.authorization.k8s.io'
  const roles = user.resource({ group: rbac, version: 'v1', resource: 'roles' }).namespace('n')
  const apiVersion = `${rbac}/v1`
  const role: KubeObject = { apiVersion, kind: 'Role', metadata: { name: 'owner' }, rules: [] }
  const { uid = '' } = (await runtime.complete(roles.create(role))).metadata
  const ownerReferences = [{ apiVersion, kind: 'Role', name: 'owner', uid }]
  const map: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'dependent', ownerReferences } }
  await runtime.complete(maps.create(map))
  await runtime.complete(roles.delete('owner', { propagationPolicy: 'Orphan' }))

  let failures = 2
  const client: Client = {
    ...user,
    async discover(groups) {
      const found = await user.discover(groups)
      if (failures-- <= 0) return found
      const others = (all: typeof found.resources) => all.filter(({ group }) => group !== '')
      return { resources: others(found.resources), everyVersion: others(found.everyVersion), failed: ['v1'] }
    },
  }
  const { signal } = new AbortController()
  const informers = createInformerFactory(runtime, client, signal)
  informers.start()
  const collector = createGarbageCollector({ runtime, client, informers, signal })
  await runtime.complete(collector.start())
  await runtime.advance(60_000)

  const [left] = (await runtime.complete(maps.list())).items.filter(({ metadata }) => metadata.name === 'dependent')
  assert.deepEqual((left?.metadata as Fields | undefined)?.['ownerReferences'] ?? 'none', 'none')
  assert.ok(left !== undefined, 'what was orphaned lives on')
  assert.deepEqual((await runtime.complete(roles.list())).items, [])
})

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }

function definition(group: string, plural: string, kind: string): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object' } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

test('a kind that comes is looked after at once, not at the next resync', async () => {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  await runtime.complete(api.namespace('n'))
  const client = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  const { signal } = new AbortController()
  const informers = createInformerFactory(runtime, client, signal)
  informers.start()
  await runtime.complete(createGarbageCollector({ runtime, client, informers, signal }).start())

  const group = 't.example.com'
  await runtime.complete(client.resource(definitions).create(definition(group, 'things', 'Thing')))
  await runtime.advance(2_000)
  const things = client.resource({ group, version: 'v1', resource: 'things' }).namespace('n')
  await runtime.complete(things.create({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' } }))
  await runtime.complete(things.delete('a', { propagationPolicy: 'Foreground' }))
  await runtime.advance(2_000)

  assert.deepEqual((await runtime.complete(things.list())).items, [])
})

test('a definition that comes or goes is found by asking discovery for its group alone', async () => {
  const runtime = simulatedRuntime(1)
  const api = await runtime.complete(startTestApi(runtime))
  await runtime.complete(api.namespace('n'))
  const client = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
  for (let i = 0; i < 20; i++)
    await runtime.complete(client.resource(definitions).create(definition('old.example.com', `olds${i}`, `Old${i}`)))
  const asked: string[] = []
  const own: Client = createClient(
    runtime,
    inProcessTransport((request) => {
      if (/^\/apis?(\/[^/]+){0,2}$/.test(request.path)) asked.push(request.path)
      return api.handler(request)
    }),
    { user: ADMIN, userAgent: 'components' },
  )
  const { signal } = new AbortController()
  const informers = createInformerFactory(runtime, own, signal)
  informers.start()
  const collector = createGarbageCollector({ runtime, client: own, informers, signal }, { resyncMs: 600_000 })
  await runtime.complete(collector.start())
  await runtime.complete(createResourceQuotaController({ runtime, client: own, informers, signal }).start())
  const quotas = client.resource({ group: '', version: 'v1', resource: 'resourcequotas' }).namespace('n')
  const spec = { hard: { 'count/things.t.example.com': '5' } }
  await runtime.complete(quotas.create({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec }))
  await runtime.advance(5_000)
  assert.ok(asked.filter((path) => path === '/apis').length >= 2, 'each asked for everything once')

  const group = 't.example.com'
  asked.length = 0
  await runtime.complete(client.resource(definitions).create(definition(group, 'things', 'Thing')))
  await runtime.advance(2_000)
  assert.ok(collector.monitorOf({ group, version: 'v1', resource: 'things' }) !== undefined)
  await runtime.complete(client.resource(definitions).delete(`things.${group}`))
  await runtime.advance(2_000)
  assert.ok(collector.monitorOf({ group, version: 'v1', resource: 'things' }) === undefined)
  await runtime.complete(client.resource(definitions).create(definition(group, 'things', 'Thing')))
  await runtime.advance(25_000)

  const others = asked.filter((path) => !path.startsWith(`/apis/${group}`))
  assert.deepEqual(others, [], 'no other group is asked, whether by the collector or for quotas')
  assert.ok(asked.length <= 12, asked.join(' '))
  const used = (await runtime.complete(quotas.get('q')))['status'].used as Fields
  assert.deepEqual(used, { 'count/things.t.example.com': '0' })

  asked.length = 0
  await runtime.complete(collector.resync())
  asked.length = 0
  await runtime.complete(collector.resync())
  assert.deepEqual([...asked].sort(), ['/api', '/apis'], 'where nothing has changed nothing is read')
})

test('a cluster-scoped object that names a namespaced owner is left alone, and the owner counts for the others it owns', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const runtime = simulatedRuntime(seed)
    const api = await runtime.complete(startTestApi(runtime))
    await runtime.complete(api.namespace('n'))
    const client = createClient(runtime, inProcessTransport(api.handler), { user: ADMIN, userAgent: 'user' })
    const maps = client.resource({ group: '', version: 'v1', resource: 'configmaps' }).namespace('n')
    const classes = client.resource({ group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' })
    const apiVersion = 'scheduling.k8s.io/v1'
    const owner: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } }
    const { uid = '' } = (await runtime.complete(maps.create(owner))).metadata
    const ofOwner: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }
    const ofNone: OwnerReference = { ...ofOwner, name: 'none', uid: '11111111-1111-4111-8111-111111111111' }
    for (const reference of [ofOwner, ofNone]) {
      const metadata = { name: reference.name, ownerReferences: [reference] }
      await runtime.complete(classes.create({ apiVersion, kind: 'PriorityClass', metadata, value: 1 }))
    }
    const metadata = { name: 'dependent', ownerReferences: [ofOwner] }
    await runtime.complete(maps.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }))

    const { signal } = new AbortController()
    const informers = createInformerFactory(runtime, client, signal)
    informers.start()
    await runtime.complete(createGarbageCollector({ runtime, client, informers, signal }).start())
    await runtime.advance(60_000)

    const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name)
    assert.deepEqual(names((await runtime.complete(maps.list())).items), ['dependent', 'owner'], `seed ${seed}`)
    const left = names((await runtime.complete(classes.list())).items)
    assert.deepEqual(
      left.filter((name) => !name?.startsWith('system-')),
      ['none', 'owner'],
      `seed ${seed}`,
    )
  }
})
