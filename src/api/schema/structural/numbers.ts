/**
 * Numbers of custom resources against their schema, as Kubernetes' validators compute: an integer is held against bounds as
 * integers, which cuts off what they have behind the point; any other number, and any against a bound that its own type
 * cannot hold, as floats. JSON's 1.0 is the integer 1 here, since parsing makes no difference between them.
 */
import { goFloat } from '../../../base/go-float.ts'
import type { JSONSchemaProps } from './structural.ts'

/** Something wrong with a number: at the number's own place, or told of the whole value without it. */
export interface NumberProblem {
  readonly own: boolean
  /** The value that the message shows, as Go prints it. */
  readonly shown: string
  readonly detail: string
}

const INT32 = 2147483647
const INT64 = 9223372036854775807n
const FLOAT32 = 3.4028234663852886e38
/** The largest quotient that counts as whole, and how far one may be from it, as a share of both. */
const MOST_QUOTIENT = 2 ** 53 - 1
const NEAR = 1e-9

/** Fits Go's int64. */
export function isInt64(value: number | bigint): boolean {
  if (typeof value === 'bigint') return value <= INT64 && value >= -INT64 - 1n
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63
}

/** The format that counts: of integers only those of a width do. */
export const numberFormat = ({ type, format = '' }: JSONSchemaProps): string =>
  type === 'integer' && format !== 'int32' && format !== 'int64' ? '' : format

/** Whether it fits the type and format that the schema names. */
export function isInRange(value: number | bigint, type: string, format: string): boolean {
  if (type === 'integer') {
    if (!isInt64(value)) return false
    return format !== 'int32' || (value <= INT32 && value >= -INT32 - 1)
  }
  if (type === 'number' && (format === 'float' || format === 'float32')) return Math.abs(Number(value)) <= FLOAT32
  return true
}

export function numberProblems(
  value: number | bigint,
  schema: JSONSchemaProps,
  path: string,
): readonly NumberProblem[] {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema
  const format = numberFormat(schema)
  // Of an integer or text, the kind of number is not known.
  const type = schema['x-kubernetes-int-or-string'] === true ? '' : (schema.type ?? '')
  const problems: NumberProblem[] = []
  const isRanged = (what: string, number: number | bigint): boolean => {
    if (isInRange(number, type, format)) return true
    const kind = format === '' ? `${type} (default format)` : `${type} with format ${format}`
    problems.push({ own: false, shown: '""', detail: `${what} value must be of type ${kind} in ${path}` })
    return false
  }
  /** The value and a bound as they are compared. */
  const compared = (bound: number, fits: boolean) => {
    const asIntegers = fits && isInt64(value)
    return asIntegers
      ? { number: BigInt(value), limit: Math.trunc(bound), text: (number: number | bigint) => String(number) }
      : { number: Number(value), limit: bound, text: (number: number | bigint) => goFloat(Number(number)) }
  }
  isRanged('Checked', value)
  if (multipleOf !== undefined) {
    const { number, limit, text } = compared(multipleOf, isRanged('MultipleOf', multipleOf))
    if (limit <= 0) {
      const detail = `factor MultipleOf declared for ${path} must be positive: ${text(limit)}`
      problems.push({ own: true, shown: text(limit), detail })
    } else if (!isMultiple(number, limit))
      problems.push({
        own: true,
        shown: text(number),
        detail: `${path} in body should be a multiple of ${text(limit)}`,
      })
  }
  if (minimum !== undefined) {
    const { number, limit, text } = compared(minimum, isRanged('Minimum boundary', minimum))
    if (exclusiveMinimum === true ? number <= limit : number < limit) {
      const than = `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${text(limit)}`
      problems.push({ own: true, shown: text(number), detail: `${path} in body ${than}` })
    }
  }
  if (maximum !== undefined) {
    const { number, limit, text } = compared(maximum, isRanged('Maximum boundary', maximum))
    if (exclusiveMaximum === true ? number >= limit : number > limit) {
      const than = `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${text(limit)}`
      problems.push({ own: true, shown: text(number), detail: `${path} in body ${than}` })
    }
  }
  return problems
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === 'bigint') return value % BigInt(factor) === 0n
  const quotient = factor < 1 ? (1 / factor) * value : value / factor
  if (Math.abs(quotient) > MOST_QUOTIENT) return false
  const whole = Math.trunc(quotient)
  if (whole === quotient) return true
  return quotient > 0 && whole > 0 && (quotient - whole) / (quotient + whole) < NEAR
}

/** An allowed number takes any that Go's conversion to its own type makes it: 1 is also what 1.5 becomes. */
export function isAllowedNumber(allowed: number | bigint, value: number | bigint): boolean {
  if (typeof allowed === typeof value && typeof value === 'bigint') return allowed === value
  return Number(allowed) === (isInt64(allowed) ? Math.trunc(Number(value)) : Number(value))
}
