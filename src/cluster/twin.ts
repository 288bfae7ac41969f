/**
 * A cluster in memory that begins with objects that were read from another one. They are put into the store as they are, past
 * admission: names, uids, times, finalizers, statuses and marks stay. It opens no connection to anything that its objects name, and its
 * keys are its own.
 */
import type { KubeObject, ObjectMeta } from '../api/object.ts'
import { decodeStored, encodeStored, type SharedEntries } from '../apiserver/cache/entry.ts'
import type { Isolation } from '../apiserver/webhooks/unasked.ts'
import type { Delays } from '../client/uneven-transport.ts'
import type { StoreImage } from '../storage/image.ts'
import { startFork } from './cluster.ts'
import type { StartedFork } from './fork.ts'
import type { SimulatedNode } from './nodes.ts'
import type { ClockKind } from './options.ts'
import { snapshotOf } from './snapshot.ts'

/** Objects of one resource, in the version in which the store has them. */
export interface StoredObjects {
  /** As the scheme's row says: /registry/<storagePrefix>/[namespace/]name. */
  readonly storagePrefix: string
  readonly apiVersion: string
  readonly kind: string
  readonly items: readonly StoredItem[]
}

/** An object as the store has it, and what is asked of every one of them. */
export interface StoredItem {
  /** With resourceVersion; managedFields may be missing. */
  readonly metadata: ObjectMeta
  /** As encodeStored writes it. */
  readonly value: Uint8Array
  /** Whole; parsed when it is asked for, and then kept. */
  object(): KubeObject
}

/** `object` has the kind and apiVersion of the store. */
export const storedItem = (object: KubeObject): StoredItem => ({
  metadata: object.metadata,
  value: encodeStored(object),
  object: () => object,
})

/** `value` has them. */
export function unparsedItem(metadata: ObjectMeta, value: Uint8Array): StoredItem {
  let object: KubeObject | undefined
  return { metadata, value, object: () => (object ??= decodeStored(value, Number(metadata.resourceVersion ?? 0))) }
}

export interface TwinImage {
  readonly image: StoreImage
  /** What clusters that begin with this image share of its objects. */
  readonly entries: SharedEntries
}

export interface TwinStart {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly clock: ClockKind
  readonly nodes: readonly SimulatedNode[]
  /** From which Services have their addresses; default: skiff's own range. */
  readonly serviceRange?: string
  readonly port?: number
  readonly isolation: Isolation
  /** How much of its time requests of its components take. Default: none takes any. */
  readonly uneven?: Delays
}

/** resourceVersions stay where they are numbers that no other object has; the others follow the one before. */
export function twinImage(stored: readonly StoredObjects[]): TwinImage {
  const objects = stored.flatMap(({ storagePrefix, items }) =>
    items.map(({ metadata: { namespace, name = '', resourceVersion }, value }) => {
      const key = `/registry/${storagePrefix}/${namespace === undefined ? '' : `${namespace}/`}${name}`
      return { key, wanted: Number(resourceVersion), value }
    }),
  )
  let revision = 1
  const items = objects
    .toSorted((a, b) => (a.wanted || 0) - (b.wanted || 0))
    .map(({ key, wanted, value }) => {
      revision = Number.isSafeInteger(wanted) && wanted > revision ? wanted : revision + 1
      return { key, value, modRevision: revision, createRevision: revision }
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return { image: { revision, items, expiries: [] }, entries: new WeakMap() }
}

/** Resolves when its controllers, scheduler and nodes run. The caller stops it. @throws StartError */
export async function startTwin({ image, entries }: TwinImage, start: TwinStart): Promise<StartedFork> {
  const { time, clock, nodes, serviceRange, port, uneven, isolation } = start
  const twin = await startFork(
    {
      storage: 'memory',
      from: snapshotOf(image, time, clock === 'manual'),
      clock,
      ...(serviceRange === undefined ? {} : { security: { serviceClusterIpRange: serviceRange } }),
      ...(port === undefined ? {} : { port }),
    },
    { entries, nodes, isolation, ...(uneven === undefined ? {} : { uneven }) },
  )
  try {
    await twin.running
  } catch (error) {
    await twin.stop()
    throw error
  }
  return twin
}

/** What the store has, in the order of keys. Values are the same bytes as long as they have not been written. */
export interface StoredEntry {
  readonly key: string
  readonly revision: number
  object(): KubeObject
}

export const storedEntries = (twin: StartedFork): readonly StoredEntry[] =>
  twin.snapshot().image.items.map(({ key, value, modRevision }) => ({
    key,
    revision: modRevision,
    object: () => JSON.parse(Buffer.from(value).toString()) as KubeObject,
  }))
