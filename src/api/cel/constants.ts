/** Constants that a function of them can never take: told before anything is evaluated. */
import type { CheckedExpression } from './check.ts'
import type { Issue } from './issues.ts'
import type { SyntaxNode } from './parse.ts'
import { timestampOf } from './times.ts'
import { CelError, parseDuration, type Value } from './values.ts'

const PARSERS: Readonly<Record<string, (value: Value) => unknown>> = Object.assign(Object.create(null), {
  timestamp: timestampOf,
  duration: (text: Value) => parseDuration(text as string),
})

/** A time or duration that is none. */
export function wrongConstant(name: string, [arg]: readonly SyntaxNode[]): Issue | undefined {
  if (arg?.kind !== 'const' || PARSERS[name] === undefined) return undefined
  return fails(() => PARSERS[name]?.(arg.value.value as Value)) === undefined
    ? undefined
    : { at: arg.at, message: `invalid ${name} argument` }
}

const CONVERSIONS = new Set(['int', 'uint', 'double', 'bool', 'string'])

/** Why a constant cannot be converted, which Kubernetes finds when it prepares the expression; undefined when all can. */
export function wrongConversion({ calls }: CheckedExpression): string | undefined {
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
