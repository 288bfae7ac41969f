/** Kubernetes' functions for CEL: strings, lists, regular expressions, URLs, quantities, addresses, sets, formats, semver. */
import { dns1035Label, dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../names/name-formats.ts'
import { formatCheck } from '../schema/structural/formats.ts'
import { compilePattern, patternError } from '../schema/structural/patterns.ts'
import { nanosOf } from '../values/quantity.ts'
import { addressLibrary } from './addresses.ts'
import { format } from './format.ts'
import { compare, define, type Functions, fn, method, standard, typeName } from './functions.ts'
import { lists } from './lists.ts'
import {
  BOOL,
  BYTES,
  CIDR,
  DOUBLE,
  DURATION,
  DYN,
  FORMAT,
  INT,
  IP,
  listType,
  optionalOf,
  param,
  QUANTITY,
  SEMVER,
  STRING,
  TIMESTAMP,
  UINT,
  URL_TYPE,
} from './types.ts'
import { uriProblems, urlLibrary } from './urls.ts'
import { CelDuration, CelError, equals, Opaque, Optional, Uint, type Value } from './values.ts'

const T = param('T')

const at = (text: readonly string[], index: bigint): number => {
  if (index < 0n || index > BigInt(text.length)) throw new CelError(`index out of range: ${index}`)
  return Number(index)
}

const points = (text: string) => [...text]

function substring(text: string, start: bigint, end?: bigint): string {
  const all = points(text)
  const from = at(all, start)
  const to = end === undefined ? all.length : at(all, end)
  if (from > to) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  return all.slice(from, to).join('')
}

/** Places are counted in code points; one behind the end finds nothing. */
function indexOf(text: string, part: string, from = 0n): bigint {
  if (from < 0n) throw new CelError(`index out of range: ${from}`)
  const all = points(text)
  if (from > BigInt(all.length)) return -1n
  const before = all.slice(0, Number(from)).join('').length
  return pointAt(text, text.indexOf(part, before))
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  if (from === undefined) return pointAt(text, text.lastIndexOf(part))
  if (from < 0n) throw new CelError(`index out of range: ${from}`)
  const all = points(text)
  if (from > BigInt(all.length)) return -1n
  return pointAt(text, text.lastIndexOf(part, all.slice(0, Number(from)).join('').length))
}

const pointAt = (text: string, at: number): bigint => (at < 0 ? -1n : BigInt(points(text.slice(0, at)).length))

const QUOTED: Readonly<Record<string, string>> = {
  ...{ '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v' },
  ...{ '\\': '\\\\', '"': '\\"' },
}
const quoted = (text: string): string => `"${[...text].map((c) => QUOTED[c] ?? c).join('')}"`

/** Without the characters at either end that Unicode calls white space. */
const trimmed = (text: string): string => text.replace(/^[\p{White_Space}]+/u, '').replace(/[\p{White_Space}]+$/u, '')

function split(text: string, separator: string, limit = -1n): readonly string[] {
  if (limit === 0n) return []
  const parts = separator === '' ? points(text) : text.split(separator)
  if (limit < 0n || BigInt(parts.length) <= limit) return parts
  const head = parts.slice(0, Number(limit) - 1)
  return [...head, parts.slice(Number(limit) - 1).join(separator)]
}

function replace(text: string, from: string, to: string, limit = -1n): string {
  if (limit < 0n) return text.replaceAll(from, () => to)
  let out = text
  let begin = 0
  for (let i = 0n; i < limit; i++) {
    const found = out.indexOf(from, begin)
    if (found < 0) break
    out = out.slice(0, found) + to + out.slice(found + from.length)
    begin = found + to.length
  }
  return out
}

const ORDERED = [INT, UINT, DOUBLE, BOOL, STRING, BYTES, TIMESTAMP, DURATION]

function extreme(sign: number): (list: readonly Value[]) => Value {
  return (list) => {
    if (list.length === 0) throw new CelError(sign < 0 ? 'min called on empty list' : 'max called on empty list')
    return list.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best))
  }
}

function sum(list: readonly Value[]): Value {
  const [first] = list
  if (first === undefined) return 0n
  if (typeof first === 'bigint') return (list as readonly bigint[]).reduce((a, b) => a + b, 0n)
  if (typeof first === 'number') return (list as readonly number[]).reduce((a, b) => a + b, 0)
  if (first instanceof Uint) return new Uint((list as readonly Uint[]).reduce((a, b) => a + b.value, 0n))
  return new CelDuration((list as readonly CelDuration[]).reduce((a, b) => a + b.nanos, 0n))
}

const isSorted = (list: readonly Value[]) =>
  list.every((item, i) => i === 0 || compare(list[i - 1] as Value, item) <= 0)
const position = (list: readonly Value[], value: Value) => BigInt(list.findIndex((item) => equals(item, value)))
const lastPosition = (list: readonly Value[], value: Value) => BigInt(list.findLastIndex((item) => equals(item, value)))

function find(text: string, pattern: string): string {
  const compiled = compilePattern(pattern)
  if (compiled === undefined) throw new CelError(`Illegal regex: ${patternError(pattern)}`)
  const matcher = compiled.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

function findAll(text: string, pattern: string, limit = -1n): readonly string[] {
  const compiled = compilePattern(pattern)
  if (compiled === undefined) throw new CelError(`Illegal regex: ${patternError(pattern)}`)
  const matcher = compiled.matcher(text)
  const found: string[] = []
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) found.push(matcher.group() ?? '')
  return found
}

/** A quantity as a fraction of two integers: exact, whatever its suffix. */
export function quantity(text: string): Opaque {
  try {
    const nanos = nanosOf(text)
    return new Opaque('kubernetes.Quantity', nanos, text, String(nanos))
  } catch {
    throw new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
  }
}

const canQuantity = (text: string): boolean => {
  try {
    nanosOf(text)
    return true
  } catch {
    return false
  }
}

const NAMED: Readonly<Record<string, (text: string) => readonly string[]>> = {
  dns1123Label,
  dns1123Subdomain,
  dns1035Label,
  qualifiedName,
  labelValue,
  dns1123LabelPrefix: (text) => dns1123Label(text.replace(/-$/, 'a')),
  dns1123SubdomainPrefix: (text) => dns1123Subdomain(text.replace(/-$/, 'a')),
  dns1035LabelPrefix: (text) => dns1035Label(text.replace(/-$/, 'a')),
  uri: uriProblems,
}
for (const [name, told] of [
  ['uuid', 'does not match the UUID format'],
  ['byte', 'invalid base64'],
  ['date', 'invalid date'],
  ['datetime', 'invalid datetime'],
] as const)
  Object.assign(NAMED, { [name]: (text: string) => (formatCheck(name)?.(text) === false ? [told] : []) })

const namedFormat = (name: string) => new Opaque('kubernetes.NamedFormat', NAMED[name], name)

const SEMVER_FORM =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/

export function semver(given: string, normalize = false): Opaque {
  const text = normalize ? normalized(given) : given
  const match = SEMVER_FORM.exec(text)
  if (match === null) throw new CelError('No Major.Minor.Patch elements found')
  return new Opaque(
    'kubernetes.Semver',
    { parts: [BigInt(match[1]!), BigInt(match[2]!), BigInt(match[3]!)], pre: match[4]?.split('.') ?? [] },
    text,
    text.split('+')[0],
  )
}

function normalized(text: string): string {
  const [, core = '', rest = ''] = /^v?([^-+]*)(.*)$/.exec(text) ?? []
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''))
  while (parts.length < 3) parts.push('0')
  return parts.join('.') + rest
}

const canSemver = (text: string, normalize = false): boolean => SEMVER_FORM.test(normalize ? normalized(text) : text)

function compareSemver(a: Opaque, b: Opaque): number {
  for (let i = 0; i < 3; i++) if (a.data.parts[i] !== b.data.parts[i]) return a.data.parts[i] < b.data.parts[i] ? -1 : 1
  const [x, y] = [a.data.pre as string[], b.data.pre as string[]]
  if (x.length === 0 || y.length === 0) return y.length === 0 ? (x.length === 0 ? 0 : -1) : 1
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const [p, q] = [x[i], y[i]]
    if (p === undefined || q === undefined) return p === undefined ? -1 : 1
    if (p === q) continue
    const [m, n] = [/^\d+$/.test(p), /^\d+$/.test(q)]
    if (m && n) return BigInt(p) < BigInt(q) ? -1 : 1
    if (m !== n) return m ? -1 : 1
    return p < q ? -1 : 1
  }
  return 0
}

const within = (a: readonly Value[], b: readonly Value[]) => b.every((item) => a.some((other) => equals(item, other)))

const quantities = (run: (order: number) => boolean) =>
  method([QUANTITY, QUANTITY], BOOL, (a: Opaque, b: Opaque) => run(compareQuantities(a, b)))
const semvers = (run: (order: number) => boolean) =>
  method([SEMVER, SEMVER], BOOL, (a: Opaque, b: Opaque) => run(compareSemver(a, b)))

function compareQuantities(a: Opaque, b: Opaque): number {
  return a.data < b.data ? -1 : a.data > b.data ? 1 : 0
}

const order = (value: number) => BigInt(Math.sign(value))

const kubernetes = define({
  charAt: [method([STRING, INT], STRING, (text: string, index: bigint) => points(text)[at(points(text), index)] ?? '')],
  indexOf: [
    method([STRING, STRING], INT, indexOf),
    method([STRING, STRING, INT], INT, indexOf),
    method([listType(T), T], INT, position),
  ],
  lastIndexOf: [
    method([STRING, STRING], INT, lastIndexOf),
    method([STRING, STRING, INT], INT, lastIndexOf),
    method([listType(T), T], INT, lastPosition),
  ],
  lowerAscii: [method([STRING], STRING, (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase()))],
  upperAscii: [method([STRING], STRING, (text: string) => text.replace(/[a-z]/g, (c) => c.toUpperCase()))],
  replace: [method([STRING, STRING, STRING], STRING, replace), method([STRING, STRING, STRING, INT], STRING, replace)],
  split: [method([STRING, STRING], listType(STRING), split), method([STRING, STRING, INT], listType(STRING), split)],
  join: [
    method([listType(STRING)], STRING, (list: readonly string[]) => list.join('')),
    method([listType(STRING), STRING], STRING, (list: readonly string[], separator: string) => list.join(separator)),
  ],
  substring: [method([STRING, INT], STRING, substring), method([STRING, INT, INT], STRING, substring)],
  trim: [method([STRING], STRING, trimmed)],
  'strings.quote': [fn([STRING], STRING, quoted)],
  format: [
    method([STRING, listType(DYN)], STRING, (template: string, args: readonly Value[]) =>
      format(template, args, typeName),
    ),
  ],
  isSorted: ORDERED.map((type) => method([listType(type)], BOOL, isSorted)),
  min: ORDERED.map((type) => method([listType(type)], type, extreme(-1))),
  max: ORDERED.map((type) => method([listType(type)], type, extreme(1))),
  sum: [INT, UINT, DOUBLE, DURATION].map((type) => method([listType(type)], type, sum)),
  find: [method([STRING, STRING], STRING, find)],
  findAll: [
    method([STRING, STRING], listType(STRING), findAll),
    method([STRING, STRING, INT], listType(STRING), findAll),
  ],
  ...urlLibrary(URL_TYPE),
  quantity: [fn([STRING], QUANTITY, quantity)],
  isQuantity: [fn([STRING], BOOL, canQuantity)],
  isGreaterThan: [quantities((sign) => sign > 0), semvers((sign) => sign > 0)],
  isLessThan: [quantities((sign) => sign < 0), semvers((sign) => sign < 0)],
  compareTo: [
    method([QUANTITY, QUANTITY], INT, (a: Opaque, b: Opaque) => order(compareQuantities(a, b))),
    method([SEMVER, SEMVER], INT, (a: Opaque, b: Opaque) => order(compareSemver(a, b))),
  ],
  ...QUANTITY_MATH(),
  semver: [fn([STRING], SEMVER, semver), fn([STRING, BOOL], SEMVER, semver)],
  isSemver: [fn([STRING], BOOL, canSemver), fn([STRING, BOOL], BOOL, canSemver)],
  major: [method([SEMVER], INT, ({ data }: Opaque) => data.parts[0])],
  minor: [method([SEMVER], INT, ({ data }: Opaque) => data.parts[1])],
  patch: [method([SEMVER], INT, ({ data }: Opaque) => data.parts[2])],
  'sets.contains': [fn([listType(T), listType(T)], BOOL, within)],
  'sets.equivalent': [fn([listType(T), listType(T)], BOOL, (a: Value[], b: Value[]) => within(a, b) && within(b, a))],
  'sets.intersects': [
    fn([listType(T), listType(T)], BOOL, (a: Value[], b: Value[]) =>
      a.some((item) => b.some((other) => equals(item, other))),
    ),
  ],
  'format.named': [
    fn(
      [STRING],
      optionalOf(FORMAT),
      (name: string) => new Optional(Object.hasOwn(NAMED, name) ? namedFormat(name) : undefined),
    ),
  ],
  ...Object.fromEntries(
    Object.keys(NAMED).map((name) => [`format.${name}`, [fn([], FORMAT, () => namedFormat(name))]]),
  ),
  validate: [
    method([FORMAT, STRING], optionalOf(listType(STRING)), ({ data }: Opaque, text: string) => {
      const errors: readonly string[] = data(text)
      return new Optional(errors.length === 0 ? undefined : errors)
    }),
  ],
  ...addressLibrary({ IP, CIDR }),
})

function QUANTITY_MATH() {
  const nano = 1_000_000_000n
  const of = (data: bigint) => new Opaque('kubernetes.Quantity', data, String(data))
  const operand = (value: Opaque | bigint) => (typeof value === 'bigint' ? value * nano : (value.data as bigint))
  return {
    // The only one of them that is no method.
    sign: [fn([QUANTITY], INT, ({ data }: Opaque) => (data < 0n ? -1n : data > 0n ? 1n : 0n))],
    isInteger: [method([QUANTITY], BOOL, ({ data }: Opaque) => data % nano === 0n)],
    asInteger: [
      method([QUANTITY], INT, ({ data }: Opaque) => {
        if (data % nano !== 0n) throw new CelError('cannot convert value to integer')
        return data / nano
      }),
    ],
    asApproximateFloat: [method([QUANTITY], DOUBLE, ({ data }: Opaque) => Number(data) / 1e9)],
    add: [QUANTITY, INT].map((type) =>
      method([QUANTITY, type], QUANTITY, (a: Opaque, b: Opaque | bigint) => of(a.data + operand(b))),
    ),
    sub: [QUANTITY, INT].map((type) =>
      method([QUANTITY, type], QUANTITY, (a: Opaque, b: Opaque | bigint) => of(a.data - operand(b))),
    ),
  }
}

/** Everything an expression may call. Functions of one name are joined. */
export function allFunctions(): Functions {
  const table = new Map<string, readonly (typeof standard)[number][1][number][]>()
  for (const [name, overloads] of [...standard, ...kubernetes, ...lists])
    table.set(name, [...(table.get(name) ?? []), ...overloads])
  return table
}
