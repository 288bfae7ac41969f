/** Numbers of an apply configuration as Kubernetes' conversion to its own types takes them. */
import type { Json, JsonObject } from '../../../api/object.ts'
import type { Schema } from '../../../api/schema/schema.ts'
import type { ResourceRow, SubresourceRow } from '../../../api/scheme/resource.ts'
import { isList, isMap, setOwn } from '../../../api/values/maps-and-lists.ts'
import { MutationError, printKind } from './mutation-error.ts'

/**
 * A configuration that fits its schema, with numbers as big as their fields: what does not fit 32 bits loses the rest.
 *
 * @throws MutationError for a fraction where a whole number belongs
 */
export function fitted(configuration: JsonObject, kind: ResourceRow | SubresourceRow): Json {
  return fit(configuration as Json, kind.schema, kind)
}

function fit(value: Json, schema: Schema, kind: ResourceRow | SubresourceRow): Json {
  switch (schema.type) {
    case 'struct':
      return isMap(value) ? fields(value, (name) => schema.byName.get(name)?.schema, kind) : value
    case 'map':
      return isMap(value) ? fields(value, () => schema.values, kind) : value
    case 'list':
      return isList(value) ? value.map((item) => fit(item, schema.items, kind)) : value
    case 'int32':
    case 'int64': {
      if (typeof value !== 'number' && typeof value !== 'bigint') return value
      if (typeof value === 'number' && !Number.isInteger(value))
        throw new MutationError(
          `unable to convert unstructured object to ${printKind(kind)}: cannot convert float64 to ${schema.type}`,
        )
      return schema.type === 'int32' ? Number(BigInt.asIntN(32, BigInt(value))) : value
    }
    default:
      return value
  }
}

function fields(
  value: JsonObject,
  schemaOf: (name: string) => Schema | undefined,
  kind: ResourceRow | SubresourceRow,
): Json {
  const made: { [name: string]: Json | undefined } = {}
  for (const name of Object.keys(value)) {
    const inner = value[name]
    const schema = schemaOf(name)
    setOwn(made, name, inner === undefined || schema === undefined ? inner : fit(inner, schema, kind))
  }
  return made as Json
}
