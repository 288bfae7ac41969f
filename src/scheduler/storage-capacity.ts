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
import type { Fields } from '../api/object.ts'
import { type CompiledSelector, labelSelectorOf } from '../api/objects/label-selector.ts'
import { nanosOf } from '../api/values/quantity.ts'
import { getOrInsertComputed } from '../base/get-or-insert.ts'
import type { InformerFactory } from '../client/informer.ts'
import { type ClusterEvent, tellOf } from './cluster-events.ts'

const storage = (resource: string) => ({ group: 'storage.k8s.io', version: 'v1', resource })

/** Why plugin VolumeBinding refuses a node. */
export const NO_ROOM = 'node(s) did not have enough free storage'

/** `capacity`: as its driver tells, where it does. */
export interface VolumeRoom {
  readonly capacity?: string | undefined
}

export interface StorageCapacity {
  /** Where a volume can be made; undefined: nowhere. Of a driver that tells of no capacity it is held to have room everywhere. */
  roomFor(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node): VolumeRoom | undefined
  whenSynced(signal: AbortSignal): Promise<void>
}

/** What is asked of a capacity for each node, worked out once an object. */
interface Room {
  /** Nanos of the largest volume; undefined where that is not known. */
  readonly largest: bigint | undefined
  readonly nodes: CompiledSelector
  /** The one value that a node's label must have, by the label, in the order of the labels. */
  readonly place: Fields
}

/**
 * Capacities by class and place: what may be for a node is found by the labels that it has of a place's. A driver's places differ in values
 * alone, so there are few sets of labels; one that is asked for no more finds nothing.
 */
const placeIndex = 'place'

export function createStorageCapacity(
  informers: InformerFactory,
  happened: (event: ClusterEvent) => void,
): StorageCapacity {
  const drivers = informers.informer<CSIDriver>(storage('csidrivers'))
  const capacities = informers.informer<CSIStorageCapacity>(storage('csistoragecapacities'))
  const rooms = new WeakMap<CSIStorageCapacity, Room>()
  const roomOf = (capacity: CSIStorageCapacity) => getOrInsertComputed(rooms, capacity, roomIn)
  const labelSets = new Map<string, readonly string[]>()
  capacities.addIndex(placeIndex, (capacity) => {
    const { place } = roomOf(capacity)
    const set = Object.keys(place)
    labelSets.set(set.join(), set)
    return [placeKey(capacity.storageClassName, set, place)]
  })
  capacities.addHandlers(tellOf('storage.k8s.io/CSIStorageCapacity', happened))
  return {
    roomFor(claim, { provisioner, metadata: { name = '' } }, { metadata: { labels = {} } }) {
      if (drivers.store.get(provisioner)?.spec.storageCapacity !== true) return {}
      const asked = nanosOf(claim.spec?.resources?.requests?.['storage'] ?? '0')
      for (const set of labelSets.values()) {
        if (!set.every((label) => Object.hasOwn(labels, label))) continue
        const place = placeKey(name, set, labels)
        for (const capacity of capacities.store.byIndex(placeIndex, place)) {
          const { largest, nodes } = roomOf(capacity)
          if (largest !== undefined && largest >= asked && nodes.matches(labels)) return { capacity: capacity.capacity }
        }
      }
      return undefined
    },
    async whenSynced(signal) {
      await Promise.all([drivers.whenSynced(signal), capacities.whenSynced(signal)])
    },
  }
}

const placeKey = (storageClass: string, set: readonly string[], labels: Fields) =>
  [storageClass, ...set.map((label) => `${label}=${labels[label]}`)].join('\n')

function roomIn(capacity: CSIStorageCapacity): Room {
  const largest = largestVolume(capacity)
  const nodes = labelSelectorOf(capacity.nodeTopology)
  const single = nodes.requirements
    .filter(({ operator, values }) => (operator === '=' || operator === 'in') && values.length === 1)
    .map(({ key, values }) => [key, values[0] as string] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return { largest: largest === undefined ? undefined : nanosOf(largest), nodes, place: Object.fromEntries(single) }
}

/** How large a volume may be; undefined where that is not known. */
export const largestVolume = ({ maximumVolumeSize, capacity }: CSIStorageCapacity): string | undefined =>
  maximumVolumeSize ?? capacity
