/** Entries written under an older schema: what has become atomic since is owned whole by the manager that owned a part of it. */
import type { StructSchema } from '../schema/schema.ts'
import { type FieldSet, MEMBER, type MutableFieldSet } from './fieldset.ts'
import type { Managed } from './managed.ts'
import { type Shape, shapeOf } from './shape.ts'

/** The entries of this version as its schema has them now. Only definitions' schemas change while the server runs. */
export function reconciledWithSchema(
  entries: readonly Managed[],
  apiVersion: string,
  schema: StructSchema,
): readonly Managed[] {
  if (schema.definition !== '') return entries
  const shape = shapeOf(schema)
  return entries.map((entry) => {
    if (entry.apiVersion !== apiVersion || entry.fields === undefined) return entry
    const fields = reconciled(entry.fields, shape)
    return fields === entry.fields ? entry : { ...entry, fields }
  })
}

function reconciled(node: FieldSet, shape: Shape): FieldSet {
  if (shape.kind === 'deduced') return node
  if (shape.kind === 'leaf') return Object.keys(node).length === 0 ? node : MEMBER
  let copy: MutableFieldSet | undefined
  for (const key in node) {
    if (key === '.') continue
    const inner = shapeAt(shape, key)
    const before = node[key] as FieldSet
    const after = inner === undefined ? before : reconciled(before, inner)
    if (after === before) continue
    copy ??= { ...node }
    copy[key] = after
  }
  return copy ?? node
}

function shapeAt(shape: Exclude<Shape, { kind: 'deduced' | 'leaf' }>, key: string): Shape | undefined {
  switch (shape.kind) {
    case 'struct':
      return shape.byName.get(key.slice('f:'.length))?.shape ?? shape.others
    case 'map':
      return shape.values
    default:
      return shape.items
  }
}
