/** Custom resources are read by what their definition says: any JSON with a kind. */
import { decodeCustomBody } from '../../api/codec/custom.ts'
import { unsupportedBody } from '../../api/codec/media-type.ts'
import { withMetadata } from '../../api/metadata.ts'
import { asJson, asKubeObject, type JsonObject } from '../../api/object.ts'
import { sortedKeys } from '../../api/schema/structural/prune-and-default.ts'
import type { CustomVersion, ResourceRow } from '../../api/scheme/resource.ts'
import type { KindReader } from '../registry/endpoint.ts'

/** A definition's schema has no merge keys: there is no strategic merge of custom resources. */
const PATCHES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']

export function customReader(row: ResourceRow, custom: CustomVersion): KindReader {
  return {
    group: row.group,
    version: row.version,
    kind: row.kind,
    // Compiled when the first one comes.
    get schema() {
      return row.schema
    },
    decode: (body, options) => decodeCustomBody(body, row, custom.structural, options),
    // The decoder has filled in the defaults of the definition's schema.
    defaulted: (object) => object,
    written: (object) => object,
    // One of the cluster forgets the namespace it was sent with.
    taken: (object) =>
      row.namespaced || object.metadata.namespace === undefined
        ? object
        : withMetadata(object, { namespace: undefined }),
    // Kubernetes has no Go type for it, but maps.
    converted(_, error) {
      throw error
    },
    inFieldOrder: (object) => asKubeObject(sortedKeys(asJson(object)) as JsonObject),
    asPatched: (object) => ({ object, unknown: [] }),
    fitted: (configuration) => configuration,
    undeclared: 'Ignore',
    gainsKind: false,
    mergesStrategically: false,
    unsupportedPatch: () => unsupportedBody(PATCHES),
  }
}
