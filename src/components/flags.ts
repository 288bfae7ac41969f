/**
 * Command lines as the executables that these stand for read them: Go's flags (etcd) and those of pflag (kube-apiserver). What is
 * wrong is told in their words, as far as a starter may look for them.
 */
import { parseGoBool } from '../base/go-bool.ts'
import { parseGoDuration } from '../base/go-duration.ts'
import { type FlagType, numberIn, valuesIn, whyWrong } from './flag-values.ts'

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

/** Every executable has these, whatever its table says. */
const COMMON: ReadonlyMap<string, Flag> = new Map(
  (['help', 'version'] as const).map((name) => [
    name,
    { name, type: name === 'help' ? 'bool' : 'version', handling: 'used', usual: 'false' },
  ]),
)

/** One letter for a flag. */
const SHORT: Readonly<Record<string, string>> = { h: 'help', v: 'v' }

/** Whether it is only to say something of itself. */
export const asksFor = (values: FlagValues, name: 'help' | 'version'): boolean => {
  const given = values.get(name)?.at(-1)
  return given !== undefined && parseGoBool(given) !== false
}

/**
 * `command`: how the executable calls itself. `judge` throws what the counterpart refuses of the whole, before what is only not to be
 * had here is refused. Of one that asks for help or a version alone nothing more is judged.
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
  const take = (flag: Flag, value: string) => {
    const why = whyWrong(flag.type, value)
    if (why !== undefined) {
      const [letter] = Object.entries(SHORT).find(([, name]) => name === flag.name) ?? []
      const shown = letter === undefined ? `--${flag.name}` : `-${letter}, --${flag.name}`
      throw new FlagError(`invalid argument ${JSON.stringify(value)} for "${shown}" flag: ${why}`)
    }
    // Taints take the place of those that were given before.
    const before = flag.type === 'taints' ? [] : (values.get(flag.name) ?? [])
    values.set(flag.name, [...before, ...valuesIn(flag.type, value)])
  }
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--' || !arg.startsWith('-') || arg === '-') {
      const rest = arg === '--' ? args.slice(i + 1) : args.slice(i)
      // Empty ones are no arguments, but are told with those that are some.
      if (rest.every((one) => one === '')) break
      throw new FlagError(
        `"${command}" does not take any arguments, got [${rest.map((one) => JSON.stringify(one)).join(' ')}]`,
      )
    }
    const found = arg.startsWith('--') ? longFlag(flags, arg) : shortFlag(flags, arg)
    let { value } = found
    if (value === undefined && isSwitch(found.flag)) value = 'true'
    if (value === undefined) value = args[++i]
    if (value === undefined) throw new FlagError(`flag needs an argument: ${found.shown}`)
    take(found.flag, value)
  }
  if (asksFor(values, 'help') || asksFor(values, 'version')) return values
  judge(values)
  for (const [name, found] of values) {
    const flag = flags.get(name)
    if (flag !== undefined) refuseLacking(flag, found)
  }
  return values
}

/** It needs no value. */
const isSwitch = ({ type }: Flag): boolean => type === 'bool' || type === 'version'

interface FoundFlag {
  readonly flag: Flag
  readonly value: string | undefined
  /** As it is called where its value is missing. */
  readonly shown: string
}

function longFlag(flags: ReadonlyMap<string, Flag>, arg: string): FoundFlag {
  if (/^--[-=]/.test(arg)) throw new FlagError(`bad flag syntax: ${arg}`)
  const at = arg.indexOf('=')
  const name = at < 0 ? arg.slice(2) : arg.slice(2, at)
  const known = name.replaceAll('_', '-')
  const flag = flags.get(known) ?? COMMON.get(known)
  if (flag === undefined) throw new FlagError(`unknown flag: --${name}`)
  return { flag, value: at < 0 ? undefined : arg.slice(at + 1), shown: `--${name}` }
}

/** A letter, and what stands behind it. */
function shortFlag(flags: ReadonlyMap<string, Flag>, arg: string): FoundFlag {
  const [letter = ''] = arg.slice(1)
  const unknown = (text: string) =>
    new FlagError(`unknown shorthand flag: '${JSON.stringify(text[1]).slice(1, -1)}' in ${text}`)
  const name = Object.hasOwn(SHORT, letter) ? (SHORT[letter] as string) : ''
  const flag = flags.get(name) ?? COMMON.get(name)
  if (flag === undefined) throw unknown(arg)
  const rest = arg.slice(2)
  const shown = `'${letter}' in ${arg}`
  if (rest.length > 1 && rest.startsWith('=')) return { flag, value: rest.slice(1), shown }
  if (!isSwitch(flag)) return { flag, value: rest === '' ? undefined : rest, shown }
  if (rest === '') return { flag, value: undefined, shown }
  // Another letter: one that is known stands for itself.
  return shortFlag(flags, `-${rest}`)
}

/** A Go duration in nanoseconds; undefined when it is none. */
export function asDuration(text: string): bigint | undefined {
  try {
    return parseGoDuration(text)
  } catch {
    return undefined
  }
}

export const NUMBERS: ReadonlySet<FlagType> = new Set(['int', 'int32', 'uint', 'float', 'float32'])

/** Whether the value is the flag's default. */
export function isUsual({ type, usual }: Flag, value: string): boolean {
  if (type === 'bool') return String(parseGoBool(value)) === usual
  if (type === 'duration') return asDuration(value) === asDuration(usual ?? '0')
  if (NUMBERS.has(type)) return numberIn(type, value) === numberIn(type, usual ?? '0')
  return value === (usual ?? '')
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
      return found === undefined ? undefined : numberIn(table.get(name)?.type ?? 'int', found)
    },
    ms: (name) => Number(asDuration(text(name) ?? '0s') ?? 0n) / 1e6,
  }
}
