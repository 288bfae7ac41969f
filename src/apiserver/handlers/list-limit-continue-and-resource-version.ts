/**
 * Which objects a list has, and of which version: from the watch cache, whole and at no cost, where any version will do (resourceVersion 0) or the newest
 * is there, else from the store at a revision, by pages (API concept: resource versions; KEP-2523).
 */

import { dns1123Label } from '../../api/names/name-formats.ts'
import { everything } from '../../api/objects/label-selector.ts'
import type { StoredObject } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createTurns } from '../../base/turns.ts'
import { CompactedError, FutureRevisionError } from '../../storage/storage.ts'
import type { CacheEntry } from '../cache/entry.ts'
import { storageKey, storageRange } from '../cache/keys.ts'
import type { CachePage, ResourceCache } from '../cache/resource-cache.ts'
import { failuresOf, unreadableList } from '../cache/unreadable.ts'
import type { ListMetadata } from '../registry/endpoint.ts'
import type { ResourceRequest } from './context.ts'
import { decodeContinue, encodeContinue, tooOldToContinue } from './continue-token.ts'
import type { ListQuery } from './options.ts'
import { type SelectConverted, selectConverted } from './select-converted.ts'
import { type Selection, selectionOf } from './selectors.ts'
import { staleRevision, tooLarge, untilReached, versionProblem } from './wait-for-resource-version.ts'

export interface Listed {
  readonly items: readonly StoredObject[]
  /** The items as they are shown, where they had to be converted to be selected. */
  readonly served?: readonly StoredObject[]
  readonly metadata: ListMetadata
}

/** @throws StatusError 400, 410, 422, 500 for what cannot be read, 504 */
export async function list(
  resource: ResourceRequest,
  options: ListQuery,
  selection = selectionOf(resource.endpoint.row, resource.endpoint.strategy, options),
): Promise<Listed> {
  const { context, endpoint, info } = resource
  const { row } = endpoint
  const { runtime } = context
  const namespace = row.namespaced ? info.namespace || (namespaceOf(selection) ?? '') : ''
  const prefix = storageRange(row, namespace)
  const { indexedFields = [], isListedFromStore: fromStore = false } = endpoint.strategy
  const indexed = selection.fields.find(({ field, negated }) => !negated && indexedFields.includes(field))
  const wanted: Wanted = {
    row,
    selection,
    converted: selectConverted(selection, endpoint.served),
    prefix,
    fromStore,
    indexed: indexed && { ...selection, labels: everything, fields: [indexed] },
  }
  const cache = context.caches.resource(row.storagePrefix)
  // Where Kubernetes joins the namespace to a key, these two would lead elsewhere.
  if (info.namespace === '.' || info.namespace === '..')
    throw new StatusError(500, '', `invalid key: "/${row.storagePrefix}/${info.namespace}"`)
  const version = options.resourceVersion
  const limit = Math.max(0, options.limit)

  if (options.continue !== '') {
    const token = decodeContinue(options.continue, prefix)
    if (version !== '' && version !== '0')
      throw badRequest('specifying resource version is not allowed when using continue')
    const at = token.revision > 0 ? token.revision : undefined
    return select(runtime, cache, wanted, limit, at, token.start)
  }
  const problem = version === '' ? undefined : versionProblem(version)
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`)
  if (version === '' || version === '0') {
    const waiting = version === '' ? context.caches.fresh(resource.request.signal) : undefined
    if (waiting !== undefined) await waiting
    const stale = version === '0' ? staleRevision(resource, cache, 0) : undefined
    if (stale !== undefined) return select(runtime, cache, wanted, 0, stale, undefined)
    const only = version === '' || limit === 0 ? selection.name : undefined
    if (only !== undefined && (!row.namespaced || namespace !== ''))
      return one(cache, wanted, storageKey(row, namespace, only), context.caches.revision)
    // Any version will do, so the cache's own is whole at no cost: as in Kubernetes, such a list has no pages.
    return select(runtime, cache, wanted, version === '0' ? 0 : limit, undefined, undefined)
  }
  const revision = Number(version)
  await untilReached(resource, revision)
  // Asked with a limit and without a match, Kubernetes reads it as Exact, so that pages fit together.
  const exact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && limit > 0)
  const at = exact ? revision : staleRevision(resource, cache, revision)
  return select(runtime, cache, wanted, limit, at, undefined)
}

/** The one namespace whose objects can match: such a list is that namespace's own. */
function namespaceOf({ fields }: Selection): string | undefined {
  const value = fields.find(({ field, negated }) => field === 'metadata.namespace' && !negated)?.value
  return value === undefined || dns1123Label(value).length > 0 ? undefined : value
}

interface Wanted {
  readonly row: ResourceRow
  readonly prefix: string
  /** See Strategy. */
  readonly fromStore: boolean
  readonly selection: Selection
  /** What it fixes of fields that Kubernetes has an index of. */
  readonly indexed: Selection | undefined
  /** Where objects must be converted to be selected. */
  readonly converted: SelectConverted | undefined
}

async function one(
  cache: ResourceCache,
  { row, selection, converted }: Wanted,
  key: string,
  revision: number,
): Promise<Listed> {
  const entry = cache.get(key)
  requireReadable(row, entry?.unreadable === undefined ? [] : [entry])
  const metadata = { resourceVersion: String(revision) }
  const items = entry !== undefined && cache.matcher(converted?.before ?? selection)(entry) ? [entry] : []
  return converted === undefined ? { items, metadata } : { ...(await converted.entries(items)), metadata }
}

async function select(
  runtime: Runtime,
  cache: ResourceCache,
  wanted: Wanted,
  limit: number,
  exact: number | undefined,
  start: string | undefined,
): Promise<Listed> {
  const { row, prefix, selection, converted } = wanted
  const matches = cache.matcher(converted?.before ?? selection)
  const turns = createTurns(runtime, 'list selection')
  const found =
    selection.all || converted !== undefined
      ? undefined
      : // As in Kubernetes, what more follows is judged by the field that it has an index of, also where another is rarer.
        cache.found(exact === undefined && limit > 0 ? (wanted.indexed ?? selection) : selection, {
          prefix,
          ...(start === undefined ? {} : { start }),
          ...(exact === undefined ? {} : { revision: exact }),
        })
  if (found !== undefined) {
    const items: CacheEntry[] = []
    const isIndexed = exact === undefined && wanted.indexed !== undefined ? cache.matcher(wanted.indexed) : undefined
    for (const [i, entry] of found.items.entries()) {
      if (turns.isOver()) await turns.next()
      if (!matches(entry)) continue
      items.push(entry)
      if (limit === 0 || items.length < limit) continue
      const more =
        isIndexed === undefined
          ? found.lastKey !== undefined && entry.key < found.lastKey
          : found.items.slice(i + 1).some((other) => isIndexed(other))
      return withContinue(found, items, wanted, more, undefined)
    }
    return withContinue(found, items, wanted, false, undefined)
  }
  const items: CacheEntry[] = []
  const served: StoredObject[] = []
  const listed = (page: CachePage, more: boolean, remaining?: number): Listed => ({
    ...withContinue(page, items, wanted, more, remaining),
    ...(converted === undefined ? {} : { served }),
  })
  let from = start
  let at = exact
  for (;;) {
    const page = await pageOf(cache, prefix, selection.all ? limit : 0, at, from, start !== undefined)
    at ??= page.revision
    requireReadable(row, page.unreadable)
    if (selection.all) return withContinue(page, page.items, wanted, page.more, page.remaining)
    const candidates =
      exact === undefined && wanted.indexed !== undefined && limit > 0
        ? page.items.filter(cache.matcher(wanted.indexed))
        : page.items
    const last = candidates.at(-1)
    let shown = new Map<CacheEntry, StoredObject>()
    for (let i = 0; i < candidates.length; i++) {
      const entry = candidates[i] as CacheEntry
      if (converted !== undefined && i % CONVERTED_AT_ONCE === 0) {
        // One question of the webhook for so many; what a full page leaves over is asked about again with the next.
        const part = await converted.entries(candidates.slice(i, i + CONVERTED_AT_ONCE).filter(matches))
        shown = new Map(part.items.map((item, at) => [item, part.served[at] as StoredObject]))
      }
      const isSelected = converted === undefined ? matches(entry) : shown.has(entry)
      if (turns.isOver()) await turns.next()
      if (!isSelected) continue
      items.push(entry)
      const made = shown.get(entry)
      if (made !== undefined) served.push(made)
      if (limit > 0 && items.length === limit) return listed(page, page.more || entry !== last)
    }
    if (!page.more) return listed(page, false)
    from = `${(page.items.at(-1) as CacheEntry).key}\u0000`
  }
}

function requireReadable(row: ResourceRow, entries: readonly CacheEntry[]): void {
  const failures = failuresOf(entries)
  if (failures.length > 0) throw unreadableList(row, failures)
}

function withContinue(
  page: Pick<CachePage, 'revision'>,
  items: readonly CacheEntry[],
  { prefix, fromStore }: Wanted,
  more: boolean,
  remaining: number | undefined,
): Listed {
  const resourceVersion = String(page.revision)
  const last = items.at(-1)
  if (!more || last === undefined) return { items, metadata: { resourceVersion } }
  return {
    items,
    metadata: {
      resourceVersion,
      continue: encodeContinue(last.key, prefix, page.revision, fromStore),
      ...(remaining === undefined ? {} : { remainingItemCount: remaining }),
    },
  }
}

async function pageOf(
  cache: ResourceCache,
  prefix: string,
  limit: number,
  exact: number | undefined,
  start: string | undefined,
  continued: boolean,
): Promise<CachePage> {
  const options = { prefix, limit, ...(start === undefined ? {} : { start }) }
  if (exact === undefined) return cache.page(options)
  try {
    return await cache.pageAt(exact, options)
  } catch (error) {
    if (error instanceof CompactedError) {
      if (continued) throw tooOldToContinue((start as string).slice(prefix.length))
      throw new StatusError(410, 'Expired', 'The resourceVersion for the provided list is too old.')
    }
    if (error instanceof FutureRevisionError) throw tooLarge(exact, error.current)
    throw error
  }
}

const CONVERTED_AT_ONCE = 500
