import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { parseSchedule, type Schedule } from '../../api/validation/cron-schedule.ts'
import { surplusJobs } from './job-history-limits.ts'
import { jobFor, jobName } from './job-name-and-template.ts'
import { dueTime, untilNext } from './missed-start-times.ts'
import { nextTime, zonedTime } from './next-schedule-time.ts'

const parse = (text: string): Schedule => {
  const schedule = parseSchedule(text)
  assert.ok(typeof schedule !== 'string', String(schedule))
  return schedule
}
const next = (text: string, after: string, zone = '', count = 1): string => {
  const times: string[] = []
  let at = Date.parse(after)
  for (let i = 0; i < count; i++) {
    at = nextTime(parse(text), zone, at) ?? Number.NaN
    times.push(Number.isNaN(at) ? 'never' : new Date(at).toISOString().replace(':00.000Z', ''))
  }
  return times.join(' ')
}

test('the next time is after the last, by minute, hour, date, month and weekday', () => {
  assert.equal(next('* * * * *', '2026-01-01T00:00:00Z', '', 2), '2026-01-01T00:01 2026-01-01T00:02')
  assert.equal(next('* * * * *', '2026-01-01T00:00:59.5Z'), '2026-01-01T00:01')
  assert.equal(
    next('*/20 9-10 * * *', '2026-01-01T09:30:00Z', '', 3),
    '2026-01-01T09:40 2026-01-01T10:00 2026-01-01T10:20',
  )
  assert.equal(next('0 0 29 2 *', '2026-01-01T00:00:00Z'), '2028-02-29T00:00')
  assert.equal(next('0 0 31 2 *', '2026-01-01T00:00:00Z'), 'never')
  assert.equal(next('@monthly', '2026-12-02T00:00:00Z'), '2027-01-01T00:00')
  assert.equal(next('30 12 * jun mon-fri', '2026-01-01T00:00:00Z'), '2026-06-01T12:30')
  assert.equal(next('@every 90m', '2026-01-01T00:00:00Z', '', 2), '2026-01-01T01:30 2026-01-01T03:00')
})

test('date and weekday: either is enough when both restrict', () => {
  assert.equal(next('0 0 13 * 5', '2026-11-01T00:00:00Z', '', 2), '2026-11-06T00:00 2026-11-13T00:00')
  assert.equal(next('0 0 * * 5', '2026-11-01T00:00:00Z'), '2026-11-06T00:00')
  assert.equal(next('0 0 */2 * 5', '2026-11-01T00:00:00Z', '', 2), '2026-11-03T00:00 2026-11-05T00:00')
})

test('a zone has its own midnight; changed clocks leave out a time or show it twice', () => {
  const zone = 'Europe/Berlin'
  assert.equal(next('0 0 * * *', '2026-01-01T12:00:00Z', zone), '2026-01-01T23:00')
  assert.equal(next('0 0 * * *', '2026-07-01T12:00:00Z', zone), '2026-07-01T22:00')
  assert.equal(
    next('30 2 * * *', '2026-03-28T12:00:00Z', zone),
    '2026-03-30T00:30',
    'half past two is left out on the 29th',
  )
  assert.equal(
    next('30 2 * * *', '2026-10-24T12:00:00Z', zone, 3),
    '2026-10-25T00:30 2026-10-25T01:30 2026-10-26T01:30',
  )
  assert.equal(next('0 12 * * *', '2026-06-01T00:00:00Z', 'Asia/Kolkata'), '2026-06-01T06:30')
  assert.equal(zonedTime(zone, Date.parse('2026-11-21T13:36:00Z')), '2026-11-21T14:36:00+01:00')
  assert.equal(zonedTime('America/St_Johns', Date.parse('2026-11-21T13:36:00Z')), '2026-11-21T10:06:00-03:30')
  assert.equal(zonedTime('', 0), '1970-01-01T00:00:00Z')
})

const cronJob = (spec: Fields, status: Fields = {}): KubeObject =>
  ({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'cj', uid: 'u', creationTimestamp: '2026-01-01T00:00:30Z' },
    spec: { jobTemplate: { spec: {} }, ...spec },
    status,
  }) as never
const due = (text: string, now: string, spec: Fields = {}, status: Fields = {}) => {
  const { time, tooMany } = dueTime(cronJob(spec, status), parse(text), '', Date.parse(now))
  return [time === undefined ? undefined : new Date(time).toISOString().slice(5, 16), tooMany]
}

test('due is the last time that was missed, since the last run or the creation, but not before the deadline', () => {
  assert.deepEqual(due('* * * * *', '2026-01-01T00:00:59Z'), [undefined, false])
  assert.deepEqual(due('* * * * *', '2026-01-01T00:01:00Z'), ['01-01T00:01', false])
  assert.deepEqual(due('* * * * *', '2026-01-01T00:05:30Z'), ['01-01T00:05', false])
  const ran = { lastScheduleTime: '2026-01-01T00:05:00Z' }
  assert.deepEqual(due('* * * * *', '2026-01-01T00:05:30Z', {}, ran), [undefined, false])
  assert.deepEqual(due('* * * * *', '2026-01-01T00:05:30Z', { startingDeadlineSeconds: 20 }), [undefined, false])
  assert.deepEqual(due('* * * * *', '2026-01-01T03:00:00Z'), ['01-01T03:00', true])
  // Mornings only: what is missed most recently may be long ago.
  assert.deepEqual(due('*/5 6-7 * * *', '2026-01-03T23:00:00Z')[0], '01-03T07:55')
})

test('more than a hundred missed times are too many', () => {
  // The first missed one is that of 00:01.
  assert.deepEqual(due('* * * * *', '2026-01-01T01:40:59Z'), ['01-01T01:40', false], 'a hundred')
  assert.deepEqual(due('* * * * *', '2026-01-01T01:41:00Z'), ['01-01T01:41', true], 'a hundred and one')
})

test('it is looked at again just after the next time', () => {
  const ms = (now: string, status: Fields = {}) =>
    untilNext(cronJob({}, status), parse('* * * * *'), '', Date.parse(now))
  assert.equal(ms('2026-01-01T00:00:40Z'), 20_100)
  assert.equal(ms('2026-01-01T00:01:00Z', { lastScheduleTime: '2026-01-01T00:01:00Z' }), 60_100)
})

test('a job is named by the minute it is for; of the finished ones the oldest go', () => {
  const at = Date.parse('2026-11-21T13:36:00Z')
  assert.equal(jobName(cronJob({}), at), 'cj-29921136')
  const job = jobFor(cronJob({ timeZone: 'Europe/Berlin' }), at)
  assert.deepEqual(job.metadata.annotations, {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-11-21T14:36:00+01:00',
  })
  const ended = (name: string, type: string, startTime: string): KubeObject =>
    ({ metadata: { name }, status: { startTime, conditions: [{ type, status: 'True' }] } }) as never
  const jobs = [
    ended('c', 'Complete', '2026-01-03T00:00:00Z'),
    ended('a', 'Complete', '2026-01-01T00:00:00Z'),
    ended('b', 'Complete', '2026-01-02T00:00:00Z'),
    ended('f', 'Failed', '2026-01-01T00:00:00Z'),
  ]
  const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 }
  assert.deepEqual(
    surplusJobs(cronJob(limits), jobs).map(({ metadata }) => metadata.name),
    ['a', 'b', 'f'],
  )
  assert.deepEqual(surplusJobs(cronJob({}), jobs), [])
})
