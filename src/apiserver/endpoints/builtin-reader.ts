/** Built-in kinds are read by the schema of their Go types. */
import { decodeBody } from '../../api/codec/decode.ts'
import { applyDefaults } from '../../api/defaults/defaults.ts'
import { noParts, type Parts } from '../../api/parts.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import type { KindReader } from '../registry/endpoint.ts'

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
    taken: (object) => object,
    isTyped: true,
    mergesStrategically: true,
    unsupportedPatch: () => new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
  }
}
