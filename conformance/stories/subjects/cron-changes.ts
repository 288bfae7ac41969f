/** CronJobs that are changed between their runs: schedules, zones, limits, and Jobs that stand where theirs would. */
import type { Fields } from '../../../src/api/object.ts'
import { cond, job, kjob } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const SCHEDULE = '45 */2 * * *'
const HOUR = 3_600_000
const cron = (spec: Fields = {}, jobSpec: Fields = kjob('x').spec, metadata: Fields = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c' },
  spec: { schedule: SCHEDULE, jobTemplate: { spec: jobSpec, metadata }, ...spec },
})
const hoursAgo = (s: Scene, hours: number) =>
  new Date(Date.parse(s.now()) - hours * HOUR).toISOString().replace(/\.\d+/, '')
const lastRun = (s: Scene, hours: number) => s.status('cronjobs', 'c', { lastScheduleTime: hoursAgo(s, hours) })
const jobs = (s: Scene, count: number) =>
  s.until(`${count} jobs`, async () => (await s.list('jobs')).length === count, 15_000)
const ended = async (s: Scene) => {
  for (const { metadata } of await s.list('jobs')) await s.untilObj('jobs', metadata.name, cond('Complete'))
}
const active = async (s: Scene) => {
  const { status } = await s.get('cronjobs', 'c')
  s.note(`active ${(status.active ?? []).length} of ${(await s.list('jobs')).length}`)
}

export const cronChangesStories = {
  'cron-job-of-its-name-is-there': {
    async act(s) {
      await s.create('cronjobs', cron({ schedule: '@yearly' }))
      await s.pause(1000)
      await s.create('jobs', job('c-29453760', { suspend: true }))
      await s.status('cronjobs', 'c', { lastScheduleTime: '2024-12-31T23:00:00Z' })
      await s.pause(4000)
      await active(s)
    },
  },
  'cron-run-of-a-minute-taken': {
    async act(s) {
      const minute = Math.floor(Date.parse(s.now()) / 60_000) + 1
      for (const n of [minute, minute + 1]) await s.create('jobs', job(`c-${n}`, { suspend: true }))
      await s.create('cronjobs', cron({ schedule: '* * * * *' }))
      await s.pause(185_000)
      s.note(`jobs ${(await s.list('jobs')).length}`)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
      await s.pause(2000)
    },
  },
  'cron-history-of-none': {
    async act(s) {
      await s.create('cronjobs', cron({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 }))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await jobs(s, 0)
      await s.pause(2000)
      await active(s)
    },
  },
  'cron-every-and-macros': {
    async act(s) {
      const tried = async (schedule: string, more: Fields = {}) =>
        s
          .create('cronjobs', { ...cron({ schedule, suspend: true, ...more }), metadata: { generateName: 'c-' } })
          .then(({ spec }: Seen) => s.note(`${schedule}: ${spec.schedule}`))
          .catch((error) => s.note(`${schedule}: ${error.message}`))
      for (const schedule of [
        '@hourly',
        '@every 1h30m',
        '@every 5',
        '@reboot',
        'TZ=Europe/Paris 0 0 * * *',
        '0 0 * * 7',
        '*/0 * * * *',
        '0 0 31 2 *',
        '0 0 ? * MON-FRI',
        '0 0 L * *',
        '0 0 1-5/2,20 JAN *',
        '60 * * * *',
      ])
        await tried(schedule)
      await tried('0 0 * * *', { timeZone: 'Local' })
      await tried('0 0 * * *', { timeZone: 'europe/paris' })
      await tried('0 0 * * *', { timeZone: 'Etc/GMT+5' })
      await tried('CRON_TZ=UTC 0 0 * * *', { timeZone: 'UTC' })
    },
  },
  'cron-schedule-changed-to-the-past': {
    async act(s) {
      await s.create('cronjobs', cron({ schedule: '0 0 5 6 *' }))
      await s.pause(1000)
      await lastRun(s, 1)
      await s.pause(2500)
      await active(s)
      await s.patch('cronjobs', 'c', { spec: { schedule: '*/10 * * * *' } })
      await jobs(s, 1)
      await ended(s)
      await s.pause(1500)
      await active(s)
    },
  },
  'cron-zone-moves-the-run': {
    async act(s) {
      await s.create('cronjobs', cron({ timeZone: 'Asia/Kathmandu', suspend: true }))
      await s.pause(1000)
      await lastRun(s, 5)
      await s.pause(1000)
      await s.patch('cronjobs', 'c', { spec: { suspend: false } })
      await jobs(s, 1)
      await ended(s)
      const [made] = await s.list('jobs')
      s.note(String(made.metadata.annotations['batch.kubernetes.io/cronjob-scheduled-timestamp']?.slice(-9)))
      await s.pause(1500)
    },
  },
  'cron-forbid-job-held-by-finalizer': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Forbid' }, job('x').spec, { finalizers: ['x.y/stay'] }))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [made] = await s.list('jobs')
      await s.patch('jobs', made.metadata.name, { metadata: { finalizers: ['x.y/stay'] } })
      await s.del('jobs', made.metadata.name, { propagationPolicy: 'Background' })
      await s.pause(1500)
      await s.patch('cronjobs', 'c', { spec: { schedule: '15 */2 * * *' } })
      await lastRun(s, 5)
      await s.pause(3000)
      await active(s)
      await s.patch('jobs', made.metadata.name, { metadata: { finalizers: null } })
      await s.pause(3000)
      await active(s)
    },
  },
  'cron-template-changed-between-runs': {
    async act(s) {
      await s.create(
        'cronjobs',
        cron({ successfulJobsHistoryLimit: 1 }, kjob('x').spec, { labels: { l: 'one' }, annotations: { n: 'one' } }),
      )
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await ended(s)
      await s.pause(1200)
      await s.patch('cronjobs', 'c', {
        spec: {
          schedule: '15 */2 * * *',
          jobTemplate: { metadata: { labels: { l: 'two' } }, spec: { completions: 2 } },
        },
      })
      await lastRun(s, 5)
      await s.until('the second', async () => [...(await s.list('jobs'))].some((one) => one.spec.completions === 2))
      await s.untilPods(2, ({ status }) => status.phase === 'Succeeded')
      await s.pause(2000)
      await active(s)
    },
  },
  'cron-deleted-in-foreground-while-active': {
    async act(s) {
      await s.create('cronjobs', cron({}, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [one] = await s.untilPods(1)
      await s.running(one)
      await s.del('cronjobs', 'c', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      s.note(`${(await s.list('cronjobs')).length} ${(await s.list('jobs')).length} ${(await s.list('pods')).length}`)
      await s.del('pods', one.metadata.name, { gracePeriodSeconds: 0 })
      await s.gone('cronjobs', 'c')
    },
  },
  'cron-job-taken-from-its-owner': {
    async act(s) {
      await s.create('cronjobs', cron({}, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [made] = await s.list('jobs')
      await s.pause(1000)
      await s.patch('jobs', made.metadata.name, { metadata: { ownerReferences: null } })
      await s.pause(2500)
      await active(s)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
      await s.pause(2500)
      await active(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
