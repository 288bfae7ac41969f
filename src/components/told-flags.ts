/** What /flagz tells (KEP-4828): every flag of a component with its value, given or not, as Go's flags print it. */
import { parseGoBool } from '../base/go-bool.ts'
import { goDurationText } from '../base/go-duration.ts'
import { goFloat } from '../base/go-float.ts'
import { type FlagType, numberIn } from './flag-values.ts'
import { asDuration, type Flag, type FlagValues } from './flags.ts'

const LISTED: ReadonlySet<FlagType> = new Set(['strings', 'ints', 'array', 'pairs'])
const INTEGERS: ReadonlySet<FlagType> = new Set(['int', 'int32', 'uint', 'level'])

/** `usual`: defaults that stand in no table, since they count only where the flag is not given at all. */
export function toldFlags(
  table: ReadonlyMap<string, Flag>,
  values: FlagValues,
  usual: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const told = (flag: Flag): string => {
    const given = values.get(flag.name)
    const otherwise = usual[flag.name] ?? flag.usual ?? ''
    // Gates are printed with their component, which is empty for those of no other.
    if (flag.name === 'feature-gates')
      return (given ?? []).map((gate) => (gate.includes(':') ? gate : `:${gate}`)).join(',')
    if (flag.type === 'vmodule') return given?.join(',') ?? otherwise
    // One record of CSV: what has a comma stands in quotes.
    if (flag.type === 'labels')
      return `[${(given ?? []).map((one) => (one.includes(',') ? `"${one}"` : one)).join(',')}]`
    if (LISTED.has(flag.type)) return `[${given?.join(',') ?? otherwise}]`
    if (flag.type === 'certificate') return `[${given?.join(';') ?? otherwise}]`
    return printed(flag.type, given?.at(-1) ?? otherwise)
  }
  return Object.fromEntries([
    ...[...table.values()].map((flag) => [flag.name, told(flag)] as const),
    ...['help', 'version'].map((name) => [name, 'false'] as const),
  ])
}

function printed(type: FlagType, text: string): string {
  if (type === 'bool') return String(parseGoBool(text || 'false'))
  if (type === 'duration') return goDurationText(asDuration(text || '0s') ?? 0n)
  if (type === 'quantity') return text || '0'
  if (INTEGERS.has(type)) return String(numberIn(type, text || '0'))
  if (type === 'float' || type === 'float32') return goFloat(numberIn(type, text || '0'))
  return text
}
