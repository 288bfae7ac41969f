/** What times and durations an expression can have (those of protobuf), and how a text says one. */
import { CelError, Duration, Timestamp, type Value } from './values.ts'

const SECOND = 1_000_000_000n
const FIRST = -62_135_596_800n * SECOND
/** The first nanosecond of the year 10000. */
const END = 253_402_300_800n * SECOND

/** @throws CelError outside of the years 1 to 9999 */
export function timestampAt(nanos: bigint): Timestamp {
  if (nanos < FIRST || nanos >= END) throw new CelError('timestamp overflow')
  return new Timestamp(nanos)
}

/** @throws CelError beyond 64 bits of nanoseconds */
export function durationOf(nanos: bigint): Duration {
  if (BigInt.asIntN(64, nanos) !== nanos) throw new CelError('integer overflow')
  return new Duration(nanos)
}

const RFC3339 = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3])(:[0-5]\d:[0-5]\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/

/** A time by its text (RFC 3339, to the letter), or by its seconds since 1970. @throws CelError */
export function timestampOf(value: Value): Timestamp {
  if (typeof value === 'bigint') return timestampAt(value * SECOND)
  const match = RFC3339.exec(String(value))
  const [, date = '', hours, rest, fraction = '.', sign, zoneHours = 0, zoneMinutes = 0] = match ?? []
  const ms = Date.parse(`${date}T${hours}${rest}Z`)
  // A day that its month does not have is one of the next month's.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
  if (match === null || !isDay || Number(zoneHours) > 24 || Number(zoneMinutes) > 60)
    throw new CelError(`invalid timestamp ${JSON.stringify(value)}`)
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === '-' ? -1 : 1)
  return timestampAt(BigInt(ms - offset) * 1_000_000n + BigInt(fraction.slice(1, 10).padEnd(9, '0')))
}

/** Whole units, rounded towards the past. */
export const floored = (nanos: bigint, unit: bigint): bigint => (nanos - (((nanos % unit) + unit) % unit)) / unit
