/** A store here as it is seen where its keys begin otherwise than with /registry (--etcd-prefix): to be read alone. */
import type { HistoryEvent, KeyValue, Storage } from '../../storage.ts'
import { createKeys } from '../keys.ts'

/** What serves etcd's clients of a store. */
export type ReadStore = Pick<
  Storage,
  'revision' | 'compactedRevision' | 'get' | 'range' | 'history' | 'subscribe' | 'version' | 'size'
>

/** `prefix`: begins with a slash and ends without one, or is empty. Keys that are not under /registry are not seen. */
export function underPrefix(store: Storage, prefix: string): ReadStore {
  const keys = createKeys(prefix)
  const shown = <T extends Pick<KeyValue, 'key'>>(one: T): T => ({ ...one, key: keys.toEtcd(one.key).toString() })
  const ownKey = (key: string): string => keys.ofEtcd(Buffer.from(key)) ?? NO_KEY
  /** The first key of its own that is not before `key`. */
  const bound = (key: string): string => {
    if (key.startsWith(`${prefix}/`)) return ownKey(key)
    return key < `${prefix}/` ? FIRST : BEHIND
  }
  const versionOf = store.version?.bind(store)
  return {
    get revision() {
      return store.revision
    },
    get compactedRevision() {
      return store.compactedRevision
    },
    async get(key, revision) {
      const { item, ...rest } = await store.get(ownKey(key), revision)
      return { ...rest, item: item && shown(item) }
    },
    async range(start, end, options) {
      const found = await store.range(bound(start), bound(end), options)
      return { ...found, items: found.items.map(shown) }
    },
    async history(start, after) {
      const all = start.startsWith(`${prefix}/`) ? ownKey(start) : FIRST
      const page = await store.history(all, after)
      return { ...page, events: page.events.map((event): HistoryEvent => shown(event)) }
    },
    subscribe: (_prefix, after, subscriber) => store.subscribe('', after, subscriber),
    ...(versionOf === undefined ? {} : { version: (item) => versionOf({ ...item, key: ownKey(item.key) }) }),
    ...(store.size === undefined ? {} : { size: async () => store.size?.() ?? 0 }),
  }
}

const FIRST = '/registry/'
const BEHIND = '/registry0'
/** Nothing is stored there. */
const NO_KEY = '/registry/\0'
