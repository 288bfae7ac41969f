/**
 * Command lines as the executables that these stand for read them: Go's flags (etcd) and those of pflag (kube-apiserver). What is
 * wrong is told in their words, as far as a starter may look for them.
 */
import { isIP } from 'node:net'
import { quantityValue } from '../api/objects/quantity.ts'
import { certificateAndNames } from '../base/certificate-and-names.ts'
import { messageOf } from '../base/errors.ts'
import { parseGoBool } from '../base/go-bool.ts'
import { parseGoDuration } from '../base/go-duration.ts'

export type FlagType =
  | 'bool'
  | 'int'
  | 'uint'
  | 'float'
  | 'duration'
  | 'ip'
  | 'string'
  | 'strings'
  | 'array'
  | 'certificate'
  /** As strings, each a number. */
  | 'ints'
  /** As strings, each `name=value`. */
  | 'pairs'
  /** A text of `name=value`, of which the first has to be one. */
  | 'labels'
  /** As strings, each `pattern=N`. */
  | 'vmodule'
  | 'quantity'
  /** `1-10`, `1+9` or one of them. */
  | 'ports'

/** Those that are taken apart at commas. */
const LISTS: ReadonlySet<FlagType> = new Set(['strings', 'ints', 'pairs', 'vmodule'])

/**
 * What becomes of a flag: it is used; it changes nothing that a client of skiff sees, and is passed over; or it would change what
 * skiff does not do, and only its default is taken.
 */
export type Handling = 'used' | 'ignored' | 'lacking'

export interface Flag {
  readonly name: string
  readonly type: FlagType
  readonly handling: Handling
  /** Where it has one. */
  readonly usual?: string
}

/** The values of each flag that was given, in order; those of type `strings` are taken apart at commas. */
export type FlagValues = ReadonlyMap<string, readonly string[]>

/** What a command line is refused with. */
export class FlagError extends Error {}

/** Lines of `name type handling [default]`. */
export function flagTable(text: string): ReadonlyMap<string, Flag> {
  const flags = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): Flag => {
      const [name = '', type, handling, usual = type === 'bool' ? 'false' : undefined] = line.trim().split(' ')
      const flag = { name, type: type as FlagType, handling: handling as Handling }
      return usual === undefined ? flag : { ...flag, usual }
    })
  return new Map(flags.map((flag) => [flag.name, flag]))
}

/**
 * `command`: how the executable calls itself. `judge` throws what the counterpart refuses of the whole, before what is only not to be
 * had here is refused.
 *
 * @throws FlagError for what is no flag of its own, is no value of that flag, or asks for what skiff does not do
 */
export function parseFlags(
  command: string,
  flags: ReadonlyMap<string, Flag>,
  args: readonly string[],
  judge: (values: FlagValues) => void = () => {},
): FlagValues {
  const values = new Map<string, string[]>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--' || !arg.startsWith('-') || arg === '-') {
      const rest = arg === '--' ? args.slice(i + 1) : args.slice(i)
      if (rest.length === 0) break
      throw new FlagError(
        `"${command}" does not take any arguments, got [${rest.map((one) => JSON.stringify(one)).join(' ')}]`,
      )
    }
    const [name, given] = nameAndValue(flags, arg)
    const flag = flags.get(name)
    if (flag === undefined) throw new FlagError(`unknown flag: --${name}`)
    let value = given
    if (value === undefined && flag.type === 'bool') value = 'true'
    if (value === undefined) value = args[++i]
    if (value === undefined) throw new FlagError(`flag needs an argument: --${name}`)
    const why = whyWrong(flag.type, value)
    if (why !== undefined) {
      const shown = name === 'v' ? '-v, --v' : `--${name}`
      throw new FlagError(`invalid argument ${JSON.stringify(value)} for "${shown}" flag: ${why}`)
    }
    const found = values.get(name) ?? []
    found.push(...(LISTS.has(flag.type) ? listed(value) : [value]))
    values.set(name, found)
  }
  judge(values)
  for (const [name, found] of values) refuseLacking(flags.get(name) as Flag, found)
  return values
}

function nameAndValue(flags: ReadonlyMap<string, Flag>, arg: string): [name: string, value: string | undefined] {
  if (!arg.startsWith('--')) {
    // The only one that has a short form.
    const short = /^-v(?:=?(.+))?$/s.exec(arg)
    if (short === null || !flags.has('v'))
      throw new FlagError(`unknown shorthand flag: ${JSON.stringify(arg[1]).replaceAll('"', "'")} in ${arg}`)
    return ['v', short[1]]
  }
  if (/^--[-=]/.test(arg)) throw new FlagError(`bad flag syntax: ${arg}`)
  const at = arg.indexOf('=')
  return at < 0 ? [arg.slice(2), undefined] : [arg.slice(2, at), arg.slice(at + 1)]
}

/** An empty value adds nothing. */
const listed = (value: string): string[] => (value === '' ? [] : value.split(','))

function whyWrong(type: FlagType, value: string): string | undefined {
  const parsing = (how: string, text = value, why = 'invalid syntax') =>
    `strconv.${how}: parsing ${JSON.stringify(text)}: ${why}`
  switch (type) {
    case 'bool':
      return parseGoBool(value) === undefined ? parsing('ParseBool') : undefined
    case 'int':
    case 'uint':
      return whyNoInteger(type, value)
    case 'float':
      return /^[-+]?nan$/i.test(value) || (value.trim() !== '' && Number.isFinite(Number(value)))
        ? undefined
        : parsing('ParseFloat')
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
    case 'ints':
      return first(listed(value), (one) => whyNoInteger('int', one))
    case 'pairs':
      return listed(value).every((one) => one.includes('=')) ? undefined : 'malformed pair, expect string=string'
    case 'labels':
      return value.includes('=') ? undefined : `${value} must be formatted as key=value`
    case 'vmodule':
      return first(listed(value), (one) => {
        const [, level] = /^[^=]+=(.*)$/s.exec(one) ?? []
        if (level === undefined) return `${JSON.stringify(one)} does not have the pattern=N format`
        return /^\d+$/.test(level)
          ? undefined
          : `parsing verbosity in ${JSON.stringify(one)}: ${parsing('ParseUint', level)}`
      })
    case 'quantity':
      return why(() => quantityValue(value || '0'))
    case 'ports':
      return whyNoPorts(value)
    default:
      return undefined
  }
}

function whyNoInteger(type: 'int' | 'uint', value: string): string | undefined {
  const parsing = (reason: string) =>
    `strconv.${type === 'int' ? 'ParseInt' : 'ParseUint'}: parsing ${JSON.stringify(value)}: ${reason}`
  const digits = type === 'int' ? /^[-+]?(\d+|0x[\da-f]+|0o?[0-7]+|0b[01]+)$/i : /^(\d+|0x[\da-f]+|0o?[0-7]+|0b[01]+)$/i
  if (!digits.test(value)) return parsing('invalid syntax')
  const size = BigInt(value.replace(/^[-+]/, ''))
  return size >= 2n ** 63n ? parsing('value out of range') : undefined
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

/** A Go duration in nanoseconds; undefined when it is none. */
export function asDuration(text: string): bigint | undefined {
  try {
    return parseGoDuration(text)
  } catch {
    return undefined
  }
}

/** Whether the value is the flag's default. */
export function isUsual({ type, usual }: Flag, value: string): boolean {
  if (type === 'bool') return String(parseGoBool(value)) === usual
  if (type === 'duration') return asDuration(value) === asDuration(usual ?? '0')
  if (type === 'float') return Number(value) === Number(usual ?? '0')
  return value === (usual ?? (type === 'int' || type === 'uint' ? '0' : ''))
}

function refuseLacking(flag: Flag, found: readonly string[]): void {
  const { name, handling, usual } = flag
  if (handling !== 'lacking' || found.length === 0) return
  const other = found.find((value) => !isUsual(flag, value))
  if (other === undefined) return
  const only = usual === undefined || usual === '' ? 'leave it out' : `it is as with ${usual}`
  throw new FlagError(`--${name}=${other}: skiff does not do what this asks for; ${only}`)
}

/** Values with their types, the table's defaults where none was given. */
export interface ReadFlags {
  readonly values: FlagValues
  /** Undefined: neither given nor with a default, or given empty. */
  text(name: string): string | undefined
  /** Undefined: not given. */
  list(name: string): readonly string[] | undefined
  bool(name: string): boolean
  number(name: string): number | undefined
  /** A duration. */
  ms(name: string): number
}

export function readFlags(table: ReadonlyMap<string, Flag>, values: FlagValues): ReadFlags {
  const text = (name: string) => {
    const flag = table.get(name)
    if (flag === undefined) throw new Error(`no flag ${name}`)
    return (values.get(name)?.at(-1) ?? flag.usual) || undefined
  }
  return {
    values,
    text,
    list: (name) => values.get(name),
    bool: (name) => parseGoBool(text(name) ?? 'false') ?? false,
    number: (name) => {
      const found = text(name)
      return found === undefined ? undefined : Number(found)
    },
    ms: (name) => Number(asDuration(text(name) ?? '0s') ?? 0n) / 1e6,
  }
}
