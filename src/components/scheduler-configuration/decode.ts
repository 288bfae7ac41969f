/** Strict decoding: each field is known, given once, and of its type. What is wrong is told in kube-scheduler's words. */
import { parseDocument } from 'yaml'
import type { Fields, Json } from '../../api/object.ts'
import { goQuote } from '../../api/quote.ts'
import { asDuration } from '../flags.ts'
import type { Struct, ValueShape } from './fields.ts'

/** @throws what is wrong with the text, in one line */
export function yamlMapping(text: string): Fields {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw new Error(`it is no YAML: ${error.message.split('\n', 1)[0]}`)
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is empty, or no mapping')
  return value as Fields
}

export const STRICT = 'strict decoding error: '

/** Fields that are not known, in a text that can be read otherwise. */
export class UnknownFieldsError extends Error {
  constructor(paths: readonly string[]) {
    super(`${STRICT}${paths.map((path) => `unknown field "${path}"`).join(', ')}`)
  }
}

/** @throws UnknownFieldsError for all of them together, or an error for the first value of another type */
export function checkShape(shape: Struct, value: Fields): void {
  const unknown: string[] = []
  walk(shape, value as Json, [], shape.type, unknown)
  if (unknown.length > 0) throw new UnknownFieldsError(unknown.sort())
}

type Path = readonly (string | number)[]

const pathText = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')

function walk(shape: ValueShape, value: Json | undefined, path: Path, type: string, unknown: string[]): void {
  if (value === null || value === undefined || shape === 'any') return
  if (shape === 'duration' && typeof value === 'string') {
    if (asDuration(value) === undefined) throw new Error(`time: invalid duration ${goQuote(value)}`)
    return
  }
  if (!isOf(shape, value)) throw new Error(wrongType(shape, value, path, type))
  if (typeof shape === 'string') return
  if (!('fields' in shape)) {
    ;(value as readonly Json[]).forEach((item, i) => {
      walk(shape[0], item, [...path, i], type, unknown)
    })
    return
  }
  for (const [field, inner] of Object.entries(value)) {
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined
    if (known === undefined) unknown.push(pathText([...path, field]))
    else walk(known, inner as Json, [...path, field], shape.type, unknown)
  }
}

const isWhole = (value: Json, bits: number) => Number.isInteger(value) && Math.abs(value as number) < 2 ** (bits - 1)

function isOf(shape: ValueShape, value: Json): boolean {
  if (typeof shape !== 'string')
    return typeof value === 'object' && value !== null && Array.isArray(value) !== 'fields' in shape
  if (shape === 'bool') return typeof value === 'boolean'
  if (shape === 'int32') return isWhole(value, 32)
  if (shape === 'int64') return isWhole(value, 64)
  return typeof value === (shape === 'float32' ? 'number' : 'string')
}

function wrongType(shape: ValueShape, value: Json, path: Path, type: string): string {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const given = kind === 'number' ? `number ${JSON.stringify(value)}` : kind
  const fields = path.filter((part) => typeof part === 'string').join('.')
  return `json: cannot unmarshal ${given} into Go struct field ${type}.${fields} of type ${goType(shape)}`
}

function goType(shape: ValueShape): string {
  if (shape === 'duration') return 'string'
  if (typeof shape === 'string') return shape
  return 'fields' in shape ? `v1.${shape.type}` : `[]${goType(shape[0])}`
}
