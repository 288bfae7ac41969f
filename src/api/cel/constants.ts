/** Constants that a function of them can never take: told before anything is evaluated. */

import { patternError } from '../schema/structural/patterns.ts'
import type { CheckedExpression } from './check.ts'
import { isOfType } from './eval-within-cost-limit.ts'
import { typeName } from './functions.ts'
import type { Issue } from './issues.ts'
import type { SyntaxNode } from './parse.ts'
import { timestampOf } from './times.ts'
import { CelError, parseDuration, Uint, type Value } from './values.ts'

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

const CONVERSIONS = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'timestamp', 'duration'])
const TAKES_PATTERN = new Set(['matches', 'find', 'findAll'])

/** Which constant a call cannot take, which Kubernetes finds when it prepares the expression; undefined when each is fit. */
export function wrongPreparation({ calls }: CheckedExpression): string | undefined {
  /** undefined for what is known only when it is evaluated. @throws CelError for what cannot be converted */
  function constantOf(node: SyntaxNode): Value | undefined {
    if (node.kind === 'const') return node.value.type === 'uint' ? new Uint(node.value.value) : node.value.value
    if (node.kind === 'list') {
      const items = node.items.map(constantOf)
      return items.includes(undefined) ? undefined : (items as readonly Value[])
    }
    const call = calls.get(node)
    const [arg] = call?.args ?? []
    if (call === undefined || arg === undefined || call.args.length !== 1) return undefined
    const { name, overloads } = call
    if (name !== 'dyn' && !CONVERSIONS.has(name)) return undefined
    const value = constantOf(arg)
    if (value === undefined || name === 'dyn') return value
    const fit = overloads.find(({ args: [type] }) => type !== undefined && isOfType(value, type))
    if (fit === undefined) throw new CelError(`no such overload: ${name}(${typeName(value)})`)
    return fit.run(value)
  }

  for (const [node, { name, args }] of calls) {
    const [, pattern] = args
    const found = fails(() => {
      if (CONVERSIONS.has(name)) constantOf(node)
      const text = TAKES_PATTERN.has(name) && pattern !== undefined ? constantOf(pattern) : undefined
      const wrong = typeof text === 'string' ? patternError(text) : undefined
      if (wrong !== undefined) throw new CelError(wrong)
    })
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
