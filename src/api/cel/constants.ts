/** Constants that a function of them can never take: told before anything is evaluated. */
import type { Checked } from './check.ts'
import type { Issue } from './issues.ts'
import type { Node } from './parse.ts'
import { isDyn, printType, type Type } from './types.ts'
import { CelError, parseDuration, parseTimestamp, type Value } from './values.ts'

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = Object.assign(Object.create(null), {
  timestamp: parseTimestamp,
  duration: parseDuration,
})

/** A time or duration that is none. */
export function wrongConstant(name: string, [arg]: readonly Node[]): Issue | undefined {
  if (arg?.kind !== 'const' || arg.value.type !== 'string' || PARSERS[name] === undefined) return undefined
  return fails(() => PARSERS[name]?.(arg.value.value as string)) === undefined
    ? undefined
    : { at: arg.at, message: `invalid ${name} argument` }
}

/** A constant template that asks for more than it is given, or for a number where there is none. */
export function wrongFormat(
  [template, list]: readonly Node[],
  types: ReadonlyMap<Node, Type>,
  at: number,
): Issue | undefined {
  if (template?.kind !== 'const' || template.value.type !== 'string' || list?.kind !== 'list') return undefined
  let next = 0
  for (const [, verb] of template.value.value.matchAll(/%(?:\.\d+)?([a-zA-Z%])/g)) {
    if (verb === '%') continue
    const item = list.items[next]
    if (item === undefined) return { at, message: `index ${next} out of range` }
    next++
    const given = types.get(item)
    if (verb !== 'd' || given === undefined || isDyn(given) || ['int', 'uint'].includes(printType(given))) continue
    const message = `error during formatting: decimal clause can only be used on integers, was given ${printType(given)}`
    return { at: item.at, message }
  }
  return undefined
}

const CONVERSIONS = new Set(['int', 'uint', 'double', 'bool'])

/** Why a constant cannot be converted, which Kubernetes finds when it prepares the expression; undefined when all can. */
export function wrongConversion({ calls }: Checked): string | undefined {
  for (const { name, args, overloads } of calls.values()) {
    const [arg] = args
    if (!CONVERSIONS.has(name) || args.length !== 1 || arg?.kind !== 'const') continue
    const found = fails(() => overloads[0]?.run(arg.value.value as Value))
    if (found !== undefined) return found
  }
  return undefined
}

function fails(attempt: () => unknown): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (error instanceof CelError) return error.message
    throw error
  }
}
