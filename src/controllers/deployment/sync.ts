/** What one sync of a deployment has to hand, and what it has decided so far. */
import type { Fields, KubeObject } from '../../api/object.ts'
import type { Logger } from '../../base/log.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { ResourceClient } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events.ts'
import { setCondition } from './status.ts'

export interface RolloutParts {
  readonly runtime: Runtime
  readonly deployments: ResourceClient
  readonly sets: ResourceClient
  readonly recorder: EventRecorder
  readonly log: Logger
  setByKey(key: string): KubeObject | undefined
  /** undefined: soon, rate limited. */
  requeue(deployment: KubeObject, ms: number | undefined): void
}

export interface DeploymentSync {
  readonly parts: RolloutParts
  /** Replica sets of the deployment's namespace. */
  readonly setClient: ResourceClient
  /**
   * As this sync has decided about it. Its resourceVersion stays the one it was read at, so that a second write in one sync
   * conflicts and the deployment is looked at afresh.
   */
  deployment: KubeObject
  /** Its replica sets. */
  known: readonly KubeObject[]
}

export function writeStatus(parts: RolloutParts, deployment: KubeObject, status: Fields): Promise<KubeObject> {
  const resource = parts.deployments.namespace(deployment.metadata.namespace ?? '')
  return resource.update({ ...deployment, status }, { subresource: 'status' })
}

export function takeCondition(sync: DeploymentSync, condition: Fields) {
  const status: Fields = sync.deployment['status'] ?? {}
  sync.deployment = {
    ...sync.deployment,
    status: { ...status, conditions: setCondition(status['conditions'] ?? [], condition) },
  }
}

export const everySet = (newSet: KubeObject | undefined, old: readonly KubeObject[]): readonly KubeObject[] =>
  newSet === undefined ? old : [...old, newSet]
