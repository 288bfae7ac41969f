/** The tokens of CEL. Places are offsets in code points, as cel-go counts. */
import { CONTROL_ESCAPES } from '../../base/control-escapes.ts'
import { CelSyntaxError, type Issue } from './issues.ts'

export type Constant =
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'uint'; readonly value: bigint }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null'; readonly value: null }

export interface Token {
  readonly kind: 'ident' | 'quoted' | 'number' | 'string' | 'bytes' | 'op' | 'end'
  readonly text: string
  readonly at: number
  readonly value?: Constant
}

/** `[?` and `.?` mean optional access only when they are written together. */
const TWO = new Set(['&&', '||', '==', '!=', '<=', '>=', '.?', '[?'])
const ONE = new Set('{}()[],.?:<>+-*/%!')

/** The tokens of an expression; what is none is noted and left out. */
export function tokenize(source: string, issues: Issue[]): readonly Token[] {
  const points = [...source]
  const tokens: Token[] = []
  let at = 0
  const rest = () => points.slice(at, at + 5).join('')
  while (at < points.length) {
    const c = points[at] as string
    if (/[\t\n\f\r ]/.test(c)) {
      at++
      continue
    }
    if (c === '/' && points[at + 1] === '/') {
      while (at < points.length && points[at] !== '\n') at++
      continue
    }
    const string = /[rRbB"']/.test(c) ? /^([rR]?[bB]?|[bB][rR])("""|'''|"|')/.exec(rest()) : null
    if (string !== null) {
      let token: ReturnType<typeof stringToken>
      try {
        token = stringToken(points, at, string[1] as string, string[2] as string, issues)
      } catch (error) {
        if (!(error instanceof CelSyntaxError)) throw error
        issues.push(error.issue)
        at = points.length
        continue
      }
      tokens.push(token.token)
      at = token.end
      continue
    }
    if (/[0-9]/.test(c) || (c === '.' && /[0-9]/.test(points[at + 1] ?? ''))) {
      const token = numberToken(points, at)
      tokens.push(token)
      at += token.text.length
      continue
    }
    if (/[A-Za-z_]/.test(c)) {
      let end = at + 1
      while (end < points.length && /[A-Za-z0-9_]/.test(points[end] as string)) end++
      tokens.push({ kind: 'ident', text: points.slice(at, end).join(''), at })
      at = end
      continue
    }
    if (c === '`') {
      let end = at + 1
      while (end < points.length && /[A-Za-z0-9_.\-/ ]/.test(points[end] as string)) end++
      if (points[end] !== '`') throw new CelSyntaxError(at, "Syntax error: token recognition error at: '`'")
      tokens.push({ kind: 'quoted', text: points.slice(at + 1, end).join(''), at })
      at = end + 1
      continue
    }
    const two = c + (points[at + 1] ?? '')
    const operator = TWO.has(two) ? two : ONE.has(c) ? c : undefined
    if (operator === undefined) {
      // What could have begun a token of two takes the next with it.
      const text = '=&|'.includes(c) ? c + (points[at + 1] ?? '') : c
      issues.push({ at, message: `Syntax error: token recognition error at: '${text}'` })
      at += [...text].length
      continue
    }
    tokens.push({ kind: 'op', text: operator, at })
    at += operator.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at })
  return tokens
}

function numberToken(points: readonly string[], at: number): Token {
  let end = at
  while (end < at + 400 && /[0-9A-Za-z.]/.test(points[end] ?? '')) {
    end++
    if (/[eE]/.test(points[end - 1] as string) && /[+-]/.test(points[end] ?? '')) end++
  }
  const text = points.slice(at, end).join('')
  const hex = /^0x[0-9a-fA-F]+u?/i.exec(text)
  const double = /^(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/.exec(text)
  if (hex === null && double !== null)
    return { kind: 'number', text: double[0], at, value: { type: 'double', value: Number(double[0]) } }
  const match = (hex ?? /^\d+[uU]?/.exec(text)) as RegExpExecArray
  const unsigned = /u$/i.test(match[0])
  const value = BigInt(match[0].replace(/u$/i, ''))
  return { kind: 'number', text: match[0], at, value: { type: unsigned ? 'uint' : 'int', value } }
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...CONTROL_ESCAPES,
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
}

function stringToken(
  points: readonly string[],
  at: number,
  prefix: string,
  quote: string,
  issues: Issue[],
): { token: Token; end: number } {
  const raw = /r/i.test(prefix)
  const isBytes = /b/i.test(prefix)
  let i = at + prefix.length + quote.length
  let text = ''
  const bytes: number[] = []
  const add = (c: string) => {
    if (isBytes) bytes.push(...Buffer.from(c))
    else text += c
  }
  for (;;) {
    const c = points[i]
    if (c === undefined || (quote.length === 1 && c === '\n')) {
      const shown = points.slice(at, i).join('')
      throw new CelSyntaxError(at, `Syntax error: token recognition error at: '${shown}'`)
    }
    if (points.slice(i, i + quote.length).join('') === quote) break
    if (c !== '\\' || raw) {
      add(c)
      i++
      continue
    }
    const escaped = points.slice(i + 1, i + 10).join('')
    const simple = ESCAPES[escaped[0] ?? '']
    const coded = /^(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/.exec(escaped)
    if (simple !== undefined) {
      add(simple)
      i += 2
    } else if (coded !== null) {
      const code =
        coded[4] === undefined
          ? Number.parseInt(coded[1] ?? coded[2] ?? (coded[3] as string), 16)
          : Number.parseInt(coded[4], 8)
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        issues.push({ at, message: 'invalid unicode code point' })
      else if (isBytes && coded[2] === undefined && coded[3] === undefined) bytes.push(code)
      else add(String.fromCodePoint(code))
      i += 1 + coded[0].length
    } else
      throw new CelSyntaxError(at, `Syntax error: token recognition error at: '${points.slice(at, i + 2).join('')}'`)
  }
  const end = i + quote.length
  const value: Constant = isBytes ? { type: 'bytes', value: Uint8Array.from(bytes) } : { type: 'string', value: text }
  return { token: { kind: isBytes ? 'bytes' : 'string', text: points.slice(at, end).join(''), at, value }, end }
}
