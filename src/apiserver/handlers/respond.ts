/** From an object of the storage version to the answer that was asked for. */

import { encodeYaml } from '../../api/codec/encode-yaml.ts'
import { invalid } from '../../api/errors/field-errors.ts'
import { apiVersionOf, asJson, type KubeObject } from '../../api/object.ts'
import type { ApiRequest, ApiResponse, Headers, StoredObject } from '../../api/request.ts'
import { badRequest, StatusError } from '../../api/status.ts'
import { encodeJson, jsonText, prettyJson } from '../../api/values/json.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { ServedForm } from '../cache/entry.ts'
import { storageKey } from '../cache/keys.ts'
import type { ListMetadata, ShownKind } from '../registry/endpoint.ts'
import type { PrintedTable, ResourceRequest, ServerContext } from './context.ts'
import { CONTENT_TYPES, type Representation, requireMetadataForm } from './negotiate.ts'
import { ownMetadata } from './own-metadata.ts'
import { messageForm, objectBytes, storedPieces } from './protobuf.ts'

export const META_V1 = 'meta.k8s.io/v1'

const NEWLINE = Buffer.from('\n')

/** `299 - "text"`, as kube-apiserver writes warnings. */
function warningHeader(text: string): string {
  return `299 - "${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Characters of all warnings together up to which they are sent whole, and of each of them beyond that. */
const ALL_WARNINGS = 4096
const ONE_WARNING = 256

/** Headers for what was warned about, each text once; of too much the beginnings, and not all; none with control characters. */
export function warningHeaders(warnings: readonly string[]): { readonly headers?: Headers } {
  if (warnings.length === 0) return {}
  const sent = limited([...new Set(warnings)]).filter((text) => !/\p{Cc}/u.test(text))
  return sent.length === 0 ? {} : { headers: { warning: sent.map(warningHeader) } }
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
  { context, request, endpoint, warnings }: ResourceRequest,
  object: KubeObject,
  representation: Representation,
  status: number,
): Promise<ApiResponse> {
  if (object.kind === 'Status' && object.apiVersion === 'v1') return encoded(status, object, representation, warnings)
  const shown = await endpoint.served.object(object)
  return encoded(status, shaped(context, request, endpoint, shown, representation), representation, warnings)
}

export function shaped(
  context: ServerContext,
  request: ApiRequest,
  kind: ShownKind,
  object: KubeObject,
  representation: Representation,
): KubeObject {
  if (representation.shape === 'metadata') {
    requireMetadataForm(representation, kind, false)
    return partialMetadata(object, representation.shapeVersion)
  }
  if (representation.shape === 'table') {
    const { resourceVersion } = object.metadata
    return tableOf(
      context,
      request,
      kind,
      [object],
      resourceVersion === undefined ? {} : { resourceVersion },
      representation,
    )
  }
  return object
}

const lineOf = (stored: StoredObject): readonly Uint8Array[] =>
  stored.line === undefined ? [stored.json('full'), NEWLINE] : [stored.line()]

/** An object as it stands in the cache: the bytes of its revision, which all answers share, where they are asked for. */
export function respondStored(
  resource: ResourceRequest,
  stored: StoredObject,
  representation: Representation,
  status: number,
): ApiResponse | Promise<ApiResponse> {
  const shown = resource.endpoint.served.entry(stored)
  return shown instanceof Promise
    ? shown.then((entry) => respondShown(resource, entry, representation, status))
    : respondShown(resource, shown, representation, status)
}

function respondShown(
  { context, request, endpoint, warnings }: ResourceRequest,
  shown: StoredObject,
  representation: Representation,
  status: number,
): ApiResponse {
  const { row } = endpoint
  const { native, shape, encoding, pretty } = representation
  if (native || shape !== 'object' || encoding === 'yaml' || (encoding === 'json' && pretty))
    return encoded(status, shaped(context, request, endpoint, shown.object, representation), representation, warnings)
  const contentType = CONTENT_TYPES[encoding]
  const extra = warningHeaders(warnings)
  if (encoding === 'json') return { kind: 'bytes', status, ...extra, contentType, bytes: lineOf(shown) }
  const bytes = storedPieces(shown, messageForm(apiVersionOf(row.group, row.version), row.kind))
  return { kind: 'bytes', status, ...extra, contentType, bytes, object: () => shown.object }
}

/** Whether an answer is bytes, of an object that is stored. */
export const sharesBytes = ({ endpoint }: ResourceRequest, { native }: Representation): boolean =>
  !native && endpoint.row.storagePrefix !== ''

/**
 * An object just written: the cache has it already, and its bytes, which every reader and watcher of this revision shares.
 * With dryRun there is nothing there.
 */
export function respondWritten(
  resource: ResourceRequest,
  object: KubeObject,
  representation: Representation,
  { status, dryRun }: { readonly status: number; readonly dryRun: boolean },
): ApiResponse | Promise<ApiResponse> {
  const { context, endpoint } = resource
  const { row } = endpoint
  const { name = '', namespace = '', resourceVersion } = object.metadata
  if (!dryRun && sharesBytes(resource, representation)) {
    const entry = context.caches.resource(row.storagePrefix).get(storageKey(row, namespace, name))
    if (entry !== undefined && String(entry.revision) === resourceVersion)
      return respondStored(resource, entry, representation, status)
  }
  return respondObject(resource, object, representation, status)
}

export function partialMetadata(object: KubeObject, apiVersion: string = META_V1): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: ownMetadata(object) }
}

/** The same as JSON, of a kind that hides no annotations: what is not asked for is not parsed where the bytes are there. */
export function partialMetadataJson(stored: StoredObject, apiVersion: string): string {
  const metadata = stored.metadataJson?.() ?? jsonText(stored.object.metadata)
  return `{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(apiVersion)},"metadata":${metadata}}`
}

const metadataForms = new Map<string, ServedForm>()

/** Metadata alone, as the caches keep it beside the objects; the same form every time. */
export function metadataForm(apiVersion: string): ServedForm {
  return getOrInsertComputed(metadataForms, apiVersion, () => ({
    name: `metadata ${apiVersion}`,
    convert: (object) => partialMetadata(object, apiVersion),
  }))
}

/** What a Table's rows hold of their objects. @throws StatusError 400 for an includeObject that is none */
export function includedInRows({ query }: ApiRequest): 'None' | 'Metadata' | 'Object' {
  const include = query.get('includeObject') ?? ''
  switch (include) {
    case '':
      return 'Metadata'
    case 'None':
    case 'Metadata':
    case 'Object':
      return include
    default: {
      const { field, message } = invalid('includeObject', include, "must be 'Metadata', 'Object', 'None', or empty")
      throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`)
    }
  }
}

/** @throws StatusError 400 for an includeObject that is none */
export function tableOf(
  context: ServerContext,
  request: ApiRequest,
  kind: Pick<ShownKind, 'printer'>,
  objects: readonly KubeObject[],
  metadata: ListMetadata,
  representation: Representation,
  { withColumns = true, isList = false } = {},
): PrintedTable {
  const includeObject = includedInRows(request)
  if (context.printTable === undefined) throw new StatusError(406, 'NotAcceptable', 'tables are not served here')
  return context.printTable({
    printer: kind.printer(),
    objects,
    metadata,
    apiVersion: representation.shapeVersion,
    includeObject,
    withColumns,
    isList,
  })
}
