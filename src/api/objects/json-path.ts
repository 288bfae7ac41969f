/**
 * The JSON paths of custom resources: those of printer columns (kubectl's dialect: fields, indexes, slices, wildcards,
 * filters, recursive descent) and the plain dotted ones of the scale subresource and of selectable fields.
 */
import type { Json, JsonObject } from '../object.ts'

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'descend' }
  | {
      readonly kind: 'slice'
      readonly start: number | undefined
      readonly end: number | undefined
      readonly step: number
      readonly single: boolean
    }
  | { readonly kind: 'union'; readonly names: readonly string[] }
  | { readonly kind: 'filter'; readonly left: Operand; readonly operator: string; readonly right: Operand | undefined }

type Operand = { readonly path: readonly Step[] } | { readonly literal: Json }

export type JsonPath = readonly Step[]

/** Results of one path are cut off here: a wildcard over a big object shows no more in a table cell. */
const MOST_RESULTS = 10_000

/** @throws SyntaxError */
export function parseJsonPath(text: string): JsonPath {
  const parser = { text, at: 0 }
  const steps = path(parser)
  if (parser.at < text.length) throw new SyntaxError(`unexpected ${JSON.stringify(text[parser.at])} in ${text}`)
  return steps
}

interface Parser {
  readonly text: string
  at: number
}

function path(parser: Parser): Step[] {
  const { text } = parser
  const steps: Step[] = []
  while (parser.at < text.length) {
    const c = text[parser.at]
    if (c === '.') {
      parser.at++
      if (text[parser.at] === '.') {
        parser.at++
        steps.push({ kind: 'descend' })
      }
      if (text[parser.at] === '[') continue
      if (text[parser.at] === '*') {
        parser.at++
        steps.push({ kind: 'wildcard' })
        continue
      }
      const name = fieldName(parser)
      if (name !== '') steps.push({ kind: 'field', name })
    } else if (c === '[') steps.push(...bracket(parser))
    else break
  }
  return steps
}

function fieldName(parser: Parser): string {
  let name = ''
  for (; parser.at < parser.text.length; parser.at++) {
    const c = parser.text[parser.at] as string
    if (c === '\\') {
      parser.at++
      name += parser.text[parser.at] ?? ''
    } else if (/[\s?.,[\]$@{}<>=!&|)(]/.test(c)) break
    else name += c
  }
  return name
}

function bracket(parser: Parser): readonly Step[] {
  const { text } = parser
  const inside = matchingBracket(text, parser.at)
  parser.at += inside.length + 2
  if (inside.startsWith('?(') && inside.endsWith(')')) return [filter(inside.slice(2, -1))]
  if (inside === '*') return [{ kind: 'wildcard' }]
  if (/^'[^']*'(,\s*'[^']*')*$/.test(inside)) {
    const names = inside.split(',').map((name) => name.trim().slice(1, -1))
    // One name in quotes is read like one after a point: points within divide it.
    return names.length === 1 ? path({ text: `.${names[0]}`, at: 0 }) : [{ kind: 'union', names }]
  }
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inside)
  if (slice === null) throw new SyntaxError(`invalid array index ${inside}`)
  const number = (part: string | undefined) => (part === undefined || part === '' ? undefined : Number(part))
  const [start, end] = [number(slice[1]), number(slice[2])]
  return [{ kind: 'slice', start, end, step: number(slice[3]) ?? 1, single: !inside.includes(':') }]
}

function matchingBracket(text: string, at: number): string {
  let quote = ''
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const c = text[i] as string
    if (quote !== '') {
      if (c === quote) quote = ''
    } else if (c === '"' || c === "'") quote = c
    else if (c === '[') depth++
    else if (c === ']' && --depth === 0) return text.slice(at + 1, i)
  }
  throw new SyntaxError('unterminated array')
}

function filter(text: string): Step {
  const match = /^(.*?)\s*(==|!=|<=|>=|<|>)\s*(.*)$/.exec(text)
  if (match === null) return { kind: 'filter', left: operand(text), operator: 'exists', right: undefined }
  return {
    kind: 'filter',
    left: operand(match[1] as string),
    operator: match[2] as string,
    right: operand(match[3] as string),
  }
}

function operand(given: string): Operand {
  const text = given.trim()
  if (text.startsWith('@') || text.startsWith('$')) return { path: parseJsonPath(text.slice(1)) }
  if (/^(["']).*\1$/.test(text)) return { literal: text.slice(1, -1) }
  if (/^-?\d+(\.\d+)?$/.test(text)) return { literal: Number(text) }
  if (text === 'true' || text === 'false') return { literal: text === 'true' }
  throw new SyntaxError(`unrecognized identifier ${text}`)
}

/** Everything the path leads to; what is not there leads nowhere. */
export function findAll(steps: JsonPath, root: Json): readonly Json[] {
  let values: readonly Json[] = [root]
  for (const step of steps) {
    const next: Json[] = []
    for (const value of values) {
      apply(step, value, next)
      if (next.length > MOST_RESULTS) break
    }
    values = next
  }
  return values
}

function apply(step: Step, value: Json, into: Json[]): void {
  switch (step.kind) {
    case 'field':
      push(value, step.name, into)
      return
    case 'union':
      for (const name of step.names) push(value, name, into)
      return
    case 'wildcard':
      for (const inner of children(value)) into.push(inner)
      return
    case 'descend':
      descend(value, into)
      return
    case 'slice':
      slice(step, value, into)
      return
    case 'filter':
      if (Array.isArray(value)) for (const item of value) if (passes(step, item)) into.push(item)
  }
}

function push(value: Json, name: string, into: Json[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return
  const inner = (value as JsonObject)[name]
  if (inner !== undefined) into.push(inner)
}

function children(value: Json): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value
  return Object.values(value as JsonObject).filter((inner): inner is Json => inner !== undefined)
}

function descend(value: Json, into: Json[]): void {
  const waiting: Json[] = [value]
  while (waiting.length > 0 && into.length < MOST_RESULTS) {
    const next = waiting.shift() as Json
    into.push(next)
    waiting.unshift(...children(next).filter((inner) => typeof inner === 'object' && inner !== null))
  }
}

function slice(step: Step & { kind: 'slice' }, value: Json, into: Json[]): void {
  if (!Array.isArray(value)) return
  const from = step.start === undefined ? 0 : step.start < 0 ? value.length + step.start : step.start
  if (step.single) {
    const item: Json | undefined = value[from]
    if (item !== undefined) into.push(item)
    return
  }
  const end = step.end === undefined ? value.length : step.end < 0 ? value.length + step.end : step.end
  for (let i = Math.max(0, from); i < Math.min(end, value.length); i += Math.max(1, step.step)) into.push(value[i])
}

function passes({ left, operator, right }: Step & { kind: 'filter' }, item: Json): boolean {
  const values = (operand: Operand) => ('literal' in operand ? [operand.literal] : findAll(operand.path, item))
  const [a] = values(left)
  if (operator === 'exists') return a !== undefined
  const [b] = right === undefined ? [] : values(right)
  if (a === undefined || b === undefined || typeof a !== typeof b)
    return operator === '!=' && a !== undefined && b !== undefined
  switch (operator) {
    case '==':
      return a === b
    case '!=':
      return a !== b
    case '<':
      return (a as number) < (b as number)
    case '<=':
      return (a as number) <= (b as number)
    case '>':
      return (a as number) > (b as number)
    default:
      return (a as number) >= (b as number)
  }
}

/** The names in a plain dotted path (`.spec.replicas`); undefined when it is none. */
export function dottedPath(text: string): readonly string[] | undefined {
  if (!text.startsWith('.') || text.length < 2) return undefined
  const names = text.slice(1).split('.')
  return names.every((name) => /^[^\s[\](){}$@'"*?,]+$/.test(name)) ? names : undefined
}
