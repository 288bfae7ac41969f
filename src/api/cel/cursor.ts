/** The reader's place among the tokens, and how it goes on behind a token that should not be there (as cel-go's parser does). */
import { CelSyntaxError, type Issue } from './issues.ts'
import type { SyntaxNode } from './parse.ts'
import type { Token } from './tokens.ts'
import { KEYWORDS } from './words.ts'

export interface Parser {
  readonly tokens: readonly Token[]
  at: number
  depth: number
  /** What was wrong and read over. */
  readonly issues: Issue[]
  /** What may end the expression that is being read, from the outside in. */
  readonly ends: (readonly string[])[]
  readonly expression: (parser: Parser) => SyntaxNode
}

const STARTS = [
  "'['",
  "'{'",
  "'('",
  "'.'",
  "'-'",
  "'!'",
  "'true'",
  "'false'",
  "'null'",
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
]
/** What an expression may begin with, as errors name it. */
const EXPRESSION_STARTS = `{${STARTS.join(', ')}}`
export const ARGUMENT_STARTS = `{${STARTS.toSpliced(3, 0, "')'").join(', ')}}`

const STARTING = new Set(['[', '[?', '{', '(', '.', '-', '!'])
const CONTINUING = new Set([
  '.',
  '.?',
  '[',
  '[?',
  '?',
  '&&',
  '||',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '+',
  '-',
  '*',
  '/',
  '%',
])

export const peek = (parser: Parser): Token => parser.tokens[parser.at] as Token
const after = (parser: Parser): Token => parser.tokens[parser.at + 1] ?? peek(parser)
export const isOp = (parser: Parser, text: string): boolean => peek(parser).kind === 'op' && peek(parser).text === text

/** Whether it may name a field: reserved words may. */
export const isName = (token: Token | undefined): boolean => token?.kind === 'ident' && !KEYWORDS.has(token.text)

export function next(parser: Parser): Token {
  const token = peek(parser)
  if (token.kind !== 'end') parser.at++
  return token
}

const startsExpression = ({ kind, text }: Token): boolean =>
  kind === 'op' ? STARTING.has(text) : kind === 'ident' ? text !== 'in' : kind !== 'end' && kind !== 'quoted'

export const shown = ({ kind, text }: Token): string => (kind === 'quoted' ? `\`${text}\`` : text)

/** The token that must be here. One too many is read over, one that is missing is taken as read; both are noted. */
export function expect(parser: Parser, text: string): Token {
  if (isOp(parser, text)) return next(parser)
  const token = peek(parser)
  const follows = after(parser)
  if (token.kind !== 'end' && follows.kind === 'op' && follows.text === text) {
    parser.issues.push({
      at: token.at,
      message: `Syntax error: extraneous input '${shown(token)}' expecting '${text}'`,
    })
    next(parser)
    return next(parser)
  }
  if (mayFollow(parser, token, text)) {
    parser.issues.push({ at: token.at, message: `Syntax error: missing '${text}' at '${shown(token)}'` })
    return { kind: 'op', text, at: token.at }
  }
  throw new CelSyntaxError(token.at, `Syntax error: mismatched input '${shown(token)}' expecting '${text}'`)
}

function mayFollow(parser: Parser, token: Token, text: string): boolean {
  if (text === ':') return startsExpression(token)
  if (token.kind === 'op' && CONTINUING.has(token.text)) return true
  if (token.kind === 'ident' && token.text === 'in') return true
  const ends = parser.ends.at(-2) ?? ['<EOF>']
  return (token.kind === 'end' || token.kind === 'op') && ends.includes(token.text)
}

/** What ends a list, a map or a struct behind an item that no comma follows. */
export function expectEnd(parser: Parser, text: string): void {
  if (isOp(parser, text)) {
    next(parser)
    return
  }
  const token = peek(parser)
  const follows = after(parser)
  const wanted = `{'${text}', ','}`
  if (token.kind !== 'end' && follows.kind === 'op' && (follows.text === text || follows.text === ',')) {
    parser.issues.push({
      at: token.at,
      message: `Syntax error: extraneous input '${shown(token)}' expecting ${wanted}`,
    })
    next(parser)
    next(parser)
    return
  }
  throw new CelSyntaxError(token.at, `Syntax error: mismatched input '${shown(token)}' expecting ${wanted}`)
}

/** An expression inside something that one of the tokens ends. */
export function inside(parser: Parser, ends: readonly string[]): SyntaxNode {
  parser.ends.push(ends)
  const node = parser.expression(parser)
  parser.ends.pop()
  return node
}

/** Like expect, for a closing token behind an expression. */
export function expectClosing(parser: Parser, text: string): Token {
  parser.ends.push([text])
  const token = expect(parser, text)
  parser.ends.pop()
  return token
}

/** @throws CelSyntaxError: no expression begins with this token */
export function noExpression(parser: Parser, token: Token, wanted = EXPRESSION_STARTS): never {
  const follows = parser.tokens[parser.tokens.indexOf(token) + 1]
  const surplus =
    follows !== undefined && (startsExpression(follows) || (wanted === ARGUMENT_STARTS && follows.text === ')'))
  throw new CelSyntaxError(
    token.at,
    `Syntax error: ${surplus ? 'extraneous' : 'mismatched'} input '${shown(token)}' expecting ${wanted}`,
  )
}
