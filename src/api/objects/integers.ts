/**
 * 64-bit integers as Kubernetes' Go types hold them. In objects they are numbers, and bigints where a number would lose
 * digits (api/codec/json), whatever their TypeScript type says: both compare with `<` and `===`, but they cannot be added or
 * multiplied with each other, nor go through Math or JSON.stringify. Whatever counts with such a field does it here.
 */
export type Int64 = number | bigint

const SECOND_NANOS = 1_000_000_000n
/** The longest time.Duration in whole seconds: about 292 years. */
const LONGEST_SECONDS = 9_223_372_036

/** A number where it is exact, else a bigint: the form that decoded objects have. */
export function toInt64(value: bigint): Int64 {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** A decimal integer with an optional sign, as Go's strconv.ParseInt reads it; undefined when it is none or has more bits. */
export function parseInt64(text: string | undefined, bits: 32 | 64 = 64): Int64 | undefined {
  if (text === undefined || !/^[+-]?[0-9]+$/.test(text)) return undefined
  // Longer ones are small only with leading zeros.
  if (text.length > 1000) return undefined
  const value = BigInt(text.replace(/^\+/, ''))
  return BigInt.asIntN(bits, value) === value ? toInt64(value) : undefined
}

/** The sum; beyond 64 bits it goes on at the other end, as Go's int64 does. */
export function addInt64(a: Int64, b: Int64): Int64 {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInt64(BigInt.asIntN(64, BigInt(a) + BigInt(b)))
}

/** For sorting, the smaller first. */
export const compareInt64 = (a: Int64, b: Int64): number => (a < b ? -1 : a > b ? 1 : 0)

export const maxInt64 = (a: Int64, b: Int64): Int64 => (a < b ? b : a)
export const minInt64 = (a: Int64, b: Int64): Int64 => (b < a ? b : a)

/**
 * Milliseconds of so many seconds, as a Go program has them that makes a time.Duration (64 bits of nanoseconds) of the
 * seconds: beyond 292 years they go on at the other end, so that 9223372036854775807 seconds are -1000 milliseconds.
 */
export function durationMs(seconds: Int64): number {
  if (seconds <= LONGEST_SECONDS && seconds >= -LONGEST_SECONDS) return Number(seconds) * 1000
  return Number(BigInt.asIntN(64, BigInt(seconds) * SECOND_NANOS)) / 1e6
}

/** As a number, never more than timers and sums of milliseconds can hold: about 285,000 years. */
export function boundedSeconds(seconds: Int64): number {
  const most = Math.floor(Number.MAX_SAFE_INTEGER / 1000)
  return Number(seconds < -most ? -most : seconds > most ? most : seconds)
}
