/**
 * jq as selectors of stages use it: paths, iteration, pipes, comparisons, `and`, `or`, `//`, literals and the functions below. A filter
 * gives any number of values for one. Reducing, assigning and defining are not there.
 */
import { RE2JS } from 're2js'
import type { Json } from '../../api/object.ts'
import { characterWeight, HEAVIEST } from './weight.ts'

export class JqError extends Error {}

/** @throws JqError where the value is not of the kind that it asks for */
export type JqFilter = (value: Json) => readonly Json[]

type Token = { readonly kind: 'field' | 'name' | 'string' | 'number' | 'sign' | 'end'; readonly text: string }

const TOKEN =
  /\s+|(?<field>\.(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"\\]|\\.)*"))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\d+(?:\.\d+)?)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<sign>\/\/|==|!=|<=|>=|[.[\]()|,:<>?+*/%-])/y
const LONGEST = 4096
const DEEPEST = 50
const MOST_VALUES = 100_000

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
    while (take('|')) filter = then(filter, comma())
    depth--
    return filter
  }

  function comma(): JqFilter {
    const filters = [alternative()]
    while (take(',')) filters.push(alternative())
    return filters.length === 1 ? (filters[0] as JqFilter) : (value) => each(filters, (filter) => filter(value))
  }

  function alternative(): JqFilter {
    const filter = or()
    if (!take('//')) return filter
    const otherwise = alternative()
    return (value) => {
      const found = quietly(filter)(value).filter(isTrue)
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
      const joined = isSign('+') ? plus : minus
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
        filter = then(filter, field(nameIn(token.text)))
      } else if (isSign('[') || (isSign('.') && peek(1).text === '[')) {
        take('.')
        filter = then(filter, bracket())
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
    return (value) => each(key(value), (one) => valueAt(value, one))
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
        if (token.text === '.') return isSign('[') ? bracket() : identity
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
    let no: JqFilter = identity
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

const identity: JqFilter = (value) => [value]
const always =
  (value: Json): JqFilter =>
  () => [value]
const isTrue = (value: Json): boolean => value !== null && value !== false
const isMap = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** What is made of each, one after the other. @throws JqError where that becomes too many */
function each<T>(values: readonly T[], make: (value: T) => readonly Json[]): Json[] {
  const all: Json[] = []
  for (const value of values) {
    for (const one of make(value)) all.push(one)
    if (all.length > MOST_VALUES) throw new JqError(`it gives more than ${MOST_VALUES} values`)
  }
  return all
}

/** Of what is made here; what is given is as it is. @throws JqError for what is too large */
function light<T extends Json>(value: T, weight = characterWeight(value)): T {
  if (weight > HEAVIEST) throw new JqError('it makes a value that is too large')
  return value
}

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const then =
  (first: JqFilter, second: JqFilter): JqFilter =>
  (value) =>
    each(first(value), second)

const quietly =
  (filter: JqFilter): JqFilter =>
  (value) => {
    try {
      return filter(value)
    } catch (error) {
      if (error instanceof JqError) return []
      throw error
    }
  }

const choice =
  (test: JqFilter, yes: JqFilter, no: JqFilter): JqFilter =>
  (value) =>
    each(test(value), (one) => (isTrue(one) ? yes(value) : no(value)))

const logical =
  (left: JqFilter, right: JqFilter, decides: boolean): JqFilter =>
  (value) =>
    each(left(value), (one) => (isTrue(one) === decides ? [decides] : right(value).map(isTrue)))

const pairs =
  (left: JqFilter, right: JqFilter, join: (one: Json, other: Json) => Json): JqFilter =>
  (value) =>
    each(right(value), (other) => left(value).map((one) => join(one, other)))

const field = (name: string): JqFilter => {
  return (value) => {
    if (value === null) return [null]
    if (!isMap(value)) throw new JqError(`${typeOf(value)} has no field ${name}`)
    return [Object.hasOwn(value, name) ? (value[name] ?? null) : null]
  }
}

function valueAt(value: Json, key: Json): readonly Json[] {
  if (typeof key === 'string') return field(key)(value)
  if (value === null) return [null]
  if (typeof key !== 'number' || !Array.isArray(value))
    throw new JqError(`${typeOf(value)} cannot be indexed with ${typeOf(key)}`)
  return [value.at(Math.floor(key)) ?? null]
}

const iterate: JqFilter = (value) => {
  if (Array.isArray(value)) return value
  if (isMap(value))
    return Object.keys(value)
      .sort()
      .map((key) => value[key] ?? null)
  throw new JqError(`${typeOf(value)} cannot be iterated over`)
}

function numberOf(value: Json): number {
  if (typeof value === 'number') return value
  throw new JqError(`${typeOf(value)} is no number`)
}

const minus = (one: Json, other: Json): Json => numberOf(one) - numberOf(other)

function plus(one: Json, other: Json): Json {
  if (one === null) return other
  if (other === null) return one
  light(null, characterWeight(one) + characterWeight(other))
  if (typeof one === 'string' && typeof other === 'string') return one + other
  if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other]
  return numberOf(one) + numberOf(other)
}

const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object']

/** jq's order: by type, then by value. */
function order(one: Json, other: Json): number {
  const [type, otherType] = [typeOf(one), typeOf(other)]
  if (type !== otherType) return TYPES.indexOf(type) - TYPES.indexOf(otherType)
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'boolean') return Number(one) - Number(other)
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0
  const [text, otherText] = [canonical(one), canonical(other)]
  return text < otherText ? -1 : text > otherText ? 1 : 0
}

const canonical = (value: Json): string =>
  isMap(value)
    ? `{${Object.keys(value)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`)
        .join(',')}}`
    : Array.isArray(value)
      ? `[${value.map(canonical).join(',')}]`
      : JSON.stringify(value)

const COMPARISONS: Readonly<Record<string, (one: Json, other: Json) => boolean>> = {
  '==': (one, other) => order(one, other) === 0,
  '!=': (one, other) => order(one, other) !== 0,
  '<': (one, other) => order(one, other) < 0,
  '<=': (one, other) => order(one, other) <= 0,
  '>': (one, other) => order(one, other) > 0,
  '>=': (one, other) => order(one, other) >= 0,
}

const CONSTANTS: Readonly<Record<string, Json>> = { null: null, true: true, false: false }

const ofText =
  (join: (text: string) => Json): JqFilter =>
  (value) => {
    if (typeof value !== 'string') throw new JqError(`${typeOf(value)} is no string`)
    return [join(value)]
  }

const textOf = (value: Json): string => (typeof value === 'string' ? value : canonical(value))

function lengthOf(value: Json): number {
  if (value === null) return 0
  if (typeof value === 'number') return Math.abs(value)
  if (typeof value === 'string') return [...value].length
  if (typeof value === 'boolean') throw new JqError('boolean has no length')
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

const ordered = (value: Json): Json[] => [...iterate(value)].sort(order)

const PLAIN: Readonly<Record<string, JqFilter>> = {
  not: (value) => [!isTrue(value)],
  empty: () => [],
  length: (value) => [lengthOf(value)],
  keys: (value) => [
    Array.isArray(value) ? [...value.keys()] : isMap(value) ? Object.keys(value).sort() : [...iterate(value)],
  ],
  values: (value) => (value === null ? [] : [value]),
  type: (value) => [typeOf(value)],
  any: (value) => [iterate(value).some(isTrue)],
  all: (value) => [iterate(value).every(isTrue)],
  first: (value) => valueAt(value, 0),
  last: (value) => valueAt(value, -1),
  sort: (value) => [ordered(value)],
  unique: (value) => [ordered(value).filter((one, i, all) => i === 0 || order(one, all[i - 1] ?? null) !== 0)],
  reverse: (value) => [[...iterate(value)].reverse()],
  tostring: (value) => [light(textOf(value))],
  tonumber: (value) => {
    const made =
      typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
    if (Number.isNaN(made)) throw new JqError(`${textOf(value)} is no number`)
    return [made]
  },
  ascii_downcase: ofText((text) => text.toLowerCase()),
  ascii_upcase: ofText((text) => text.toUpperCase()),
  to_entries: (value) => [
    light(isMap(value) ? Object.entries(value).map(([key, one]) => ({ key, value: one })) : [...iterate(value)]),
  ],
}

/** Of each value that the argument gives. */
const withEach =
  (join: (value: Json, argument: Json) => Json) =>
  (argument: JqFilter): JqFilter =>
  (value) =>
    argument(value).map((one) => join(value, one))

const twoTexts = (join: (text: string, other: string) => Json) =>
  withEach((value, other) => {
    if (typeof value !== 'string' || typeof other !== 'string') throw new JqError('two strings are wanted')
    return join(value, other)
  })

function has(value: Json, key: Json): boolean {
  if (isMap(value) && typeof key === 'string') return Object.hasOwn(value, key)
  if (Array.isArray(value) && typeof key === 'number') return key >= 0 && key < value.length
  throw new JqError(`${typeOf(value)} has no ${typeOf(key)} as a key`)
}

function contains(value: Json, other: Json): boolean {
  if (typeof value === 'string' && typeof other === 'string') return value.includes(other)
  if (Array.isArray(value) && Array.isArray(other)) return other.every((one) => value.some((own) => contains(own, one)))
  if (isMap(value) && isMap(other))
    return Object.entries(other).every(([key, one]) => Object.hasOwn(value, key) && contains(value[key] ?? null, one))
  return order(value, other) === 0
}

function test(text: string, source: string): boolean {
  try {
    return RE2JS.compile(source).matcher(text).find()
  } catch (cause) {
    throw new JqError(`${source} is no regular expression`, { cause })
  }
}

const WITH_FILTER: Readonly<Record<string, (argument: JqFilter) => JqFilter>> = {
  select: (wanted) => (value) => each(wanted(value), (one) => (isTrue(one) ? [value] : [])),
  map: (filter) => (value) => [light(each(iterate(value), filter))],
  any: (wanted) => (value) => [iterate(value).some((one) => wanted(one).some(isTrue))],
  all: (wanted) => (value) => [iterate(value).every((one) => wanted(one).every(isTrue))],
  first: (filter) => (value) => filter(value).slice(0, 1),
  last: (filter) => (value) => filter(value).slice(-1),
  has: withEach(has),
  contains: withEach(contains),
  startswith: twoTexts((text, prefix) => text.startsWith(prefix)),
  endswith: twoTexts((text, suffix) => text.endsWith(suffix)),
  test: twoTexts(test),
  split: twoTexts((text, between) => text.split(between)),
  join: withEach((value, between) => {
    const items = iterate(value)
    light(null, characterWeight(value) + items.length * characterWeight(between))
    return items.map((one) => (one === null ? '' : textOf(one))).join(textOf(between))
  }),
}
