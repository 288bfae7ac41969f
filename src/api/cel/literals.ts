/** Literals with parts: lists, maps, and objects of a named type (`Object.spec{replicas: 3}`). */
import { expect, expectEnd, inside, isName, isOp, next, type Parser, peek, shown } from './cursor.ts'
import { CelSyntaxError } from './issues.ts'
import type { MapEntry, StructField, SyntaxNode } from './parse.ts'
import type { Token } from './tokens.ts'

/** A comma may stand where there are no items at all, and behind the last. */
function items(parser: Parser, close: string, read: () => void): void {
  if (isOp(parser, ',')) {
    next(parser)
    expect(parser, close)
    return
  }
  while (!isOp(parser, close)) {
    read()
    if (!isOp(parser, ',')) {
      expectEnd(parser, close)
      return
    }
    next(parser)
    if (isOp(parser, ',')) expect(parser, close)
  }
  next(parser)
}

export function listLiteral(parser: Parser, token: Token): SyntaxNode {
  const list: SyntaxNode[] = []
  const optional = new Set<number>()
  let marked = token.text === '[?'
  items(parser, ']', () => {
    if (!marked && isOp(parser, '?')) {
      next(parser)
      marked = true
    }
    if (marked) optional.add(list.length)
    marked = false
    list.push(inside(parser, [']', ',']))
  })
  return { kind: 'list', items: list, optional, at: token.at }
}

export function mapLiteral(parser: Parser, token: Token): SyntaxNode {
  const entries: MapEntry[] = []
  items(parser, '}', () => {
    const optional = isOp(parser, '?')
    if (optional) next(parser)
    const key = inside(parser, [':'])
    expect(parser, ':')
    entries.push({ key, value: inside(parser, ['}', ',']), optional })
  })
  return { kind: 'map', entries, at: token.at }
}

/** The brace is the next token. */
export function structLiteral(parser: Parser, name: string): SyntaxNode {
  const { at } = next(parser)
  const fields: StructField[] = []
  items(parser, '}', () => {
    const optional = isOp(parser, '?')
    if (optional) next(parser)
    const field = fieldName(parser, optional)
    const colon = expect(parser, ':')
    fields.push({ name: field, value: inside(parser, ['}', ',']), optional, at: colon.at })
  })
  return { kind: 'struct', name, fields, at }
}

function fieldName(parser: Parser, optional: boolean): string {
  const token = peek(parser)
  const names = (one: Token) => one.kind === 'quoted' || isName(one)
  if (names(token)) return next(parser).text
  const wanted = optional ? '{IDENTIFIER, ESC_IDENTIFIER}' : "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
  const follows = parser.tokens[parser.at + 1]
  const surplus = follows !== undefined && names(follows)
  const text = `Syntax error: ${surplus ? 'extraneous' : 'mismatched'} input '${shown(token)}' expecting ${wanted}`
  if (!surplus) throw new CelSyntaxError(token.at, text)
  parser.issues.push({ at: token.at, message: text })
  next(parser)
  return next(parser).text
}
