/** GET of a collection: selectors, pages, and the versions a client may ask for (KEP-2523). */

import { apiVersionOf, asKubeObject, type KubeObject } from '../../api/object.ts'
import type { ApiResponse, StoredObject } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import { createTurns, inTurns } from '../../base/turns.ts'
import { CompactedError, FutureRevisionError } from '../../storage/storage.ts'
import { type CacheEntry, encodedObject } from '../cache/entry.ts'
import { storageKey, storageRange } from '../cache/keys.ts'
import type { CachePage, ResourceCache } from '../cache/resource.ts'
import type { ListMetadata, ResourceEndpoint } from '../registry/endpoint.ts'
import type { ResourceRequest } from './context.ts'
import { decodeContinue, encodeContinue, tooOldToContinue } from './continue-token.ts'
import { encodedPieces, type PiecedList } from './list-pieces.ts'
import { CONTENT_TYPES, negotiate, type Representation, requireMetadataForm } from './negotiate.ts'
import { type ListQuery, listOptions } from './options.ts'
import { listBytes, type MessageForm, messageForm } from './protobuf.ts'
import { staleRevision, tooLarge, untilReached, versionProblem } from './resource-version.ts'
import { encoded, META_V1, metadataForm, partialMetadata, tableOf, warningHeaders } from './respond.ts'
import { type SelectConverted, selectConverted } from './select-converted.ts'
import { type Selection, selectionOf } from './selectors.ts'

export interface Listed {
  readonly items: readonly StoredObject[]
  /** The items as they are shown, where they had to be converted to be selected. */
  readonly served?: readonly StoredObject[]
  readonly metadata: ListMetadata
}

export async function handleList(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, row } = resource
  const representation = negotiate(request, { streams: true, row })
  const listed = await list(resource, listOptions(request.query))
  return respondList(resource, listed, representation)
}

/** @throws StatusError 400, 410, 422, 504 */
export async function list(resource: ResourceRequest, options: ListQuery): Promise<Listed> {
  const { context, row, endpoint, info } = resource
  const { runtime } = context
  const selection = selectionOf(row, endpoint.strategy, options.labelSelector, options.fieldSelector)
  const wanted: Wanted = { selection, converted: selectConverted(selection, endpoint.served) }
  const cache = context.caches.resource(row.storagePrefix)
  const prefix = storageRange(row, row.namespaced ? info.namespace : '')
  // Where Kubernetes joins the namespace to a key, these two would lead elsewhere.
  if (info.namespace === '.' || info.namespace === '..')
    throw new StatusError(500, '', `invalid key: "/${row.storagePrefix}/${info.namespace}"`)
  const version = options.resourceVersion
  const problem = version === '' ? undefined : versionProblem(version)
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`)
  const limit = Math.max(0, options.limit)

  if (options.continue !== '') {
    const token = decodeContinue(options.continue, prefix)
    if (version !== '' && version !== '0')
      throw badRequest('specifying resource version is not allowed when using continue')
    const at = token.revision > 0 ? token.revision : undefined
    return select(runtime, cache, wanted, prefix, limit, at, token.start)
  }
  if (version === '' || version === '0') {
    const waiting = version === '' ? context.caches.fresh(resource.request.signal) : undefined
    if (waiting !== undefined) await waiting
    const stale = version === '0' ? staleRevision(resource, cache, 0) : undefined
    if (stale !== undefined) return select(runtime, cache, wanted, prefix, 0, stale, undefined)
    const only = version === '' || limit === 0 ? selection.name : undefined
    if (only !== undefined && (!row.namespaced || info.namespace !== ''))
      return one(cache, wanted, storageKey(row, info.namespace, only), context.caches.revision)
    // Any version will do, so the cache's own is whole at no cost: as in Kubernetes, such a list has no pages.
    return select(runtime, cache, wanted, prefix, version === '0' ? 0 : limit, undefined, undefined)
  }
  const revision = Number(version)
  await untilReached(resource, revision)
  // Asked with a limit and without a match, Kubernetes reads it as Exact, so that pages fit together.
  const exact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && limit > 0)
  const at = exact ? revision : staleRevision(resource, cache, revision)
  return select(runtime, cache, wanted, prefix, limit, at, undefined)
}

interface Wanted {
  readonly selection: Selection
  /** Where objects must be converted to be selected. */
  readonly converted: SelectConverted | undefined
}

async function one(
  cache: ResourceCache,
  { selection, converted }: Wanted,
  key: string,
  revision: number,
): Promise<Listed> {
  const entry = cache.get(key)
  const metadata = { resourceVersion: String(revision) }
  const items = entry !== undefined && cache.matcher(converted?.before ?? selection)(entry) ? [entry] : []
  return converted === undefined ? { items, metadata } : { ...(await converted.entries(items)), metadata }
}

async function select(
  runtime: Runtime,
  cache: ResourceCache,
  { selection, converted }: Wanted,
  prefix: string,
  limit: number,
  exact: number | undefined,
  start: string | undefined,
): Promise<Listed> {
  const items: CacheEntry[] = []
  const served: StoredObject[] = []
  const listed = (page: CachePage, more: boolean, remaining?: number): Listed => ({
    ...withContinue(page, items, prefix, more, remaining),
    ...(converted === undefined ? {} : { served }),
  })
  const matches = cache.matcher(converted?.before ?? selection)
  const turns = createTurns(runtime, 'list selection')
  let from = start
  let at = exact
  for (;;) {
    const page = await pageOf(cache, prefix, selection.all ? limit : 0, at, from, start !== undefined)
    at ??= page.revision
    if (selection.all) return withContinue(page, page.items, prefix, page.more, page.remaining)
    const last = page.items.at(-1)
    let shown = new Map<CacheEntry, StoredObject>()
    for (let i = 0; i < page.items.length; i++) {
      const entry = page.items[i] as CacheEntry
      if (converted !== undefined && i % CONVERTED_AT_ONCE === 0) {
        // One question of the webhook for so many; what a full page leaves over is asked about again with the next.
        const part = await converted.entries(page.items.slice(i, i + CONVERTED_AT_ONCE).filter(matches))
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
    from = `${(last as CacheEntry).key}\u0000`
  }
}

function withContinue(
  page: CachePage,
  items: readonly CacheEntry[],
  prefix: string,
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
      continue: encodeContinue(last.key, prefix, page.revision),
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

/** A list in the form that was asked for. */
export async function respondList(
  resource: ResourceRequest,
  { items, served: converted, metadata }: Listed,
  representation: Representation,
): Promise<ApiResponse> {
  const { context, request, row, endpoint, warnings } = resource
  const headers = warningHeaders(warnings)
  const served = converted ?? (await endpoint.served.entries(items))
  if (served.length > MOST_AT_ONCE && isMadeForOne(representation))
    return respondInPieces(resource, served, metadata, representation)
  if (representation.shape === 'table')
    return encoded(
      200,
      tableOf(
        context,
        request,
        row,
        served.map((item) => item.object),
        metadata,
        representation,
      ),
      representation,
      warnings,
    )
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, row, true)
    const apiVersion = representation.shapeVersion || META_V1
    const list = { kind: 'PartialObjectMetadataList', apiVersion, metadata: metadata as KubeObject['metadata'] }
    if (representation.encoding === 'protobuf') {
      const form = metadataForm(apiVersion)
      const partial = await inTurns(context.runtime, 'metadata list', served, (item) =>
        'as' in item
          ? (item as CacheEntry).as(form)
          : encodedObject(item.key, item.revision, form.convert(item.object)),
      )
      return protobufList(resource, list, partial, messageForm(apiVersion, 'PartialObjectMetadata'))
    }
    const partial = served.map((item) => partialMetadata(item.object, apiVersion))
    return encoded(200, { ...list, items: partial.length === 0 ? null : partial }, representation, warnings)
  }
  const envelope = listEnvelope(row, endpoint, metadata)
  const whole = endpoint.served.wholeItems
  if (representation.encoding === 'json' && !representation.pretty)
    return { kind: 'list', status: 200, ...headers, list: envelope, items: served, whole }
  if (representation.encoding === 'protobuf')
    return protobufList(resource, envelope, served, messageForm(envelope.apiVersion, row.kind))
  const shown = served.map(({ object }) => (whole ? object : untyped(object)))
  return encoded(200, { ...envelope, items: shown }, representation, warnings)
}

/** A list of more objects is made while it is sent, where it is made for its reader alone. */
const MOST_AT_ONCE = 500

const isMadeForOne = ({ native, encoding, shape, pretty }: Representation): boolean =>
  !native && encoding !== 'protobuf' && (shape !== 'object' || encoding === 'yaml' || pretty)

function respondInPieces(
  resource: ResourceRequest,
  served: readonly StoredObject[],
  metadata: ListMetadata,
  representation: Representation,
): ApiResponse {
  const { warnings } = resource
  const list = piecedList(resource, served, metadata, representation)
  let size = 0
  for (const item of served) size += item.size ?? 0
  return {
    kind: 'pieces',
    status: 200,
    ...warningHeaders(warnings),
    contentType: CONTENT_TYPES[representation.encoding],
    pieces: () => encodedPieces(list, representation),
    size,
    object: () => ({ ...list.envelope, [list.field]: list.part(0, list.count) }),
  }
}

function piecedList(
  { context, request, row, endpoint }: ResourceRequest,
  served: readonly StoredObject[],
  metadata: ListMetadata,
  representation: Representation,
): PiecedList {
  const count = served.length
  const objects = (from: number, to: number) => served.slice(from, to).map(({ object }) => object)
  if (representation.shape === 'table') {
    const table = (of: readonly KubeObject[], withColumns: boolean) =>
      tableOf(context, request, row, of, metadata, representation, withColumns)
    const { rows: _, ...envelope } = table([], true)
    return {
      envelope: asKubeObject(envelope),
      field: 'rows',
      count,
      part: (from, to) => table(objects(from, to), false).rows,
    }
  }
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, row, true)
    const apiVersion = representation.shapeVersion || META_V1
    return {
      envelope: { kind: 'PartialObjectMetadataList', apiVersion, metadata: metadata as KubeObject['metadata'] },
      field: 'items',
      count,
      part: (from, to) => objects(from, to).map((object) => partialMetadata(object, apiVersion)),
    }
  }
  return {
    envelope: listEnvelope(row, endpoint, metadata),
    field: 'items',
    count,
    part: (from, to) => objects(from, to).map((object) => (endpoint.served.wholeItems ? object : untyped(object))),
  }
}

const listEnvelope = (row: ResourceRow, { served }: ResourceEndpoint, metadata: ListMetadata): KubeObject => ({
  kind: row.listKind,
  apiVersion: apiVersionOf(row.group, row.version),
  metadata: served.listMetadata(metadata) as KubeObject['metadata'],
})

async function protobufList(
  { context: { runtime }, warnings }: ResourceRequest,
  list: KubeObject,
  items: readonly StoredObject[],
  form: MessageForm,
): Promise<ApiResponse> {
  const bytes = await listBytes(list, items, form, runtime)
  return {
    kind: 'bytes',
    status: 200,
    ...warningHeaders(warnings),
    contentType: CONTENT_TYPES.protobuf,
    bytes,
    object: () => ({ ...list, items: items.map(({ object }) => untyped(object)) }),
  }
}

/** Items of a list of built-in kinds say nothing of their kind. */
function untyped({ kind: _, apiVersion: __, ...rest }: KubeObject) {
  return rest
}
