/** Which of a CronJob's times is due, and when to look again. Pure. */
import type { CronJob } from '../../api/generated/types.ts'
import { durationMs, type Int64 } from '../../api/objects/integers.ts'
import type { Schedule } from '../../api/validation/cron-schedule.ts'
import { nextTime } from './next-schedule-time.ts'

/** Missed so often, a clock or a deadline is probably wrong. */
const manyMissed = 100
/** A little after the minute, so that it has begun. */
const graceMs = 100

export class InvalidSchedule extends Error {}

interface Recent {
  /** What is counted from: the last run, the creation, or the starting deadline. */
  readonly earliest: number
  readonly due: number | undefined
  readonly missed: number
}

function mostRecent(cronJob: CronJob, schedule: Schedule, zone: string, nowMs: number, withDeadline: boolean): Recent {
  const { lastScheduleTime } = cronJob.status ?? {}
  let earliest = Date.parse(lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '')
  const deadline: Int64 | undefined = cronJob.spec?.startingDeadlineSeconds
  if (withDeadline && deadline !== undefined) earliest = Math.max(earliest, nowMs - durationMs(deadline))
  const first = nextTime(schedule, zone, earliest)
  if (first === undefined) throw new InvalidSchedule('time difference between two schedules is less than 1 second')
  if (nowMs < first) return { earliest, due: undefined, missed: 0 }
  const second = nextTime(schedule, zone, first)
  if (second === undefined || nowMs < second) return { earliest, due: first, missed: 0 }
  const between = second - first
  const missed = Math.floor((nowMs - first) / between) + 1
  return { earliest, due: latest(schedule, zone, first, between, nowMs), missed }
}

/** The last time until now. Steps need not be even: it is looked for further and further back. */
function latest(schedule: Schedule, zone: string, first: number, between: number, nowMs: number): number {
  for (let back = 2 * between; ; back *= 4) {
    let time = nextTime(schedule, zone, Math.max(nowMs - back, first))
    if (time === undefined || time > nowMs) {
      if (nowMs - back <= first) return first
      continue
    }
    for (;;) {
      const next = nextTime(schedule, zone, time)
      if (next === undefined || next > nowMs) return time
      time = next
    }
  }
}

export interface Due {
  /** Milliseconds; undefined when nothing is. */
  readonly time: number | undefined
  readonly tooMany: boolean
}

/** @throws InvalidSchedule when it is never due */
export function dueTime(cronJob: CronJob, schedule: Schedule, zone: string, nowMs: number): Due {
  const { due, missed } = mostRecent(cronJob, schedule, zone, nowMs, true)
  return { time: due, tooMany: missed > manyMissed }
}

/** Milliseconds until the time after this one. @throws InvalidSchedule when it is never due */
export function untilNext(cronJob: CronJob, schedule: Schedule, zone: string, nowMs: number): number {
  const { earliest, due } = mostRecent(cronJob, schedule, zone, nowMs, false)
  const next = nextTime(schedule, zone, due ?? earliest) ?? nowMs
  return next - nowMs + graceMs
}
