/**
 * The storage version migrator (KEP-4192): writes each object of a resource anew, so that it is stored in the version and with the
 * encryption of today. It takes the objects from the garbage collector's monitors, which have all there are, and the controller
 * manager starts it with that one.
 */
import type { StorageVersionMigration } from '../../api/generated/types.ts'
import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { isConflict, isNotFound, StatusError } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { DiscoveredResource, GroupVersionResource } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { createMigrationRunner, migrationsResource, resourceOf } from './migration-runner.ts'
import {
  type ConditionChange,
  failure,
  hasEnded,
  migrationStateOf,
  running,
  success,
  withMigrationConditions,
} from './migration-status.ts'

const name = 'storage-version-migrator-controller'
const fieldManager = name
/** A namespace that no object can be in: a list of it has no items, only the resource's resourceVersion. */
const NOWHERE = '@fake:svm_ns%21'
/** A resource that discovery does not know for so long does not exist; discovery is asked twice in that time. */
const UNKNOWN_PATIENCE_MS = 60_000
const NEEDED = ['update', 'patch', 'list']

/** What the garbage collector knows. */
export interface KnownResources {
  /** A resource as discovery has it, in the version its group prefers. */
  resourceOf(group: string, resource: string): DiscoveredResource | undefined
  monitorOf(resource: GroupVersionResource): Informer | undefined
}

export function createStorageVersionMigrator(context: ControllerContext, known: KnownResources): Controller {
  const { runtime, client, informers, signal } = context
  const log = runtime.log.named(name)
  const migrations = informers.informer<StorageVersionMigration>(migrationsResource)
  const writer = client.resource<StorageVersionMigration>(migrationsResource)
  const resources = createWorkQueue<string>(runtime, 'migration-runner-controller')
  const unversioned = createWorkQueue<string>(runtime, 'resource-version-controller')
  const versioned = createWorkQueue<string>(runtime, 'storage-version-migrator-controller')
  const now = () => formatTime(runtime.clock.now())
  const run = createMigrationRunner(context, (resource) =>
    migrations.store.list().filter((migration) => resourceOf(migration) === resource),
  )
  const write = (migration: StorageVersionMigration) => writer.update(migration, { subresource: 'status' })
  const tell = (migration: StorageVersionMigration, ...conditions: readonly ConditionChange[]) =>
    write(withMigrationConditions(migration, now(), ...conditions))

  /** Notes up to which version everything has to be written anew. */
  async function findVersion(key: string): Promise<unknown> {
    const migration = migrations.store.get(key)
    if (migration === undefined || migrationStateOf(migration) !== 'running' || migration.status?.resourceVersion)
      return
    const { group = '', resource = '' } = migration.spec?.resource ?? {}
    const found = known.resourceOf(group, resource)
    if (found === undefined) {
      const age = runtime.clock.now() - Date.parse(migration.metadata.creationTimestamp ?? '')
      if (age < UNKNOWN_PATIENCE_MS) return 'retry'
      return tell(migration, failure('resource does not exist in discovery'))
    }
    const root = group === '' ? `/api/${found.version}` : `/apis/${group}/${found.version}`
    const served = await servedAt(root, resource)
    const verbs = served?.verbs ?? []
    if (NEEDED.some((verb) => !verbs.includes(verb))) {
      const what = `${group}/${found.version}, Resource=${resource}`
      return tell(migration, failure(`resource "${what}" does not support discovery operations: [${NEEDED.join(' ')}]`))
    }
    const isNamespaced = (await servedAt(root, resource))?.namespaced === true
    const collection = isNamespaced ? `${root}/namespaces/${NOWHERE}/${resource}` : `${root}/${resource}`
    const list = await read(`${collection}?limit=1`)
    const { resourceVersion } = list.metadata
    if (resourceVersion === undefined) throw new Error('a list has no resource version')
    return write({ ...migration, status: { ...migration.status, resourceVersion } })
  }

  async function read(path: string): Promise<KubeObject> {
    const { status, body } = await client.raw('GET', path)
    const answer: KubeObject = JSON.parse(body)
    if (status === 200) return answer
    throw new Error(`${path} was answered with ${status}`)
  }

  async function servedAt(root: string, resource: string): Promise<DiscoveredResource | undefined> {
    const { resources: served = [] } = (await read(`${root}?timeout=32s`)) as {
      readonly resources?: readonly (DiscoveredResource & { readonly name: string })[]
    }
    return served.find((entry) => entry.name === resource)
  }

  async function migrate(key: string): Promise<unknown> {
    const migration = migrations.store.get(key)
    if (migration === undefined || hasEnded(migration)) return
    const wanted = migration.status?.resourceVersion
    if (!wanted) return
    const { group = '', resource = '' } = migration.spec?.resource ?? {}
    const found = known.resourceOf(group, resource)
    const monitor = found && known.monitorOf(found)
    // All there was at that version, or is newer, is what has to be written.
    if (found === undefined || monitor?.hasSynced !== true || BigInt(monitor.resourceVersion) < BigInt(wanted)) {
      log.info(4, 'the garbage collector has not seen it yet', { svm: key, resourceVersion: wanted })
      return 'retry'
    }
    const objects = monitor.store.list()
    for (const [index, object] of objects.entries()) {
      if (signal.aborted) return
      const error = await writeAnew(found, object)
      if (error === undefined) continue
      const remaining = `${objects.length - index}/${objects.length}`
      const progress = `${remaining} objects not yet migrated`
      if (!isTransient(error)) {
        const told = `${remaining} not yet migrated. migration encountered unhandled error: ${messageOf(error)}`
        return tell(migration, running(progress), failure(told))
      }
      const waits = withMigrationConditions(
        migration,
        now(),
        running(`${progress}; transient error: ${messageOf(error)}`),
      )
      if (!sameJson(waits.status, migration.status)) await write(waits)
      return 'retry'
    }
    return tell(
      migration,
      running(objects.length === 0 ? undefined : `${objects.length} objects verified migrated`),
      success,
    )
  }

  /** Returns what speaks against it. */
  async function writeAnew(
    { group, version, resource, kind }: DiscoveredResource,
    { metadata }: KubeObject,
  ): Promise<unknown> {
    const { namespace = '', name: own = '', resourceVersion = '' } = metadata
    const body = { kind, apiVersion: apiVersionOf(group, version), metadata: { resourceVersion } }
    try {
      const scoped = client.resource({ group, version, resource }).namespace(namespace)
      await scoped.patch(own, 'apply', body, { fieldManager })
    } catch (error) {
      // A change since then has written it anew, and what is gone needs it no more.
      if (isConflict(error) || isNotFound(error)) return undefined
      return error
    }
    return undefined
  }

  return {
    name,
    async start() {
      const changed = (migration: StorageVersionMigration) => {
        const key = migration.metadata.name ?? ''
        resources.add(resourceOf(migration))
        unversioned.add(key)
        versioned.add(key)
      }
      migrations.addHandlers({
        added: changed,
        updated: (_, migration) => changed(migration),
        deleted: (migration) => resources.add(resourceOf(migration)),
      })
      await migrations.whenSynced(signal)
      runWorkers(runtime, resources, 1, run, signal)
      runWorkers(runtime, unversioned, 1, findVersion, signal)
      runWorkers(runtime, versioned, context.concurrentSyncs ?? 1, migrate, signal)
    },
  }
}

/** It may go well the next time: the server or what it asks is not well, or there was no answer. */
const isTransient = (error: unknown): boolean =>
  !(error instanceof StatusError) || error.code >= 500 || error.code === 429
