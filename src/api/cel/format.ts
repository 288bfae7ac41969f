/**
 * printf of CEL's strings extension, as Kubernetes has it (version 2): verbs, what each takes, how numbers read. A constant
 * template is held against its arguments' types before anything is evaluated.
 */
import { isUtf8 } from 'node:buffer'
import { show } from './functions.ts'
import type { Issue } from './issues.ts'
import type { SyntaxNode } from './parse.ts'
import { isDyn, type Type } from './types.ts'
import { CelDuration, CelError, isMapLike, mapEntries, Timestamp, TypeValue, Uint, type Value } from './values.ts'

interface Clause {
  readonly verb: string
  readonly precision: number | undefined
}

/** A double has no more digits than this, and a template may ask for any number of zeros. */
const MOST_DIGITS = 10_000

const WANTED: Readonly<Record<string, { readonly types: ReadonlySet<string>; readonly text: string }>> = {
  s: {
    types: new Set([
      ...['string', 'bool', 'bytes', 'int', 'uint', 'double', 'map', 'list', 'type', 'null_type'],
      ...['google.protobuf.Duration', 'google.protobuf.Timestamp'],
    ]),
    text: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { types: new Set(['int', 'uint']), text: 'decimal clause can only be used on integers' },
  f: { types: new Set(['double', 'string']), text: 'fixed-point clause can only be used on doubles' },
  e: { types: new Set(['double', 'string']), text: 'scientific clause can only be used on doubles' },
  b: { types: new Set(['int', 'uint', 'bool']), text: 'only integers and bools can be formatted as binary' },
  o: { types: new Set(['int', 'uint']), text: 'octal clause can only be used on integers' },
  x: {
    types: new Set(['int', 'uint', 'bytes', 'string']),
    text: 'only integers, byte buffers, and strings can be formatted as hex',
  },
}

const wantedOf = (verb: string) => WANTED[verb === 'X' ? 'x' : verb]

/** The template's texts and clauses in turn. @throws CelError for a clause that is none */
function partsOf(template: string): readonly (string | Clause)[] {
  const parts: (string | Clause)[] = []
  let from = 0
  for (let at = template.indexOf('%'); at >= 0; at = template.indexOf('%', from)) {
    parts.push(template.slice(from, at))
    if (at + 1 >= template.length) throw new CelError('unexpected end of string')
    if (template[at + 1] === '%') {
      parts.push('%')
      from = at + 2
      continue
    }
    const [, dotted, digits = ''] = /^(\.(\d*))?/.exec(template.slice(at + 1)) as RegExpExecArray
    if (dotted !== undefined && digits === '')
      throw new CelError(
        'could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax',
      )
    from = at + 1 + (dotted?.length ?? 0)
    const [verb] = template.slice(from)
    if (verb === undefined) throw new CelError('unexpected end of string')
    if (wantedOf(verb) === undefined)
      throw new CelError(`could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(verb)}`)
    parts.push({ verb, precision: dotted === undefined ? undefined : Number(digits) })
    from += verb.length
  }
  parts.push(template.slice(from))
  return parts
}

/** `typeName` tells a value's type. @throws CelError for a clause that is none, or an argument that is missing or of no use */
export function format(template: string, args: readonly Value[], typeName: (value: Value) => string): string {
  let next = 0
  const texts = partsOf(template).map((part) => {
    if (typeof part === 'string') return part
    if (next >= args.length) throw new CelError(`index ${next} out of range`)
    return clauseText(part, args[next++] as Value, typeName)
  })
  if (next < args.length)
    throw new CelError(`too many arguments supplied to string.format (expected ${next}, got ${args.length})`)
  return texts.join('')
}

const unfit = (verb: string, type: string) =>
  new CelError(`error during formatting: ${wantedOf(verb)?.text}, was given ${type}`)

function clauseText({ verb, precision }: Clause, value: Value, typeName: (value: Value) => string): string {
  const type = typeName(value)
  const refused = unfit(verb, type)
  if (verb === 's') return printed(value, typeName)
  if (wantedOf(verb)?.types.has(type) !== true) throw refused
  const number = value instanceof Uint ? value.value : value
  switch (verb) {
    case 'd':
      return String(number)
    case 'f':
    case 'e': {
      const double = typeof value === 'string' ? SPECIAL[value] : (value as number)
      if (double === undefined) throw refused
      const digits = precision === undefined ? DIGITS : Math.min(precision, MOST_DIGITS)
      // Kubernetes' version of the library has one precision for exponents.
      return verb === 'f' ? fixedPoint(double, digits) : scientific(double, DIGITS)
    }
    case 'b':
      return typeof number === 'boolean' ? (number ? '1' : '0') : (number as bigint).toString(2)
    case 'o':
      return (number as bigint).toString(8)
    default: {
      const text = typeof number === 'bigint' ? number.toString(16) : Buffer.from(number as string).toString('hex')
      return verb === 'X' ? text.toUpperCase() : text
    }
  }
}

/** Digits behind the point, where a clause does not say. */
const DIGITS = 6
const SPECIAL: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity }

function notFinite(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  return Number.isFinite(value) ? undefined : value < 0 ? '-∞' : '∞'
}

function fixedPoint(value: number, digits: number): string {
  const named = notFinite(value)
  if (named !== undefined) return named
  const [whole = '', fraction] = rounded(value, digits).split('.')
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

function scientific(value: number, digits: number): string {
  const named = notFinite(value)
  if (named !== undefined) return named.padStart(digits)
  let exponent = value === 0 ? 0 : Number(value.toExponential().split('e')[1])
  let text = rounded(value, digits, exponent)
  if (/^-?10/.test(text)) text = rounded(value, digits, ++exponent)
  const raised = [...String(Math.abs(exponent)).padStart(2, '0')].map((digit) => SUPERSCRIPTS[Number(digit)]).join('')
  return `${text}×10${exponent < 0 ? '⁻' : ''}${raised}`
}

/** The decimal of so many digits that is nearest to value / 10^exponent, of two the even one. */
function rounded(value: number, digits: number, exponent = 0): string {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, Math.abs(value))
  const word = bits.getBigUint64(0)
  const power = Number(word >> 52n)
  const mantissa = (word & 0xfffffffffffffn) | (power === 0 ? 0n : 1n << 52n)
  const binary = BigInt(Math.max(power, 1) - 1075)
  const decimal = BigInt(digits - exponent)
  const over = mantissa * (binary > 0n ? 1n << binary : 1n) * (decimal > 0n ? 10n ** decimal : 1n)
  const under = (binary < 0n ? 1n << -binary : 1n) * (decimal < 0n ? 10n ** -decimal : 1n)
  let quotient = over / under
  const rest = (over % under) * 2n
  if (rest > under || (rest === under && quotient % 2n === 1n)) quotient++
  const text = String(quotient).padStart(digits + 1, '0')
  const point = text.length - digits
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return sign + (digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`)
}

/** Types of keys that `%s` prints. */
const KEYS = new Set(['string', 'bool', 'int', 'uint'])

/** A value as `%s` prints it; inside of lists and maps as an expression that makes it. */
function printed(value: Value, typeName: (value: Value) => string, inside = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => printed(item, typeName, true)).join(', ')}]`
  if (isMapLike(value)) {
    const entries = [...mapEntries(value).values()].map(([key, inner]) => {
      if (!KEYS.has(typeName(key)))
        throw new CelError(`error during formatting: no formatting function for map key of type ${typeName(key)}`)
      return `${printed(key, typeName, true)}:${printed(inner, typeName, true)}`
    })
    return `{${entries.sort().join(', ')}}`
  }
  if (WANTED['s']?.types.has(typeName(value)) !== true) throw unfit('s', typeName(value))
  if (value instanceof Uint8Array && !isUtf8(value))
    throw new CelError(
      'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    )
  if (!inside || value instanceof TypeValue) return show(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? rounded(value, DIGITS) : JSON.stringify(show(value))
  if (value instanceof Timestamp) return `timestamp(${JSON.stringify(show(value))})`
  if (value instanceof CelDuration) return `duration(${JSON.stringify(show(value))})`
  if (value instanceof Uint8Array) return `b${JSON.stringify(show(value))}`
  return show(value)
}

/** A constant template that is wrong, or that asks of its arguments what their types are not. */
export function wrongFormat(
  [template, list]: readonly SyntaxNode[],
  types: ReadonlyMap<SyntaxNode, Type>,
  at: number,
): Issue | undefined {
  if (template?.kind !== 'const' || template.value.type !== 'string' || list?.kind !== 'list') return undefined
  let clauses: readonly Clause[]
  try {
    clauses = partsOf(template.value.value).filter((part) => typeof part !== 'string')
  } catch (error) {
    if (error instanceof CelError) return { at, message: error.message }
    throw error
  }
  for (const [i, { verb }] of clauses.entries()) {
    const item = list.items[i]
    if (item === undefined) return { at, message: `index ${i} out of range` }
    const wrong = wrongType(item, types, verb)
    if (wrong !== undefined) return wrong
  }
  const [wanted, given] = [clauses.length, list.items.length]
  if (wanted >= given) return undefined
  return { at, message: `too many arguments supplied to string.format (expected ${wanted}, got ${given})` }
}

function wrongType(item: SyntaxNode, types: ReadonlyMap<SyntaxNode, Type>, verb: string): Issue | undefined {
  const type = types.get(item)
  if (type === undefined || isDyn(type) || type.kind === 'param') return undefined
  if (verb === 's' && item.kind === 'list') return firstOf(item.items, (one) => wrongType(one, types, verb))
  if (verb === 's' && item.kind === 'map')
    return firstOf(item.entries, ({ key, value }) => wrongType(key, types, verb) ?? wrongType(value, types, verb))
  const name = type.kind === 'simple' || type.kind === 'object' ? type.name : KINDS[type.kind]
  if (wantedOf(verb)?.types.has(name) === true) return undefined
  return { at: item.at, message: unfit(verb, name).message }
}

const KINDS = { list: 'list', map: 'map', type: 'type', optional: 'optional_type' } as const

function firstOf<T>(items: readonly T[], problem: (item: T) => Issue | undefined): Issue | undefined {
  for (const item of items) {
    const found = problem(item)
    if (found !== undefined) return found
  }
  return undefined
}
