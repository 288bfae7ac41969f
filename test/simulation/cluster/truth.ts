/** What the store has really held, change by change in the order of its revisions: what every law is measured against. */
import type { KubeObject, OwnerReference } from '../../../src/api/object.ts'
import { builtinScheme } from '../../../src/api/scheme/scheme.ts'
import { getOrInsertComputed } from '../../../src/base/get-or-insert.ts'
import type { KeyValue, Storage, StorageSubscriber } from '../../../src/storage/storage.ts'

export interface Place {
  /** Plural, as in paths. Kinds of this simulation have different ones in all groups. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

export interface Change extends Place {
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

export interface Truth {
  find(place: Place): KubeObject | undefined
  ofUid(uid: string): KubeObject | undefined
  list(resource?: string): readonly KubeObject[]
  /** Every object that names this owner. */
  dependentsOf(uid: string): readonly KubeObject[]
  /** Every owner that the object of this uid ever named. */
  everyOwnerOf(uid: string): readonly OwnerReference[]
  resourceOf(object: KubeObject): string
  /** The newest revision it has heard of. */
  readonly revision: number
  /** From here on from this store, which goes on where the one before ended. */
  follow(storage: Storage): void
  /** What a store holds otherwise than was heard of it. */
  differences(items: readonly KeyValue[]): readonly string[]
}

/** Not objects of anybody's graph, and most of all writes. */
const IGNORED = new Set(['events', 'leases', 'clusterroles', 'clusterrolebindings', 'apiservices'])
const root = '/registry/'

const resources = new Map<string, string>()
for (const row of builtinScheme().rows())
  if (row.storagePrefix !== '' && !resources.has(row.storagePrefix)) resources.set(row.storagePrefix, row.resource)

/** `changed` is called within each commit of the store that it follows. */
export function createTruth(changed: (change: Change) => void): Truth {
  const objects = new Map<string, KubeObject>()
  const uids = new Map<string, KubeObject>()
  const owners = new Map<string, Map<string, OwnerReference>>()
  let revision = 0
  const key = ({ resource, namespace, name }: Place) => `${resource}/${namespace}/${name}`

  const subscriber: StorageSubscriber = {
    events(events, reached) {
      revision = reached
      for (const event of events) {
        const place = placeOf(event.key)
        if (place === undefined) continue
        const before = objects.get(key(place))
        let after: KubeObject | undefined
        if (event.value === undefined) objects.delete(key(place))
        else {
          const stored = JSON.parse(Buffer.from(event.value).toString()) as KubeObject
          after = { ...stored, metadata: { ...stored.metadata, resourceVersion: String(event.revision) } }
          objects.set(key(place), after)
          const { uid = '', ownerReferences = [] } = after.metadata
          uids.set(uid, after)
          for (const owner of ownerReferences)
            getOrInsertComputed(owners, uid, () => new Map<string, OwnerReference>()).set(owner.uid, owner)
        }
        if (before !== undefined && before.metadata.uid !== after?.metadata.uid) uids.delete(before.metadata.uid ?? '')
        changed({ ...place, before, after })
      }
    },
  }

  function differences(items: readonly KeyValue[]): readonly string[] {
    const found = new Map<string, string>()
    for (const item of items) {
      const place = placeOf(item.key)
      if (place !== undefined) found.set(key(place), String(item.modRevision))
    }
    const problems: string[] = []
    for (const [at, { metadata }] of objects) {
      const held = found.get(at)
      if (held !== metadata.resourceVersion)
        problems.push(
          `${at} is ${held === undefined ? 'gone' : `at ${held}`} instead of at ${metadata.resourceVersion}`,
        )
    }
    for (const at of found.keys()) if (!objects.has(at)) problems.push(`${at} is there, and was deleted`)
    return problems
  }

  const resourceOf = (object: KubeObject) => resourceOfKind.get(object.kind) ?? ''
  return {
    get revision() {
      return revision
    },
    follow(storage) {
      storage.subscribe(root, revision, subscriber)
    },
    differences,
    find: (place) => objects.get(key(place)),
    ofUid: (uid) => uids.get(uid),
    list: (resource) =>
      [...objects]
        .filter(([at]) => resource === undefined || at.startsWith(`${resource}/`))
        .map(([, object]) => object),
    dependentsOf: (uid) =>
      [...objects.values()].filter((object) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid)),
    everyOwnerOf: (uid) => [...(owners.get(uid)?.values() ?? [])],
    resourceOf,
  }
}

const resourceOfKind = new Map<string, string>()
for (const row of builtinScheme().rows())
  if (!resourceOfKind.has(row.kind) && row.storagePrefix !== '') resourceOfKind.set(row.kind, row.resource)

/** undefined for what is ignored. */
function placeOf(key: string): Place | undefined {
  const parts = key.slice(root.length).split('/')
  const two = resources.get(`${parts[0]}/${parts[1]}`)
  const resource = two ?? resources.get(parts[0] ?? '')
  if (resource === undefined || IGNORED.has(resource)) return undefined
  const rest = parts.slice(two === undefined ? 1 : 2)
  return rest.length === 1
    ? { resource, namespace: '', name: rest[0] ?? '' }
    : { resource, namespace: rest[0] ?? '', name: rest[1] ?? '' }
}
