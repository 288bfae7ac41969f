/** What texts of the formats `duration`, `date` and `date-time` stand for, to rules. */
import { GoDurationError, goTimeQuote, parseGoDuration } from '../../../base/go-duration.ts'
import { parseRfc3339 } from '../../../base/rfc3339.ts'

const SECOND = 1_000_000_000n
const DAY = 86_400n * SECOND

/** Names of each unit of time and its nanoseconds; the last name may be the beginning of a longer word. */
const UNITS: readonly (readonly [names: readonly string[], nanos: bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], SECOND],
  [['m', 'min'], 60n * SECOND],
  [['h', 'hr', 'hour'], 3_600n * SECOND],
  [['d', 'day'], DAY],
  [['w', 'wk', 'week'], 7n * DAY],
]
const MOST_OF_A_UNIT = 2n ** 63n - 1n
const DIGITS_OF_MOST = 19

/** A run of digits is looked at once, however long it is. */
const AMOUNT = /(?<!\d)(\d+)[\t\n\f\r ]*([A-Za-zµ]+)/g

/** Nanoseconds of a duration of Go's, or of all amounts of units that a text names, whatever else it says; undefined where it names none. */
export function nanosOfDuration(text: string): bigint | undefined {
  try {
    return parseGoDuration(text)
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error
  }
  let sum: bigint | undefined
  for (const [, amount = '', word = ''] of text.matchAll(AMOUNT)) {
    const digits = amount.replace(/^0+/, '')
    if (digits.length > DIGITS_OF_MOST || BigInt(digits) > MOST_OF_A_UNIT) return undefined
    const name = word.toLowerCase()
    const unit = UNITS.find(([names]) => names.includes(name) || name.startsWith(names.at(-1) as string))
    if (unit !== undefined) sum = (sum ?? 0n) + BigInt(digits) * unit[1]
  }
  return sum === undefined ? undefined : BigInt.asIntN(64, sum)
}

const TO_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?/

const DAY_ALONE = /^\d{4}-\d\d-\d\d$/

/** Nanoseconds since 1970, of a day alone those of its beginning. A small t or z, which the format takes, says nothing to a rule. */
export function nanosOfDateTime(text: string): bigint | undefined {
  // An hour may be said to have sixty minutes.
  return parseRfc3339(text.replace(',', '.'), { lenient: DAY_ALONE.test(text), maxOffset: [24, 60] })
}

/** Why a text is no date-time, in the words of Go. */
export function dateTimeProblem(text: string): string {
  const parsing = `parsing time ${goTimeQuote(text)}`
  const [known] = TO_SECONDS.exec(text) ?? []
  if (known !== undefined) return `${parsing}: extra text: ${goTimeQuote(text.slice(known.length))}`
  const hasDate = /^\d{4}-\d\d-\d\d/.test(text)
  const [rest, element] = hasDate ? [text.slice(10), 'T'] : [text, '2006']
  return `${parsing} as "2006-01-02T15:04:05": cannot parse ${goTimeQuote(rest)} as "${element}"`
}
