/**
 * Values that a kube-apiserver left in the store, as this server stores them: protobuf becomes JSON with the defaults that
 * Kubernetes gives when it reads, and definitions, which Kubernetes stores in their first version, become those of v1. What this
 * server writes is JSON of the versions that every kube-apiserver reads.
 */

import { decodeFields } from '../api/codec/decode.ts'
import { decodeProtobuf, openProtobuf } from '../api/codec/protobuf.ts'
import { problemText } from '../api/decode-problem.ts'
import { applyDefaults } from '../api/defaults/defaults.ts'
import {
  apiVersionOf,
  asKubeObject,
  type Json,
  type JsonObject,
  type KubeObject,
  parseApiVersion,
  type SpecAndStatus,
} from '../api/object.ts'
import type { ResourceRow, Scheme } from '../api/scheme/resource.ts'
import { asList, asObject } from '../api/unchecked.ts'
import { parseExactly } from '../api/values/json.ts'
import { messageOf } from '../base/errors.ts'
import { NotDecodable, type Transformer } from '../storage/transform.ts'
import { encodeStored } from './cache/entry.ts'

/** `k8s\0`, with which every protobuf value begins. */
const isProtobuf = (bytes: Uint8Array) =>
  bytes[0] === 0x6b && bytes[1] === 0x38 && bytes[2] === 0x73 && bytes[3] === 0 && bytes.length > 4

const DEFINITIONS = '/registry/apiextensions.k8s.io/customresourcedefinitions/'
const FIRST_VERSION = 'apiextensions.k8s.io/v1beta1'
/** kind and apiVersion stand at the beginning. */
const HEAD_BYTES = 200

/** A transformer that reads what kube-apiserver has stored; `inner`, if given, decrypts it first. */
export function readingKubernetes(scheme: Scheme, inner?: Transformer): Transformer {
  const rowOf = rowFinder(scheme)
  return {
    encode: (key, plain) => inner?.encode(key, plain) ?? plain,
    isStale: (key, stored) => inner?.isStale(key, stored) ?? false,
    decode(key, stored) {
      const plain = inner === undefined ? stored : inner.decode(key, stored)
      try {
        if (isProtobuf(plain)) return fromProtobuf(rowOf, plain)
        return key.startsWith(DEFINITIONS) && isOfFirstVersion(plain) ? ofVersion1(plain) : plain
      } catch (cause) {
        throw new NotDecodable(messageOf(cause), { cause })
      }
    },
    get prepare() {
      return inner?.prepare
    },
  }
}

type RowFinder = (group: string, version: string, kind: string) => ResourceRow | undefined

/** Kinds have been stored in versions that are no longer served; their fields have kept their numbers. */
function rowFinder(scheme: Scheme): RowFinder {
  const stored = new Map<string, ResourceRow>()
  for (const row of scheme.rows())
    if (row.storagePrefix !== '' && row.version === row.storageVersion) stored.set(`${row.group}/${row.kind}`, row)
  return (group, version, kind) => scheme.findKind(group, version, kind) ?? stored.get(`${group}/${kind}`)
}

/** The very bytes for a kind that is not served: allocators' bitmaps, leases of servers. */
function fromProtobuf(rowOf: RowFinder, bytes: Uint8Array): Uint8Array {
  const { apiVersion, kind } = openProtobuf(bytes)
  const { group, version } = parseApiVersion(apiVersion)
  const row = rowOf(group, version, kind)
  if (row === undefined) return bytes
  const { schema } = row
  const { object, error } = decodeFields(decodeProtobuf(bytes, { group, version, kind, schema }), schema)
  if (error !== undefined) throw new Error(problemText(error))
  const named = asKubeObject({ ...object, apiVersion: apiVersionOf(row.group, row.version) })
  return encodeStored(applyDefaults(named, schema))
}

const isOfFirstVersion = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, HEAD_BYTES)).includes(`"${FIRST_VERSION}"`)

function ofVersion1(bytes: Uint8Array): Uint8Array {
  const stored = parseExactly(Buffer.from(bytes).toString()) as KubeObject
  if (stored.apiVersion !== FIRST_VERSION) return bytes
  return encodeStored(definitionOfVersion1(stored))
}

/** v1 says of each version what v1beta1 may say of all at once. */
export function definitionOfVersion1(stored: SpecAndStatus): KubeObject {
  const {
    version,
    versions,
    validation,
    subresources,
    additionalPrinterColumns,
    selectableFields,
    conversion,
    preserveUnknownFields,
    ...spec
  } = asObject(stored.spec)
  const named = versions ? asList(versions).map(asObject) : [{ name: version, served: true, storage: true }]
  const common = {
    schema: validation,
    subresources,
    additionalPrinterColumns,
    selectableFields,
  }
  return {
    ...stored,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...spec,
      ...(preserveUnknownFields === true ? { preserveUnknownFields } : {}),
      versions: named.map((each) => versionOf({ ...given(common), ...given(each) })),
      conversion: conversionOf(conversion),
    },
  }
}

const given = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

function versionOf({ additionalPrinterColumns, ...version }: JsonObject): JsonObject {
  if (additionalPrinterColumns === undefined) return version
  return {
    ...version,
    additionalPrinterColumns: asList(additionalPrinterColumns)
      .map(asObject)
      .map(({ JSONPath, ...column }) => ({ ...column, jsonPath: JSONPath ?? column['jsonPath'] })),
  }
}

function conversionOf(conversion: Json | undefined): JsonObject {
  const { webhookClientConfig, conversionReviewVersions, ...rest } = asObject(conversion ?? { strategy: 'None' })
  if (rest['strategy'] !== 'Webhook') return rest
  return { ...rest, webhook: given({ clientConfig: webhookClientConfig, conversionReviewVersions }) }
}
