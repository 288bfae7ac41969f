/** The two kinds that keep N pods running. All their rules are the same but for names and the form of the selector. */
import type { ReplicaSet, ReplicationController } from '../../api/generated/types.ts'
import { type CompiledSelector, everything, labelSelectorOf } from '../../api/objects/label-selector.ts'
import type { GroupVersionResource } from '../../client/client.ts'

export type ReplicaOwner = ReplicaSet | ReplicationController

export interface ReplicaFlavor {
  /** The controller, its service account and its events' source. */
  readonly name: string
  /** Its work queue. */
  readonly queue: string
  readonly kind: string
  readonly apiVersion: string
  readonly resource: GroupVersionResource
  selectorOf(object: ReplicaOwner): CompiledSelector
  /** Whether its status tells how many of its pods are terminating. */
  readonly countsTerminating: boolean
}

export const replicaSetFlavor: ReplicaFlavor = {
  name: 'replicaset-controller',
  queue: 'replicaset',
  kind: 'ReplicaSet',
  apiVersion: 'apps/v1',
  resource: { group: 'apps', version: 'v1', resource: 'replicasets' },
  selectorOf: (object: ReplicaSet) => labelSelectorOf(object.spec?.selector),
  countsTerminating: true,
}

export const replicationControllerFlavor: ReplicaFlavor = {
  name: 'replication-controller',
  queue: 'replicationmanager',
  kind: 'ReplicationController',
  apiVersion: 'v1',
  resource: { group: '', version: 'v1', resource: 'replicationcontrollers' },
  selectorOf: (object: ReplicationController) => {
    const labels = object.spec?.selector
    return labels === undefined ? everything : labelSelectorOf({ matchLabels: labels })
  },
  countsTerminating: false,
}
