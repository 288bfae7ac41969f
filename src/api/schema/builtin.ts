/**
 * The schemas of the built-in API, compiled from the generated field table: a definition at its first use, then kept.
 * A kind's schema is found through its row in the scheme; this room alone reads the table.
 */
import { fieldTable } from '../generated/fields.ts'
import type { Json } from '../object.ts'
import type { Field, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from './schema.ts'

type TypeEntry = readonly [kind: string, goType: string, inner?: number | string]
type PatchStrategy = readonly ('merge' | 'replace' | 'retainKeys')[]

interface FieldExtra {
  readonly inline?: readonly string[]
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'granular' | 'atomic'
  readonly strategy?: PatchStrategy
  readonly mergeKey?: string
  readonly enum?: readonly Json[]
  readonly itemEnum?: readonly Json[]
  readonly format?: string
  readonly default?: Json
}

type FieldEntry = readonly [
  name: string,
  goName: string,
  type: number,
  flags: number,
  protobufNumbers: readonly number[],
  protobufType: string,
  extra?: FieldExtra,
]

interface FieldTable {
  readonly types: readonly TypeEntry[]
  readonly structs: {
    readonly [definition: string]: { go: string; atomic?: boolean; fields: readonly FieldEntry[] } | undefined
  }
}

const POINTER = 1
const OMIT_EMPTY = 2
const OMIT_ZERO = 4
const REQUIRED = 8

const unionOthers = { schemaOrBool: 'boolean', schemaOrArray: 'list', schemaOrStringArray: 'strings' } as const

let parsed: FieldTable | undefined
const compiled = new Map<string, StructSchema>()

function table(): FieldTable {
  parsed ??= JSON.parse(fieldTable) as FieldTable
  return parsed
}

/**
 * The schema of an OpenAPI definition (`io.k8s.api.core.v1.Pod`); the same object every time.
 *
 * @throws Error for a definition that the table does not have: a mistake of the caller, never of a user
 */
export function schemaOf(definition: string): StructSchema {
  return compiled.get(definition) ?? compileStruct(definition)
}

function compileStruct(definition: string): StructSchema {
  const entry = table().structs[definition]
  if (entry === undefined) throw new Error(`no schema for ${definition}`)
  const fields: Field[] = []
  const byName = new Map<string, Field>()
  const schema: StructSchema = {
    type: 'struct',
    goType: entry.go,
    definition,
    fields,
    byName,
    structType: entry.atomic ? 'atomic' : 'granular',
  }
  // Known before its fields are compiled: schemas refer to themselves.
  compiled.set(definition, schema)
  const goStruct = entry.go.slice(entry.go.lastIndexOf('.') + 1)
  for (const field of entry.fields) {
    const made = compileField(goStruct, field)
    fields.push(made)
    byName.set(made.name, made)
  }
  return schema
}

function compileField(goStruct: string, entry: FieldEntry): Field {
  const [name, goName, type, flags, numbers, wire, extra = {}] = entry
  const number = numbers.at(-1)
  return {
    name,
    goStruct,
    goName,
    ...(extra.inline === undefined ? {} : { inline: extra.inline }),
    schema: compileType(type, extra),
    pointer: (flags & POINTER) !== 0,
    omitEmpty: (flags & OMIT_EMPTY) !== 0,
    omitZero: (flags & OMIT_ZERO) !== 0,
    required: (flags & REQUIRED) !== 0,
    ...(extra.default === undefined ? {} : { default: extra.default }),
    ...(extra.strategy === undefined ? {} : { patchStrategy: extra.strategy }),
    ...(extra.mergeKey === undefined ? {} : { patchMergeKey: extra.mergeKey }),
    ...(number === undefined || wire === ''
      ? {}
      : {
          protobuf: {
            number,
            type: wire.replace('*', ''),
            repeated: wire.endsWith('*'),
            path: numbers.slice(0, -1),
          },
        }),
  }
}

function compileType(index: number, extra: FieldExtra): Schema {
  const entry = table().types[index]
  if (entry === undefined) throw new Error(`no type ${index} in the field table`)
  const [kind, goType, inner] = entry
  switch (kind) {
    case 'struct':
      return structWithDirectives(schemaOf(inner as string), extra)
    case 'list':
      return compileList(goType, inner as number, extra)
    case 'map':
      return {
        type: 'map',
        goType,
        values: compileType(inner as number, {}),
        mapType: extra.mapType ?? 'granular',
      } satisfies MapSchema
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStringArray':
      return { type: 'any', goType, union: { other: unionOthers[kind], object: schemaOf(inner as string) } }
    default:
      return {
        type: kind as ScalarSchema['type'],
        goType,
        ...(extra.enum === undefined ? {} : { enum: extra.enum }),
        ...(extra.format === undefined ? {} : { format: extra.format }),
      }
  }
}

/** A field may make the struct atomic, or patch it by a strategy of its own: then it has its own view of the struct. */
function structWithDirectives(schema: StructSchema, extra: FieldExtra): StructSchema {
  const atomic = extra.mapType !== undefined && extra.mapType !== schema.structType
  if (!atomic && extra.strategy === undefined) return schema
  return {
    ...schema,
    structType: extra.mapType ?? schema.structType,
    ...(extra.strategy === undefined ? {} : { patchStrategy: extra.strategy }),
  }
}

function compileList(goType: string, items: number, extra: FieldExtra): ListSchema {
  return {
    type: 'list',
    goType,
    items: compileType(items, extra.itemEnum === undefined ? {} : { enum: extra.itemEnum }),
    listType: extra.listType ?? 'atomic',
    listMapKeys: extra.listMapKeys ?? [],
    patchStrategy: extra.strategy ?? [],
    ...(extra.mergeKey === undefined ? {} : { patchMergeKey: extra.mergeKey }),
  }
}
