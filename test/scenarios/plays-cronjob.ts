/** Cron jobs: that fire, wait for each other or not, are late, clean up and go. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, type Play, patch, pause } from './acts.ts'
import type { Stage } from './stage.ts'

const nowhere = { nodeSelector: { none: 'such' } }
const cronJob = (spec: Fields, jobSpec: Fields, podSpec: Fields) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'cj' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: {
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...podSpec } },
        ...jobSpec,
      },
    },
    ...spec,
  },
})
const made =
  (spec: Fields = {}, podSpec: Fields = {}, jobSpec: Fields = {}) =>
  async (stage: Stage) =>
    void (await create(stage, 'cronjobs', cronJob(spec, jobSpec, podSpec)))
const resumed = async (stage: Stage) => void (await patch(stage, 'cronjobs', 'cj', { spec: { suspend: false } }))
/** As the recordings were: two or three times it is due. */
const minutes = (count: number, act: Play['act']): Play => ({ nodes: 2, restMs: count * 60_000 + 5000, act })

export const cronJobPlays = brief({
  'cronjob-fires': minutes(2, made({ successfulJobsHistoryLimit: 1 })),
  'cronjob-allow': minutes(2, made({}, nowhere)),
  'cronjob-forbid': {
    ...minutes(2, made({ concurrencyPolicy: 'Forbid', timeZone: 'Europe/Berlin' }, nowhere)),
    lingerMs: 60_000,
  },
  'cronjob-replace': minutes(2, made({ concurrencyPolicy: 'Replace' }, nowhere)),
  'cronjob-failed-history': minutes(3, made({ failedJobsHistoryLimit: 1 }, nowhere, { activeDeadlineSeconds: 5 })),
  'cronjob-suspended': minutes(2, made({ suspend: true })),
  'cronjob-missed': {
    nodes: 2,
    async prepare(stage) {
      await made({ suspend: true })(stage)
      await pause(stage, 100_000)
    },
    act: resumed,
  },
  'cronjob-deadline-missed': {
    nodes: 2,
    async prepare(stage) {
      await made({ suspend: true, startingDeadlineSeconds: 5 })(stage)
      await pause(stage, 60_000)
    },
    act: resumed,
  },
})
