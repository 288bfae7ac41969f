/** GET of a collection: the form of the answer. Which objects it has is decided in list-from-cache-or-store.ts. */

import { apiVersionOf, asKubeObject, type KubeObject } from '../../api/object.ts'
import type { ApiResponse, StoredObject } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { inTurns } from '../../base/turns.ts'
import { type CacheEntry, encodedObject } from '../cache/entry.ts'
import type { ListMetadata, ResourceEndpoint, ShownKind } from '../registry/endpoint.ts'
import type { ResourceRequest } from './context.ts'
import { type Listed, list } from './list-limit-continue-and-resource-version.ts'
import { CONTENT_TYPES, negotiate, type Representation, requireMetadataForm } from './negotiate.ts'
import { listOptions } from './options.ts'
import { hidesAnnotations } from './own-metadata.ts'
import { listBytes, type MessageForm, messageForm } from './protobuf.ts'
import {
  encoded,
  META_V1,
  metadataForm,
  partialMetadata,
  partialMetadataJson,
  tableOf,
  warningHeaders,
} from './respond.ts'
import { encodedPieces, type PiecedList } from './send-large-list-in-pieces.ts'

export async function handleList(resource: ResourceRequest): Promise<ApiResponse> {
  const { request, endpoint } = resource
  const representation = negotiate(request, { streams: true, kind: endpoint })
  const listed = await list(resource, listOptions(request.query))
  return respondList(resource, listed, representation)
}

/** A list in the form that was asked for. */
export async function respondList(
  resource: ResourceRequest,
  { items, served: converted, metadata }: Listed,
  representation: Representation,
): Promise<ApiResponse> {
  const { context, request, endpoint, warnings } = resource
  const { row } = endpoint
  const headers = warningHeaders(warnings)
  const entries = converted ?? (await endpoint.served.entries(items))
  const served = representation.shape === 'table' ? inOrderOfRows(endpoint, entries) : entries
  if (served.length > MOST_AT_ONCE && isMadeForOne(representation))
    return respondInPieces(resource, served, metadata, representation)
  if (representation.shape === 'table')
    return encoded(
      200,
      tableOf(
        context,
        request,
        endpoint,
        served.map((item) => item.object),
        metadata,
        representation,
        { isList: true },
      ),
      representation,
      warnings,
    )
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, endpoint, true)
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

function inOrderOfRows<Entry extends Pick<StoredObject, 'object'>>(
  endpoint: Pick<ShownKind, 'printer'>,
  entries: readonly Entry[],
): readonly Entry[] {
  const { order } = endpoint.printer()
  return order ? [...entries].sort((one, other) => order(one.object, other.object)) : entries
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
  { context, request, endpoint }: ResourceRequest,
  served: readonly StoredObject[],
  metadata: ListMetadata,
  representation: Representation,
): PiecedList {
  const { row } = endpoint
  const count = served.length
  const objects = (from: number, to: number) => served.slice(from, to).map(({ object }) => object)
  if (representation.shape === 'table') {
    const table = (of: readonly KubeObject[], withColumns: boolean) =>
      tableOf(context, request, endpoint, of, metadata, representation, { withColumns, isList: true })
    const { rows: _, ...envelope } = table([], true)
    return {
      envelope: asKubeObject(envelope),
      field: 'rows',
      count,
      part: (from, to) => table(objects(from, to), false).rows,
    }
  }
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, endpoint, true)
    const apiVersion = representation.shapeVersion || META_V1
    return {
      envelope: { kind: 'PartialObjectMetadataList', apiVersion, metadata: metadata as KubeObject['metadata'] },
      field: 'items',
      count,
      part: (from, to) => objects(from, to).map((object) => partialMetadata(object, apiVersion)),
      texts: hidesAnnotations(row.kind)
        ? undefined
        : (from, to) => served.slice(from, to).map((stored) => partialMetadataJson(stored, apiVersion)),
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
