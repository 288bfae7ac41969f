/**
 * YAML bodies, read as Kubernetes reads them: the first document, scalars by YAML 1.1's rules (`yes` is true, 010 is eight,
 * times are strings), keys made strings and sorted, as if the body had been JSON.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml'
import { goQuote } from '../quote.ts'
import type { RepeatedKeys } from '../schema/strict-problem.ts'
import { heedKey, type JsonNode, NumberNode, ObjectNode } from '../values/json.ts'
import { yamlProblem } from './yaml-errors.ts'

/** The text that a real API server gives, as far as the parsers agree on what is wrong. */
export class YamlError extends Error {}

export interface ParsedYaml {
  readonly node: JsonNode
  /** What strict decoding finds in the text itself: keys set twice. */
  readonly strict: readonly RepeatedKeys[]
}

/** More nodes than this, counted with every alias written out, are a bomb. */
const MAX_NODES = 400_000
const MAX_DEPTH = 1000

/** @throws YamlError */
export function parseYaml(text: string): ParsedYaml {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: YAML forbids them, so they must be found
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text)) throw new YamlError('yaml: control characters are not allowed')
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    merge: false,
    strict: false,
    lineCounter: lines,
    logLevel: 'silent',
  })
  const document = Array.isArray(documents) ? documents[0] : undefined
  if (document === undefined) return { node: null, strict: [] }
  const problem = yamlProblem(document, text)
  if (problem !== undefined) throw new YamlError(problem)
  const reader: Reader = { document, nodes: 0, lines, duplicates: [] }
  const node = read(document.contents as Node | null, reader, 0)
  const { duplicates } = reader
  return { node, strict: duplicates.length === 0 ? [] : [{ kind: 'repeated', lines: duplicates }] }
}

interface Reader {
  readonly document: Document
  nodes: number
  readonly lines: LineCounter
  readonly duplicates: string[]
}

function read(node: Node | null, reader: Reader, depth: number): JsonNode {
  if (++reader.nodes > MAX_NODES) throw new YamlError('yaml: document contains excessive aliasing')
  if (depth > MAX_DEPTH) throw new YamlError('yaml: exceeded max depth of 10000')
  if (node === null || node === undefined) return null
  if (isAlias(node)) return readAlias(node, reader, depth)
  if (isScalar(node)) return scalar(node.source ?? String(node.value ?? ''), node.type === 'PLAIN', node.tag)
  if (isSeq(node)) return node.items.map((item) => read(item as Node | null, reader, depth + 1))
  if (isMap(node)) return readMap(node as never, reader, depth)
  return null
}

function readAlias(alias: Alias, reader: Reader, depth: number): JsonNode {
  const target = alias.resolve(reader.document)
  if (target === undefined) throw new YamlError(`yaml: unknown anchor '${alias.source}' referenced`)
  return read(target as Node, reader, depth + 1)
}

interface Pair {
  readonly key: Node | null
  readonly value: Node | null
}

function readMap(map: { readonly items: readonly Pair[] }, reader: Reader, depth: number): JsonNode {
  const values = new Map<string, JsonNode>()
  const merged: JsonNode[] = []
  for (const { key, value } of map.items) {
    const isMerge = isScalar(key) && key.type === 'PLAIN' && key.source === '<<'
    if (isMerge) {
      merged.push(read(value, reader, depth + 1))
      continue
    }
    const name = keyText(key, value, reader, depth)
    if (values.has(name)) {
      const offset = (key as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0
      reader.duplicates.push(`line ${reader.lines.linePos(offset).line}: key ${goQuote(name)} already set in map`)
    }
    values.set(name, read(value, reader, depth + 1))
  }
  for (const source of merged.flat()) {
    if (!(source instanceof ObjectNode))
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
    for (const [name, value] of source.entries) if (!values.has(name)) values.set(name, value)
  }
  const object = new ObjectNode()
  for (const name of [...values.keys()].sort()) {
    heedKey(name)
    object.entries.push([name, values.get(name)!])
  }
  return object
}

function keyText(key: Node | null, value: Node | null, reader: Reader, depth: number): string {
  const made = read(key, reader, depth + 1)
  if (typeof made === 'string') return made
  if (typeof made === 'boolean') return String(made)
  if (made instanceof NumberNode) return made.text
  if (made === null) {
    const shown = read(value, reader, depth + 1)
    throw new YamlError(
      `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${typeof shown === 'string' ? JSON.stringify(shown) : 'map[]'}`,
    )
  }
  throw new YamlError(`yaml: invalid map key: ${goValue(made)}`)
}

/** A sequence or mapping as Go's %#v shows it. */
function goValue(node: JsonNode): string {
  if (node === null) return 'interface {}(nil)'
  if (Array.isArray(node)) return `[]interface {}{${node.map(goValue).join(', ')}}`
  if (node instanceof ObjectNode)
    return `map[interface {}]interface {}{${node.entries.map(([k, v]) => `${JSON.stringify(k)}:${goValue(v)}`).join(', ')}}`
  return node instanceof NumberNode ? node.text : JSON.stringify(node)
}

const yes = /^(?:y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE)$/
const no = /^(?:n|N|no|No|NO|off|Off|OFF|false|False|FALSE)$/
const nothing = /^(?:~|null|Null|NULL|)$/
const infinity = /^([-+]?)\.(?:inf|Inf|INF)$/
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

/** A scalar's value: quoted and tagged strings as they are, plain ones as YAML 1.1 resolves them. */
function scalar(source: string, plain: boolean, tag: string | undefined): JsonNode {
  if (tag === 'tag:yaml.org,2002:binary') return Buffer.from(source.replace(/\s/g, ''), 'base64').toString('utf8')
  if (tag === 'tag:yaml.org,2002:str' || tag === '!' || !plain) return source
  if (nothing.test(source)) return null
  if (yes.test(source)) return true
  if (no.test(source)) return false
  const infinite = infinity.exec(source)
  if (infinite) throw new YamlError(`json: unsupported value: ${infinite[1] === '-' ? '-' : '+'}Inf`)
  if (/^\.(?:nan|NaN|NAN)$/.test(source)) throw new YamlError('json: unsupported value: NaN')
  return numberOf(source.replaceAll('_', '')) ?? source
}

function numberOf(text: string): NumberNode | undefined {
  const integer = integerOf(text)
  if (integer !== undefined && integer > -(2n ** 63n) - 1n && integer < 2n ** 64n)
    return new NumberNode(String(integer))
  if (!float.test(text)) return undefined
  const value = Number(text)
  if (!Number.isFinite(value)) return undefined
  return new NumberNode(Object.is(value, -0) ? '-0' : String(value))
}

function integerOf(text: string): bigint | undefined {
  const match = /^([-+]?)(0x[0-9a-fA-F]+|0b[01]+|0o[0-7]+|0[0-7]+|[0-9]+)$/.exec(text)
  if (match === null) return undefined
  const digits = match[2]!
  if (/^0\d*[89]/.test(digits)) return undefined
  const value = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return match[1] === '-' ? -value : value
}
