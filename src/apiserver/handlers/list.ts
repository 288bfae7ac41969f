/** GET of a collection: selectors, pages, and the versions a client may ask for (KEP-2523). */

import { apiVersionOf, type KubeObject } from '../../api/object.ts'
import type { ApiResponse, StoredObject } from '../../api/request.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import { CompactedError, FutureRevisionError } from '../../storage/storage.ts'
import { type CacheEntry, encodedObject } from '../cache/entry.ts'
import { storageKey, storageRange } from '../cache/keys.ts'
import type { CachePage, ResourceCache } from '../cache/resource.ts'
import type { ListMetadata } from '../registry/endpoint.ts'
import type { ResourceRequest } from './context.ts'
import { decodeContinue, encodeContinue, tooOldToContinue } from './list-token.ts'
import { CONTENT_TYPES, negotiate, type Representation, requireMetadataForm } from './negotiate.ts'
import { type ListOptions, listOptions } from './options.ts'
import { listBytes, type MessageForm, messageForm } from './protobuf.ts'
import { tooLarge, untilReached, versionProblem } from './resource-version.ts'
import { encoded, META_V1, metadataForm, partialMetadata, tableOf, warningHeaders } from './respond.ts'
import { type Selection, selectionOf } from './selectors.ts'

export interface Listed {
  readonly items: readonly StoredObject[]
  readonly metadata: ListMetadata
}

export async function handleList(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, row } = resource
  const representation = negotiate(request, { streams: true, row })
  const listed = await list(resource, listOptions(request.query))
  return respondList(resource, listed, representation)
}

/** @throws StatusError 400, 410, 422, 504 */
export async function list(resource: ResourceRequest, options: ListOptions): Promise<Listed> {
  const { context, row, endpoint, info } = resource
  const selection = selectionOf(row, endpoint.strategy, options.labelSelector, options.fieldSelector)
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
    return select(cache, selection, prefix, limit, at, token.start)
  }
  if (version === '' || version === '0') {
    const only = version === '' || limit === 0 ? selection.name : undefined
    if (only !== undefined && (!row.namespaced || info.namespace !== ''))
      return one(cache, selection, storageKey(row, info.namespace, only), context.caches.revision)
    // Any version will do, so the cache's own is whole at no cost: as in Kubernetes, such a list has no pages.
    return select(cache, selection, prefix, version === '0' ? 0 : limit, undefined, undefined)
  }
  const revision = Number(version)
  await untilReached(resource, revision)
  // Asked with a limit and without a match, Kubernetes reads it as Exact, so that pages fit together.
  const exact = options.resourceVersionMatch === 'Exact' || (options.resourceVersionMatch === '' && limit > 0)
  return select(cache, selection, prefix, limit, exact ? revision : undefined, undefined)
}

function one(cache: ResourceCache, selection: Selection, key: string, revision: number): Listed {
  const entry = cache.get(key)
  return {
    items: entry !== undefined && cache.matcher(selection)(entry) ? [entry] : [],
    metadata: { resourceVersion: String(revision) },
  }
}

async function select(
  cache: ResourceCache,
  selection: Selection,
  prefix: string,
  limit: number,
  exact: number | undefined,
  start: string | undefined,
): Promise<Listed> {
  const items: CacheEntry[] = []
  const matches = cache.matcher(selection)
  let from = start
  let at = exact
  for (;;) {
    const page = await pageOf(cache, prefix, selection.all ? limit : 0, at, from, start !== undefined)
    at ??= page.revision
    const resourceVersion = String(page.revision)
    if (selection.all) return withContinue(page, page.items, prefix, page.more, page.remaining)
    for (let i = 0; i < page.items.length; i++) {
      const entry = page.items[i] as CacheEntry
      if (!matches(entry)) continue
      items.push(entry)
      if (limit > 0 && items.length === limit)
        return withContinue(page, items, prefix, page.more || i < page.items.length - 1, undefined)
    }
    if (!page.more) return { items, metadata: { resourceVersion } }
    from = `${(page.items.at(-1) as CacheEntry).key}\u0000`
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

/** A list in the form that was asked for. */
export async function respondList(
  resource: ResourceRequest,
  { items, metadata }: Listed,
  representation: Representation,
): Promise<ApiResponse> {
  const { context, request, row, endpoint, warnings } = resource
  const headers = warningHeaders(warnings)
  const served = await endpoint.served.entries(items)
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
      const partial = served.map((item) =>
        'as' in item
          ? (item as CacheEntry).as(form)
          : encodedObject(item.key, item.revision, form.convert(item.object)),
      )
      return protobufList(resource, list, partial, messageForm(apiVersion, 'PartialObjectMetadata'))
    }
    const partial = served.map((item) => partialMetadata(item.object, apiVersion))
    return encoded(200, { ...list, items: partial.length === 0 ? null : partial }, representation, warnings)
  }
  const envelope: KubeObject = {
    kind: row.listKind,
    apiVersion: apiVersionOf(row.group, row.version),
    metadata: endpoint.served.listMetadata(metadata) as KubeObject['metadata'],
  }
  const whole = endpoint.served.wholeItems
  if (representation.encoding === 'json' && !representation.pretty)
    return { kind: 'list', status: 200, ...headers, list: envelope, items: served, whole }
  if (representation.encoding === 'protobuf')
    return protobufList(resource, envelope, served, messageForm(envelope.apiVersion, row.kind))
  const shown = served.map(({ object }) => (whole ? object : untyped(object)))
  return encoded(200, { ...envelope, items: shown }, representation, warnings)
}

async function protobufList(
  { context: { runtime }, warnings }: ResourceRequest,
  list: KubeObject,
  items: readonly StoredObject[],
  form: MessageForm,
): Promise<ApiResponse> {
  const turn = () => new Promise<void>((resolve) => runtime.scheduler.later('protobuf list', resolve))
  const bytes = await listBytes(list, items, form, turn)
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
