/** CronJobs that have missed runs: the user says when the last one was, so that the next one is due at once. */
import type { Fields } from '../../../src/api/object.ts'
import { cond, force, going, job, kjob } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

/** Far from when stories are played. */
const SCHEDULE = '45 */2 * * *'
const HOUR = 3_600_000
const cron = (spec: Fields = {}, jobSpec: Fields = kjob('x').spec) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c' },
  spec: { schedule: SCHEDULE, jobTemplate: { spec: jobSpec }, ...spec },
})
async function lastRun(s: Scene, hours: number): Promise<void> {
  const lastScheduleTime = new Date(Date.parse(s.now()) - hours * HOUR).toISOString().replace(/\.\d+/, '')
  await s.status('cronjobs', 'c', { lastScheduleTime })
}
const jobs = (s: Scene, count: number) =>
  s.until(`${count} jobs`, async () => (await s.list('jobs')).length === count, 15_000)
async function ownJob(s: Scene, name: string, made: Fields): Promise<void> {
  const { metadata } = await s.get('cronjobs', 'c')
  await s.create('jobs', {
    ...made,
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: metadata.uid, controller: true }],
    },
  })
}

export const cronRunsStories = {
  'cron-missed-one': {
    async act(s) {
      await s.create('cronjobs', cron({}, kjob('x', { completions: 2 }).spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await s.untilObj('cronjobs', 'c', ({ status }) => status.lastSuccessfulTime)
    },
  },
  'cron-missed-too-many': {
    async act(s) {
      await s.create('cronjobs', cron())
      await s.pause(1000)
      await lastRun(s, 500)
      await jobs(s, 1)
      await s.pause(3000)
    },
  },
  'cron-deadline-too-short': {
    async act(s) {
      await s.create('cronjobs', cron({ startingDeadlineSeconds: 5 }))
      await s.pause(1000)
      await lastRun(s, 5)
      await s.pause(3000)
      await s.patch('cronjobs', 'c', { spec: { startingDeadlineSeconds: 2 * 3600 + 60 } })
      await jobs(s, 1)
    },
  },
  'cron-forbid-active': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Forbid' }, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [first] = await s.untilPods(1)
      await s.running(first)
      await s.pause(1000)
      await s.patch('cronjobs', 'c', { spec: { schedule: '15 */2 * * *' } })
      await lastRun(s, 5)
      await s.pause(2500)
      await s.ended(first, 0)
      await s.pause(3000)
    },
  },
  'cron-replace-active': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Replace' }, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [first] = await s.untilPods(1)
      await s.running(first)
      await s.pause(1000)
      await s.patch('cronjobs', 'c', { spec: { schedule: '15 */2 * * *' } })
      await lastRun(s, 5)
      await s.pause(3000)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await s.pause(2000)
    },
  },
  'cron-allow-two-active': {
    async act(s) {
      await s.create('cronjobs', cron({}, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await s.patch('cronjobs', 'c', { spec: { schedule: '15 */2 * * *' } })
      await lastRun(s, 5)
      await jobs(s, 2)
      const ps = await s.untilPods(2)
      await s.ended(ps[0], 0)
      await s.pause(3000)
      await s.del('cronjobs', 'c', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
    },
  },
  'cron-same-run-again': {
    async act(s) {
      await s.create('cronjobs', cron())
      await s.pause(1000)
      await lastRun(s, 5)
      await s.untilObj('cronjobs', 'c', ({ status }) => status.lastSuccessfulTime)
      await s.pause(1000)
      await lastRun(s, 5)
      await s.pause(3000)
    },
  },
  'cron-suspended-while-missed': {
    async act(s) {
      await s.create('cronjobs', cron({ suspend: true }))
      await s.pause(1000)
      await lastRun(s, 9)
      await s.pause(2000)
      await s.patch('cronjobs', 'c', { spec: { suspend: false, timeZone: 'America/New_York' } })
      await jobs(s, 1)
      await s.pause(3000)
    },
  },
  'cron-history-limits': {
    async act(s) {
      await s.create('cronjobs', cron({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0, suspend: true }))
      for (const name of ['one', 'two', 'three']) {
        await ownJob(s, name, kjob(name))
        await s.untilObj('jobs', name, cond('Complete'))
        await s.pause(1100)
      }
      await ownJob(s, 'bad', job('bad', { backoffLimit: 0 }))
      const [p] = await s.untilPods(1, ({ metadata }) => metadata.labels['job-name'] === 'bad')
      await s.ended(p, 1)
      await s.pause(3000)
      await s.patch('cronjobs', 'c', { spec: { successfulJobsHistoryLimit: 0 } })
      await s.pause(2000)
    },
  },
  'cron-unknown-timezone': {
    async act(s) {
      await s.create('cronjobs', cron({ timeZone: 'Nowhere/None' })).catch((error) => s.note(error.message))
      await s.create('cronjobs', cron({ schedule: 'TZ=Asia/Tokyo 0 0 * * *' })).catch((error) => s.note(error.message))
      await s.create('cronjobs', cron({ schedule: '@every 5h' }))
      await s.pause(1000)
      await lastRun(s, 24)
      await jobs(s, 1)
      await s.pause(2000)
    },
  },
  'cron-annotated-template': {
    async act(s) {
      const template = { metadata: { labels: { l: 'm' }, annotations: { a: 'b' }, finalizers: ['x.y/z'] } }
      await s.create('cronjobs', {
        ...cron(),
        spec: {
          schedule: SCHEDULE,
          jobTemplate: { ...template, spec: kjob('x', { ttlSecondsAfterFinished: 1 }).spec },
        },
      })
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await s.pause(6000)
      for (const { metadata } of await s.list('jobs'))
        await s.patch('jobs', metadata.name, { metadata: { finalizers: null } })
      await s.pause(2000)
    },
  },
} satisfies Readonly<Record<string, Story>>
