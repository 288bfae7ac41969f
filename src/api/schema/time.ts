/**
 * metav1.Time, MicroTime and Duration: what Go's time.Parse takes, in its words when it does not, and the canonical text
 * that Kubernetes serves.
 */
import { GoDurationError, goDurationText, goTimeQuote, parseGoDuration } from '../../base/go-duration.ts'

export class TimeError extends Error {}

const LAYOUTS = { time: '2006-01-02T15:04:05Z07:00', microTime: '2006-01-02T15:04:05.000000Z07:00' } as const

/** Digits stand for digits, all else for itself. */
const FORMS = { time: '0000-00-00T00:00:00Z', microTime: '0000-00-00T00:00:00.000000Z' } as const

/** Whether a text is canonical already: the usual case, told without a regular expression. */
function isCanonical(text: string, type: 'time' | 'microTime'): boolean {
  const form = FORMS[type]
  if (text.length !== form.length) return false
  for (let i = 0; i < form.length; i++) {
    const wanted = form.charCodeAt(i)
    const code = text.charCodeAt(i)
    if (wanted === 0x30 ? code < 0x30 || code > 0x39 : code !== wanted) return false
  }
  const two = (at: number) => (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30
  const month = two(5)
  const day = two(8)
  if (month < 1 || month > 12 || day < 1 || two(11) > 23 || two(14) > 59 || two(17) > 59) return false
  return day <= 28 || day <= daysIn(month, two(0) * 100 + two(2))
}

/**
 * The canonical form of a time: UTC, whole seconds, or microseconds for a MicroTime.
 *
 * @throws TimeError with Go's message
 */
export function canonicalTime(text: string, type: 'time' | 'microTime'): string {
  if (isCanonical(text, type)) return text
  const { year, month, day, hour, minute, second, nanos, offsetSeconds } = parse(text, type)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const shifted = new Date(date.getTime() - offsetSeconds * 1000)
  const fullYear = shifted.getUTCFullYear()
  // Beyond four digits, and before the year 0, Kubernetes' own answer would not parse again.
  const years = String(Math.min(Math.max(fullYear, 0), 9999)).padStart(4, '0')
  const rest = shifted
    .toISOString()
    .replace(/^[+-]?\d+(?=-\d\d-\d\dT)/, '')
    .slice(0, 15)
  const fraction = type === 'time' ? '' : `.${String(Math.floor(nanos / 1000)).padStart(6, '0')}`
  return `${years}${rest}${fraction}Z`
}

interface Parts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanos: number
  readonly offsetSeconds: number
}

function daysIn(month: number, year: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** The layout's elements in order, each with the text it consumes; a literal stands for itself. */
function parse(text: string, type: 'time' | 'microTime'): Parts {
  let rest = text
  const cannot = (value: string, element: string): never => {
    throw new TimeError(
      `parsing time ${goTimeQuote(text)} as ${goTimeQuote(LAYOUTS[type])}: cannot parse ${goTimeQuote(value)} as ${goTimeQuote(element)}`,
    )
  }
  const wrong = (message: string): never => {
    throw new TimeError(`parsing time ${goTimeQuote(text)}: ${message}`)
  }
  const take = (pattern: RegExp, element: string): string => {
    const found = pattern.exec(rest)?.[0]
    if (found === undefined) return cannot(rest, element)
    rest = rest.slice(found.length)
    return found
  }
  const literal = (mark: string) => {
    if (!rest.startsWith(mark)) cannot(rest, mark)
    rest = rest.slice(mark.length)
  }
  const year = Number(take(/^\d{4}/, '2006'))
  literal('-')
  const month = Number(take(/^\d\d/, '01'))
  if (month < 1 || month > 12) wrong('month out of range')
  literal('-')
  const day = Number(take(/^\d\d/, '02'))
  literal('T')
  const hour = Number(take(/^\d\d?/, '15'))
  if (hour > 23) wrong('hour out of range')
  literal(':')
  const minute = Number(take(/^\d\d/, '04'))
  if (minute > 59) wrong('minute out of range')
  literal(':')
  const second = Number(take(/^\d\d/, '05'))
  if (second > 59) wrong('second out of range')
  let nanos = 0
  if (type === 'microTime') nanos = Number(take(/^[.,]\d{6}/, '.000000').slice(1)) * 1000
  else {
    const fraction = /^[.,]\d+/.exec(rest)?.[0]
    if (fraction !== undefined) rest = rest.slice(fraction.length)
  }
  let offsetSeconds = 0
  if (rest.startsWith('Z')) rest = rest.slice(1)
  else {
    const zone = take(/^[+-]\d\d:\d\d/, 'Z07:00')
    const hours = Number(zone.slice(1, 3))
    const minutes = Number(zone.slice(4, 6))
    if (hours > 24) wrong('time zone offset hour out of range')
    if (minutes > 60) wrong('time zone offset minute out of range')
    offsetSeconds = (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
  if (rest !== '') wrong(`extra text: ${goTimeQuote(rest)}`)
  if (day < 1 || day > daysIn(month, year)) wrong('day out of range')
  return { year, month, day, hour, minute, second, nanos, offsetSeconds }
}

/**
 * The canonical form of a Duration: `1h30m0s`.
 *
 * @throws TimeError with Go's message
 */
export function canonicalDuration(text: string): string {
  try {
    return goDurationText(parseGoDuration(text))
  } catch (error) {
    throw error instanceof GoDurationError ? new TimeError(error.message) : error
  }
}
