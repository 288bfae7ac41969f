/** From an object of the storage version to the answer that was asked for. */

import { encodeJson, prettyJson } from '../../api/codec/json.ts'
import { apiVersionOf, asJson, type KubeObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, Headers, StoredObject } from '../../api/request.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { badRequest, internalError, StatusError } from '../../api/status.ts'
import { invalid } from '../../api/validation/errors.ts'
import type { Representation as View } from '../cache/entry.ts'
import { storageKey } from '../registry/registry.ts'
import { unreadableObject } from '../registry/unreadable.ts'
import type { ServerContext } from './context.ts'
import { CONTENT_TYPES, type Representation, requireMetadataForm } from './negotiate.ts'
import { ownMetadata } from './own-metadata.ts'
import { messageForm, objectBytes, storedPieces } from './protobuf.ts'
import { encodeYaml } from './yaml.ts'

export const META_V1 = 'meta.k8s.io/v1'

const NEWLINE = Buffer.from('\n')

/** `299 - "text"`, as kube-apiserver writes warnings. */
function warningHeader(text: string): string {
  return `299 - "${text.replace(/[\\"]/g, '\\$&').replace(/[\r\n]+/g, ' ')}"`
}

/** Characters of all warnings together up to which they are sent whole, and of each of them beyond that. */
const ALL_WARNINGS = 4096
const ONE_WARNING = 256

/** Headers for what was warned about, each text once; of too much the beginnings, and not all. */
export function warningHeaders(warnings: readonly string[]): { readonly headers?: Headers } {
  return warnings.length === 0 ? {} : { headers: { warning: limited([...new Set(warnings)]).map(warningHeader) } }
}

function limited(warnings: readonly string[]): readonly string[] {
  let size = 0
  for (const warning of warnings) size += warning.length
  if (size <= ALL_WARNINGS) return warnings
  const kept: string[] = []
  size = 0
  for (const warning of warnings) {
    if (size > ALL_WARNINGS) break
    const beginning = [...warning.slice(0, ONE_WARNING * 2)].slice(0, ONE_WARNING).join('')
    kept.push(beginning)
    size += beginning.length
  }
  return kept
}

/** An object as the answer's body, in its encoding. */
export function encoded(
  status: number,
  object: KubeObject,
  representation: Representation,
  warnings: readonly string[] = [],
): ApiResponse {
  const extra = warningHeaders(warnings)
  if (representation.native) return { kind: 'object', status, object, ...extra }
  const body = bodyOf(object, representation)
  if (representation.encoding === 'json') return { kind: 'bytes', status, ...extra, ...body }
  return { kind: 'bytes', status, ...extra, ...body, object: () => object }
}

function bodyOf(object: KubeObject, representation: Representation): { contentType: string; bytes: Uint8Array[] } {
  const contentType = CONTENT_TYPES[representation.encoding]
  if (representation.encoding === 'protobuf') return { contentType, bytes: [objectBytes(object)] }
  if (representation.encoding === 'yaml') return { contentType, bytes: [Buffer.from(encodeYaml(asJson(object)))] }
  if (representation.pretty) return { contentType, bytes: [Buffer.from(prettyJson(object))] }
  return { contentType, bytes: [encodeJson(object), NEWLINE] }
}

/** One object: as itself, as its metadata, or as a Table of one row. */
export async function respondObject(
  context: ServerContext,
  request: ApiRequest,
  row: ResourceRow,
  hub: KubeObject,
  representation: Representation,
  options: { readonly status?: number; readonly warnings?: readonly string[] } = {},
): Promise<ApiResponse> {
  const status = options.status ?? 200
  if (hub.kind === 'Status' && hub.apiVersion === 'v1') return encoded(status, hub, representation, options.warnings)
  const [object] = await context.convert([hub], row)
  if (object === undefined) throw internalError('conversion gave no object')
  return encoded(status, shaped(context, request, row, object, representation), representation, options.warnings)
}

export function shaped(
  context: ServerContext,
  request: ApiRequest,
  row: ResourceRow,
  object: KubeObject,
  representation: Representation,
): KubeObject {
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, row, false)
    return partialMetadata(object, representation.shapeVersion)
  }
  if (representation.shape === 'table') {
    const { resourceVersion } = object.metadata
    return tableOf(
      context,
      request,
      row,
      [object],
      resourceVersion === undefined ? {} : { resourceVersion },
      representation,
    )
  }
  return object
}

const lineOf = (stored: StoredObject): readonly Uint8Array[] =>
  stored.line === undefined ? [stored.json('full'), NEWLINE] : [stored.line()]

/** An object as it stands in the cache: its own bytes when nothing about it has to change. */
export function respondStored(
  context: ServerContext,
  request: ApiRequest,
  row: ResourceRow,
  stored: StoredObject,
  representation: Representation,
  warnings: readonly string[] = [],
): ApiResponse | Promise<ApiResponse> {
  if (
    !representation.native &&
    representation.shape === 'object' &&
    isHub(row) &&
    (representation.encoding === 'protobuf' || (representation.encoding === 'json' && !representation.pretty))
  ) {
    const contentType = CONTENT_TYPES[representation.encoding]
    const extra = warningHeaders(warnings)
    if (representation.encoding === 'json')
      return { kind: 'bytes', status: 200, ...extra, contentType, bytes: lineOf(stored) }
    const bytes = storedPieces(stored, messageForm(apiVersionOf(row.group, row.version), row.kind))
    return { kind: 'bytes', status: 200, ...extra, contentType, bytes, object: () => stored.object }
  }
  const answer = respondObject(context, request, row, stored.object, representation, { warnings })
  if (row.custom?.conversion !== 'Webhook') return answer
  return answer.catch((error) => {
    throw unreadableObject(stored, error)
  })
}

/**
 * An object just written: the cache has it already, and its bytes, which every reader and watcher of this revision shares.
 * With dryRun there is nothing there.
 */
export function respondWritten(
  context: ServerContext,
  request: ApiRequest,
  row: ResourceRow,
  object: KubeObject,
  representation: Representation,
  options: { readonly status: number; readonly warnings: readonly string[]; readonly dryRun: boolean },
): ApiResponse | Promise<ApiResponse> {
  const { name = '', namespace = '', resourceVersion } = object.metadata
  if (!options.dryRun && !representation.native && row.storagePrefix !== '') {
    const entry = context.caches.resource(row.storagePrefix).get(storageKey(row, namespace, name))
    if (entry !== undefined && String(entry.revision) === resourceVersion) {
      const answer = respondStored(context, request, row, entry, representation, options.warnings)
      return answer instanceof Promise
        ? answer.then((made) => withStatus(made, options.status))
        : withStatus(answer, options.status)
    }
  }
  return respondObject(context, request, row, object, representation, options)
}

function withStatus(answer: ApiResponse, status: number): ApiResponse {
  return answer.kind === 'bytes' || answer.kind === 'object' ? { ...answer, status } : answer
}

/** Whether the row's own version is the one in storage. */
export function isHub(row: ResourceRow): boolean {
  // Custom resources are served as their definition now has them, not as they were written.
  return row.version === row.storageVersion && row.group === row.storageGroup && row.custom === undefined
}

export function partialMetadata(object: KubeObject, apiVersion: string = META_V1): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: ownMetadata(object) }
}

const metadataViews = new Map<string, WeakMap<ResourceRow, View>>()

/** Metadata alone, as the caches keep it beside the objects; the same object every time. */
export function metadataView(row: ResourceRow, apiVersion: string): View {
  let views = metadataViews.get(apiVersion)
  if (views === undefined) {
    views = new WeakMap()
    metadataViews.set(apiVersion, views)
  }
  let view = views.get(row)
  if (view === undefined) {
    view = { name: `metadata ${apiVersion}`, convert: (object) => partialMetadata(object, apiVersion) }
    views.set(row, view)
  }
  return view
}

export interface ListMetadata {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** @throws StatusError 400 for an includeObject that is none */
export function tableOf(
  context: ServerContext,
  request: ApiRequest,
  row: ResourceRow,
  objects: readonly KubeObject[],
  metadata: ListMetadata,
  representation: Representation,
  withColumns = true,
): KubeObject {
  const include = request.query.get('includeObject') ?? ''
  if (!['', 'None', 'Metadata', 'Object'].includes(include)) {
    const { field, message } = invalid('includeObject', include, "must be 'Metadata', 'Object', 'None', or empty")
    throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`)
  }
  if (context.printTable === undefined) throw new StatusError(406, 'NotAcceptable', 'tables are not served here')
  return context.printTable({
    row,
    objects,
    metadata,
    apiVersion: representation.shapeVersion,
    includeObject: include === '' ? 'Metadata' : (include as 'None' | 'Metadata' | 'Object'),
    withColumns,
  })
}
