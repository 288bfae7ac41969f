/**
 * Storage version migrations: what is asked and written for each, as a real v1.37.1 did (recorded 2026-11-24; `kube-controller-manager`
 * asks discovery in the very requests that are told here).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StorageVersionMigration } from '../../src/api/generated/types.ts'
import type { Fields, JsonObject, KubeObject } from '../../src/api/object.ts'
import type { ApiRequest, Handler } from '../../src/api/request.ts'
import { internalError, StatusError } from '../../src/api/status.ts'
import { type SimulatedRuntime, simulatedRuntime } from '../../src/base/simulated-runtime.ts'
import { createInformerFactory } from '../../src/client/informer.ts'
import { createClient, inProcessTransport } from '../../src/client/transport.ts'
import { startControllerManager } from '../../src/controllers/manager.ts'
import { ADMIN, startTestApi } from '../harness.ts'

const migrationsResource = { group: 'storagemigration.k8s.io', version: 'v1', resource: 'storageversionmigrations' }
const definitionsResource = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const gadgets = { group: 'example.com', version: 'v2', resource: 'gadgets' }
const MIGRATOR = 'system:serviceaccount:kube-system:storage-version-migrator-controller'
const SVMS = '/apis/storagemigration.k8s.io/v1/storageversionmigrations'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

async function startCluster(
  runtime: SimulatedRuntime,
  refuse: (request: ApiRequest) => StatusError | undefined = () => undefined,
) {
  const done = <T>(promise: Promise<T>) => runtime.complete(promise, { maxSteps: 2_000_000 })
  const api = await done(startTestApi(runtime))
  const asked: { verb: string; path: string; object: JsonObject | undefined }[] = []
  const handler: Handler = async (request) => {
    if (request.user?.name !== MIGRATOR) return api.handler(request)
    const query = request.query.toString()
    const object = request.body?.kind === 'object' ? (request.body.object as JsonObject) : undefined
    const path = query === '' ? request.path : `${request.path}?${query}`
    asked.push({ verb: request.method, path, object })
    const refusal = refuse(request)
    if (refusal !== undefined) throw refusal
    return api.handler(request)
  }
  const stop = new AbortController()
  const clientFor = (identity: Parameters<Parameters<typeof startControllerManager>[0]['clientFor']>[0]) =>
    createClient(runtime, inProcessTransport(handler), identity)
  const user = clientFor({ user: ADMIN, userAgent: 'user' })
  const states: StorageVersionMigration[] = []
  const watching = createInformerFactory(runtime, user, stop.signal)
  watching
    .informer<StorageVersionMigration>(migrationsResource)
    .addHandlers({ added: (one) => states.push(one), updated: (_, one) => states.push(one) })
  watching.start()
  const controllers = ['garbage-collector-controller', 'storage-version-migrator-controller']
  await done(startControllerManager({ runtime, clientFor, controllers, signal: stop.signal }))
  await done(api.namespace('n'))
  const migrations = user.resource<StorageVersionMigration>(migrationsResource)
  return {
    user,
    done,
    asked,
    /** What the status said of a migration in turn, without its times. */
    told: (name: string) =>
      states
        .filter(({ metadata }) => metadata.name === name)
        .map(({ status }) =>
          (status?.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason}: ${one.message}`),
        )
        .filter((conditions, index, all) => index === 0 || conditions.join() !== all[index - 1]?.join()),
    migrate: (name: string, group: string, resource: string) =>
      done(
        migrations.create({
          apiVersion: 'storagemigration.k8s.io/v1',
          kind: 'StorageVersionMigration',
          metadata: { name },
          spec: { resource: { group, resource } },
        }),
      ),
    status: async (name: string): Promise<Fields> => (await done(migrations.get(name))).status ?? {},
    remove: (name: string) => done(migrations.delete(name)),
    configMap: (name: string) =>
      done(
        user.resource(configMaps).namespace('n').create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
      ),
    async stop() {
      stop.abort()
      await done(api.stop())
    },
  }
}

const running = 'Running=True MigrationRunning: The migration is running'
const over = 'Running=False MigrationCompleted: Migration completed'
const succeeded = 'Succeeded=True StorageVersionMigrationSucceeded: Migration completed'
const failed = (message: string) => `Failed=True StorageVersionMigrationFailed: ${message}`
const MINUTES_MS = 60_000

test('each object is written anew as it is, once the garbage collector has seen what there was; another of the resource waits', async () => {
  const runtime = simulatedRuntime(1)
  const { configMap, migrate, asked, told, user, done, status, stop } = await startCluster(runtime)
  for (const name of ['c1', 'c2']) await configMap(name)
  const own = user.resource(configMaps).namespace('n')
  const before = await done(own.list())
  asked.length = 0
  await migrate('b', '', 'configmaps')
  await runtime.advance(1000)
  assert.deepEqual(told('b'), [[], [running]])
  assert.match((await status('b'))['resourceVersion'], /^\d+$/)
  assert.ok(asked.every(({ verb }) => verb !== 'PATCH'))
  await migrate('a', '', 'configmaps')
  await runtime.advance(5 * MINUTES_MS)
  const all = await done(user.resource(configMaps).list())
  const objects = `${all.items.length} objects verified migrated`
  const course = [[], [running], [`${running}, ${objects}`, succeeded], [over, succeeded]]
  assert.deepEqual(told('b'), course)
  assert.deepEqual(told('a'), course)
  assert.deepEqual(await done(own.list()), { ...before, metadata: (await done(own.list())).metadata })
  const patches = asked.filter(({ verb }) => verb === 'PATCH')
  assert.equal(patches.length, 2 * all.items.length)
  for (const { path, object } of patches) {
    assert.match(
      path,
      /^\/api\/v1\/namespaces\/[a-z-]+\/configmaps\/[a-z0-9.-]+\?fieldManager=storage-version-migrator-controller$/,
    )
    assert.deepEqual(Object.keys(object ?? {}), ['kind', 'apiVersion', 'metadata'])
    assert.deepEqual(Object.keys((object as Fields)['metadata']), ['resourceVersion'])
  }
  const requests = asked.filter(({ verb }) => verb !== 'PATCH').map(({ verb, path }) => `${verb} ${path}`)
  const one = (name: string) => [
    `GET ${CRDS}/configmaps.`,
    `PUT ${SVMS}/${name}/status`,
    'GET /api/v1?timeout=32s',
    'GET /api/v1?timeout=32s',
    'GET /api/v1/namespaces/@fake:svm_ns%21/configmaps?limit=1',
    `PUT ${SVMS}/${name}/status`,
    `PUT ${SVMS}/${name}/status`,
    `GET ${CRDS}/configmaps.`,
    `PUT ${SVMS}/${name}/status`,
  ]
  assert.deepEqual(requests, [...one('b'), ...one('a')])
  await stop()
})

test('what cannot be listed and written, and what is not found for a minute, has failed', async () => {
  const runtime = simulatedRuntime(1)
  const { migrate, told, stop } = await startCluster(runtime)
  await migrate('verbs', '', 'bindings')
  await migrate('none', 'example.com', 'nones')
  await migrate('second', 'example.com', 'nones')
  await runtime.advance(50_000)
  const unfit = failed('resource "/v1, Resource=bindings" does not support discovery operations: [update patch list]')
  assert.deepEqual(told('verbs'), [[], [running], [running, unfit], [over, unfit]])
  assert.deepEqual(told('none'), [[], [running]])
  await runtime.advance(60_000)
  const unknown = failed('resource does not exist in discovery')
  assert.deepEqual(told('none'), [[], [running], [running, unknown], [over, unknown]])
  assert.deepEqual(told('second').at(-1), [over, unknown])
  await stop()
})

const definition = (storage: string): KubeObject =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      })),
    },
  }) as KubeObject

async function withGadgets(cluster: Awaited<ReturnType<typeof startCluster>>, runtime: SimulatedRuntime) {
  const definitions = cluster.user.resource(definitionsResource)
  await cluster.done(definitions.create(definition('v1')))
  await runtime.advance(5000)
  for (const name of ['g1', 'g2'])
    await cluster.done(
      cluster.user
        .resource({ ...gadgets, version: 'v1' })
        .namespace('n')
        .create({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name } }),
    )
  const { spec } = definition('v2')
  await cluster.done(definitions.patch('gadgets.example.com', 'merge', { spec: spec as JsonObject }))
  await runtime.advance(35_000)
  return async (): Promise<Fields> => {
    const { status } = (await cluster.done(definitions.get('gadgets.example.com'))) as Fields
    const { lastTransitionTime: _, ...migrating } = status.conditions.find(
      ({ type }: Fields) => type === 'StorageMigrating',
    )
    return { migrating, storedVersions: status.storedVersions }
  }
}

test('the definition of a custom resource tells of its migration, and of no version but the stored one when it is over', async () => {
  const runtime = simulatedRuntime(1)
  const cluster = await startCluster(runtime)
  const definitionTells = await withGadgets(cluster, runtime)
  await cluster.migrate('g', 'example.com', 'gadgets')
  await runtime.advance(1000)
  const type = 'StorageMigrating'
  assert.deepEqual(await definitionTells(), {
    migrating: {
      type,
      status: 'True',
      reason: 'MigrationRunning',
      message: 'Migration g is running',
      observedGeneration: 2,
    },
    storedVersions: ['v1', 'v2'],
  })
  await runtime.advance(3 * MINUTES_MS)
  assert.deepEqual(cluster.told('g').at(-1), [over, succeeded])
  assert.deepEqual(await definitionTells(), {
    migrating: {
      type,
      status: 'False',
      reason: 'MigrationSucceeded',
      message: 'The migration has succeeded and the stored versions have been updated',
      observedGeneration: 2,
    },
    storedVersions: ['v2'],
  })
  await cluster.stop()
})

test('an object that may not be written is where a migration fails; one that may later makes it wait', async () => {
  const runtime = simulatedRuntime(1)
  let refusal: StatusError | undefined = internalError('failed calling webhook')
  const cluster = await startCluster(runtime, ({ path }) => (path.includes('/gadgets/') ? refusal : undefined))
  const definitionTells = await withGadgets(cluster, runtime)
  await cluster.migrate('g', 'example.com', 'gadgets')
  await runtime.advance(2 * MINUTES_MS)
  const transient = `${running}, 2/2 objects not yet migrated; transient error: Internal error occurred: failed calling webhook`
  assert.deepEqual(cluster.told('g'), [[], [running], [transient]])
  refusal = new StatusError(422, 'Invalid', 'gadgets.example.com is forbidden')
  await runtime.advance(6 * MINUTES_MS)
  const failure = failed(
    '2/2 not yet migrated. migration encountered unhandled error: gadgets.example.com is forbidden',
  )
  assert.deepEqual(cluster.told('g').slice(3), [
    [`${running}, 2/2 objects not yet migrated`, failure],
    [over, failure],
  ])
  const { migrating } = await definitionTells()
  assert.deepEqual(
    [migrating.status, migrating.reason, migrating.message],
    ['False', 'MigrationFailed', 'The migration has failed'],
  )
  await cluster.stop()
})

test('when a migration that runs is deleted, the next of its resource runs', async () => {
  const runtime = simulatedRuntime(1)
  const cluster = await startCluster(runtime)
  const definitionTells = await withGadgets(cluster, runtime)
  await cluster.migrate('first', 'example.com', 'gadgets')
  await cluster.migrate('second', 'example.com', 'gadgets')
  await runtime.advance(100)
  assert.equal((await definitionTells())['migrating'].message, 'Migration first is running')
  await cluster.remove('first')
  await runtime.advance(100)
  assert.equal((await definitionTells())['migrating'].message, 'Migration second is running')
  await cluster.stop()
})
