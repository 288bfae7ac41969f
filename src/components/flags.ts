/**
 * Command lines as the executables that these stand for read them: Go's flags (etcd) and those of pflag (kube-apiserver). What is
 * wrong is told in their words, as far as a starter may look for them.
 */
import { certificateAndNames } from '../base/certificate-and-names.ts'
import { parseGoBool } from '../base/go-bool.ts'
import { parseGoDuration } from '../base/go-duration.ts'

export type FlagType = 'bool' | 'int' | 'float' | 'duration' | 'ip' | 'string' | 'strings' | 'array' | 'certificate'

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
 * `command`: how the executable calls itself.
 *
 * @throws FlagError for what is no flag of its own, is no value of that flag, or asks for what skiff does not do
 */
export function parseFlags(command: string, flags: ReadonlyMap<string, Flag>, args: readonly string[]): FlagValues {
  const values = new Map<string, string[]>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--' || !arg.startsWith('-') || arg === '-') {
      const rest = arg === '--' ? args.slice(i + 1) : args.slice(i)
      if (rest.length === 0) break
      throw new FlagError(`"${command}" does not take any arguments, got ${JSON.stringify(rest)}`)
    }
    const [name, given] = nameAndValue(flags, arg)
    const flag = flags.get(name)
    if (flag === undefined) throw new FlagError(`unknown flag: --${name}`)
    let value = given
    if (value === undefined && flag.type === 'bool') value = 'true'
    if (value === undefined) value = args[++i]
    if (value === undefined) throw new FlagError(`flag needs an argument: --${name}`)
    const why = whyWrong(flag.type, value)
    if (why !== undefined) throw new FlagError(`invalid argument ${JSON.stringify(value)} for "--${name}" flag: ${why}`)
    const found = values.get(name) ?? []
    found.push(...(flag.type === 'strings' ? listed(value) : [value]))
    values.set(name, found)
  }
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
  const parsing = (how: string) => `strconv.${how}: parsing ${JSON.stringify(value)}: invalid syntax`
  switch (type) {
    case 'bool':
      return parseGoBool(value) === undefined ? parsing('ParseBool') : undefined
    case 'int':
      return /^[-+]?\d+$/.test(value) ? undefined : parsing('ParseInt')
    case 'float':
      return value.trim() !== '' && Number.isFinite(Number(value)) ? undefined : parsing('ParseFloat')
    case 'duration':
      return asDuration(value) === undefined ? `time: invalid duration ${JSON.stringify(value)}` : undefined
    case 'ip':
      return /^[0-9a-fA-F:.]+$/.test(value) ? undefined : `failed to parse IP: ${JSON.stringify(value)}`
    case 'certificate':
      if (certificateAndNames(value) !== undefined) return undefined
      return /^[^,:]+,[^,:]+:$/.test(value)
        ? 'empty names list is not allowed'
        : 'expected comma separated certificate and key file paths'
    default:
      return undefined
  }
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
  return value === (usual ?? (type === 'int' ? '0' : ''))
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
