/**
 * Functions of templates: Go's own, those of sprig that need neither a clock nor a machine, and KWOK's. What changes from one use to
 * the next (the time, addresses) is given by the caller that renders.
 */
import { createHash } from 'node:crypto'
import { RE2JS } from 're2js'
import { stringify } from 'yaml'
import {
  fieldOf,
  isTemplateMap,
  isTrueInTemplate,
  type TemplateFunctions,
  type TemplateValue,
  templateValueText,
} from './render.ts'
import { TemplateError } from './tokens.ts'

const LONGEST = 100_000
const MOST_ITEMS = 10_000

const refuse = (message: string): never => {
  throw new TemplateError(message)
}
const text = (value: TemplateValue): string => (value === undefined || value === null ? '' : templateValueText(value))
const number = (value: TemplateValue): number => {
  const is = typeof value === 'boolean' ? Number(value) : Number(text(value) === '' ? 0 : text(value))
  return Number.isFinite(is) ? is : 0
}
const int = (value: TemplateValue): number => Math.trunc(number(value))
const list = (value: TemplateValue): readonly TemplateValue[] =>
  Array.isArray(value)
    ? value
    : value === undefined || value === null
      ? []
      : refuse(`${templateValueText(value)} is no list`)
const map = (value: TemplateValue): Readonly<Record<string, TemplateValue>> =>
  isTemplateMap(value)
    ? value
    : value === undefined || value === null
      ? {}
      : refuse(`${templateValueText(value)} is no map`)
const bounded = (value: string): string =>
  value.length > LONGEST ? refuse(`it makes more than ${LONGEST} characters`) : value

/** Where each character may become as many as there are in the other. */
const within = (value: string, by: string): string =>
  (value.length + 1) * by.length > 100 * LONGEST ? refuse(`it makes more than ${LONGEST} characters`) : by

function index(of: TemplateValue, ...keys: readonly TemplateValue[]): TemplateValue {
  return keys.reduce((at, key) => {
    if (at === undefined || at === null) return refuse('index of untyped nil')
    if (isTemplateMap(at)) return fieldOf(at, text(key))
    if (!Array.isArray(at) && typeof at !== 'string') return refuse(`can't index item of ${templateValueText(at)}`)
    const place = number(key)
    if (!Number.isInteger(place) || place < 0 || place >= at.length)
      return refuse(`index out of range: ${templateValueText(key)}`)
    return typeof at === 'string' ? at.charCodeAt(place) : at[place]
  }, of)
}

const kindOf = (value: TemplateValue): string =>
  value === undefined || value === null
    ? 'invalid'
    : Array.isArray(value)
      ? 'slice'
      : isTemplateMap(value)
        ? 'map'
        : typeof value

/** What is nil equals nil alone; two values of different kinds cannot be compared. */
function equal(one: TemplateValue, other: TemplateValue): boolean {
  const [kind, otherKind] = [kindOf(one), kindOf(other)]
  if (kind === 'invalid' || otherKind === 'invalid') return kind === otherKind
  if (kind !== otherKind) return refuse('incompatible types for comparison')
  if (kind === 'slice' || kind === 'map') return refuse('non-comparable type')
  return one === other
}

function order(one: TemplateValue, other: TemplateValue): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0
  return refuse('incompatible types for comparison')
}

/** As encoding/json writes it. */
const json = (value: TemplateValue): string =>
  JSON.stringify(sorted(value) ?? null).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

function sorted(value: TemplateValue): TemplateValue {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null)
  if (!isTemplateMap(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  )
}

const indented = (spaces: TemplateValue, value: TemplateValue): string => {
  const pad = ' '.repeat(Math.min(int(spaces), 1000))
  return bounded(pad + text(value).replaceAll('\n', `\n${within(text(value), pad)}`))
}

const VERB = /%([-+# 0]*)(\d{1,4})?(?:\.(\d{1,3}))?([a-zA-Z%])/g

/** Go's verbs that templates use: %v %s %q %d %f %t %x %%. */
function printf(format: TemplateValue, ...args: readonly TemplateValue[]): string {
  let used = 0
  let width = 0
  const wide = (to: string) => {
    width += Number(to)
    return width > LONGEST ? refuse(`it makes more than ${LONGEST} characters`) : Number(to)
  }
  const printed = text(format).replace(VERB, (_, flags: string, to: string | undefined, precision, verb: string) => {
    if (verb === '%') return '%'
    if (used >= args.length) return `%!${verb}(MISSING)`
    const arg = args[used++]
    const plain = verbText(verb, arg, precision === undefined ? undefined : Number(precision))
    if (to === undefined) return plain
    if (flags.includes('-')) return plain.padEnd(wide(to))
    return plain.padStart(wide(to), flags.includes('0') ? '0' : ' ')
  })
  const rest = args.slice(used)
  return bounded(
    rest.length === 0
      ? printed
      : `${printed}%!(EXTRA ${rest.map((arg) => `${typeof arg}=${templateValueText(arg)}`).join(', ')})`,
  )
}

function verbText(verb: string, arg: TemplateValue, precision: number | undefined): string {
  switch (verb) {
    case 'v':
      return templateValueText(arg)
    case 's':
      return precision === undefined ? templateValueText(arg) : templateValueText(arg).slice(0, precision)
    case 'q':
      return JSON.stringify(text(arg))
    case 't':
      return String(isTrueInTemplate(arg))
    case 'd':
      return typeof arg === 'number' ? String(int(arg)) : `%!d(${typeof arg}=${templateValueText(arg)})`
    case 'f':
      return number(arg).toFixed(precision ?? 6)
    case 'x':
      return typeof arg === 'number' ? int(arg).toString(16) : Buffer.from(text(arg)).toString('hex')
    default:
      return refuse(`%${verb} is not known here`)
  }
}

/** As fmt.Sprint: a space between two that are no texts. */
const sprint = (values: readonly TemplateValue[]): string =>
  values.reduce<string>((before, value, i) => {
    const isSpaced = i > 0 && typeof value !== 'string' && typeof values[i - 1] !== 'string'
    return `${before}${isSpaced ? ' ' : ''}${templateValueText(value)}`
  }, '')

const GO: TemplateFunctions = {
  not: (value) => !isTrueInTemplate(value),
  eq: (one, ...others) =>
    others.length === 0 ? refuse('missing argument for comparison') : others.some((other) => equal(one, other)),
  ne: (one, other) => !equal(one, other),
  lt: (one, other) => order(one, other) < 0,
  le: (one, other) => order(one, other) <= 0,
  gt: (one, other) => order(one, other) > 0,
  ge: (one, other) => order(one, other) >= 0,
  index,
  slice: (of, from = 0, to = undefined) => {
    const items = typeof of === 'string' ? of : list(of)
    const [begin, end] = [int(from), to === undefined ? items.length : int(to)]
    if (begin < 0 || end > items.length || begin > end) return refuse('slice index out of range')
    return items.slice(begin, end)
  },
  len: (of) =>
    typeof of === 'string'
      ? Buffer.byteLength(of)
      : Array.isArray(of)
        ? of.length
        : isTemplateMap(of)
          ? Object.keys(of).length
          : refuse(`len of ${templateValueText(of)}`),
  print: (...values) => sprint(values),
  println: (...values) => `${values.map(templateValueText).join(' ')}\n`,
  printf,
}

const repeated = (count: TemplateValue, value: TemplateValue): string =>
  int(count) * text(value).length > LONGEST
    ? refuse(`it makes more than ${LONGEST} characters`)
    : text(value).repeat(Math.max(0, int(count)))

function steps(from: number, to: number, by: number): readonly number[] {
  if (by === 0 || Math.abs((to - from) / by) > MOST_ITEMS) return refuse(`it makes more than ${MOST_ITEMS} items`)
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / by)) }, (_, i) => from + i * by)
}

function pattern(source: TemplateValue): RE2JS {
  try {
    return RE2JS.compile(text(source))
  } catch (cause) {
    throw new TemplateError(`error parsing regexp: ${text(source)}`, { cause })
  }
}

const dict = (...args: readonly TemplateValue[]): TemplateValue =>
  Object.fromEntries(
    args.flatMap((key, i) => (i % 2 === 0 ? [[text(key), i + 1 < args.length ? args[i + 1] : '']] : [])),
  )

const unique = (values: readonly TemplateValue[]) => {
  const seen = new Set<string>()
  return values.filter((value) => seen.size < seen.add(json(value)).size)
}

const TEXTS: TemplateFunctions = {
  quote: (...values) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => JSON.stringify(text(value)))
      .join(' '),
  squote: (...values) =>
    values
      .filter((value) => value !== undefined)
      .map((value) => `'${text(value)}'`)
      .join(' '),
  upper: (value) => text(value).toUpperCase(),
  lower: (value) => text(value).toLowerCase(),
  title: (value) =>
    text(value).replace(/(^|\s)(\S)/g, (_, before: string, letter: string) => before + letter.toUpperCase()),
  trim: (value) => text(value).trim(),
  trimPrefix: (prefix, value) =>
    text(value).startsWith(text(prefix)) ? text(value).slice(text(prefix).length) : text(value),
  trimSuffix: (suffix, value) =>
    text(suffix) !== '' && text(value).endsWith(text(suffix))
      ? text(value).slice(0, -text(suffix).length)
      : text(value),
  replace: (old, by, value) => {
    const other = within(text(value), text(by))
    return bounded(text(value).replaceAll(text(old), () => other))
  },
  contains: (part, value) => text(value).includes(text(part)),
  hasPrefix: (part, value) => text(value).startsWith(text(part)),
  hasSuffix: (part, value) => text(value).endsWith(text(part)),
  repeat: repeated,
  nospace: (value) => text(value).replace(/\s/g, ''),
  trunc: (length, value) => (int(length) >= 0 ? text(value).slice(0, int(length)) : text(value).slice(int(length))),
  substr: (from, to, value) => text(value).slice(Math.max(0, int(from)), int(to) < 0 ? undefined : int(to)),
  cat: (...values) =>
    values
      .filter((value) => value !== undefined)
      .map(text)
      .join(' '),
  indent: indented,
  nindent: (spaces, value) => `\n${indented(spaces, value)}`,
  join: (between, values) => {
    const texts = (Array.isArray(values) ? values : [values]).map(text)
    const other = text(between)
    return texts.length > 1 && (texts.length - 1) * other.length > LONGEST
      ? refuse(`it makes more than ${LONGEST} characters`)
      : bounded(texts.join(other))
  },
  splitList: (between, value) => text(value).split(text(between)),
  split: (between, value) =>
    Object.fromEntries(
      text(value)
        .split(text(between))
        .map((part, i) => [`_${i}`, part]),
    ),
  toString: text,
  regexMatch: (source, value) => pattern(source).matcher(text(value)).find(),
  regexReplaceAll: (source, value, by) =>
    bounded(
      pattern(source)
        .matcher(text(value))
        .replaceAll(within(text(value), text(by))),
    ),
  b64enc: (value) => Buffer.from(text(value)).toString('base64'),
  b64dec: (value) => Buffer.from(text(value), 'base64').toString(),
  sha1sum: (value) => createHash('sha1').update(text(value)).digest('hex'),
  sha256sum: (value) => createHash('sha256').update(text(value)).digest('hex'),
  toJson: json,
  fromJson: (value) => {
    try {
      return JSON.parse(text(value))
    } catch {
      return undefined
    }
  },
}

const NUMBERS: TemplateFunctions = {
  int,
  int64: int,
  float64: number,
  atoi: int,
  toDecimal: (value) => Number.parseInt(text(value), 8) || 0,
  add: (...values) => values.reduce<number>((sum, value) => sum + int(value), 0),
  add1: (value) => int(value) + 1,
  sub: (one, other) => int(one) - int(other),
  mul: (...values) => values.reduce<number>((product, value) => product * int(value), 1),
  div: (one, other) => (int(other) === 0 ? refuse('integer divide by zero') : Math.trunc(int(one) / int(other))),
  mod: (one, other) => (int(other) === 0 ? refuse('integer divide by zero') : int(one) % int(other)),
  addf: (...values) => values.reduce<number>((sum, value) => sum + number(value), 0),
  subf: (one, other) => number(one) - number(other),
  mulf: (...values) => values.reduce<number>((product, value) => product * number(value), 1),
  divf: (one, other) => number(one) / number(other),
  max: (...values) => Math.max(...values.map(int)),
  min: (...values) => Math.min(...values.map(int)),
  floor: (value) => Math.floor(number(value)),
  ceil: (value) => Math.ceil(number(value)),
  round: (value, places) => Number(number(value).toFixed(Math.min(20, Math.max(0, int(places))))),
  until: (count) => steps(0, int(count), int(count) < 0 ? -1 : 1),
  untilStep: (from, to, by) => steps(int(from), int(to), int(by)),
}

const COLLECTIONS: TemplateFunctions = {
  default: (otherwise, value) => (isTrueInTemplate(value) ? value : otherwise),
  empty: (value) => !isTrueInTemplate(value),
  coalesce: (...values) => values.find(isTrueInTemplate),
  ternary: (yes, no, which) => (isTrueInTemplate(which) ? yes : no),
  fail: (message) => refuse(text(message)),
  all: (...values) => values.every(isTrueInTemplate),
  any: (...values) => values.some(isTrueInTemplate),
  kindOf,
  kindIs: (kind, value) => kindOf(value) === text(kind),
  dict,
  list: (...values) => values,
  tuple: (...values) => values,
  get: (of, key) => fieldOf(map(of), text(key)) ?? '',
  hasKey: (of, key) => Object.hasOwn(map(of), text(key)),
  keys: (...maps) => maps.flatMap((of) => Object.keys(map(of))),
  values: (of) => Object.values(map(of)),
  pick: (of, ...keys) => Object.fromEntries(Object.entries(map(of)).filter(([key]) => keys.map(text).includes(key))),
  omit: (of, ...keys) => Object.fromEntries(Object.entries(map(of)).filter(([key]) => !keys.map(text).includes(key))),
  merge: (...maps) => Object.assign({}, ...[...maps].reverse().map(map)),
  dig: (...args) => {
    const [of, otherwise] = [args.at(-1), args.at(-2)]
    return (
      args.slice(0, -2).reduce((at, key) => (isTemplateMap(at) ? fieldOf(at, text(key)) : undefined), of) ?? otherwise
    )
  },
  first: (values) => list(values)[0],
  last: (values) => list(values).at(-1),
  rest: (values) => list(values).slice(1),
  initial: (values) => list(values).slice(0, -1),
  append: (values, value) => [...list(values), value],
  prepend: (values, value) => [value, ...list(values)],
  concat: (...lists) => lists.flatMap(list),
  has: (value, values) => {
    const wanted = json(value)
    return list(values).some((other) => json(other) === wanted)
  },
  without: (values, ...others) => {
    const gone = new Set(others.map(json))
    return list(values).filter((value) => !gone.has(json(value)))
  },
  uniq: (values) => unique(list(values)),
  compact: (values) => list(values).filter(isTrueInTemplate),
  reverse: (values) => list(values).toReversed(),
  sortAlpha: (values) => list(values).map(text).sort(),
}

/** Go's conditions of a Node that is well. */
const NODE_CONDITIONS = [
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['NetworkUnavailable', 'False', 'RouteCreated', 'RouteController created a route'],
].map(([type, status, reason, message]) => ({ type, status, reason, message }))

/** What KWOK's stages of this version are written for. */
const KWOK_VERSION = 'v0.8.0'

const KWOK: TemplateFunctions = {
  Quote: (value) => (typeof value === 'string' ? json(value) : JSON.stringify(json(value))),
  YAML: (value, indent = 0) => {
    const written = stringify(sorted(value) ?? null, { lineWidth: 0, aliasDuplicateObjects: false })
    return bounded(
      int(indent) > 0 ? `\n${written}`.replaceAll('\n', `\n${'  '.repeat(Math.min(int(indent), 100))}`) : written,
    )
  },
  Version: () => KWOK_VERSION,
  NodeConditions: () => NODE_CONDITIONS,
}

export const templateFunctions: TemplateFunctions = { ...GO, ...TEXTS, ...NUMBERS, ...COLLECTIONS, ...KWOK }
