/** The functions of CEL's standard library: types of their overloads and what they do. Kubernetes' own are in libraries.ts. */

import { patternError, patternFound } from '../schema/structural/patterns.ts'
import { converting, int, textOfBytes, toBool, toDouble, toInt, toUint, uint } from './conversions.ts'
import { durationOf, floored, timestampAt, timestampOf } from './times.ts'
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapOf,
  optionalOf,
  param,
  STRING,
  TIMESTAMP,
  type Type,
  UINT,
} from './types.ts'
import {
  CelDuration,
  CelError,
  compared,
  equals,
  isMapLike,
  MapValue,
  MessageValue,
  mapEntries,
  mapKeyOf,
  NoSuchKey,
  numeric,
  ObjectValue,
  Opaque,
  Optional,
  orderOf,
  parseDuration,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts'

export interface Overload {
  /** Called on its first argument (`a.f(b)`), or as `f(a, b)`. */
  readonly method: boolean
  readonly args: readonly Type[]
  readonly result: Type
  // biome-ignore lint/suspicious/noExplicitAny: the checker has seen to the arguments' types; dynamic ones are looked at again
  readonly run: (...args: any[]) => Value
}

export type Functions = ReadonlyMap<string, readonly Overload[]>

export function define(table: Readonly<Record<string, readonly Overload[]>>): [string, readonly Overload[]][] {
  return Object.entries(table)
}

// biome-ignore lint/suspicious/noExplicitAny: see Overload
export const fn = (args: readonly Type[], result: Type, run: (...args: any[]) => Value): Overload => ({
  method: false,
  args,
  result,
  run,
})
// biome-ignore lint/suspicious/noExplicitAny: see Overload
export const method = (args: readonly Type[], result: Type, run: (...args: any[]) => Value): Overload => ({
  method: true,
  args,
  result,
  run,
})

const A = param('A')
const B = param('B')

function arithmetic(ints: (a: bigint, b: bigint) => bigint, doubles: ((a: number, b: number) => number) | undefined) {
  return [
    fn([INT, INT], INT, (a: bigint, b: bigint) => int(ints(a, b))),
    fn([UINT, UINT], UINT, (a: Uint, b: Uint) => uint(ints(a.value, b.value))),
    ...(doubles === undefined ? [] : [fn([DOUBLE, DOUBLE], DOUBLE, doubles)]),
  ]
}

const nonZero = (value: bigint, what: string): bigint => {
  if (value === 0n) throw new CelError(`${what} by zero`)
  return value
}

export function compare(a: Value, b: Value): number {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) {
    const order = orderOf(x, y)
    if (Number.isNaN(order)) throw new CelError('NaN values cannot be ordered')
    return order
  }
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  if (a instanceof Timestamp && b instanceof Timestamp) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
  if (a instanceof CelDuration && b instanceof CelDuration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
  throw new CelError('no such overload')
}

const COMPARABLE: readonly Type[] = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION]
const NUMBERS: readonly Type[] = [INT, UINT, DOUBLE]

function comparison(holds: (order: number) => boolean): readonly Overload[] {
  const run = (a: Value, b: Value) => holds(compare(a, b))
  const same = COMPARABLE.map((type) => fn([type, type], BOOL, run))
  const mixed = NUMBERS.flatMap((left) =>
    NUMBERS.filter((right) => right !== left).map((right) => fn([left, right], BOOL, run)),
  )
  return [...same, ...mixed]
}

function index(container: Value, key: Value): Value {
  const found = elementAt(container, key)
  if (found !== undefined) return found
  throw Array.isArray(container) ? new CelError(`index out of bounds: ${numeric(key)}`) : new NoSuchKey(show(key))
}

/** The element, or the value of the key; undefined when there is none. @throws CelError for what can have none of the kind */
function elementAt(container: Value, key: Value): Value | undefined {
  if (Array.isArray(container)) {
    const at = numeric(key)
    if (at === undefined) throw new CelError(`unsupported index type '${typeName(key)}' in list`)
    if (typeof at === 'number' && !Number.isInteger(at))
      throw new CelError(`unsupported index value ${show(key)} in list`)
    return at < 0 || at >= container.length ? undefined : container[Number(at)]
  }
  return isMapLike(container) ? mapEntries(container).get(lookedUp(key, container))?.[1] : undefined
}

/** A key as it is looked for: one that no map can have is in none. @throws CelError where only texts are keys */
function lookedUp(key: Value, container: MapValue | ObjectValue): string {
  if (typeof key !== 'string' && (container instanceof ObjectValue || container.given))
    throw new CelError(`unsupported map key type: types.${GO_TYPES[typeName(key)] ?? typeName(key)}`)
  try {
    return mapKeyOf(key)
  } catch (error) {
    if (error instanceof CelError) return ''
    throw error
  }
}

const GO_TYPES: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  ...{ int: 'Int', uint: 'Uint', double: 'Double', bool: 'Bool', bytes: 'Bytes', null_type: 'Null' },
  ...{ 'google.protobuf.Timestamp': 'Timestamp', 'google.protobuf.Duration': 'Duration' },
})

function equality(a: Value, b: Value): boolean {
  const equal = compared(a, b)
  if (equal === undefined) throw new CelError('no such overload')
  return equal
}

export function contains(value: Value, container: Value): boolean {
  if (Array.isArray(container)) return container.some((item) => equals(item, value))
  if (isMapLike(container)) return mapEntries(container).has(lookedUp(value, container))
  throw new CelError('no such overload')
}

export function show(value: Value): string {
  if (value === null) return 'null'
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return timestampText(value)
  if (value instanceof CelDuration) return durationText(value)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (value instanceof Opaque) return value.text
  if (value instanceof TypeValue) return value.name
  if (typeof value === 'number') return doubleText(value)
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (isMapLike(value))
    return `{${[...mapEntries(value).values()].map(([key, inner]) => `${show(key)}: ${show(inner)}`).join(', ')}}`
  return String(value)
}

const exponentOf = (value: number) => (value === 0 ? 0 : Number(value.toExponential().split('e')[1]))
/** Doubles as large as ten to this are written with an exponent, those below 0.0001 too. */
const DIGITS_AT_MOST = 6

const doubleText = (value: number) =>
  Number.isNaN(value)
    ? 'NaN'
    : value === Infinity
      ? '+Inf'
      : value === -Infinity
        ? '-Inf'
        : Object.is(value, -0)
          ? '-0'
          : exponentOf(value) < -4 || exponentOf(value) >= DIGITS_AT_MOST
            ? value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
            : String(value)

export function timestampText({ nanos, offset }: Timestamp): string {
  const seconds = floored(nanos, 1_000_000_000n)
  const whole = new Date(Number(seconds) * 1000 + offset * 60_000).toISOString().slice(0, 19)
  const fraction = (nanos - seconds * 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '')
  return `${whole}${fraction === '' ? '' : `.${fraction}`}${offsetText(offset)}`
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z'
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
}

/** Seconds as the nearest double has them, never with an exponent. */
export function durationText({ nanos }: CelDuration): string {
  const seconds = Number(nanos) / 1e9
  const text = String(seconds)
  return `${text.includes('e') ? seconds.toFixed(9).replace(/0+$/, '') : text}s`
}

function zoned(name: string | undefined): (stamp: Timestamp) => Date {
  return (stamp) => {
    const ms = Number(floored(stamp.nanos, 1_000_000n))
    if (name === undefined || name === '' || name === 'UTC' || name === 'Z') return new Date(ms)
    const offset = /^([+-]?)(\d{1,2}):(\d{1,2})$/.exec(name)
    if (offset !== null)
      return new Date(ms + (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) * 60_000)
    try {
      const parts = new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        hourCycle: 'h23',
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
      }).formatToParts(ms)
      const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
      return new Date(
        Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'), ms % 1000),
      )
    } catch {
      throw new CelError(`unknown time zone ${name}`)
    }
  }
}

function accessor(of: (date: Date) => number): readonly Overload[] {
  return [
    method([TIMESTAMP], INT, (stamp: Timestamp) => BigInt(of(zoned(undefined)(stamp)))),
    method([TIMESTAMP, STRING], INT, (stamp: Timestamp, zone: string) => BigInt(of(zoned(zone)(stamp)))),
  ]
}

const dayOfYear = (date: Date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000)
const durationIn = (unit: bigint) => method([DURATION], INT, (duration: CelDuration) => duration.nanos / unit)

export function typeName(value: Value): string {
  if (value === null) return 'null_type'
  if (typeof value === 'bigint') return 'int'
  if (value instanceof Uint) return 'uint'
  if (typeof value === 'number') return 'double'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'list'
  if (value instanceof MapValue) return 'map'
  if (value instanceof ObjectValue || value instanceof MessageValue) return value.type.name
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof CelDuration) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  return value instanceof Opaque ? value.type : 'type'
}

/** A user's pattern. @throws CelError */
export function matches(text: string, pattern: string): boolean {
  const wrong = patternError(pattern)
  if (wrong !== undefined) throw new CelError(wrong)
  return patternFound(pattern, text)
}

const size = (value: Value): bigint => {
  if (typeof value === 'string') return BigInt([...value].length)
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length)
  if (isMapLike(value)) return BigInt(mapEntries(value).size)
  throw new CelError('no such overload')
}
const SIZED: readonly Type[] = [STRING, BYTES, listType(A), mapOf(A, B)]

/** What holds nothing is asked like a map that has no such key. */
const anyIndex = fn([DYN, A], DYN, index)
const anyOptionalIndex = fn([DYN, A], optionalOf(DYN), optionalIndex)
/** How elements are looked for in what turns out to be no container at all. */
export const elementOfAny: Readonly<Record<string, Overload>> = { '_[_]': anyIndex, '_[?_]': anyOptionalIndex }

export const standard = define({
  '_==_': [fn([A, A], BOOL, equality)],
  // What cannot be compared is not equal: only the question for equality fails.
  '_!=_': [fn([A, A], BOOL, (a: Value, b: Value) => !equals(a, b))],
  '_<_': comparison((order) => order < 0),
  '_<=_': comparison((order) => order <= 0),
  '_>_': comparison((order) => order > 0),
  '_>=_': comparison((order) => order >= 0),
  '_&&_': [fn([BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a && b)],
  '_||_': [fn([BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a || b)],
  '!_': [fn([BOOL], BOOL, (a: boolean) => !a)],
  '-_': [fn([INT], INT, (a: bigint) => int(-a)), fn([DOUBLE], DOUBLE, (a: number) => -a)],
  '_?_:_': [fn([BOOL, A, A], A, (c: boolean, a: Value, b: Value) => (c ? a : b))],
  '_+_': [
    ...arithmetic(
      (a, b) => a + b,
      (a, b) => a + b,
    ),
    fn([STRING, STRING], STRING, (a: string, b: string) => a + b),
    fn([BYTES, BYTES], BYTES, (a: Uint8Array, b: Uint8Array) => Buffer.concat([a, b])),
    fn([listType(A), listType(A)], listType(A), (a: Value[], b: Value[]) => [...a, ...b]),
    fn([TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: CelDuration) => timestampAt(a.nanos + b.nanos, a.offset)),
    fn([DURATION, TIMESTAMP], TIMESTAMP, (a: CelDuration, b: Timestamp) => timestampAt(a.nanos + b.nanos, b.offset)),
    fn([DURATION, DURATION], DURATION, (a: CelDuration, b: CelDuration) => durationOf(a.nanos + b.nanos)),
  ],
  '_-_': [
    ...arithmetic(
      (a, b) => a - b,
      (a, b) => a - b,
    ),
    fn([TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) => durationOf(a.nanos - b.nanos)),
    fn([TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: CelDuration) => timestampAt(a.nanos - b.nanos, a.offset)),
    fn([DURATION, DURATION], DURATION, (a: CelDuration, b: CelDuration) => durationOf(a.nanos - b.nanos)),
  ],
  '_*_': arithmetic(
    (a, b) => a * b,
    (a, b) => a * b,
  ),
  '_/_': arithmetic(
    (a, b) => a / nonZero(b, 'division'),
    (a, b) => a / b,
  ),
  '_%_': arithmetic((a, b) => (b === -1n ? int(-a) % b : a % nonZero(b, 'modulus')), undefined),
  '_[_]': [
    fn([listType(A), INT], A, index),
    fn([mapOf(A, B), A], B, index),
    fn([optionalOf(listType(A)), INT], optionalOf(A), optionalIndex),
    fn([optionalOf(mapOf(A, B)), A], optionalOf(B), optionalIndex),
  ],
  '_[?_]': [
    fn([listType(A), INT], optionalOf(A), optionalIndex),
    fn([mapOf(A, B), A], optionalOf(B), optionalIndex),
    fn([optionalOf(listType(A)), INT], optionalOf(A), optionalIndex),
    fn([optionalOf(mapOf(A, B)), A], optionalOf(B), optionalIndex),
  ],
  '@in': [fn([A, listType(A)], BOOL, contains), fn([A, mapOf(A, B)], BOOL, contains)],
  size: [...SIZED.map((type) => fn([type], INT, size)), ...SIZED.map((type) => method([type], INT, size))],
  type: [fn([A], { kind: 'type', of: A }, (value: Value) => new TypeValue(typeName(value)))],
  dyn: [fn([A], DYN, (value: Value) => value)],
  int: [INT, UINT, DOUBLE, STRING, TIMESTAMP, DURATION].map((type) => fn([type], INT, converting('int', toInt))),
  uint: [INT, UINT, DOUBLE, STRING].map((type) => fn([type], UINT, converting('uint', toUint))),
  double: [INT, UINT, DOUBLE, STRING].map((type) => fn([type], DOUBLE, converting('double', toDouble))),
  bool: [BOOL, STRING].map((type) => fn([type], BOOL, converting('bool', toBool))),
  string: [
    ...[STRING, INT, UINT, DOUBLE, BOOL, TIMESTAMP, DURATION].map((type) => fn([type], STRING, show)),
    fn([BYTES], STRING, textOfBytes),
  ],
  bytes: [fn([STRING], BYTES, (text: string) => Buffer.from(text)), fn([BYTES], BYTES, (bytes: Uint8Array) => bytes)],
  timestamp: [
    fn([STRING], TIMESTAMP, converting('google.protobuf.Timestamp', timestampOf)),
    fn([TIMESTAMP], TIMESTAMP, (stamp: Timestamp) => stamp),
    fn([INT], TIMESTAMP, timestampOf),
  ],
  duration: [
    fn(
      [STRING],
      DURATION,
      converting('google.protobuf.Duration', (text) => parseDuration(text as string)),
    ),
    fn([DURATION], DURATION, (value: CelDuration) => value),
  ],
  startsWith: [method([STRING, STRING], BOOL, (text: string, part: string) => text.startsWith(part))],
  endsWith: [method([STRING, STRING], BOOL, (text: string, part: string) => text.endsWith(part))],
  contains: [method([STRING, STRING], BOOL, (text: string, part: string) => text.includes(part))],
  matches: [fn([STRING, STRING], BOOL, matches), method([STRING, STRING], BOOL, matches)],
  getFullYear: accessor((date) => date.getUTCFullYear()),
  getMonth: accessor((date) => date.getUTCMonth()),
  getDate: accessor((date) => date.getUTCDate()),
  getDayOfMonth: accessor((date) => date.getUTCDate() - 1),
  getDayOfWeek: accessor((date) => date.getUTCDay()),
  getDayOfYear: accessor(dayOfYear),
  getHours: [...accessor((date) => date.getUTCHours()), durationIn(3_600_000_000_000n)],
  getMinutes: [...accessor((date) => date.getUTCMinutes()), durationIn(60_000_000_000n)],
  getSeconds: [...accessor((date) => date.getUTCSeconds()), durationIn(1_000_000_000n)],
  getMilliseconds: [...accessor((date) => date.getUTCMilliseconds()), durationIn(1_000_000n)],
  'optional.of': [fn([A], optionalOf(A), (value: Value) => new Optional(value))],
  'optional.ofNonZeroValue': [
    fn([A], optionalOf(A), (value: Value) => new Optional(isZero(value) ? undefined : value)),
  ],
  'optional.none': [fn([], optionalOf(A), () => new Optional(undefined))],
  hasValue: [method([optionalOf(A)], BOOL, ({ value }: Optional) => value !== undefined)],
  value: [
    method([optionalOf(A)], A, ({ value }: Optional) => {
      if (value === undefined) throw new CelError('optional.none() dereference')
      return value
    }),
  ],
  orValue: [method([optionalOf(A), A], A, ({ value }: Optional, other: Value) => value ?? other)],
  or: [
    method([optionalOf(A), optionalOf(A)], optionalOf(A), (a: Optional, b: Optional) =>
      a.value === undefined ? b : a,
    ),
  ],
})

function optionalIndex(container: Value, key: Value): Value {
  const inside = container instanceof Optional ? container.value : container
  return new Optional(inside === undefined ? undefined : elementAt(inside, key))
}

const isZero = (value: Value): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  value === 0 ||
  value === 0n ||
  (Array.isArray(value) && value.length === 0) ||
  (isMapLike(value) && mapEntries(value).size === 0)
