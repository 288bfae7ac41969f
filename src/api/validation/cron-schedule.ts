/** Cron schedules as CronJob reads them: five fields, @names, and what is wrong with one that is not well formed. */
import { goQuote } from './errors.ts'

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

const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
])

/** What is wrong with the schedule, in the words of the API; undefined when it is well formed. */
export function scheduleError(schedule: string): string | undefined {
  if (schedule === '') return 'empty spec string'
  let text = schedule
  const zone = /^(?:CRON_)?TZ=(\S*)(?:\s+([\s\S]*))?$/.exec(text)
  if (zone) {
    if (!isTimeZone(zone[1]!)) return `provided bad location ${zone[1]}: unknown time zone ${zone[1]}`
    text = (zone[2] ?? '').trim()
  }
  if (text.startsWith('@')) return descriptorError(text)
  const fields = text.split(/\s+/).filter((field) => field !== '')
  if (fields.length !== 5) return `expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`
  for (let i = 0; i < fields.length; i++) {
    for (const part of fields[i]!.split(',').filter((p) => p !== '')) {
      const error = rangeError(part, FIELDS[i]!)
      if (error !== undefined) return error
    }
  }
  return undefined
}

export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    // Intl does not mind the case; the time zone database does. Other names of a zone are taken at their word.
    return known.toLowerCase() === name.toLowerCase() ? known === name : /^[A-Z]/.test(name)
  } catch {
    return false
  }
}

function descriptorError(text: string): string | undefined {
  if (DESCRIPTORS.has(text)) return undefined
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`
  const error = durationError(text.slice('@every '.length))
  return error === undefined ? undefined : `failed to parse duration ${text}: time: ${error}`
}

const UNITS: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'])

/** Why this is no duration like `1h30m`. */
function durationError(text: string): string | undefined {
  let rest = text.replace(/^[+-]/, '')
  if (rest === '0') return undefined
  if (rest === '') return `invalid duration ${goQuote(text)}`
  while (rest !== '') {
    const part = /^([0-9]*\.?[0-9]*)([^0-9.]*)/.exec(rest)!
    if (!/[0-9]/.test(part[1]!)) return `invalid duration ${goQuote(text)}`
    if (part[2] === '') return `missing unit in duration ${goQuote(text)}`
    if (!UNITS.has(part[2]!)) return `unknown unit ${goQuote(part[2]!)} in duration ${goQuote(text)}`
    rest = rest.slice(part[0].length)
  }
  return undefined
}

/** One of a field's comma-separated parts: `*`, `3`, `1-5`, each possibly with `/step`. */
function rangeError(part: string, { min, max, names }: Bounds): string | undefined {
  const steps = part.split('/')
  const ends = steps[0]!.split('-')
  const single = ends.length === 1
  let start: number
  let end: number
  if (ends[0] === '*' || ends[0] === '?') {
    start = min
    end = max
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
  } else if (steps.length > 2) return `too many slashes: ${part}`
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${part}`
  if (end > max) return `end of range (${end}) above maximum (${max}): ${part}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`
  if (step === 0) return `step of range should be a positive number: ${part}`
  return undefined
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
