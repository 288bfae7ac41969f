/**
 * Go templates (text/template) as trees: text, pipelines, if, range, with, variables. What defines templates of a name of its own
 * (define, template, block) is not there.
 */
import { TemplateError, type TemplateToken, templateTokens } from './tokens.ts'

export type Expression =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** `.`, or a variable, and fields of it. */
  | { readonly kind: 'path'; readonly of: Expression | undefined; readonly fields: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  /** The value of each is the last argument of the next. */
  | { readonly kind: 'pipeline'; readonly commands: readonly Expression[] }

export interface Assignment {
  readonly names: readonly string[]
  readonly declares: boolean
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly pipeline: Expression; readonly assignment?: Assignment }
  | {
      readonly kind: 'if' | 'range' | 'with'
      readonly pipeline: Expression
      readonly assignment?: Assignment
      readonly body: readonly TemplateNode[]
      readonly otherwise: readonly TemplateNode[]
    }
  | { readonly kind: 'break' | 'continue' }

const DEEPEST = 100
const ABSENT: ReadonlySet<string> = new Set(['define', 'template', 'block'])

/** `isKnown`: whether there is a function of that name. @throws TemplateError */
export function parseTemplate(template: string, isKnown: (name: string) => boolean): readonly TemplateNode[] {
  const tokens = templateTokens(template)
  let at = 0
  let depth = 0
  const peek = () => tokens[at] as TemplateToken
  const next = () => tokens[at++] as TemplateToken
  const skipSpace = () => {
    while (peek().kind === 'space') at++
  }
  const isSign = (text: string) => {
    const token = peek()
    return token.kind === 'sign' && token.text === text
  }
  const close = (after: string) => {
    skipSpace()
    if (next().kind !== 'close') throw new TemplateError(`something unexpected follows ${after}`)
  }

  /** Up to `end` or `else`, which is told. */
  function list(isInside: boolean): {
    readonly nodes: readonly TemplateNode[]
    readonly ends: 'end' | 'else' | 'template'
  } {
    if (++depth > DEEPEST) throw new TemplateError(`it is nested more than ${DEEPEST} deep`)
    const nodes: TemplateNode[] = []
    for (;;) {
      const token = next()
      if (token.kind === 'end') {
        if (isInside) throw new TemplateError('unexpected end: an {{ end }} is missing')
        depth--
        return { nodes, ends: 'template' }
      }
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text })
        continue
      }
      skipSpace()
      const word = peek()
      const keyword = word.kind === 'name' ? word.text : ''
      if (keyword === 'end' || keyword === 'else') {
        if (!isInside) throw new TemplateError(`unexpected {{ ${keyword} }}`)
        at++
        if (keyword === 'end') close('end')
        depth--
        return { nodes, ends: keyword }
      }
      if (ABSENT.has(keyword)) throw new TemplateError(`{{ ${keyword} }} is not known here`)
      if (keyword === 'if' || keyword === 'range' || keyword === 'with') {
        at++
        nodes.push(block(keyword))
      } else if (keyword === 'break' || keyword === 'continue') {
        at++
        close(keyword)
        nodes.push({ kind: keyword })
      } else if (word.kind === 'close') throw new TemplateError('missing value for command')
      else {
        nodes.push({ kind: 'action', ...assigned() })
        close('a command')
      }
    }
  }

  function block(kind: 'if' | 'range' | 'with'): TemplateNode {
    const head = assigned()
    close(kind)
    const { nodes: body, ends } = list(true)
    return { kind, ...head, body, otherwise: ends === 'else' ? otherwise(kind) : [] }
  }

  /** Behind `else`. `else if` and `else with` are a block of their own with the same end. */
  function otherwise(kind: string): readonly TemplateNode[] {
    skipSpace()
    const word = peek()
    if (word.kind === 'name' && (word.text === 'if' || word.text === 'with') && kind !== 'range') {
      at++
      return [block(word.text)]
    }
    close('else')
    const { nodes, ends } = list(true)
    if (ends === 'else') throw new TemplateError('unexpected {{ else }}')
    return nodes
  }

  /** `$a := pipeline`, `$i, $a := pipeline`, `$a = pipeline` or a pipeline. */
  function assigned(): { readonly pipeline: Expression; readonly assignment?: Assignment } {
    skipSpace()
    const from = at
    const names: string[] = []
    for (;;) {
      const token = peek()
      if (token.kind !== 'variable') break
      names.push(token.text)
      at++
      skipSpace()
      if (!isSign(',')) break
      at++
      skipSpace()
    }
    if (names.length > 0 && (isSign(':=') || isSign('='))) {
      const declares = isSign(':=')
      at++
      if (names.length > 2) throw new TemplateError('too many variables in front of :=')
      return { pipeline: pipeline(), assignment: { names, declares } }
    }
    at = from
    return { pipeline: pipeline() }
  }

  function pipeline(): Expression {
    const commands = [command()]
    skipSpace()
    while (isSign('|')) {
      at++
      commands.push(command())
      skipSpace()
    }
    const [only] = commands
    for (const later of commands.slice(1))
      if (later.kind !== 'call') throw new TemplateError('what follows | must be a function')
    return commands.length === 1 && only !== undefined ? only : { kind: 'pipeline', commands }
  }

  function command(): Expression {
    skipSpace()
    const token = peek()
    if (token.kind === 'name' && !isConstant(token.text)) {
      at++
      if (!isKnown(token.text)) throw new TemplateError(`function "${token.text}" not defined`)
      const args: Expression[] = []
      for (;;) {
        const before = at
        skipSpace()
        if (isEnd()) return { kind: 'call', name: token.text, args }
        if (at === before) throw new TemplateError(`a space is missing behind ${token.text} or one of its arguments`)
        args.push(operand())
      }
    }
    const value = operand()
    skipSpace()
    if (!isEnd()) throw new TemplateError('what is given arguments is no function')
    return value
  }

  const isEnd = () => peek().kind === 'close' || peek().kind === 'end' || isSign('|') || isSign(')')

  function operand(): Expression {
    const token = next()
    switch (token.kind) {
      case 'string':
      case 'number':
        return { kind: 'literal', value: token.value }
      case 'dot':
        return { kind: 'path', of: undefined, fields: [] }
      case 'field':
        return { kind: 'path', of: undefined, fields: [token.text, ...fields()] }
      case 'variable':
        return withFields({ kind: 'variable', name: token.text })
      case 'name':
        if (isConstant(token.text)) return { kind: 'literal', value: CONSTANTS[token.text] ?? null }
        if (!isKnown(token.text)) throw new TemplateError(`function "${token.text}" not defined`)
        return withFields({ kind: 'call', name: token.text, args: [] })
      case 'sign':
        if (token.text === '(') {
          if (++depth > DEEPEST) throw new TemplateError(`it is nested more than ${DEEPEST} deep`)
          const inner = pipeline()
          depth--
          skipSpace()
          if (!isSign(')')) throw new TemplateError('unclosed left paren')
          at++
          return withFields(inner)
        }
        throw new TemplateError(`unexpected "${token.text}" in operand`)
      default:
        throw new TemplateError('missing value for command')
    }
  }

  function withFields(of: Expression): Expression {
    const names = fields()
    return names.length === 0 ? of : { kind: 'path', of, fields: names }
  }

  function fields(): string[] {
    const names: string[] = []
    for (let token = peek(); token.kind === 'field'; token = peek()) {
      names.push(token.text)
      at++
    }
    return names
  }

  return list(false).nodes
}

const CONSTANTS: Readonly<Record<string, boolean | null>> = { true: true, false: false, nil: null }
const isConstant = (name: string): boolean => Object.hasOwn(CONSTANTS, name)
