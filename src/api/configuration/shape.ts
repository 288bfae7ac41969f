/** What values a component's configuration file may have where: fields, lists, maps, and their plain values. */
import type { Json } from '../object.ts'

/** A list of one shape stands for lists of it. */
export type ValueShape =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'duration'
  /** One that may be null: a pointer. */
  | 'duration or null'
  /** Looked at by others. */
  | 'any'
  | NamedText
  | readonly [ValueShape]
  | MapShape
  | Struct

/** A text whose type has a name of its own, which errors tell. */
export interface NamedText {
  readonly named: string
}

/** Any names, each with a value of this shape. */
export interface MapShape {
  readonly of: ValueShape
}

/** A mapping with these fields; errors tell its type. */
export interface Struct {
  readonly type: string
  readonly fields: Readonly<Record<string, ValueShape>>
  /** Default: the version of the file. */
  readonly goPackage?: string
}

/** What a checked value of a shape is. Any field may be missing or null. */
export type ValueOf<S> = S extends 'string' | 'duration' | 'duration or null' | NamedText
  ? string
  : S extends 'bool'
    ? boolean
    : S extends 'int32' | 'int64' | 'float32' | 'float64'
      ? number
      : S extends readonly [infer Item]
        ? readonly (ValueOf<Item> | null)[]
        : S extends { readonly of: infer Value }
          ? Readonly<Record<string, ValueOf<Value> | null>>
          : S extends { readonly fields: infer Inner }
            ? { readonly [Name in keyof Inner]?: ValueOf<Inner[Name]> | null }
            : Json

/** With its fields' types kept, so that ValueOf tells them. */
export const struct = <const F extends Readonly<Record<string, ValueShape>>>(type: string, fields: F) => ({
  type,
  fields,
})
