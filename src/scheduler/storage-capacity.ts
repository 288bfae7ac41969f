/**
 * Where a driver has room for a volume that is to be made (API concept: storage capacity): a CSI driver that says so by its CSIDriver's
 * spec.storageCapacity tells by CSIStorageCapacities how much there is for a class, and for which nodes.
 */
import type {
  CSIDriver,
  CSIStorageCapacity,
  Node,
  PersistentVolumeClaim,
  StorageClass,
} from '../api/generated/types.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import { nanosOf } from '../api/objects/quantity.ts'
import type { InformerFactory } from '../client/informer.ts'
import { type ClusterEvent, tellOf } from './cluster-events.ts'

const storage = (resource: string) => ({ group: 'storage.k8s.io', version: 'v1', resource })

/** Why plugin VolumeBinding refuses a node. */
export const NO_ROOM = 'node(s) did not have enough free storage'

export interface StorageCapacity {
  /** Of a driver that tells of no capacity it is held to have room everywhere. */
  hasRoom(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node): boolean
  whenSynced(signal: AbortSignal): Promise<void>
}

export function createStorageCapacity(
  informers: InformerFactory,
  happened: (event: ClusterEvent) => void,
): StorageCapacity {
  const drivers = informers.informer<CSIDriver>(storage('csidrivers'))
  const capacities = informers.informer<CSIStorageCapacity>(storage('csistoragecapacities'))
  capacities.addHandlers(tellOf('storage.k8s.io/CSIStorageCapacity', happened))
  return {
    hasRoom(claim, { provisioner, metadata }, node) {
      if (drivers.store.get(provisioner)?.spec.storageCapacity !== true) return true
      const asked = claim.spec?.resources?.requests?.['storage'] ?? '0'
      return capacities.store
        .list()
        .some((one) => one.storageClassName === metadata.name && holds(one, asked) && isFor(one, node))
    },
    async whenSynced(signal) {
      await Promise.all([drivers.whenSynced(signal), capacities.whenSynced(signal)])
    },
  }
}

/** How large a volume may be; undefined where that is not known. */
export const largestVolume = ({ maximumVolumeSize, capacity }: CSIStorageCapacity): string | undefined =>
  maximumVolumeSize ?? capacity

function holds(capacity: CSIStorageCapacity, asked: string): boolean {
  const limit = largestVolume(capacity)
  return limit !== undefined && nanosOf(limit) >= nanosOf(asked)
}

const isFor = ({ nodeTopology }: CSIStorageCapacity, { metadata }: Node): boolean =>
  nodeTopology !== undefined && labelSelectorOf(nodeTopology).matches(metadata.labels)
