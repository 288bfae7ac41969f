/** What values a component's configuration file may have where: fields, lists, maps, and their plain values. */

/** A list of one shape stands for lists of it. */
export type ValueShape =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float32'
  | 'float64'
  | 'duration'
  /** Looked at by others. */
  | 'any'
  | readonly [ValueShape]
  | MapShape
  | Struct

/** Any names, each with a value of this shape. */
export interface MapShape {
  readonly of: ValueShape
}

/** A mapping with these fields; errors tell its type. */
export interface Struct {
  readonly type: string
  readonly fields: Readonly<Record<string, ValueShape>>
  /** Default: v1. */
  readonly goPackage?: string
}
