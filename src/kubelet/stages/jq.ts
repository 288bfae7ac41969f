/**
 * jq as selectors of stages use it: paths, iteration, pipes, comparisons, `and`, `or`, `//`, literals and the functions below. A filter
 * gives any number of values for one. Reducing, assigning and defining are not there.
 */
import type { Json } from '../../api/object.ts'
import {
  added,
  always,
  COMPARISONS,
  choice,
  field,
  flatMapped,
  isTruthy,
  itemAt,
  iterate,
  JqError,
  type JqFilter,
  light,
  logical,
  numberOf,
  pairs,
  piped,
  quietly,
  subtracted,
  unchanged,
} from './jq-filters.ts'
import { PLAIN, WITH_FILTER } from './jq-functions.ts'

type Token = { readonly kind: 'field' | 'name' | 'string' | 'number' | 'sign' | 'end'; readonly text: string }

const TOKEN =
  /\s+|(?<field>\.(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"\\]|\\.)*"))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\d+(?:\.\d+)?)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<sign>\/\/|==|!=|<=|>=|[.[\]()|,:<>?+*/%-])/y
const LONGEST = 4096
const DEEPEST = 50

/** @throws JqError for what is not understood */
export function compileJq(source: string): JqFilter {
  if (source.length > LONGEST) throw new JqError(`it is longer than ${LONGEST} characters`)
  const tokens = tokensOf(source)
  let at = 0
  let depth = 0
  const peek = (ahead = 0) => tokens[at + ahead] ?? END
  const isSign = (text: string) => peek().kind === 'sign' && peek().text === text
  const isName = (text: string) => peek().kind === 'name' && peek().text === text
  const take = (text: string): boolean => {
    if (!isSign(text)) return false
    at++
    return true
  }
  const expect = (text: string) => {
    if (!take(text)) throw new JqError(`unexpected ${shown(peek())}, not "${text}"`)
  }

  function pipe(): JqFilter {
    if (++depth > DEEPEST) throw new JqError(`it is nested more than ${DEEPEST} deep`)
    let filter = comma()
    while (take('|')) filter = piped(filter, comma())
    depth--
    return filter
  }

  function comma(): JqFilter {
    const filters = [alternative()]
    while (take(',')) filters.push(alternative())
    return filters.length === 1 ? (filters[0] as JqFilter) : (value) => flatMapped(filters, (filter) => filter(value))
  }

  function alternative(): JqFilter {
    const filter = or()
    if (!take('//')) return filter
    const otherwise = alternative()
    return (value) => {
      const found = quietly(filter)(value).filter(isTruthy)
      return found.length > 0 ? found : otherwise(value)
    }
  }

  function or(): JqFilter {
    let filter = and()
    while (isName('or')) {
      at++
      filter = logical(filter, and(), true)
    }
    return filter
  }

  function and(): JqFilter {
    let filter = comparison()
    while (isName('and')) {
      at++
      filter = logical(filter, comparison(), false)
    }
    return filter
  }

  function comparison(): JqFilter {
    const filter = sum()
    const { kind, text } = peek()
    const compared = kind === 'sign' ? COMPARISONS[text] : undefined
    if (compared === undefined) return filter
    at++
    return pairs(filter, sum(), compared)
  }

  function sum(): JqFilter {
    let filter = postfix()
    while (isSign('+') || isSign('-')) {
      const joined = isSign('+') ? added : subtracted
      at++
      filter = pairs(filter, postfix(), joined)
    }
    return filter
  }

  function postfix(): JqFilter {
    let filter = primary()
    for (;;) {
      const token = peek()
      if (token.kind === 'field') {
        at++
        filter = piped(filter, field(nameIn(token.text)))
      } else if (isSign('[') || (isSign('.') && peek(1).text === '[')) {
        take('.')
        filter = piped(filter, bracket())
      } else if (take('?')) filter = quietly(filter)
      else return filter
    }
  }

  /** `[]`, `["name"]`, `[0]`, `[.key]`. */
  function bracket(): JqFilter {
    expect('[')
    if (take(']')) return iterate
    const key = pipe()
    expect(']')
    return (value) => flatMapped(key(value), (one) => itemAt(value, one))
  }

  function primary(): JqFilter {
    const token = peek()
    at++
    switch (token.kind) {
      case 'field':
        return field(nameIn(token.text))
      case 'string':
        return always(stringIn(token.text))
      case 'number':
        return always(Number(token.text))
      case 'name':
        return called(token.text)
      case 'sign':
        if (token.text === '.') return isSign('[') ? bracket() : unchanged
        if (token.text === '-') {
          const filter = postfix()
          return (value) => filter(value).map((one) => -numberOf(one))
        }
        if (token.text === '(') {
          const inner = pipe()
          expect(')')
          return inner
        }
        if (token.text === '[') {
          if (take(']')) return always([])
          const inner = pipe()
          expect(']')
          return (value) => [light([...inner(value)])]
        }
    }
    throw new JqError(`unexpected ${shown(token)}`)
  }

  function called(name: string): JqFilter {
    if (Object.hasOwn(CONSTANTS, name)) return always(CONSTANTS[name] ?? null)
    if (name === 'if') return condition()
    const args: JqFilter[] = []
    if (take('(')) {
      args.push(pipe())
      expect(')')
    }
    const made = args[0] === undefined ? own(PLAIN, name) : own(WITH_FILTER, name)?.(args[0])
    if (made === undefined) throw new JqError(`there is no function ${name}/${args.length} here`)
    return made
  }

  function condition(): JqFilter {
    const test = pipe()
    word('then')
    const yes = pipe()
    let no: JqFilter = unchanged
    if (isName('elif')) {
      at++
      no = condition()
      return choice(test, yes, no)
    }
    if (isName('else')) {
      at++
      no = pipe()
    }
    word('end')
    return choice(test, yes, no)
  }

  function word(text: string): void {
    if (!isName(text)) throw new JqError(`unexpected ${shown(peek())}, not "${text}"`)
    at++
  }

  const whole = pipe()
  if (peek().kind !== 'end') throw new JqError(`unexpected ${shown(peek())}`)
  return whole
}

const END: Token = { kind: 'end', text: '' }
const shown = ({ kind, text }: Token): string => (kind === 'end' ? 'end' : JSON.stringify(text))

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < source.length; ) {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(source)
    if (found === null) throw new JqError(`unexpected ${JSON.stringify(source[at])}`)
    at += found[0].length
    const [kind] = Object.entries(found.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    if (kind !== undefined) tokens.push({ kind: kind as Token['kind'], text: found[0] })
  }
  return tokens
}

function stringIn(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch (cause) {
    throw new JqError(`${text} is no string`, { cause })
  }
}

const nameIn = (text: string): string => (text[1] === '"' ? stringIn(text.slice(1)) : text.slice(1))

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const CONSTANTS: Readonly<Record<string, Json>> = { null: null, true: true, false: false }
