/** Built-in kinds are read by the schema of their Go types. */
import { decodeBody } from '../../api/codec/decode.ts'
import type { ResourceRow, SubresourceRow } from '../../api/scheme/resource.ts'
import { StatusError } from '../../api/status.ts'
import type { KindReader } from '../registry/endpoint.ts'

export function builtinReader(kind: ResourceRow | SubresourceRow): KindReader {
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    // Compiled when somebody sends one.
    get schema() {
      return kind.schema
    },
    decode: (body, options) => decodeBody(body, kind, options),
    taken: (object) => object,
    isTyped: true,
    mergesStrategically: true,
    unsupportedPatch: () => new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}),
  }
}
