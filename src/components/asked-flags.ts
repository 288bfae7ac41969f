/** A command line as rules look at it that judge the whole of it. */
import { parseGoBool } from '../base/go-bool.ts'
import { numberIn } from './flag-values.ts'
import { asDuration, type Flag, FlagError, type FlagValues } from './flags.ts'

/** Values as the flags have them, their defaults where they are not given. */
export interface FlagsAsked {
  readonly values: FlagValues
  /** Where it is given more than once, the last; empty where it has no default either. */
  text(name: string): string
  list(name: string): readonly string[]
  number(name: string): number
  /** Nanoseconds. */
  duration(name: string): bigint
  isOn(name: string): boolean
  isGiven(name: string): boolean
}

export function flagsAsked(table: ReadonlyMap<string, Flag>, values: FlagValues): FlagsAsked {
  const text = (name: string) => values.get(name)?.at(-1) ?? table.get(name)?.usual ?? ''
  return {
    values,
    text,
    list: (name) => values.get(name) ?? [],
    number: (name) => numberIn(table.get(name)?.type ?? 'int', text(name) || '0'),
    duration: (name) => asDuration(text(name) || '0') ?? 0n,
    isOn: (name) => parseGoBool(text(name) || 'false') === true,
    isGiven: (name) => values.has(name),
  }
}

/** Several faults as Kubernetes' components tell them together. */
export const toldTogether = (problems: readonly string[]): string =>
  problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`

/** @throws FlagError with everything that is wrong */
export function refuseAll(problems: readonly string[]): void {
  if (problems.length > 0) throw new FlagError(toldTogether(problems))
}
