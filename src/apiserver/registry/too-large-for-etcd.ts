/**
 * Objects that are too large for etcd. It refuses a request above 1.5 MiB (`--max-request-bytes`), and its client sends none above 2 MiB; both are refused here
 * in Kubernetes' words, whatever the store, so that what is stored here is stored there too.
 */
import { encodeProtobuf } from '../../api/codec/protobuf.ts'
import { asJson, type KubeObject, parseApiVersion } from '../../api/object.ts'
import type { ResourceRow } from '../../api/scheme/resource.ts'
import { builtinKind } from '../../api/scheme/scheme.ts'
import { StatusError } from '../../api/status.ts'
import type { ResourceEndpoint } from './endpoint.ts'
import type { Registry } from './registry.ts'

const MOST_REQUESTED = 1.5 * 2 ** 20
const MOST_SENT = 2 * 2 ** 20
/** What etcd puts around a transaction to write it to its log. */
const LOG_BYTES = 15
/** A transaction's own bytes beside the key and the value: one that creates, and one that gets what is there if it may not update. */
const CREATE_BYTES = 24
const UPDATE_BYTES = 32

/** What of an object's endpoint counts here. */
interface Stored extends Pick<ResourceEndpoint, 'parts'> {
  readonly row: Pick<ResourceRow, 'storedAsJson'>
}

export interface Fitting {
  readonly object: KubeObject
  readonly value: Uint8Array
}

/**
 * The object and its bytes as they are written: one that is too large with its managedFields goes without them, as in Kubernetes, but not
 * one that is applied (`keepsManagedFields`).
 * @throws StatusError 500 when it is too large all the same
 */
export function fitting(
  registry: Pick<Registry, 'encode'>,
  key: string,
  object: KubeObject,
  { row, parts }: Stored,
  expectRevision: number,
  keepsManagedFields = false,
): Fitting {
  const value = registry.encode(object, parts)
  // What Kubernetes stores in protobuf is hardly ever larger than its JSON, and never by half.
  if (value.length < MOST_REQUESTED / 2) return { object, value }
  const excess = problemOf(key, value, object, row, expectRevision)
  if (excess === undefined) return { object, value }
  if (keepsManagedFields) throw new StatusError(500, '', excess)
  const { managedFields: _, ...metadata } = object.metadata
  const smaller = { ...object, metadata }
  const bytes = registry.encode(smaller, parts)
  const problem = problemOf(key, bytes, smaller, row, expectRevision)
  if (problem !== undefined) throw new StatusError(500, '', problem)
  return { object: smaller, value: bytes }
}

function problemOf(
  key: string,
  value: Uint8Array,
  object: KubeObject,
  row: Stored['row'],
  expectRevision: number,
): string | undefined {
  const keys = Buffer.byteLength(key) * (expectRevision === 0 ? 2 : 3)
  const sent = bytesInEtcd(value, object, row) + keys + (expectRevision === 0 ? CREATE_BYTES : UPDATE_BYTES)
  if (sent > MOST_SENT)
    return `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${sent} vs. ${MOST_SENT})`
  return sent + LOG_BYTES > MOST_REQUESTED ? 'etcdserver: request is too large' : undefined
}

function bytesInEtcd(value: Uint8Array, object: KubeObject, { storedAsJson }: Stored['row']): number {
  if (storedAsJson) return value.length
  const { group, version } = parseApiVersion(object.apiVersion ?? '')
  const known = builtinKind(group, version, object.kind)
  return typeof known === 'object' ? encodeProtobuf(asJson(object), known.schema).length : value.length
}
