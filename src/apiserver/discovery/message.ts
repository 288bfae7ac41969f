/** Aggregated discovery as a protobuf message: kinds of apidiscovery.k8s.io (KEP-3352), which no published schema has. */
import { encodeProtobuf } from '../../api/codec/protobuf.ts'
import type { JsonObject } from '../../api/object.ts'
import { schemaOf } from '../../api/schema/builtin.ts'
import type { Field, Schema, StructSchema } from '../../api/schema/schema.ts'

/** Fields by name: the number on the wire, the type, and whether absent and empty are two things. */
type Fields = Readonly<Record<string, readonly [number: number, schema: Schema, optional?: 'optional']>>

const text: Schema = { type: 'string', goType: 'string' }

function struct(goType: string, named: Fields): StructSchema {
  const fields = Object.entries(named).map(
    ([name, [number, schema, optional]]): Field => ({
      name,
      goStruct: goType,
      goName: name,
      schema,
      pointer: optional !== undefined,
      omitEmpty: true,
      omitZero: false,
      required: false,
      protobuf: { number, type: 'bytes', repeated: schema.type === 'list', path: [] },
    }),
  )
  const byName = new Map(fields.map((field) => [field.name, field]))
  return { type: 'struct', goType, definition: '', fields, byName, structType: 'granular' }
}

const list = (items: Schema): Schema => ({
  type: 'list',
  goType: `[]${items.goType}`,
  items,
  listType: 'atomic',
  listMapKeys: [],
  patchStrategy: [],
})

/** Made at first use: most servers are never asked in protobuf. */
let known: StructSchema | undefined

function groupList(): StructSchema {
  const meta = (name: string) => schemaOf(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`)
  const kind = struct('v1.GroupVersionKind', { group: [1, text], version: [2, text], kind: [3, text] })
  const subresource = struct('v2.APISubresourceDiscovery', {
    subresource: [1, text],
    responseKind: [2, kind, 'optional'],
    acceptedTypes: [3, list(kind)],
    verbs: [4, list(text)],
  })
  const resource = struct('v2.APIResourceDiscovery', {
    resource: [1, text],
    responseKind: [2, kind, 'optional'],
    scope: [3, text],
    singularResource: [4, text],
    verbs: [5, list(text)],
    shortNames: [6, list(text)],
    categories: [7, list(text)],
    subresources: [8, list(subresource)],
  })
  const version = struct('v2.APIVersionDiscovery', {
    version: [1, text],
    resources: [2, list(resource)],
    freshness: [3, text],
  })
  const group = struct('v2.APIGroupDiscovery', { metadata: [1, meta('ObjectMeta')], versions: [2, list(version)] })
  return struct('v2.APIGroupDiscoveryList', { metadata: [1, meta('ListMeta')], items: [2, list(group)] })
}

export function discoveryBytes(document: JsonObject): Uint8Array {
  known ??= groupList()
  return encodeProtobuf(document, known)
}
