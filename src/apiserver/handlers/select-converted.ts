/**
 * Field selectors of custom resources in a version that only their definition's webhook can give: the fields are those of that version, so an
 * object is converted before it is judged. What labels and metadata already leave out is not converted.
 */
import type { KubeObject } from '../../api/object.ts'
import { everything } from '../../api/objects/label-selector.ts'
import type { StoredObject, WatchEvent } from '../../api/request.ts'
import type { StreamReader } from '../../base/stream.ts'
import type { CacheEntry } from '../cache/entry.ts'
import type { ServedVersion } from '../registry/endpoint.ts'
import { META_FIELDS, type Selection } from './selectors.ts'

export interface SelectConverted {
  /** What can be judged by an object as it is stored. */
  readonly before: Selection
  /** Those of the entries that are selected, and how they are shown. @throws StatusError when the webhook fails */
  entries(entries: readonly CacheEntry[]): Promise<{ readonly items: CacheEntry[]; readonly served: StoredObject[] }>
  /** Events of a watch by `before`, which tell the previous object too, become those of the selection, in the version of the request, each object as `shown` makes it. */
  events(events: StreamReader<WatchEvent>, shown?: (object: KubeObject) => KubeObject): StreamReader<WatchEvent>
}

/** undefined where stored objects can be judged. */
export function selectConverted(selection: Selection, served: ServedVersion): SelectConverted | undefined {
  if (!served.byWebhook || !selection.asksOwnFields) return undefined
  const fields = selection.fields.filter(({ field }) => META_FIELDS.includes(field))
  const before: Selection = {
    ...selection,
    all: selection.labels === everything && fields.length === 0,
    fields,
    fieldsOf: undefined,
  }

  async function judged(event: WatchEvent): Promise<WatchEvent | undefined> {
    const { type, object, previous } = event
    const now = await served.object(object)
    // The last state that matched, as of this revision.
    if (type === 'DELETED') return selection.matches(now) ? { type, object: now } : undefined
    const last = previous === undefined ? undefined : await served.object(previous)
    const did = last !== undefined && selection.matches(last)
    if (selection.matches(now)) return { type: did ? 'MODIFIED' : 'ADDED', object: now }
    return did ? { type: 'DELETED', object: asOf(last, now) } : undefined
  }

  return {
    before,
    async entries(entries) {
      const shown = await served.entries(entries)
      const items: CacheEntry[] = []
      const selected: StoredObject[] = []
      for (const [i, item] of shown.entries()) {
        if (!selection.matches(item.object)) continue
        items.push(entries[i] as CacheEntry)
        selected.push(item)
      }
      return { items, served: selected }
    },
    events: (events, shown = (object) => object) => ({
      async next() {
        for (;;) {
          const event = await events.next()
          if (event === undefined) return undefined
          if (event.type === 'BOOKMARK' || event.type === 'ERROR') return event
          const told = await judged(event)
          if (told !== undefined) return { type: told.type, object: shown(told.object) }
        }
      },
      drain: () => [],
      get closed() {
        return events.closed
      },
      close: (error) => events.close(error),
    }),
  }
}

function asOf(object: KubeObject, { metadata: { resourceVersion } }: KubeObject): KubeObject {
  const metadata = { ...object.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
  return { ...object, metadata }
}
