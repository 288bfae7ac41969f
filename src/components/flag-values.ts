/** What values a flag of each type may have, and what pflag says of another. */
import { isIP } from 'node:net'
import { quantityValue } from '../api/values/quantity.ts'
import { certificateAndNames } from '../base/certificate-and-names.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoBool } from '../base/go-bool.ts'
import { parseGoDuration } from '../base/go-duration.ts'
import { isGoInfinity, parseGoFloat, parseGoInteger } from '../base/go-number.ts'
import { KUBERNETES_VERSION } from '../cluster/version.ts'
import { taintProblem, taintsIn } from './flag-taints.ts'

export type FlagType =
  | 'bool'
  | 'int'
  | 'int32'
  | 'uint'
  | 'float'
  | 'float32'
  | 'duration'
  | 'ip'
  | 'string'
  | 'strings'
  | 'array'
  | 'certificate'
  /** As strings, each a number of 32 bits. */
  | 'ints'
  /** As strings, each `name=value`. */
  | 'pairs'
  /** The same with `<`, with a boolean as its value, with `:`. */
  | 'bounds'
  | 'switches'
  | 'headers'
  /** `name=value`, or several of them with commas between. */
  | 'labels'
  /** As strings, each `pattern=N`. */
  | 'vmodule'
  /** How much a log says. */
  | 'level'
  | 'quantity'
  /** `1-10`, `1+9` or one of them. */
  | 'ports'
  /** As strings, each a taint of a node. */
  | 'taints'
  /** A boolean, `raw`, or a version to be told. */
  | 'version'

/** Those that are taken apart at commas. */
const LISTS: ReadonlySet<FlagType> = new Set([
  ...(['strings', 'ints', 'pairs', 'bounds', 'switches', 'headers', 'vmodule', 'taints'] as const),
])

/** What stands between the two of a pair, and what a pair is called. */
const PAIRS: Readonly<Partial<Record<FlagType, readonly [sign: string, words: string]>>> = {
  pairs: ['=', 'string=string'],
  bounds: ['<', 'string<string'],
  switches: ['=', 'string=bool'],
  headers: [':', 'string:string'],
}

/** The values that one text stands for: none is added by an empty list. */
export function valuesIn(type: FlagType, text: string): readonly string[] {
  if (!LISTS.has(type)) return [text]
  if (type === 'taints') return taintsIn(text)
  return type === 'strings' ? quotedList(text).items : listed(text)
}

const listed = (value: string): string[] => (value === '' ? [] : value.split(','))

/** A line of comma-separated values (RFC 4180), as Go reads one. */
function quotedList(text: string): { readonly items: readonly string[]; readonly why?: string } {
  if (!text.includes('"')) return { items: listed(text) }
  const items: string[] = []
  const wrong = (column: number, what: string) => ({
    items,
    why: `parse error on line 1, column ${column}: ${what}`,
  })
  let at = 0
  for (;;) {
    if (text[at] === '"') {
      const [quoted = '', inner = ''] = /^"((?:[^"]|"")*)"/.exec(text.slice(at)) ?? []
      if (quoted === '') return wrong(text.length + 1, 'extraneous or missing " in quoted-field')
      items.push(inner.replaceAll('""', '"'))
      at += quoted.length
      if (at < text.length && text[at] !== ',') return wrong(at, 'extraneous or missing " in quoted-field')
    } else {
      const end = text.indexOf(',', at)
      const item = end < 0 ? text.slice(at) : text.slice(at, end)
      if (item.includes('"')) return wrong(at + item.indexOf('"') + 1, 'bare " in non-quoted-field')
      items.push(item)
      at += item.length
    }
    if (at >= text.length) return { items }
    at++
  }
}

/** `name=value`s of a text of type `labels`; one that is none has no `=`. */
export function labelPairs(text: string): readonly string[] {
  return text.split('=').length <= 2 ? [text] : quotedList(text).items
}

/** That skiff behaves as. */
const RELEASE = KUBERNETES_VERSION.replace(/\+.*/, '')

/** Undefined where the value is right. */
export function whyWrong(type: FlagType, value: string): string | undefined {
  const parsing = (how: string, text = value, why = 'invalid syntax') =>
    `strconv.${how}: parsing ${JSON.stringify(text)}: ${why}`
  switch (type) {
    case 'bool':
      return parseGoBool(value) === undefined ? parsing('ParseBool') : undefined
    case 'version':
      if (value === 'raw') return undefined
      if (value.startsWith('v'))
        return value.split(/[-+]/)[0] === RELEASE
          ? undefined
          : `version ${JSON.stringify(value)} must match major/minor/patch of default version ${JSON.stringify(RELEASE)}`
      return parseGoBool(value) === undefined ? parsing('ParseBool') : undefined
    case 'int':
      return whyNoInteger(value, 64)
    case 'int32':
      return whyNoInteger(value, 32)
    case 'uint':
      if (parseGoInteger(value) === undefined || /^[-+]/.test(value)) return parsing('ParseUint')
      return (parseGoInteger(value) as bigint) >= 2n ** 64n
        ? parsing('ParseUint', value, 'value out of range')
        : undefined
    case 'level':
      if (!/^\d+$/.test(value)) return parsing('ParseUint')
      return BigInt(value) >= 2n ** 31n ? parsing('ParseUint', value, 'value out of range') : undefined
    case 'float':
    case 'float32': {
      const number = parseGoFloat(value)
      if (number === undefined) return parsing('ParseFloat')
      const isTooLarge = !Number.isFinite(type === 'float32' ? Math.fround(number) : number) && !isGoInfinity(value)
      return isTooLarge ? parsing('ParseFloat', value, 'value out of range') : undefined
    }
    case 'duration':
      return why(() => parseGoDuration(value))
    case 'ip':
      return value === '' || (isIP(value) !== 0 && !value.includes('%'))
        ? undefined
        : `failed to parse IP: ${JSON.stringify(value)}`
    case 'certificate':
      if (certificateAndNames(value) !== undefined) return undefined
      return /^[^,:]+,[^,:]+:$/.test(value)
        ? 'empty names list is not allowed'
        : 'expected comma separated certificate and key file paths'
    case 'strings':
      return quotedList(value).why
    case 'ints':
      return first(value.split(','), (one) => whyNoInteger(one, 32))
    case 'pairs':
    case 'bounds':
    case 'switches':
    case 'headers': {
      const [sign, words] = PAIRS[type] as readonly [string, string]
      const isRight = listed(value).every((one) => one === '' || one.includes(sign))
      return isRight ? undefined : `malformed pair, expect ${words}`
    }
    case 'taints':
      return value === '' ? undefined : taintProblem(value.split(','))
    case 'labels':
      return first(labelPairs(value), (one) =>
        one.includes('=') ? undefined : `${one} must be formatted as key=value`,
      )
    case 'vmodule':
      return first(listed(value), (one) => {
        const [, level] = /^[^=]+=(.*)$/s.exec(one) ?? []
        if (level === undefined) return `${JSON.stringify(one)} does not have the pattern=N format`
        return /^\d+$/.test(level)
          ? undefined
          : `parsing verbosity in ${JSON.stringify(one)}: ${parsing('ParseUint', level)}`
      })
    case 'quantity':
      return why(() => quantityValue(value))
    case 'ports':
      return whyNoPorts(value)
    default:
      return undefined
  }
}

function whyNoInteger(value: string, bits: number): string | undefined {
  const parsing = (reason: string) => `strconv.ParseInt: parsing ${JSON.stringify(value)}: ${reason}`
  const number = parseGoInteger(value)
  if (number === undefined) return parsing('invalid syntax')
  const limit = 2n ** BigInt(bits - 1)
  return number >= limit || number < -limit ? parsing('value out of range') : undefined
}

/** As Kubernetes reads a range of ports; none is no fault. */
function whyNoPorts(value: string): string | undefined {
  const [, from = '', kind = '', to = ''] = /^\s*([^-+]*)([-+]?)(.*?)\s*$/s.exec(value) ?? []
  if (value.trim() === '') return undefined
  const numbers = kind === '' ? [from] : [from, to]
  const wrong = numbers.find((one) => !/^[-+]?\d+$/.test(one))
  if (wrong !== undefined) return `strconv.Atoi: parsing ${JSON.stringify(wrong)}: invalid syntax`
  const [low = 0, second = low] = numbers.map(Number)
  const high = kind === '+' ? low + second : second
  if (low > 65535 || high > 65535) return `the port range cannot be greater than 65535: ${value}`
  return high < low ? `end port cannot be less than start port: ${value}` : undefined
}

/** What is thrown, if anything is. */
function why(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function first<T>(list: readonly T[], judge: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const found = judge(one)
    if (found !== undefined) return found
  }
  return undefined
}

/** The number that a right value of a numeric type stands for. */
export function numberIn(type: FlagType, value: string): number {
  if (type === 'float' || type === 'float32') return parseGoFloat(value) ?? Number.NaN
  const whole = parseGoInteger(value)
  return whole === undefined ? Number(value) : Number(whole)
}
