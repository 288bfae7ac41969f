/**
 * cel: the Common Expression Language as Kubernetes uses it: parsed, type-checked, estimated, evaluated under a budget. Called
 * for the rules of custom resources (and all else that has expressions); knows no schemas but through Type. Macros stay what
 * they are in the tree; nothing here recurses deeper than MAX_DEPTH.
 */

import {
  ARGUMENT_STARTS,
  expect,
  expectClosing,
  inside,
  isName,
  isOp,
  next,
  noExpression,
  type Parser,
  peek,
  shown,
} from './cursor.ts'
import { CelSyntaxError, type Issue } from './issues.ts'
import { listLiteral, mapLiteral, structLiteral } from './literals.ts'
import { hasMacro, methodCall } from './macros.ts'
import { type Constant, type Token, tokenize } from './tokens.ts'
import { RESERVED_WORDS } from './words.ts'

export type SyntaxNode =
  | { readonly kind: 'const'; readonly value: Constant; readonly at: number }
  | { readonly kind: 'ident'; readonly name: string; readonly at: number }
  | {
      readonly kind: 'select'
      readonly operand: SyntaxNode
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
      readonly target: SyntaxNode | undefined
      readonly args: readonly SyntaxNode[]
      readonly at: number
    }
  | {
      readonly kind: 'list'
      readonly items: readonly SyntaxNode[]
      readonly optional: ReadonlySet<number>
      readonly at: number
    }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[]; readonly at: number }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: readonly StructField[]; readonly at: number }
  | {
      readonly kind: 'macro'
      readonly name: MacroName
      readonly target: SyntaxNode
      readonly vars: readonly string[]
      readonly args: readonly SyntaxNode[]
      readonly at: number
    }

export interface MapEntry {
  readonly key: SyntaxNode
  readonly value: SyntaxNode
  readonly optional: boolean
}

export interface StructField {
  readonly name: string
  readonly value: SyntaxNode
  readonly optional: boolean
  /** Of the colon. */
  readonly at: number
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
  | 'transformMapEntry'
  | 'sortBy'
  | 'optMap'
  | 'optFlatMap'

/** Longer expressions are refused before they are read. */
const MAX_LENGTH = 100_000
const MAX_DEPTH = 250

/** @throws CelSyntaxError with everything that is wrong */
export function parse(source: string): SyntaxNode {
  if (source.length > MAX_LENGTH)
    throw new CelSyntaxError(0, `expression code point size exceeds limit: size: ${source.length}, limit ${MAX_LENGTH}`)
  const issues: Issue[] = []
  const tokens = tokenize(source, issues)
  try {
    const node = parseTokens(tokens, issues)
    const last = issues.pop()
    if (last === undefined) return node
    throw new CelSyntaxError(last.at, last.message)
  } catch (error) {
    if (error instanceof CelSyntaxError) error.before = issues.filter(({ message }) => message !== error.message)
    throw error
  }
}

function parseTokens(tokens: readonly Token[], issues: Issue[]): SyntaxNode {
  const parser: Parser = { tokens, at: 0, depth: 0, issues, ends: [], expression }
  const node = inside(parser, ['<EOF>'])
  const left = peek(parser)
  if (left.kind === 'end') return node
  const surplus = tokens[parser.at + 1]?.kind === 'end'
  throw new CelSyntaxError(
    left.at,
    `Syntax error: ${surplus ? 'extraneous' : 'mismatched'} input '${shown(left)}' expecting <EOF>`,
  )
}

function expression(parser: Parser): SyntaxNode {
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

function binary(parser: Parser, level: number): SyntaxNode {
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

function unary(parser: Parser): SyntaxNode {
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

function primary(parser: Parser): SyntaxNode {
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
        const inner = inside(parser, [')'])
        expectClosing(parser, ')')
        return inner
      }
      if (token.text === '[' || token.text === '[?') return listLiteral(parser, token)
      if (token.text === '{') return mapLiteral(parser, token)
      if (token.text === '.' && isName(peek(parser))) return identifier(parser, next(parser))
  }
  return noExpression(parser, token)
}

function identifier(parser: Parser, token: Token): SyntaxNode {
  const { text, at } = token
  if (text === 'true' || text === 'false') return { kind: 'const', value: { type: 'bool', value: text === 'true' }, at }
  if (text === 'null') return { kind: 'const', value: { type: 'null', value: null }, at }
  if (text === 'in') noExpression(parser, token)
  if (RESERVED_WORDS.has(text)) {
    parser.issues.push({ at, message: `reserved identifier: ${text}` })
    return { kind: 'const', value: { type: 'null', value: null }, at }
  }
  const name = structName(parser, text)
  if (name !== undefined) return structLiteral(parser, name)
  if (!isOp(parser, '(')) return { kind: 'ident', name: text, at }
  const open = next(parser)
  const args = callArguments(parser)
  if (text === 'has') return hasMacro(args, open.at)
  return { kind: 'call', name: text, target: undefined, args, at: open.at }
}

/** Names with dots between them and a brace behind them are a type; the brace is then the next token. */
function structName(parser: Parser, first: string): string | undefined {
  const { tokens } = parser
  let name = first
  let at = parser.at
  while (isDot(tokens[at]) && isName(tokens[at + 1])) {
    name += `.${tokens[at + 1]?.text}`
    at += 2
  }
  if (tokens[at]?.kind !== 'op' || tokens[at]?.text !== '{') return undefined
  parser.at = at
  return name
}

const isDot = (token: Token | undefined) => token?.kind === 'op' && token.text === '.'

function callArguments(parser: Parser): SyntaxNode[] {
  const args: SyntaxNode[] = []
  if (isOp(parser, ')')) {
    next(parser)
    return args
  }
  const first = peek(parser)
  if (isOp(parser, ',') || (first.kind === 'ident' && first.text === 'in')) noExpression(parser, first, ARGUMENT_STARTS)
  for (;;) {
    args.push(inside(parser, [')', ',']))
    if (!isOp(parser, ',')) break
    next(parser)
  }
  expectClosing(parser, ')')
  return args
}

/** What is named behind a dot; a word of the language is none, and read over. undefined: an operator that goes on without one. */
function fieldToken(parser: Parser, dot: Token): Token | undefined {
  const token = peek(parser)
  if (token.kind !== 'ident' || isName(token)) return next(parser)
  const { text, at } = token
  if (text === 'in' && dot.text === '.') {
    parser.issues.push({ at, message: `Syntax error: no viable alternative at input '.${text}'` })
    return undefined
  }
  const wanted = dot.text === '.' ? 'IDENTIFIER' : '{IDENTIFIER, ESC_IDENTIFIER}'
  parser.issues.push({ at, message: `Syntax error: mismatched input '${text}' expecting ${wanted}` })
  if (dot.text === '.?') parser.issues.push({ at, message: 'unsupported ident kind' })
  return { ...next(parser), kind: 'quoted' }
}

function member(parser: Parser, start: SyntaxNode): SyntaxNode {
  let node = start
  for (let links = 0; ; links++) {
    if (links > MAX_DEPTH * 4)
      throw new CelSyntaxError(peek(parser).at, `expression recursion limit exceeded: ${MAX_DEPTH}`)
    const token = peek(parser)
    if (token.kind !== 'op') return node
    if (token.text === '.' || token.text === '.?') {
      next(parser)
      const name = fieldToken(parser, token)
      if (name === undefined) return node
      if (!isName(name) && name.kind !== 'quoted')
        throw new CelSyntaxError(
          name.at,
          `Syntax error: no viable alternative at input '.${name.text === '<EOF>' ? '' : name.text}'`,
        )
      if (token.text === '.' && name.kind === 'ident' && isOp(parser, '(')) {
        const open = next(parser)
        node = methodCall(node, name.text, callArguments(parser), open.at)
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
      const index = inside(parser, [']'])
      expectClosing(parser, ']')
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
