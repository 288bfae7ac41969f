/**
 * The configuration files of Kubernetes' components (API concept: component configuration): each field is known, given once, and of its
 * type. What is wrong is told in the components' own words.
 */
import { LineCounter, parseDocument } from 'yaml'
import type { Fields, Json } from '../../api/object.ts'
import { goQuote } from '../../api/quote.ts'
import { asDuration } from '../flags.ts'
import type { Struct, ValueShape } from './shape.ts'

export interface YamlMapping {
  readonly value: Fields
  /** Keys that were given once more, of which the last counts: in a line each. */
  readonly repeated: readonly string[]
}

/** An alias may not make a small file large. */
const MOST_ALIASES = 100

/** @throws what is wrong with the text, in one line */
export function yamlMapping(text: string): YamlMapping {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: false, lineCounter })
  const error = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  if (error !== undefined) throw new Error(`it is no YAML: ${error.message.split('\n', 1)[0]}`)
  const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is empty, or no mapping')
  const repeated = document.errors.map(({ pos }) => {
    const key = /^["']?([^"':\s]*)/.exec(text.slice(pos[0]))?.[1] ?? ''
    return `line ${lineCounter.linePos(pos[0]).line}: key ${goQuote(key)} already set in map`
  })
  return { value: value as Fields, repeated }
}

/** As the components do that decode strictly. @throws what is wrong with the text, in one line */
export function strictMapping(text: string): Fields {
  const { value, repeated } = yamlMapping(text)
  if (repeated.length > 0) throw new Error(`it is no YAML: ${repeated.join(', ')}`)
  return value
}

export const STRICT = 'strict decoding error: '

/** Fields that are not known, in a text that can be read otherwise. */
export class UnknownFieldsError extends Error {
  /** In a line. */
  readonly fields: string

  constructor(paths: readonly string[]) {
    const fields = paths.map((path) => `unknown field "${path}"`).join(', ')
    super(`${STRICT}${fields}`)
    this.fields = fields
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
  if ('of' in shape) {
    for (const inner of Object.values(value)) walk(shape.of, inner as Json, path, type, unknown)
    return
  }
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
    return typeof value === 'object' && value !== null && Array.isArray(value) === Array.isArray(shape)
  if (shape === 'bool') return typeof value === 'boolean'
  if (shape === 'int32') return isWhole(value, 32)
  if (shape === 'int64') return isWhole(value, 64)
  return typeof value === (shape === 'float32' || shape === 'float64' ? 'number' : 'string')
}

function wrongType(shape: ValueShape, value: Json, path: Path, type: string): string {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const wantsNumber = typeof shape === 'string' && shape !== 'string' && shape !== 'duration' && shape !== 'bool'
  const given = kind === 'number' && wantsNumber ? `number ${JSON.stringify(value)}` : kind
  const fields = path.filter((part) => typeof part === 'string').join('.')
  return `json: cannot unmarshal ${given} into Go struct field ${type}.${fields} of type ${goType(shape)}`
}

function goType(shape: ValueShape): string {
  if (shape === 'duration') return 'string'
  if (typeof shape === 'string') return shape
  if ('of' in shape) return `map[string]${goType(shape.of)}`
  return 'fields' in shape ? `${shape.goPackage ?? 'v1'}.${shape.type}` : `[]${goType(shape[0])}`
}
