/** The atomic parts that a configuration sets: a manager that sets one sets all of it, known or not. */
import type { Json } from '../object.ts'
import type { Schema } from '../schema/schema.ts'
import { isList, isMap } from '../values/maps-and-lists.ts'

/** Paths of atomic lists, maps and structs in a value that fits the schema, in order of names (`.spec.containers[0].args`). */
export function atomicPaths(value: Json, schema: Schema): readonly string[] {
  const found: string[] = []
  visit(value, schema, '', found)
  return found
}

function visit(value: Json | undefined, schema: Schema, path: string, found: string[]): void {
  if (isMap(value)) {
    if (schema.type === 'struct') {
      if (schema.structType === 'atomic') found.push(path)
      for (const name of Object.keys(value).sort()) {
        const field = schema.byName.get(name)
        if (field !== undefined) visit(value[name], field.schema, `${path}.${name}`, found)
      }
    } else if (schema.type === 'map' && schema.mapType === 'atomic') found.push(path)
  } else if (isList(value) && schema.type === 'list') {
    if (schema.listType === 'atomic') found.push(path)
    for (const [i, item] of value.entries()) visit(item, schema.items, `${path}[${i}]`, found)
  }
}
