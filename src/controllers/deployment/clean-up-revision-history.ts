/** ReplicaSets beyond a Deployment's revisionHistoryLimit are deleted, the oldest revisions first. */
import type { ReplicaSet } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { replicasOf } from './max-surge-max-unavailable.ts'
import { compareRevision } from './revision-history.ts'
import type { DeploymentSync } from './sync.ts'

const unlimitedHistory = 2 ** 31 - 1

/** Deletes the oldest revisions beyond revisionHistoryLimit; never one that still has or may still have pods. */
export async function cleanUp(sync: DeploymentSync, old: readonly ReplicaSet[]): Promise<void> {
  const limit: number | undefined = sync.deployment.spec?.revisionHistoryLimit
  if (limit === undefined || limit === unlimitedHistory) return
  const cleanable = old.filter((set) => set.metadata.deletionTimestamp === undefined)
  const surplus = cleanable.length - limit
  if (surplus <= 0) return
  cleanable.sort(compareRevision)
  for (const set of cleanable.slice(0, surplus)) {
    const { status } = set
    const settled = (set.metadata.generation ?? 0) <= (status?.observedGeneration ?? 0)
    if ((status?.replicas ?? 0) !== 0 || replicasOf(set) !== 0 || !settled) continue
    await sync.setClient.delete(set.metadata.name ?? '').catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }
}
