/** What one sync of a deployment has to hand, and what it has decided so far. */
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet } from '../../api/generated/types.ts'
import type { Logger } from '../../base/log.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ResourceClient } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import type { OwnWrites } from '../../client/own-writes.ts'
import { objectKey } from '../../client/store.ts'
import { setCondition } from './status.ts'

export interface RolloutParts {
  readonly runtime: Runtime
  readonly deployments: ResourceClient<Deployment>
  readonly sets: ResourceClient<ReplicaSet>
  readonly recorder: EventRecorder
  readonly log: Logger
  readonly ownWrites: OwnWrites
  setByKey(key: string): ReplicaSet | undefined
  /** undefined: soon, rate limited. */
  requeue(deployment: Deployment, ms: number | undefined): void
}

export interface DeploymentSync {
  readonly parts: RolloutParts
  /** Replica sets of the deployment's namespace. */
  readonly setClient: ResourceClient<ReplicaSet>
  /**
   * As this sync has decided about it. Its resourceVersion stays the one it was read at, so that a second write in one sync
   * conflicts and the deployment is looked at afresh.
   */
  deployment: Deployment
  /** Its replica sets. */
  known: readonly ReplicaSet[]
}

export async function writeStatus(
  parts: RolloutParts,
  deployment: Deployment,
  status: DeploymentStatus,
): Promise<Deployment> {
  const resource = parts.deployments.namespace(deployment.metadata.namespace ?? '')
  const written = await resource.update({ ...deployment, status }, { subresource: 'status' })
  parts.ownWrites.wrote(objectKey(written), written)
  return written
}

export function takeCondition(sync: DeploymentSync, condition: DeploymentCondition) {
  const status: DeploymentStatus = sync.deployment.status ?? {}
  sync.deployment = {
    ...sync.deployment,
    status: { ...status, conditions: setCondition(status.conditions ?? [], condition) },
  }
}

export const everySet = (newSet: ReplicaSet | undefined, old: readonly ReplicaSet[]): readonly ReplicaSet[] =>
  newSet === undefined ? old : [...old, newSet]
