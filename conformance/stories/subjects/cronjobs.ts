/** CronJobs. */

import { cond, force, job, kjob, quota } from '../objects.ts'
import type { Story } from '../story.ts'

export const cronjobsStories = {
  'cron-suspend-manual': {
    async act(s) {
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: kjob('x').spec } },
      })
      await s.pause(1000)
      const c = await s.get('cronjobs', 'c')
      await s.create('jobs', {
        ...kjob('manual'),
        metadata: {
          name: 'manual',
          annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: c.metadata.uid, controller: true },
          ],
        },
      })
      await s.untilObj('jobs', 'manual', cond('Complete'))
      await s.pause(2000)
      await s.del('cronjobs', 'c', { propagationPolicy: 'Foreground' })
    },
  },
  'cron-timezone-minute': {
    async act(s) {
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: {
          schedule: '* * * * *',
          timeZone: 'Asia/Kolkata',
          successfulJobsHistoryLimit: 0,
          jobTemplate: { metadata: { labels: { from: 'cron' }, annotations: { an: 'n' } }, spec: kjob('x', {}).spec },
        },
      })
      await s.untilObj('cronjobs', 'c', (c) => c.status?.lastSuccessfulTime, 75000)
      await s.pause(2500)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
    },
    restMs: 90000,
  },
  'cron-never-again': {
    async act(s) {
      await s
        .create('cronjobs', {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          metadata: { name: 'c' },
          spec: { schedule: '0 0 31 2 *', jobTemplate: { spec: kjob('x', {}).spec } },
        })
        .catch((e) => s.note(e.message))
      await s.pause(2500)
    },
  },
  'cron-template-quota': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { 'count/jobs.batch': '0' }))
      await s.untilObj('resourcequotas', 'q', (q) => q.status?.hard)
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { schedule: '* * * * *', jobTemplate: { spec: kjob('x', {}).spec } },
      })
      await s.until('event', async () => (await s.list('events')).some((e) => e['reason'] === 'FailedCreate'), 75000)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
    },
    restMs: 90000,
  },
  'cron-job-deleted-while-active': {
    async act(s) {
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { schedule: '* * * * *', concurrencyPolicy: 'Forbid', jobTemplate: { spec: job('x', {}).spec } },
      })
      await s.until('job', async () => (await s.list('jobs')).length === 1, 75000)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
      const [j] = await s.list('jobs')
      await s.pause(1500)
      await s.del('jobs', j.metadata.name, { propagationPolicy: 'Background' })
      await s.pause(3000)
      for (const q of await s.list('pods')) await force(s, q).catch(() => {})
      await s.pause(12000)
    },
    restMs: 90000,
  },
} satisfies Readonly<Record<string, Story>>
