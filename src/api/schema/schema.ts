/**
 * The schema of built-in and custom kinds (docs/architecture.md). Built-in schemas compile from the generated table at first use; a
 * definition's structural schema compiles to the same form, for patches, managedFields and OpenAPI. What only definitions have
 * (pruning, defaults of any value, value checks, rules) stands in structural/.
 */
import type { Json } from '../object.ts'

export type Scalar =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'number'
  /** []byte: base64 text in JSON. */
  | 'bytes'
  | 'quantity'
  | 'intOrString'
  | 'time'
  | 'microTime'
  | 'duration'
  /** metav1.FieldsV1, runtime.RawExtension, apiextensions JSON and the like: any JSON, kept as it is. */
  | 'any'

export interface ScalarSchema {
  readonly type: Scalar
  /** As error texts name it: `string`, `int32`, `v1.PodPhase`, `resource.Quantity`. */
  readonly goType: string
  readonly enum?: readonly Json[]
  readonly format?: string
  /** Of a custom resource's untyped field ('any'): maps are divided into fields for managedFields and apply. */
  readonly deduced?: boolean
  /** Types of apiextensions that are an object of `object`, or something else: for decoding alone, 'any' for all others. */
  readonly union?: { readonly other: 'boolean' | 'list' | 'strings'; readonly object: StructSchema }
}

export interface MapSchema {
  readonly type: 'map'
  readonly goType: string
  readonly values: Schema
  readonly mapType: 'granular' | 'atomic'
}

export interface ListSchema {
  readonly type: 'list'
  readonly goType: string
  readonly items: Schema
  readonly listType: 'atomic' | 'set' | 'map'
  readonly listMapKeys: readonly string[]
  /** Strategic merge patch: merge by this key ('' for sets of scalars), or undefined for replace. */
  readonly patchMergeKey?: string
  readonly patchStrategy: readonly ('merge' | 'replace' | 'retainKeys')[]
}

export interface StructSchema {
  readonly type: 'struct'
  /** `v1.PodSpec`. */
  readonly goType: string
  /** The OpenAPI definition it comes from (`io.k8s.api.core.v1.PodSpec`); '' for custom resources' inner objects. */
  readonly definition: string
  /** In canonical (Go struct) order. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  readonly structType: 'granular' | 'atomic'
  /** Custom resources: x-kubernetes-preserve-unknown-fields, and the schema of additionalProperties beside properties. */
  readonly preserveUnknown?: boolean
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[]
}

export type Schema = ScalarSchema | MapSchema | ListSchema | StructSchema

export interface Field {
  readonly name: string
  /** The Go struct that declares the field, as error texts name it (`ObjectMeta` for an inlined one's field). */
  readonly goStruct: string
  readonly goName: string
  /** The embedded Go structs on the way to the field, as error texts name them in its path (`VolumeSource`). */
  readonly inline?: readonly string[]
  readonly schema: Schema
  /** A Go pointer: null and absent are the same and a zero value is kept. */
  readonly pointer: boolean
  /** Written only when not empty (Go's omitempty); a struct that is not a pointer is never empty. */
  readonly omitEmpty: boolean
  /** Written only when not the zero value (Go's omitzero): structs and times too. */
  readonly omitZero: boolean
  readonly required: boolean
  readonly default?: Json
  /** Strategic merge patch directives stand on the field in Go; repeated on a ListSchema for convenience. */
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[]
  readonly patchMergeKey?: string
  /**
   * `type` is the wire type (`bytes`, `varint`, `fixed64`). `path` holds the numbers of the embedded messages on the way,
   * usually none: an inlined Go struct is a message of its own on the wire.
   */
  readonly protobuf?: {
    readonly number: number
    readonly type: string
    readonly repeated: boolean
    readonly path: readonly number[]
  }
}
