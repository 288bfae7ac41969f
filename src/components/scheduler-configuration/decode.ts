/** Strict decoding: each field is known, given once, and of its type. */
import { parseDocument } from 'yaml'
import type { Fields, Json } from '../../api/object.ts'
import { duration } from '../flags.ts'
import type { Shape } from './fields.ts'

/** @throws what is wrong with the text, in one line */
export function yamlMapping(text: string): Fields {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw new Error(`it is no YAML: ${error.message.split('\n', 1)[0]}`)
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is empty, or no mapping')
  return value as Fields
}

/** @throws for all unknown fields together, or the first value of another type */
export function checkShape(shape: Shape, value: Json, type: string): void {
  const unknown: string[] = []
  walk(shape, value, '', type, unknown)
  if (unknown.length > 0)
    throw new Error(`strict decoding error: ${unknown.map((path) => `unknown field "${path}"`).join(', ')}`)
}

const below = (path: string, field: string) => (path === '' ? field : `${path}.${field}`)

function walk(shape: Shape, value: Json | undefined, path: string, type: string, unknown: string[]): void {
  if (value === null || value === undefined || shape === 'any') return
  if (typeof shape === 'string') {
    if (!isOf(shape, value)) throw new Error(wrongType(path, value, shape, type))
    return
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) throw new Error(wrongType(path, value, 'a list', type))
    value.forEach((item, i) => {
      walk(shape[0], item, `${path}[${i}]`, type, unknown)
    })
    return
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(wrongType(path, value, 'a mapping', type))
  for (const [field, inner] of Object.entries(value)) {
    const known = Object.hasOwn(shape, field) ? (shape as Readonly<Record<string, Shape>>)[field] : undefined
    if (known === undefined) unknown.push(below(path, field))
    else walk(known, inner as Json, below(path, field), type, unknown)
  }
}

const isWhole = (value: Json, bits: number) => Number.isInteger(value) && Math.abs(value as number) <= 2 ** (bits - 1)

function isOf(shape: string, value: Json): boolean {
  switch (shape) {
    case 'string':
      return typeof value === 'string'
    case 'bool':
      return typeof value === 'boolean'
    case 'int32':
      return isWhole(value, 32)
    case 'int64':
      return isWhole(value, 64)
    case 'float32':
      return typeof value === 'number'
    default:
      return typeof value === 'string' && duration(value) !== undefined
  }
}

function wrongType(path: string, value: Json, wanted: string, type: string): string {
  return `${type}.${path}: ${JSON.stringify(value)} is not ${wanted.startsWith('a ') ? wanted : `of type ${wanted}`}`
}
