/** Cron schedules as CronJob reads them: five fields, @names, and what is wrong with one that is not well formed. */
import { messageOf } from '../../base/errors.ts'
import { parseGoDurationMs } from '../../base/go-duration.ts'
import { goQuote } from '../quote.ts'

interface Bounds {
  readonly min: number
  readonly max: number
  readonly names?: Readonly<Record<string, number>>
}

const named = (names: string, first: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.split(' ').map((name, i) => [name, i + first]))

const FIELDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: named('jan feb mar apr may jun jul aug sep oct nov dec', 1) },
  { min: 0, max: 6, names: named('sun mon tue wed thu fri sat', 0) },
]

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** The values a field allows. `any`: it was written so that it does not restrict (`*`). */
export interface ScheduleField {
  readonly values: ReadonlySet<number>
  readonly any: boolean
}

/** `zone` is what the schedule itself names (`TZ=…`). */
export type Schedule = { readonly zone?: string } & (
  | { readonly everyMs: number }
  | {
      readonly minute: ScheduleField
      readonly hour: ScheduleField
      readonly dayOfMonth: ScheduleField
      readonly month: ScheduleField
      readonly dayOfWeek: ScheduleField
    }
)

/** What is wrong with the schedule, in the words of the API; undefined when it is well formed. */
export function scheduleError(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule)
  return typeof parsed === 'string' ? parsed : undefined
}

/** The schedule, or what is wrong with it. */
export function parseSchedule(schedule: string): Schedule | string {
  if (schedule === '') return 'empty spec string'
  let text = schedule
  const zone = /^(?:CRON_)?TZ=(\S*)(?:\s+([\s\S]*))?$/.exec(text)
  if (zone) {
    if (!isTimeZone(zone[1]!)) return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`
    text = (zone[2] ?? '').trim()
  }
  const parsed = text.startsWith('@') ? parseDescriptor(text) : parseFields(text)
  return typeof parsed === 'string' || !zone ? parsed : { ...parsed, zone: zone[1]! }
}

function parseFields(text: string): Schedule | string {
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  const parsed: ScheduleField[] = []
  for (const [i, field] of fields.entries()) {
    const values = new Set<number>()
    let any = false
    for (const part of field.split(',').filter((p) => p !== '')) {
      const range = parseRange(part, FIELDS[i]!)
      if (typeof range === 'string') return range
      for (let value = range.start; value <= range.end; value += range.step) values.add(value)
      any ||= range.any
    }
    parsed.push({ values, any })
  }
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parsed as [
    ScheduleField,
    ScheduleField,
    ScheduleField,
    ScheduleField,
    ScheduleField,
  ]
  return { minute, hour, dayOfMonth, month, dayOfWeek }
}

export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    // Intl ignores the case of a name; the time zone database does not. Where Intl answers with another name of the zone, the given one is trusted
    // if it begins with a capital letter.
    return known.toLowerCase() === name.toLowerCase() ? known === name : /^[A-Z]/.test(name)
  } catch {
    return false
  }
}

function parseDescriptor(text: string): Schedule | string {
  if (Object.hasOwn(DESCRIPTORS, text)) return parseFields(DESCRIPTORS[text]!)
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  try {
    const ms = parseGoDurationMs(text.slice('@every '.length))
    return { everyMs: Math.max(1000, Math.floor(ms / 1000) * 1000) }
  } catch (error) {
    return `failed to parse duration ${text}: ${messageOf(error)}`
  }
}

interface Range {
  readonly start: number
  readonly end: number
  readonly step: number
  readonly any: boolean
}

/** One of a field's comma-separated parts: `*`, `3`, `1-5`, each possibly with `/step`. */
function parseRange(part: string, { min, max, names }: Bounds): Range | string {
  const steps = part.split('/')
  const ends = steps[0]!.split('-')
  const single = ends.length === 1
  let start: number
  let end: number
  let any = false
  if (ends[0] === '*' || ends[0] === '?') {
    start = min
    end = max
    any = true
  } else {
    const first = numberOf(ends[0]!, names)
    if (typeof first === 'string') return first
    start = first
    if (single) end = start
    else if (ends.length === 2) {
      const second = numberOf(ends[1]!, names)
      if (typeof second === 'string') return second
      end = second
    } else return `too many hyphens: ${part}`
  }
  let step = 1
  if (steps.length === 2) {
    const parsed = parseNumber(steps[1]!)
    if (typeof parsed === 'string') return parsed
    step = parsed
    if (single) end = Math.max(end, max)
    if (step > 1) any = false
  } else if (steps.length > 2) return `too many slashes: ${part}`
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${part}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`
  if (step === 0) return `step of range should be a positive number: ${part}`
  return { start, end, step, any }
}

function numberOf(text: string, names: Bounds['names']): number | string {
  const lower = text.toLowerCase()
  return names && Object.hasOwn(names, lower) ? names[lower]! : parseNumber(text)
}

function parseNumber(text: string): number | string {
  if (!/^[+-]?[0-9]+$/.test(text))
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
