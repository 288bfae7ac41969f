/** From one type to another: numbers within their ranges, and what texts may say of them. */
import { CelError, Duration, numeric, Timestamp, Uint, type Value } from './values.ts'

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
  if (typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value)) return int(BigInt(value.replace(/^\+/, '')))
  if (value instanceof Timestamp) return value.nanos / 1_000_000_000n
  if (value instanceof Duration) return value.nanos
  throw new CelError('type conversion error')
}

export function toDouble(value: Value): number {
  if (typeof value === 'string') {
    const number = Number(value)
    if (value.trim() === '' || Number.isNaN(number)) throw new CelError('type conversion error')
    return number
  }
  return Number(numeric(value))
}

export function toBool(value: Value): boolean {
  if (typeof value === 'boolean') return value
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value as string)) return true
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(value as string)) return false
  throw new CelError('type conversion error')
}
