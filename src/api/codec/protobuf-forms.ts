/** Schema as messages: which fields a message has, in order of number, and which Go types hide behind JSON's. */
import type { Field, Schema, StructSchema } from '../schema/schema.ts'

/** A field of a message, or a message that exists on the wire only: Go's embedded struct. */
export type MessageField =
  | { readonly kind: 'field'; readonly number: number; readonly field: Field; readonly wrapped: boolean }
  | { readonly kind: 'embedded'; readonly number: number; readonly fields: readonly MessageField[] }

const forms = new WeakMap<StructSchema, readonly MessageField[]>()

/** The message's fields, in order of number. Fields without a number (kind, apiVersion) are not on the wire. */
export function messageFields(schema: StructSchema): readonly MessageField[] {
  let fields = forms.get(schema)
  if (fields === undefined) {
    fields = arrange(
      schema.fields.flatMap((field) =>
        field.protobuf === undefined || isTypeMeta(field) ? [] : [{ field, path: field.protobuf.path }],
      ),
    )
    forms.set(schema, fields)
  }
  return fields
}

/** An object's kind and apiVersion stand in its envelope, or nowhere. */
function isTypeMeta({ goStruct, inline }: Field): boolean {
  return goStruct === 'TypeMeta' || (inline?.includes('TypeMeta') ?? false)
}

function arrange(
  placed: readonly { readonly field: Field; readonly path: readonly number[] }[],
): readonly MessageField[] {
  const fields: MessageField[] = []
  const embedded = new Map<number, { field: Field; path: readonly number[] }[]>()
  for (const { field, path } of placed) {
    const [outer, ...inner] = path
    if (outer === undefined) {
      fields.push({ kind: 'field', number: field.protobuf!.number, field, wrapped: isWrapped(field) })
    } else {
      const group = embedded.get(outer)
      if (group === undefined) embedded.set(outer, [{ field, path: inner }])
      else group.push({ field, path: inner })
    }
  }
  for (const [number, group] of embedded) fields.push({ kind: 'embedded', number, fields: arrange(group) })
  return fields.sort((a, b) => a.number - b.number)
}

/** A named Go slice may be a message of its own (Verbs, ExtraValue): one field, `items`. */
function isWrapped({ schema, protobuf }: Field): boolean {
  return schema.type === 'list' && !schema.goType.startsWith('[]') && protobuf?.repeated === false
}

/** The union of a JSON schema's field that may be another kind of JSON too. */
export type UnionForm = 'boolean' | 'list' | 'strings'

export function unionOf(schema: Schema): { readonly other: UnionForm; readonly object: StructSchema } | undefined {
  return schema.type === 'any' ? schema.union : undefined
}
