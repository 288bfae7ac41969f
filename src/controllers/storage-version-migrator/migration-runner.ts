/**
 * Which migrations run: of one resource one at a time, the oldest first. A custom resource's definition tells of it, and once all
 * objects are in its storage version, it names no other.
 */
import type { CustomResourceDefinition, StorageVersionMigration } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { formatTime } from '../../base/clock.ts'
import type { ControllerContext } from '../controller.ts'
import {
  migrationStateOf,
  migrationSucceeded,
  notRunning,
  running,
  withMigrationConditions,
} from './migration-status.ts'

const definitionsResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}
export const migrationsResource = {
  group: 'storagemigration.k8s.io',
  version: 'v1',
  resource: 'storageversionmigrations',
}
const fieldManager = 'migration-runner-controller'

/** `configmaps.`, `deployments.apps`: also the name that a definition of it has. */
export const resourceOf = ({ spec }: StorageVersionMigration): string =>
  `${spec?.resource.resource ?? ''}.${spec?.resource.group ?? ''}`

/** Looks at the migrations of one resource: has one that ended say so, or begins the next. */
export function createMigrationRunner(
  { runtime, client }: ControllerContext,
  migrationsOf: (resource: string) => readonly StorageVersionMigration[],
): (resource: string) => Promise<void> {
  const migrations = client.resource<StorageVersionMigration>(migrationsResource)
  const definitions = client.resource<CustomResourceDefinition>(definitionsResource)
  const now = () => formatTime(runtime.clock.now())

  /** What else the definition is told, of the one that it is now. */
  type Told = (definition: CustomResourceDefinition) => {
    readonly condition: { readonly status: string; readonly reason: string; readonly message: string }
    readonly storedVersions?: readonly string[]
  }

  async function tellDefinition(name: string, told: Told): Promise<void> {
    try {
      await definitions.get(name)
    } catch (error) {
      // A resource that is built in, or none at all.
      if (isNotFound(error)) return
      throw error
    }
    const definition = await definitions.get(name)
    const { generation, resourceVersion } = definition.metadata
    const { condition, storedVersions } = told(definition)
    const body = {
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
      status: {
        conditions: [
          {
            type: 'StorageMigrating',
            ...condition,
            lastTransitionTime: now(),
            ...(generation === undefined ? {} : { observedGeneration: generation }),
          },
        ],
        ...(storedVersions === undefined ? {} : { storedVersions }),
      },
    }
    await definitions.patch(name, 'apply', body, { subresource: 'status', fieldManager, force: true })
  }

  async function end(migration: StorageVersionMigration): Promise<void> {
    const condition = migrationSucceeded(migration)
      ? {
          reason: 'MigrationSucceeded',
          message: 'The migration has succeeded and the stored versions have been updated',
        }
      : { reason: 'MigrationFailed', message: 'The migration has failed' }
    await tellDefinition(resourceOf(migration), ({ spec }) => ({
      condition: { status: 'False', ...condition },
      storedVersions: (spec?.versions ?? []).filter(({ storage }) => storage).map(({ name }) => name),
    }))
    await migrations.update(withMigrationConditions(migration, now(), notRunning), { subresource: 'status' })
  }

  async function begin(migration: StorageVersionMigration): Promise<void> {
    await tellDefinition(resourceOf(migration), () => ({
      condition: {
        status: 'True',
        reason: 'MigrationRunning',
        message: `Migration ${migration.metadata.name} is running`,
      },
    }))
    await migrations.update(withMigrationConditions(migration, now(), running()), { subresource: 'status' })
  }

  return async (resource) => {
    const all = migrationsOf(resource)
    const ended = all.find((migration) => migrationStateOf(migration) === 'ended')
    if (ended !== undefined) return end(ended)
    if (all.some((migration) => migrationStateOf(migration) === 'running')) return
    const [next] = all.filter((migration) => migrationStateOf(migration) === 'waiting').sort(byAge)
    if (next !== undefined) await begin(next)
  }
}

function byAge({ metadata: a }: StorageVersionMigration, { metadata: b }: StorageVersionMigration): number {
  const [at, bt] = [a.creationTimestamp ?? '', b.creationTimestamp ?? '']
  if (at !== bt) return at < bt ? -1 : 1
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}
