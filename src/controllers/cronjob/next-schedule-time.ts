/**
 * When a schedule is due next, in its time zone. By the calendar there: a day is looked at as a whole, and only on days on
 * which clocks are changed is every minute asked for what it is in UTC. What a changed clock leaves out is not run, what it
 * shows twice is run twice.
 */
import type { Schedule } from '../../api/validation/cron-schedule.ts'
import { createLruMap } from '../../base/lru.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** A schedule that is not due for so long never is (the 31st of February). */
const searchedDays = 5 * 366

/** The first time after `afterMs`, in milliseconds; undefined when there is none. */
export function nextTime(schedule: Schedule, zone: string, afterMs: number): number | undefined {
  if ('everyMs' in schedule) return Math.floor(afterMs / 1000) * 1000 + schedule.everyMs
  const today = Math.floor((afterMs + offsetAt(zone, afterMs)) / dayMs)
  for (let day = today; day < today + searchedDays; day++) {
    if (!isDue(schedule, day * dayMs)) continue
    const time = firstOnDay(schedule, zone, day * dayMs, afterMs)
    if (time !== undefined) return time
  }
  return undefined
}

type Fields = Exclude<Schedule, { everyMs: number }>

/** Days that both fields restrict are those that either names. */
function isDue({ month, dayOfMonth, dayOfWeek }: Fields, localMs: number): boolean {
  const date = new Date(localMs)
  if (!month.values.has(date.getUTCMonth() + 1)) return false
  const byDate = dayOfMonth.values.has(date.getUTCDate())
  const byWeekday = dayOfWeek.values.has(date.getUTCDay())
  return dayOfMonth.any || dayOfWeek.any ? byDate && byWeekday : byDate || byWeekday
}

/** `localMs`: the day's beginning there, as if it were UTC. */
function firstOnDay({ hour, minute }: Fields, zone: string, localMs: number, afterMs: number): number | undefined {
  const before = offsetAt(zone, localMs - offsetAt(zone, localMs) - 1)
  const later = offsetAt(zone, localMs + dayMs - before)
  let first: number | undefined
  for (const hours of hour.values) {
    for (const minutes of minute.values) {
      const local = localMs + (hours * 60 + minutes) * minuteMs
      for (const offset of before === later ? [before] : [before, later]) {
        const time = local - offset
        if (time <= afterMs || (first !== undefined && time >= first)) continue
        if (before === later || offsetAt(zone, time) === offset) first = time
      }
    }
  }
  return first
}

/** More than there are zones; each can be written in many ways. */
const MOST_FORMATS = 1000
const formats = createLruMap<string, Intl.DateTimeFormat>(MOST_FORMATS)

/** How far the zone's clocks are ahead of UTC at that time, in milliseconds. */
function offsetAt(zone: string, ms: number): number {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0
  let format = formats.get(zone)
  if (format === undefined) {
    const numeric = 'numeric'
    format = new Intl.DateTimeFormat('en-u-ca-gregory', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    formats.set(zone, format)
  }
  const parts: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(ms)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

/** RFC 3339 with the zone's offset: `2026-11-21T14:36:00+01:00`. */
export function zonedTime(zone: string, ms: number): string {
  const offset = offsetAt(zone, ms)
  const local = new Date(ms + offset).toISOString().slice(0, 19)
  if (offset === 0) return `${local}Z`
  const minutes = Math.abs(offset) / minuteMs
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}
