/**
 * The configuration files of Kubernetes' components (API concept: component configuration): each field is known, given once, and of its
 * type. What is wrong is told in the components' own words.
 */

import { messageOf } from '../../base/errors.ts'
import { parseGoDuration } from '../../base/go-duration.ts'
import { topOf } from '../codec/body-source.ts'
import { parseYaml } from '../codec/yaml.ts'
import type { Fields, Json } from '../object.ts'
import { goQuote } from '../quote.ts'
import { type StrictProblem, strictText } from '../schema/strict-problem.ts'
import { type JsonNode, ObjectNode, parseJson, plainOf } from '../values/json.ts'
import type { Struct, ValueShape } from './shape.ts'

export interface Configuration {
  readonly value: Fields
  /** What a strict decoder refuses and a lenient one tells of: keys that were given once more, of which the last counts. */
  readonly repeated: readonly string[]
}

export interface ConfigurationKind {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * Of a file as the components read it: JSON where it begins as an object of that, else the first document in YAML.
 * `told`: whether a text may leave out what it is.
 *
 * @throws what is wrong with the text, or that it is of another kind, in one line
 */
export function configurationIn(
  text: string,
  wanted: ConfigurationKind,
  told: 'always' | 'maybe' = 'always',
): Configuration {
  const { node, strict } = nodesIn(text)
  const found = topOf(node, (message) => new Error(message))
  const mayLack = told === 'maybe'
  const apiVersion = found.apiVersion || (mayLack ? wanted.apiVersion : '')
  const kind = found.kind || (mayLack ? wanted.kind : '')
  if (apiVersion.split('/').length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`)
  for (const [name, given] of Object.entries({ Kind: kind, apiVersion }))
    if (given === '') throw new Error(`Object '${name}' is missing in '${oneLine(text.slice(0, MOST_SHOWN))}'`)
  if (kind !== wanted.kind || apiVersion !== wanted.apiVersion)
    throw new Error(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  return { value: plainOf(node) as Fields, repeated: strict.map((problem) => oneLine(strictText(problem))) }
}

/** Of a text that is shown because it is no configuration. */
const MOST_SHOWN = 200

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ')

function nodesIn(text: string): { readonly node: JsonNode; readonly strict: readonly StrictProblem[] } {
  if (!/^\s*\{/.test(text)) return parseYaml(text)
  try {
    const node = parseJson(text)
    return { node, strict: repeatedIn(node, '') }
  } catch (cause) {
    throw new Error(`couldn't get version/kind; json parse error: ${messageOf(cause)}`, { cause })
  }
}

function repeatedIn(node: JsonNode, path: string): readonly StrictProblem[] {
  if (Array.isArray(node)) return node.flatMap((inner, i) => repeatedIn(inner, `${path}[${i}]`))
  if (!(node instanceof ObjectNode)) return []
  const seen = new Set<string>()
  return node.entries.flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`
    const again: readonly StrictProblem[] = seen.has(key) ? [{ kind: 'duplicate', path: at }] : []
    seen.add(key)
    return [...again, ...repeatedIn(inner, at)]
  })
}

export const STRICT = 'strict decoding error: '

/** Fields that are not known, or there twice, in a text that can be read otherwise. */
export class UnknownFieldsError extends Error {
  /** In a line. */
  readonly fields: string

  constructor(paths: readonly string[], repeated: readonly string[]) {
    const fields = [...repeated, ...paths.map((path) => `unknown field "${path}"`)].join(', ')
    super(`${STRICT}${fields}`)
    this.fields = fields
  }
}

/**
 * `repeated`: what a strict decoder refuses beside fields that are not known.
 *
 * @throws UnknownFieldsError for all of that together, or an error for the first value of another type
 */
export function checkShape(shape: Struct, value: Fields, repeated: readonly string[] = []): void {
  const unknown = unknownIn(shape, value)
  if (unknown.length + repeated.length > 0) throw new UnknownFieldsError(unknown, repeated)
}

/** The paths of fields that are not known. @throws Error for the first value of another type */
export function unknownIn(shape: Struct, value: Fields): readonly string[] {
  const unknown: string[] = []
  walk(shape, value as Json, [], shape.type, unknown)
  return unknown.sort()
}

type Path = readonly (string | number)[]

const pathText = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')

function walk(shape: ValueShape, value: Json | undefined, path: Path, type: string, unknown: string[]): void {
  if (value === null || value === undefined || shape === 'any') return
  if (shape === 'duration' && typeof value === 'string') {
    parseGoDuration(value)
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

/** The largest of 64 bits is read as the number above it. */
const isWhole = (value: Json, bits: number) =>
  Number.isInteger(value) && Math.abs(value as number) < 2 ** (bits - 1) + (bits === 64 ? 2048 : 0)

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
