/**
 * cel: the Common Expression Language as Kubernetes uses it: parsed, type-checked, estimated, evaluated under a budget. Called
 * for the rules of custom resources (and whoever else has expressions); knows no schemas but through Type. Macros stay what
 * they are in the tree; nothing here recurses deeper than MAX_DEPTH.
 */

import { CelSyntaxError, type Issue } from './issues.ts'
import { type Constant, type Token, tokenize } from './tokens.ts'

export type Node =
  | { readonly kind: 'const'; readonly value: Constant; readonly at: number }
  | { readonly kind: 'ident'; readonly name: string; readonly at: number }
  | {
      readonly kind: 'select'
      readonly operand: Node
      readonly field: string
      /** has(a.b) */
      readonly test: boolean
      /** a.?b */
      readonly optional: boolean
      readonly at: number
    }
  | {
      readonly kind: 'call'
      readonly name: string
      readonly target: Node | undefined
      readonly args: readonly Node[]
      readonly at: number
    }
  | {
      readonly kind: 'list'
      readonly items: readonly Node[]
      readonly optional: ReadonlySet<number>
      readonly at: number
    }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[]; readonly at: number }
  | {
      readonly kind: 'macro'
      readonly name: MacroName
      readonly target: Node
      readonly vars: readonly string[]
      readonly args: readonly Node[]
      readonly at: number
    }

export interface MapEntry {
  readonly key: Node
  readonly value: Node
  readonly optional: boolean
}

export type MacroName =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'optMap'
  | 'optFlatMap'

const MACROS = new Set<string>([
  'all',
  'exists',
  'exists_one',
  'existsOne',
  'map',
  'filter',
  'transformList',
  'transformMap',
  'optMap',
  'optFlatMap',
])
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])

/** Longer expressions are refused before they are read. */
export const MAX_LENGTH = 100_000
const MAX_DEPTH = 250

/** @throws CelSyntaxError with the first problem */
export function parse(source: string): Node {
  if (source.length > MAX_LENGTH)
    throw new CelSyntaxError(0, `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_LENGTH}`)
  const issues: Issue[] = []
  const tokens = tokenize(source, issues)
  try {
    const node = parseTokens(tokens)
    const [first] = issues
    if (first === undefined) return node
    throw new CelSyntaxError(first.at, first.message)
  } catch (error) {
    if (error instanceof CelSyntaxError && !issues.some(({ message }) => message === error.message))
      error.before = issues
    throw error
  }
}

function parseTokens(tokens: readonly Token[]): Node {
  const parser: Parser = { tokens, at: 0, depth: 0 }
  const node = expression(parser)
  const left = peek(parser)
  if (left.kind !== 'end')
    throw new CelSyntaxError(left.at, `Syntax error: mismatched input '${left.text}' expecting <EOF>`)
  return node
}

interface Parser {
  readonly tokens: readonly Token[]
  at: number
  depth: number
}

const peek = (parser: Parser): Token => parser.tokens[parser.at] as Token
const isOp = (parser: Parser, text: string) => peek(parser).kind === 'op' && peek(parser).text === text

function next(parser: Parser): Token {
  const token = peek(parser)
  if (token.kind !== 'end') parser.at++
  return token
}

function expect(parser: Parser, text: string): Token {
  if (isOp(parser, text)) return next(parser)
  const token = peek(parser)
  throw new CelSyntaxError(token.at, `Syntax error: mismatched input '${token.text}' expecting '${text}'`)
}

function expression(parser: Parser): Node {
  if (++parser.depth > MAX_DEPTH)
    throw new CelSyntaxError(peek(parser).at, `expression recursion limit exceeded: ${MAX_DEPTH}`)
  const condition = binary(parser, 0)
  let node = condition
  if (isOp(parser, '?')) {
    const { at } = next(parser)
    const whenTrue = binary(parser, 0)
    expect(parser, ':')
    node = { kind: 'call', name: '_?_:_', target: undefined, args: [condition, whenTrue, expression(parser)], at }
  }
  parser.depth--
  return node
}

const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

function binary(parser: Parser, level: number): Node {
  const operators = LEVELS[level]
  if (operators === undefined) return unary(parser)
  let left = binary(parser, level + 1)
  for (let links = 0; ; links++) {
    const token = peek(parser)
    const isOperator =
      (token.kind === 'op' || token.text === 'in') && token.kind !== 'string' && operators.includes(token.text)
    if (!isOperator) return left
    // A chain is a deep tree: to walk it later takes as many steps down.
    if (links > MAX_DEPTH * 4) throw new CelSyntaxError(token.at, `expression recursion limit exceeded: ${MAX_DEPTH}`)
    next(parser)
    const right = binary(parser, level + 1)
    const name = token.text === 'in' ? '@in' : `_${token.text}_`
    left = { kind: 'call', name, target: undefined, args: [left, right], at: token.at }
  }
}

function unary(parser: Parser): Node {
  const token = peek(parser)
  if (token.kind !== 'op' || (token.text !== '!' && token.text !== '-')) return member(parser, primary(parser))
  let count = 0
  while (isOp(parser, token.text)) {
    next(parser)
    count++
  }
  const number = peek(parser)
  if (
    token.text === '-' &&
    number.kind === 'number' &&
    number.value !== undefined &&
    count % 2 === 1 &&
    number.value.type !== 'uint'
  ) {
    next(parser)
    const { value } = number
    const negated: Constant =
      value.type === 'int' ? { type: 'int', value: -value.value } : { type: 'double', value: -(value.value as number) }
    return member(parser, { kind: 'const', value: inRange(negated, token.at), at: token.at })
  }
  const operand = member(parser, primary(parser))
  if (count % 2 === 0) return operand
  return { kind: 'call', name: token.text === '!' ? '!_' : '-_', target: undefined, args: [operand], at: token.at }
}

function inRange(value: Constant, at: number): Constant {
  if (value.type === 'int' && BigInt.asIntN(64, value.value) !== value.value)
    throw new CelSyntaxError(at, 'invalid int literal')
  if (value.type === 'uint' && BigInt.asUintN(64, value.value) !== value.value)
    throw new CelSyntaxError(at, 'invalid uint literal')
  return value
}

function primary(parser: Parser): Node {
  const token = next(parser)
  switch (token.kind) {
    case 'number':
    case 'string':
    case 'bytes':
      return { kind: 'const', value: inRange(token.value as Constant, token.at), at: token.at }
    case 'ident':
      return identifier(parser, token)
    case 'op':
      if (token.text === '(') {
        const inner = expression(parser)
        expect(parser, ')')
        return inner
      }
      if (token.text === '[' || token.text === '[?') return listLiteral(parser, token)
      if (token.text === '{') return mapLiteral(parser, token)
      if (token.text === '.' && peek(parser).kind === 'ident') return identifier(parser, next(parser))
  }
  const shown = token.text
  throw new CelSyntaxError(
    token.at,
    token.kind === 'end'
      ? "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
      : `Syntax error: extraneous input '${shown}' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
  )
}

function identifier(parser: Parser, token: Token): Node {
  const { text, at } = token
  if (text === 'true' || text === 'false') return { kind: 'const', value: { type: 'bool', value: text === 'true' }, at }
  if (text === 'null') return { kind: 'const', value: { type: 'null', value: null }, at }
  if (RESERVED_WORDS.has(text)) throw new CelSyntaxError(at, `reserved identifier: ${text}`)
  if (!isOp(parser, '(')) return { kind: 'ident', name: text, at }
  const open = next(parser)
  const args = list(parser, ')')
  if (text === 'has') return hasMacro(args, open.at)
  return { kind: 'call', name: text, target: undefined, args, at: open.at }
}

function hasMacro(args: readonly Node[], at: number): Node {
  const [operand] = args
  if (args.length === 1 && operand?.kind === 'select' && !operand.test) return { ...operand, test: true, at }
  throw new CelSyntaxError(operand?.at ?? at, 'invalid argument to has() macro')
}

function list(parser: Parser, close: string): Node[] {
  const items: Node[] = []
  while (!isOp(parser, close)) {
    items.push(expression(parser))
    if (!isOp(parser, ',')) break
    next(parser)
  }
  expect(parser, close)
  return items
}

function listLiteral(parser: Parser, token: Token): Node {
  const items: Node[] = []
  const optional = new Set<number>()
  let marked = token.text === '[?'
  while (!isOp(parser, ']')) {
    if (!marked && isOp(parser, '?')) {
      next(parser)
      marked = true
    }
    if (marked) optional.add(items.length)
    marked = false
    items.push(expression(parser))
    if (!isOp(parser, ',')) break
    next(parser)
  }
  expect(parser, ']')
  return { kind: 'list', items, optional, at: token.at }
}

function mapLiteral(parser: Parser, token: Token): Node {
  const entries: MapEntry[] = []
  while (!isOp(parser, '}')) {
    const optional = isOp(parser, '?')
    if (optional) next(parser)
    const key = expression(parser)
    expect(parser, ':')
    entries.push({ key, value: expression(parser), optional })
    if (!isOp(parser, ',')) break
    next(parser)
  }
  expect(parser, '}')
  return { kind: 'map', entries, at: token.at }
}

function member(parser: Parser, start: Node): Node {
  let node = start
  for (let links = 0; ; links++) {
    if (links > MAX_DEPTH * 4)
      throw new CelSyntaxError(peek(parser).at, `expression recursion limit exceeded: ${MAX_DEPTH}`)
    const token = peek(parser)
    if (token.kind !== 'op') return node
    if (token.text === '.' || token.text === '.?') {
      next(parser)
      const name = next(parser)
      if (name.kind !== 'ident' && name.kind !== 'quoted')
        throw new CelSyntaxError(
          name.at,
          `Syntax error: no viable alternative at input '.${name.text === '<EOF>' ? '' : name.text}'`,
        )
      if (token.text === '.' && name.kind === 'ident' && isOp(parser, '(')) {
        const open = next(parser)
        node = methodCall(node, name.text, list(parser, ')'), open.at)
      } else
        node = {
          kind: 'select',
          operand: node,
          field: name.text,
          test: false,
          optional: token.text === '.?',
          at: token.at,
        }
    } else if (token.text === '[' || token.text === '[?') {
      next(parser)
      const index = expression(parser)
      expect(parser, ']')
      node = {
        kind: 'call',
        name: token.text === '[' ? '_[_]' : '_[?_]',
        target: undefined,
        args: [node, index],
        at: token.at,
      }
    } else return node
  }
}

function methodCall(target: Node, name: string, args: readonly Node[], at: number): Node {
  if (!MACROS.has(name) || !isMacroCall(name, args.length)) return { kind: 'call', name, target, args, at }
  const variables = name.startsWith('transform') || (args.length === 3 && name !== 'map') ? 2 : 1
  const vars: string[] = []
  for (const variable of args.slice(0, variables)) {
    if (variable.kind !== 'ident') throw new CelSyntaxError(variable.at, 'argument must be a simple name')
    vars.push(variable.name)
  }
  return { kind: 'macro', name: name as MacroName, target, vars, args: args.slice(variables), at }
}

function isMacroCall(name: string, count: number): boolean {
  switch (name) {
    case 'all':
    case 'exists':
    case 'exists_one':
    case 'existsOne':
    case 'map':
      return count === 2 || count === 3
    case 'filter':
    case 'optMap':
    case 'optFlatMap':
      return count === 2
    default:
      return count === 3 || count === 4
  }
}
