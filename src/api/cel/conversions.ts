/** From one type to another: numbers within their ranges, and what texts may say of them. */

import { isUtf8 } from 'node:buffer'
import { parseGoBool } from '../../base/go-bool.ts'
import { floored } from './times.ts'
import { CelDuration, CelError, numeric, Timestamp, Uint, type Value } from './values.ts'

/** @throws CelError beyond 64 bits */
export const int = (value: bigint): bigint => {
  if (BigInt.asIntN(64, value) !== value) throw new CelError('integer overflow')
  return value
}
export const uint = (value: bigint): Uint => {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('unsigned integer overflow')
  return new Uint(value)
}

/** A conversion of which a text may be the wrong one. */
export const converting =
  (name: string, convert: (value: Value) => Value) =>
  (value: Value): Value => {
    if (typeof value !== 'string') return convert(value)
    try {
      return convert(value)
    } catch (error) {
      if (!(error instanceof CelError)) throw error
      throw new CelError(`type conversion error from 'string' to '${name}'`)
    }
  }

export function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return int(value.value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || Math.abs(value) >= 2 ** 63) throw new CelError('integer overflow')
    return BigInt(Math.trunc(value))
  }
  if (typeof value === 'string' && /^[+-]?\d{1,1000}$/.test(value)) return int(BigInt(value.replace(/^\+/, '')))
  if (value instanceof Timestamp) return floored(value.nanos, 1_000_000_000n)
  if (value instanceof CelDuration) return value.nanos
  throw new CelError('type conversion error')
}

/** @throws CelError for less than nothing, and beyond 64 bits */
export function toUint(value: Value): Uint {
  if (value instanceof Uint) return value
  if (typeof value === 'number') {
    if (!(value >= 0 && value < 2 ** 64)) throw new CelError('unsigned integer overflow')
    return new Uint(BigInt(Math.trunc(value)))
  }
  if (typeof value === 'string') {
    if (!/^\d{1,1000}$/.test(value)) throw new CelError('type conversion error')
    return uint(BigInt(value))
  }
  return uint(toInt(value))
}

const DECIMAL = /^[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?$/
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d{1,5})$/

/** A double as Go reads it: with names for what is no number, and none of too large an exponent. */
function doubleOf(text: string): number {
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return Number.NaN
  const hex = HEXADECIMAL.exec(text)
  if (hex !== null && `${hex[2]}${hex[3]}` !== '') {
    const [, sign, whole = '', fraction = '', power] = hex
    const digits = Number.parseInt(whole + fraction, 16)
    return (sign === '-' ? -1 : 1) * digits * 2 ** (Number(power) - 4 * fraction.length)
  }
  const number = DECIMAL.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN
  if (!Number.isFinite(number)) throw new CelError('type conversion error')
  return number
}

/** @throws CelError for what is no UTF-8 */
export function textOfBytes(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  return Buffer.from(bytes).toString('utf8')
}

export function toDouble(value: Value): number {
  if (typeof value === 'string') {
    return doubleOf(value)
  }
  return Number(numeric(value))
}

export function toBool(value: Value): boolean {
  if (typeof value === 'boolean') return value
  const parsed = typeof value === 'string' ? parseGoBool(value) : undefined
  if (parsed !== undefined) return parsed
  throw new CelError('type conversion error')
}
