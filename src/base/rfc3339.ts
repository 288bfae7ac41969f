/** Times as text (RFC 3339). What Kubernetes' decoder takes of metav1.Time, in Go's words, is api/schema/time.ts. */

export interface Rfc3339Options {
  /** A date alone is its midnight; a space may stand for the T; letters may be small (the format `date-time` of schemas). */
  readonly lenient?: boolean
  /** Hours and minutes from UTC that may stand at the end, at most. Default: 23 and 59. */
  readonly maxOffset?: readonly [hours: number, minutes: number]
}

const FORM =
  /^(\d{4}-\d\d-\d\d)(?:([Tt ])((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d)))?$/

/** Nanoseconds since the Unix epoch, what is finer cut off; undefined where the text is no time, or on a day its month does not have. */
export function parseRfc3339(
  text: string,
  { lenient = false, maxOffset = [23, 59] }: Rfc3339Options = {},
): bigint | undefined {
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [, date = '', between, time, fraction = '', utc, sign, hours = '0', minutes = '0'] = match
  if (!lenient && (between !== 'T' || utc === 'z')) return undefined
  if (Number(hours) > maxOffset[0] || Number(minutes) > maxOffset[1]) return undefined
  const ms = Date.parse(`${date}T${time ?? '00:00:00'}Z`)
  // Date takes the 30th of February for the 1st of March.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(date)) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  return BigInt(ms - offset) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}
