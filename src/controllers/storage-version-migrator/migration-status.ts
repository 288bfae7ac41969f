/** What the status of a StorageVersionMigration says, in the words of Kubernetes. */
import type { StorageVersionMigration } from '../../api/generated/types.ts'

interface Condition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime: string
  readonly reason: string
  readonly message: string
}

export type MigrationState = 'waiting' | 'running' | 'ended' | 'over'

const hasTrueCondition = ({ status }: StorageVersionMigration, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

/** `ended`: it succeeded or failed, and Running does not say so yet. */
export function migrationStateOf(migration: StorageVersionMigration): MigrationState {
  const isRunning = hasTrueCondition(migration, 'Running')
  if (hasEnded(migration)) return isRunning ? 'ended' : 'over'
  return isRunning ? 'running' : 'waiting'
}

export const hasEnded = (migration: StorageVersionMigration): boolean =>
  hasTrueCondition(migration, 'Succeeded') || hasTrueCondition(migration, 'Failed')

export const migrationSucceeded = (migration: StorageVersionMigration): boolean =>
  hasTrueCondition(migration, 'Succeeded')

const RUNNING = 'The migration is running'

export type ConditionChange = Omit<Condition, 'lastTransitionTime'>

/** `progress`: how far it is, or nothing when there is nothing to tell of. */
export const running = (progress?: string): ConditionChange => ({
  type: 'Running',
  status: 'True',
  reason: 'MigrationRunning',
  message: progress === undefined ? RUNNING : `${RUNNING}, ${progress}`,
})

export const failure = (message: string): ConditionChange => ({
  type: 'Failed',
  status: 'True',
  reason: 'StorageVersionMigrationFailed',
  message,
})

export const success: ConditionChange = {
  type: 'Succeeded',
  status: 'True',
  reason: 'StorageVersionMigrationSucceeded',
  message: 'Migration completed',
}

export const notRunning: ConditionChange = {
  type: 'Running',
  status: 'False',
  reason: 'MigrationCompleted',
  message: 'Migration completed',
}

/** The migration with these conditions, each in the place it had; a time changes only when the status does. */
export function withMigrationConditions(
  migration: StorageVersionMigration,
  now: string,
  ...changes: readonly ConditionChange[]
): StorageVersionMigration {
  const conditions = [...(migration.status?.conditions ?? [])]
  for (const change of changes) {
    const at = conditions.findIndex(({ type }) => type === change.type)
    const old = conditions[at]
    const since = old?.status === change.status ? (old.lastTransitionTime ?? now) : now
    const { type, status, reason, message } = change
    conditions[at < 0 ? conditions.length : at] = { ...old, type, status, lastTransitionTime: since, reason, message }
  }
  return { ...migration, status: { ...migration.status, conditions } }
}
