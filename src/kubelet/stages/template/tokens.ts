/** Go templates (text/template) as tokens: text between actions, and the words within `{{ }}`. */

export type TemplateToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open' | 'close' | 'space' | 'end' }
  /** `(`, `)`, `|`, `,`, `=`, `:=`. */
  | { readonly kind: 'sign'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  /** `name` of a function or keyword. */
  | { readonly kind: 'name'; readonly text: string }
  /** `$` or `$name`. */
  | { readonly kind: 'variable'; readonly text: string }
  /** `.name`, directly behind what it is a field of or by itself. */
  | { readonly kind: 'field'; readonly text: string }
  | { readonly kind: 'dot' }

export class TemplateError extends Error {}

const WORD =
  /(?<space>\s+)|(?<raw>`[^`]*`)|(?<string>"(?:[^"\\\n]|\\.)*")|(?<char>'(?:[^'\\\n]|\\.)+')|(?<number>[+-]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))|(?<field>\.[A-Za-z_][A-Za-z0-9_]*)|(?<dot>\.)|(?<variable>\$[A-Za-z0-9_]*)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<sign>:=|[()|,=])/y

/** @throws TemplateError */
export function templateTokens(template: string): readonly TemplateToken[] {
  const tokens: TemplateToken[] = []
  let at = 0
  let trimsNext = false
  const text = (from: number, to: number, trimsEnd: boolean) => {
    let part = template.slice(from, to)
    if (trimsNext) part = part.replace(/^[ \t\r\n]+/, '')
    if (trimsEnd) part = part.trimEnd()
    trimsNext = false
    if (part !== '') tokens.push({ kind: 'text', text: part })
  }
  for (;;) {
    const open = template.indexOf('{{', at)
    if (open < 0) {
      text(at, template.length, false)
      tokens.push({ kind: 'end' })
      return tokens
    }
    const trims = /^-[ \t\r\n]/.test(template.slice(open + 2, open + 4))
    text(at, open, trims)
    at = open + 2 + (trims ? 2 : 0)
    const comment = /^\s*\/\*/.exec(template.slice(at, at + 100))
    if (comment !== null) {
      const end = template.indexOf('*/', at)
      const close = end < 0 ? null : /^(?:[ \t\r\n]-)?\}\}/.exec(template.slice(end + 2, end + 6))
      if (close === null) throw new TemplateError('a comment is not closed')
      trimsNext = close[0].includes('-')
      at = end + 2 + close[0].length
      continue
    }
    tokens.push({ kind: 'open' })
    at = action(template, at, tokens)
    trimsNext = /[ \t\r\n]-$/.test(template.slice(at - 4, at - 2))
  }
}

/** Gives the place behind the action's end. */
function action(template: string, from: number, tokens: TemplateToken[]): number {
  let at = from
  for (;;) {
    const close = /^(?:[ \t\r\n]+-)?\}\}/.exec(template.slice(at, at + 200))
    if (close !== null) {
      tokens.push({ kind: 'close' })
      return at + close[0].length
    }
    if (at >= template.length) throw new TemplateError('unclosed action')
    WORD.lastIndex = at
    const found = WORD.exec(template)
    if (found === null)
      throw new TemplateError(`unexpected ${JSON.stringify(template[at])} in ${shown(template, from)}`)
    at += found[0].length
    tokens.push(tokenOf(found[0], found.groups ?? {}))
  }
}

const shown = (template: string, at: number): string => JSON.stringify(template.slice(at, at + 40).split('}}')[0])

function tokenOf(text: string, groups: Readonly<Record<string, string | undefined>>): TemplateToken {
  if (groups['space'] !== undefined) return { kind: 'space' }
  if (groups['raw'] !== undefined) return { kind: 'string', value: text.slice(1, -1) }
  if (groups['string'] !== undefined) return { kind: 'string', value: unescaped(text.slice(1, -1)) }
  if (groups['char'] !== undefined) return { kind: 'number', value: unescaped(text.slice(1, -1)).codePointAt(0) ?? 0 }
  if (groups['number'] !== undefined) return { kind: 'number', value: Number(text) }
  if (groups['field'] !== undefined) return { kind: 'field', text: text.slice(1) }
  if (groups['dot'] !== undefined) return { kind: 'dot' }
  if (groups['variable'] !== undefined) return { kind: 'variable', text }
  return groups['name'] === undefined ? { kind: 'sign', text } : { kind: 'name', text }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

/** Go's escapes in a quoted string. */
function unescaped(text: string): string {
  return text.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/g, (_, sequence: string) => {
    if (/^[xuU]/.test(sequence) && sequence.length > 1) {
      const code = Number.parseInt(sequence.slice(1), 16)
      if (code > 0x10ffff) throw new TemplateError(`\\${sequence} is no character`)
      return String.fromCodePoint(code)
    }
    if (sequence.length === 3) return String.fromCodePoint(Number.parseInt(sequence, 8))
    const known = ESCAPES[sequence] ?? (/^[\\'"]$/.test(sequence) ? sequence : undefined)
    if (known === undefined) throw new TemplateError(`unknown escape \\${sequence}`)
    return known
  })
}
