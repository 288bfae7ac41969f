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
  /** Where the text leaves it out, the first that was wanted. */
  readonly apiVersion: string
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
 * `told`: whether a text may leave out what it is. `form`: what is always read as YAML ends where its first document does.
 *
 * @throws what is wrong with the text, or that it is of another kind, in one line
 */
export function configurationIn(
  text: string,
  wanted: ConfigurationKind | readonly ConfigurationKind[],
  told: 'always' | 'maybe' = 'always',
  form: 'yaml' | 'json or yaml' = 'json or yaml',
): Configuration {
  const { node, strict } = form === 'yaml' ? parseYaml(text) : nodesIn(text)
  const kinds = 'kind' in wanted ? [wanted] : wanted
  const found = topOf(node, (message) => new Error(message))
  const usual = told === 'maybe' ? kinds[0] : undefined
  const apiVersion = versionOf(found.apiVersion) || (usual?.apiVersion ?? '')
  const kind = found.kind || (usual?.kind ?? '')
  for (const [name, given] of Object.entries({ Kind: kind, apiVersion }))
    if (given === '') throw new MissingKindError(name, oneLine(text.slice(0, MOST_SHOWN)))
  if (!kinds.some((one) => one.kind === kind && one.apiVersion === apiVersion))
    throw new Error(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  return {
    apiVersion,
    value: (plainOf(node) ?? {}) as Fields,
    repeated: strict.map((problem) => oneLine(strictText(problem))),
  }
}

/** A text that does not say of which kind it is, or of which version. */
export class MissingKindError extends Error {
  constructor(field: string, text: string) {
    super(`Object '${field}' is missing in '${text}'`)
  }
}

/** Of a text that is shown because it is no configuration. */
const MOST_SHOWN = 4000

/** As it is told: of a group alone it is none, and a version of no group has no slash. */
function versionOf(text: string): string {
  const parts = text.split('/')
  if (parts.length > 2) throw new Error(`unexpected GroupVersion string: ${text}`)
  return parts[1] === '' ? '' : text.replace(/^\//, '')
}

/** The same, decoded strictly: each field is known, given once, and of its type. @throws Error in one line */
export function strictConfiguration(
  text: string,
  wanted: ConfigurationKind | readonly ConfigurationKind[],
  shape: Struct,
  told: 'always' | 'maybe' = 'always',
): Fields {
  const { value, repeated, apiVersion } = configurationIn(text, wanted, told)
  const known: Struct = { ...shape, fields: { apiVersion: 'string', kind: 'string', ...shape.fields } }
  checkShape(known, value, repeated, versionIn(apiVersion))
  return value
}

/** The same, but fields that are not known, or there twice, are passed over. @throws Error in one line */
export function lenientConfiguration(
  text: string,
  wanted: ConfigurationKind | readonly ConfigurationKind[],
  shape: Struct,
): Fields {
  const { value, apiVersion } = configurationIn(text, wanted)
  unknownIn(
    { ...shape, fields: { apiVersion: 'string', kind: 'string', ...shape.fields } },
    value,
    versionIn(apiVersion),
  )
  return value
}

const versionIn = (apiVersion: string): string => apiVersion.replace(/^.*\//, '')

/** A kind of a group, in each of these versions. */
export const kindInVersions = (
  kind: string,
  group: string,
  ...versions: readonly string[]
): readonly ConfigurationKind[] => versions.map((version) => ({ kind, apiVersion: `${group}/${version}` }))

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ')

/** The value of a text: JSON where it begins as an object of that, else the first document in YAML. @throws Error in the components' words */
export function nodesIn(text: string): { readonly node: JsonNode; readonly strict: readonly StrictProblem[] } {
  if (!/^\p{White_Space}*\{/u.test(text)) return parseYaml(text)
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
 * `repeated`: what a strict decoder refuses beside fields that are not known. `version`: of the types that errors tell.
 *
 * @throws UnknownFieldsError for all of that together, or an error for the first value of another type
 */
export function checkShape(shape: Struct, value: Fields, repeated: readonly string[] = [], version = 'v1'): void {
  const unknown = unknownIn(shape, value, version)
  if (unknown.length + repeated.length > 0) throw new UnknownFieldsError(unknown, repeated)
}

/** The paths of fields that are not known. @throws Error for the first value of another type */
export function unknownIn(shape: Struct, value: Fields, version = 'v1'): readonly string[] {
  const unknown: string[] = []
  walk(shape, value as Json, { path: [], type: shape.type, version }, unknown)
  return unknown.sort()
}

type Path = readonly (string | number)[]

const pathText = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('')

/** Where a value stands: the names and places above it, and the type that has it. */
interface Place {
  readonly path: Path
  readonly type: string
  readonly version: string
}

const below = (place: Place, part: string | number, type = place.type): Place => ({
  ...place,
  path: [...place.path, part],
  type,
})

function walk(shape: ValueShape, given: Json | undefined, place: Place, unknown: string[]): void {
  const value = given === null && shape === 'duration' ? '' : given
  if (value === null || value === undefined || shape === 'any') return
  if ((shape === 'duration' || shape === 'duration or null') && typeof value === 'string') {
    parseGoDuration(value)
    return
  }
  if (!isOf(shape, value)) throw new Error(wrongType(shape, value, place))
  if (typeof shape === 'string' || 'named' in shape) return
  if ('of' in shape) {
    for (const inner of Object.values(value)) walk(shape.of, inner as Json, place, unknown)
    return
  }
  if (!('fields' in shape)) {
    ;(value as readonly Json[]).forEach((item, i) => {
      walk(shape[0], item, below(place, i), unknown)
    })
    return
  }
  for (const [field, inner] of Object.entries(value)) {
    const known = Object.hasOwn(shape.fields, field) ? shape.fields[field] : undefined
    if (known === undefined) unknown.push(pathText([...place.path, field]))
    else walk(known, inner as Json, below(place, field, shape.type), unknown)
  }
}

/** The largest of 64 bits is read as the number above it. */
const isWhole = (value: Json, bits: number) =>
  Number.isInteger(value) && Math.abs(value as number) < 2 ** (bits - 1) + (bits === 64 ? 2048 : 0)

function isOf(shape: ValueShape, value: Json): boolean {
  if (typeof shape !== 'string' && 'named' in shape) return typeof value === 'string'
  if (typeof shape !== 'string')
    return typeof value === 'object' && value !== null && Array.isArray(value) === Array.isArray(shape)
  if (shape === 'bool') return typeof value === 'boolean'
  if (shape === 'int32') return isWhole(value, 32)
  if (shape === 'int64') return isWhole(value, 64)
  return typeof value === (shape === 'float32' || shape === 'float64' ? 'number' : 'string')
}

function wrongType(shape: ValueShape, value: Json, { path, type, version }: Place): string {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const wantsNumber = typeof shape === 'string' && /^(int|float)/.test(shape)
  const given = kind === 'number' && wantsNumber ? `number ${JSON.stringify(value)}` : kind
  const fields = path.filter((part) => typeof part === 'string').join('.')
  return `json: cannot unmarshal ${given} into Go struct field ${type}.${fields} of type ${goType(shape, version)}`
}

function goType(shape: ValueShape, version: string): string {
  if (shape === 'duration' || shape === 'duration or null') return 'string'
  if (typeof shape === 'string') return shape
  if ('named' in shape) return `${version}.${shape.named}`
  if ('of' in shape) return `map[string]${goType(shape.of, version)}`
  return 'fields' in shape ? `${shape.goPackage ?? version}.${shape.type}` : `[]${goType(shape[0], version)}`
}
