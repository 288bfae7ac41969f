/**
 * Label selectors as text (`labelSelector=` of a list or watch), Kubernetes' set-based grammar with its error texts:
 *
 *   selector    = requirement *( "," requirement )
 *   requirement = ["!"] KEY | KEY ("in" | "notin") "(" values ")" | KEY ("=" | "==" | "!=" | ">" | "<") value
 *
 * and metav1.LabelSelector objects (spec.selector), which mean the same.
 */
import type { LabelSelectorRequirement } from '../generated/types.ts'
import { labelValue, qualifiedName } from '../names/name-formats.ts'

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'exists' | '!' | 'gt' | 'lt'

interface Requirement {
  readonly key: string
  readonly operator: Operator
  readonly values: readonly string[]
}

export type Labels = Readonly<Record<string, string>> | undefined

export interface CompiledSelector {
  readonly requirements: readonly Requirement[]
  matches(labels: Labels): boolean
}

export class SelectorError extends Error {}

export const everything: CompiledSelector = { requirements: [], matches: () => true }

type Token = { readonly kind: 'symbol' | 'word' | 'end'; readonly text: string }

const SYMBOLS = new Set([')', ',', '!', '(', '=', '==', '!=', '>', '<'])
const SPECIAL = '=!(),><'

/** A zero byte ends the text for Kubernetes, wherever it stands. */
function tokenize(given: string): Token[] {
  const text = given.split('\u0000', 1)[0]!
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const c = text[at] as string
    if (c === ' ' || c === '\t' || c === '\r' || c === '\n') {
      at++
    } else if (SPECIAL.includes(c)) {
      // The longest run of special characters that is a symbol; a run that never was one is a word, and an error later.
      let end = at
      while (end < text.length && SPECIAL.includes(text[end] as string)) {
        if (end > at && SYMBOLS.has(text.slice(at, end)) && !SYMBOLS.has(text.slice(at, end + 1))) break
        end++
      }
      const run = text.slice(at, end)
      tokens.push({ kind: SYMBOLS.has(run) ? 'symbol' : 'word', text: run })
      at = end
    } else {
      let end = at
      while (end < text.length && !SPECIAL.includes(text[end] as string) && !/[ \t\r\n]/.test(text[end] as string))
        end++
      tokens.push({ kind: 'word', text: text.slice(at, end) })
      at = end
    }
  }
  tokens.push({ kind: 'end', text: '' })
  return tokens
}

const isWord = (token: Token, ...texts: string[]) =>
  token.kind === 'word' && (texts.length === 0 || texts.includes(token.text))
const isSymbol = (token: Token, text: string) => token.kind === 'symbol' && token.text === text

/** @throws SelectorError in Kubernetes' words */
export function parseLabelSelector(text: string): CompiledSelector {
  const tokens = tokenize(text)
  let at = 0
  const peek = () => tokens[Math.min(at, tokens.length - 1)] as Token
  // `in` and `notin` are keywords where an operator or key may stand, plain words among values.
  const take = () => tokens[Math.min(at++, tokens.length - 1)] as Token
  const requirements: Requirement[] = []

  const exactValue = (): string => {
    const token = peek()
    if (token.kind === 'end' || isSymbol(token, ',')) return ''
    at++
    if (isWord(token)) return token.text
    throw new SelectorError(`found '${token.text}', expected: identifier`)
  }

  const values = (): string[] => {
    const open = take()
    if (!isSymbol(open, '(')) throw new SelectorError(`found '${open.text}' expected: '('`)
    const first = peek()
    if (isSymbol(first, ')')) {
      at++
      return ['']
    }
    if (!isWord(first) && !isSymbol(first, ','))
      throw new SelectorError(`found '${first.text}', expected: ',', ')' or identifier`)
    const found = new Set<string>()
    for (;;) {
      const token = take()
      if (isWord(token)) {
        found.add(token.text)
        const next = peek()
        if (isSymbol(next, ')')) {
          at++
          return [...found].sort()
        }
        if (!isSymbol(next, ',')) throw new SelectorError(`found '${next.text}', expected: ',' or ')'`)
      } else if (isSymbol(token, ',')) {
        if (found.size === 0) found.add('')
        const next = peek()
        if (isSymbol(next, ')')) {
          found.add('')
          at++
          return [...found].sort()
        }
        if (isSymbol(next, ',')) {
          at++
          found.add('')
        }
      } else {
        throw new SelectorError(`found '${token.text}', expected: ',', or identifier`)
      }
    }
  }

  const requirement = (): Requirement => {
    let negated = false
    if (isSymbol(peek(), '!')) {
      negated = true
      at++
    }
    const key = take()
    if (!isWord(key) || isWord(key, 'in', 'notin')) {
      throw new SelectorError(`found '${key.text}', expected: identifier`)
    }
    checkKey(key.text)
    const next = peek()
    if (next.kind === 'end' || isSymbol(next, ',')) {
      if (!negated) return { key: key.text, operator: 'exists', values: [] }
    }
    if (negated) return { key: key.text, operator: '!', values: [] }
    const operator = take()
    if (isWord(operator, 'in', 'notin'))
      return checked({ key: key.text, operator: operator.text as Operator, values: values() })
    if (operator.kind === 'symbol') {
      switch (operator.text) {
        case '=':
        case '==':
        case '!=':
          return checked({ key: key.text, operator: operator.text, values: [exactValue()] })
        case '>':
        case '<':
          return checked({ key: key.text, operator: operator.text === '>' ? 'gt' : 'lt', values: [exactValue()] })
      }
    }
    throw new SelectorError(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`)
  }

  for (;;) {
    const token = peek()
    if (token.kind === 'end') break
    if (!isSymbol(token, '!') && !isWord(token))
      throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`)
    try {
      requirements.push(requirement())
    } catch (error) {
      if (error instanceof SelectorError) throw new SelectorError(`unable to parse requirement: ${error.message}`)
      throw error
    }
    const separator = take()
    if (separator.kind === 'end') break
    if (!isSymbol(separator, ','))
      throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`)
    const after = peek()
    if (!isSymbol(after, '!') && !isWord(after))
      throw new SelectorError(`found '${after.text}', expected: identifier after ','`)
  }
  return selectorOf(requirements)
}

function checkKey(key: string): void {
  const errors = qualifiedName(key)
  if (errors.length) throw new SelectorError(`<nil>: Invalid value: ${JSON.stringify(key)}: ${errors.join('; ')}`)
}

function checked(requirement: Requirement): Requirement {
  if (requirement.operator === 'gt' || requirement.operator === 'lt') {
    const value = requirement.values[0] ?? ''
    if (!/^[+-]?\d+$/.test(value))
      throw new SelectorError(
        `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      )
  }
  requirement.values.forEach((value, i) => {
    const errors = labelValue(value)
    if (errors.length)
      throw new SelectorError(
        `values[${i}][${requirement.key}]: Invalid value: ${JSON.stringify(value)}: ${errors.join('; ')}`,
      )
  })
  return requirement
}

function has(labels: Labels, key: string): labels is Readonly<Record<string, string>> {
  return labels !== undefined && Object.hasOwn(labels, key)
}

function satisfies({ key, operator, values }: Requirement, labels: Labels): boolean {
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return has(labels, key) && values.includes(labels[key] as string)
    case 'notin':
    case '!=':
      return !has(labels, key) || !values.includes(labels[key] as string)
    case 'exists':
      return has(labels, key)
    case '!':
      return !has(labels, key)
    case 'gt':
    case 'lt': {
      if (!has(labels, key) || !/^[+-]?\d+$/.test(labels[key] as string)) return false
      const label = BigInt((labels[key] as string).replace(/^\+/, ''))
      const bound = BigInt((values[0] as string).replace(/^\+/, ''))
      return operator === 'gt' ? label > bound : label < bound
    }
  }
}

function selectorOf(requirements: readonly Requirement[]): CompiledSelector {
  if (requirements.length === 0) return everything
  return { requirements, matches: (labels) => requirements.every((requirement) => satisfies(requirement, labels)) }
}

/** metav1.LabelSelector, of which a selector that is made here may leave anything out. */
export interface SelectorFields {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined | null
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined | null
}

/**
 * A metav1.LabelSelector object. Absent selects nothing, empty selects everything (as the API convention says).
 * The object must be valid: an unknown operator selects nothing.
 */
export function labelSelectorOf(selector: SelectorFields | undefined | null): CompiledSelector {
  if (selector === undefined || selector === null) return { requirements: [], matches: () => false }
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=',
    values: [value],
  }))
  const operators: Readonly<Record<string, Operator>> = {
    In: 'in',
    NotIn: 'notin',
    Exists: 'exists',
    DoesNotExist: '!',
  }
  for (const expression of selector.matchExpressions ?? []) {
    const operator = Object.hasOwn(operators, expression.operator) ? operators[expression.operator] : undefined
    if (operator === undefined) return { requirements: [], matches: () => false }
    requirements.push({ key: expression.key, operator, values: expression.values ?? [] })
  }
  return selectorOf(requirements)
}

/** The same of a selector that nothing has checked. @throws SelectorError in Kubernetes' words for what is invalid in it */
export function checkedLabelSelectorOf(selector: SelectorFields): CompiledSelector {
  for (const { operator } of selector.matchExpressions ?? [])
    if (!['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator))
      throw new SelectorError(`${JSON.stringify(operator)} is not a valid label selector operator`)
  const result = labelSelectorOf(selector)
  const told = result.requirements.flatMap(({ key, operator, values }) => {
    const whole = operator === 'in' || operator === 'notin'
    const none = operator === 'exists' || operator === '!'
    return [
      ...invalidAt('key', key, qualifiedName(key)),
      ...(whole && values.length === 0
        ? ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"]
        : []),
      ...(none && values.length > 0
        ? invalidAt('values', values, ['values set must be empty for exists and does not exist'])
        : []),
      ...values.flatMap((value, at) => invalidAt(`values[${at}][${key}]`, value, labelValue(value))),
    ]
  })
  if (told.length > 0) throw new SelectorError(told.length === 1 ? told[0] : `[${told.join(', ')}]`)
  return result
}

const invalidAt = (path: string, value: string | readonly string[], errors: readonly string[]): readonly string[] =>
  errors.length === 0 ? [] : [`${path}: Invalid value: ${JSON.stringify(value)}: ${errors.join('; ')}`]

/** `a=b,c in (d,e)`: the text of a selector with its requirements sorted by key, as scale subresources print it. */
export function formatLabelSelector(selector: CompiledSelector): string {
  return [...selector.requirements]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ key, operator, values }) => {
      switch (operator) {
        case 'exists':
          return key
        case '!':
          return `!${key}`
        case 'in':
        case 'notin':
          return `${key} ${operator} (${[...values].sort().join(',')})`
        case 'gt':
          return `${key}>${values[0]}`
        case 'lt':
          return `${key}<${values[0]}`
        default:
          return `${key}${operator}${values[0]}`
      }
    })
    .join(',')
}

/** As Go prints a LabelSelector. */
export function goSelector(selector: SelectorFields | undefined): string {
  if (selector === undefined) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}
