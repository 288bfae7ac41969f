/** Built-in kinds are read by the schema of their Go types. */
import { decodeBody, decodeFields } from '../../api/codec/decode.ts'
import { applyDefaults } from '../../api/defaults/defaults.ts'
import { withMetadata } from '../../api/metadata.ts'
import {
  asJson,
  asKubeObject,
  type Fields,
  type JsonObject,
  type KubeObject,
  type SpecAndStatus,
} from '../../api/object.ts'
import { noParts, type Parts } from '../../api/parts.ts'
import { restoreError, withIntegersWrapped } from '../../api/patch/restore.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import { fitted } from '../admission/policies/fitted.ts'
import type { KindReader } from '../registry/endpoint.ts'

/** Kinds whose replicas are a number in Kubernetes' internal form, which knows no absent one. */
const COUNTED: readonly string[] = ['Deployment', 'ReplicaSet', 'StatefulSet']

/** What an object gains that Kubernetes makes in its internal form and then converts to a version. */
function throughInternalForm(object: SpecAndStatus): KubeObject {
  if (object.apiVersion !== 'apps/v1') return object
  if (object.kind === 'DaemonSet') {
    const annotations = { 'deprecated.daemonset.template.generation': '0', ...object.metadata.annotations }
    return withMetadata(object, { annotations })
  }
  return COUNTED.includes(object.kind) ? { ...object, spec: { replicas: 0, ...(object.spec as Fields) } } : object
}

/** `parts` are those of the kind. */
export function builtinReader(kind: ResourceRow | SubresourceRow, parts: Parts = noParts): KindReader {
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    // Compiled when the first one comes.
    get schema() {
      return kind.schema
    },
    decode: (body, options) => decodeBody(body, kind, { ...options, parts }),
    defaulted: (object) => applyDefaults(object, kind.schema, parts),
    written: (object) => {
      const { object: decoded, error } = decodeFields(object, kind.schema)
      return error === undefined ? throughInternalForm(asKubeObject(decoded)) : object
    },
    taken: (object) => object,
    converted(object) {
      const misfit = restoreError(asJson(object), kind.schema)
      if (misfit !== undefined) return { misfit }
      // Integers that are too large for their fields are what made it fail.
      const wrapped = asKubeObject(withIntegersWrapped(asJson(object), kind.schema) as JsonObject)
      return decodeBody({ kind: 'object', object: wrapped }, kind, { fieldValidation: 'Ignore', applied: true, parts })
        .object
    },
    inFieldOrder(object) {
      const { object: decoded, error } = decodeFields(object, kind.schema)
      return error === undefined ? asKubeObject(decoded) : object
    },
    asPatched(patched) {
      const { apiVersion } = patched
      if (apiVersion !== undefined && apiVersion !== null && apiVersion !== '') return { object: patched, unknown: [] }
      // One that says no version is read as Kubernetes' internal form, which JSON has no names for: none of its fields is known,
      // its metadata neither.
      const { apiVersion: _, kind: named, ...fields } = asJson(patched)
      return {
        object: asKubeObject({ ...(named === undefined ? {} : { kind: named }), metadata: {} }),
        unknown: Object.keys(fields).map((path) => ({ kind: 'unknown', path })),
      }
    },
    fitted: (configuration) => fitted(configuration, kind),
    undeclared: 'Strict',
    gainsKind: true,
    mergesStrategically: true,
    unsupportedPatch: () => new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
  }
}
