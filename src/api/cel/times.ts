/** What times and durations an expression can have (those of protobuf), and how a text says one. */
import { parseRfc3339 } from '../../base/rfc3339.ts'
import { CelDuration, CelError, offsetIn, Timestamp, type Value } from './values.ts'

const SECOND = 1_000_000_000n
const FIRST = -62_135_596_800n * SECOND
/** The first nanosecond of the year 10000. */
const END = 253_402_300_800n * SECOND

/** @throws CelError outside of the years 1 to 9999 */
export function timestampAt(nanos: bigint, offset = 0): Timestamp {
  if (nanos < FIRST || nanos >= END) throw new CelError('timestamp overflow')
  return new Timestamp(nanos, offset)
}

/** @throws CelError beyond 64 bits of nanoseconds */
export function durationOf(nanos: bigint): CelDuration {
  if (BigInt.asIntN(64, nanos) !== nanos) throw new CelError('integer overflow')
  return new CelDuration(nanos)
}

/** Go reads these offsets, though no place has them. */
const MAX_OFFSET = [24, 60] as const

/** A time by its text (RFC 3339, to the letter), or by its seconds since 1970. @throws CelError */
export function timestampOf(value: Value): Timestamp {
  if (typeof value === 'bigint') return timestampAt(value * SECOND)
  const nanos = parseRfc3339(String(value), { maxOffset: MAX_OFFSET })
  if (nanos === undefined) throw new CelError(`invalid timestamp ${JSON.stringify(value)}`)
  return timestampAt(nanos, offsetIn(String(value)))
}

/** Whole units, rounded towards the past. */
export const floored = (nanos: bigint, unit: bigint): bigint => (nanos - (((nanos % unit) + unit) % unit)) / unit
