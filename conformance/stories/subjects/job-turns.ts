/** Jobs and CronJobs whose pods are failed, disrupted, deleted and held while their fields change. */
import type { Fields } from '../../../src/api/object.ts'
import { cond, disrupted, evict, force, fresh, going, idx, job, kjob, live, quota, running, tried } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

async function start(s: Scene, count: number): Promise<readonly Seen[]> {
  const found = await s.untilPods(count, fresh)
  for (const one of found) await s.running(one)
  return found
}
async function endGoing(s: Scene): Promise<void> {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one).catch(() => {})
}
const told = async (s: Scene, ms = 1500, name = 'j') => {
  await s.pause(ms)
  const { spec, status } = await s.get('jobs', name)
  const { conditions, startTime, completionTime, ...counts } = status
  const each = (conditions ?? []).map((one: Fields) => `${one['type']} ${one['status']} ${one['reason'] ?? ''}`)
  s.note(
    JSON.stringify([
      spec.suspend,
      each,
      startTime !== undefined,
      completionTime !== undefined,
      { ...counts, uncountedTerminatedPods: undefined },
    ]),
  )
}
const policy = (...rules: readonly Fields[]) => ({ podFailurePolicy: { rules } })
const onCodes = (action: string, operator: string, ...values: readonly number[]) => ({
  action,
  onExitCodes: { operator, values },
})
const onDisruption = (action: string) => ({
  action,
  onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }],
})
const cron = (spec: Fields = {}, jobSpec: Fields = kjob('x').spec) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'c' },
  spec: { schedule: '45 */2 * * *', jobTemplate: { spec: jobSpec }, ...spec },
})
const hoursAgo = (s: Scene, hours: number) =>
  new Date(Date.parse(s.now()) - hours * 3_600_000).toISOString().replace(/\.\d+/, '')
const lastRun = (s: Scene, hours: number) => s.status('cronjobs', 'c', { lastScheduleTime: hoursAgo(s, hours) })
const jobs = (s: Scene, count: number) =>
  s.until(`${count} jobs`, async () => (await s.list('jobs')).length === count, 15_000)

export const jobTurnsStories = {
  'job-ignored-disruptions-then-the-limit': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { backoffLimit: 1, ...policy(onDisruption('Ignore'), onCodes('Count', 'In', 7)) }),
      )
      for (let i = 0; i < 2; i++) {
        const [one] = await start(s, 1)
        await s.ended(one as Seen, 137, disrupted)
        await told(s)
      }
      const [third] = await start(s, 1)
      await s.ended(third as Seen, 7)
      await told(s)
      await s.until('again', async () => (await s.list('pods')).some(fresh), 15_000)
      const [last] = await start(s, 1)
      await s.ended(last as Seen, 8)
      await told(s, 2500)
    },
  },
  'job-policy-fails-it-while-others-run-with-grace': {
    async act(s) {
      await s.create(
        'jobs',
        job(
          'j',
          {
            parallelism: 3,
            completions: 6,
            podReplacementPolicy: 'Failed',
            ...policy(onCodes('FailJob', 'NotIn', 1, 2)),
          },
          { terminationGracePeriodSeconds: 30 },
        ),
      )
      const [first] = await start(s, 3)
      await s.ended(first as Seen, 42)
      await told(s)
      await endGoing(s)
      await told(s)
    },
  },
  'job-index-failed-by-policy-and-others-succeed': {
    async act(s) {
      await s.create(
        'jobs',
        idx(3, { backoffLimitPerIndex: 1, ...policy(onCodes('FailIndex', 'In', 3), onDisruption('Ignore')) }),
      )
      const [a, b, c] = await start(s, 3)
      await s.ended(a as Seen, 3)
      await s.ended(b as Seen, 137, disrupted)
      await s.ended(c as Seen, 0)
      await told(s, 2500)
      const again = await s.untilPods(1, fresh)
      for (const one of again) await s.running(one)
      await s.ended(again[0], 0)
      await told(s, 2500)
    },
  },
  'job-index-pod-deleted-with-replacement-of-failed': {
    async act(s) {
      await s.create('jobs', idx(2, { podReplacementPolicy: 'Failed' }, { terminationGracePeriodSeconds: 30 }))
      const [a] = await start(s, 2)
      await s.del('pods', a?.metadata.name ?? '')
      await told(s)
      await s.ended(a as Seen, 143)
      await told(s)
      await endGoing(s)
      await told(s)
      await start(s, 1)
      await told(s)
    },
  },
  'job-index-pod-deleted-and-replaced-at-once': {
    async act(s) {
      await s.create('jobs', idx(2, {}, { terminationGracePeriodSeconds: 30 }))
      const [a] = await start(s, 2)
      await s.del('pods', a?.metadata.name ?? '')
      await told(s)
      await start(s, 1)
      await s.ended(a as Seen, 0)
      await told(s)
      await endGoing(s)
      await told(s)
    },
  },
  'job-suspended-while-pods-fail-and-go': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 3, completions: 3 }, { terminationGracePeriodSeconds: 30 }))
      const [a] = await start(s, 3)
      await s.ended(a as Seen, 1)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await told(s)
      await endGoing(s)
      await told(s)
      await s.patch('jobs', 'j', { spec: { suspend: false, parallelism: 1 } })
      await start(s, 1)
      await told(s)
    },
  },
  'job-deadline-while-suspended-and-after': {
    async act(s) {
      await s.create('jobs', job('j', { activeDeadlineSeconds: 3, suspend: true }))
      await told(s, 4500)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await start(s, 1)
      await told(s)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await told(s, 4500)
      await endGoing(s)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await start(s, 1)
      await told(s, 5000)
      await endGoing(s)
      await told(s)
    },
  },
  'job-fields-that-may-not-change': {
    async act(s) {
      await s.create('jobs', idx(3))
      await start(s, 3)
      const change = (what: string, spec: Fields) => tried(s, what, s.patch('jobs', 'j', { spec }))
      await change('completions alone', { completions: 4 })
      await change('both', { completions: 4, parallelism: 4 })
      await change('limit', { backoffLimit: 2 })
      await change('per index', { backoffLimitPerIndex: 1 })
      await change('mode', { completionMode: 'NonIndexed' })
      await change('selector', { selector: { matchLabels: { a: 'b' } } })
      await change('template', { template: { spec: { containers: [{ name: 'c', image: 'other' }] } } })
      await change('policy', policy(onCodes('FailJob', 'In', 1)))
      await change('managed by', { managedBy: 'x.y/z' })
      await change('deadline', { activeDeadlineSeconds: 100 })
      await change('ttl', { ttlSecondsAfterFinished: 100 })
      await change('replacement', { podReplacementPolicy: 'Failed' })
      await told(s)
    },
  },
  'job-ttl-taken-away-and-given': {
    async act(s) {
      await s.create('jobs', kjob('j', { ttlSecondsAfterFinished: 5 }))
      await s.untilObj('jobs', 'j', cond('Complete'))
      await s.patch('jobs', 'j', { spec: { ttlSecondsAfterFinished: null } })
      await told(s, 7000)
      await s.patch('jobs', 'j', { spec: { ttlSecondsAfterFinished: 0 } })
      await s.gone('jobs', 'j')
      await s.pause(1500)
      s.note(`pods ${(await s.list('pods')).length}`)
    },
  },
  'job-success-policy-count-with-held-pods': {
    async act(s) {
      await s.create(
        'jobs',
        idx(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }, { terminationGracePeriodSeconds: 30 }),
      )
      const [a, b] = await start(s, 3)
      await s.ended(a as Seen, 0)
      await told(s)
      await s.ended(b as Seen, 1)
      await told(s)
      await endGoing(s)
      await told(s)
    },
  },
  'job-success-policy-and-failed-index-at-once': {
    async act(s) {
      await s.create(
        'jobs',
        idx(4, {
          backoffLimitPerIndex: 0,
          maxFailedIndexes: 1,
          successPolicy: { rules: [{ succeededIndexes: '2-3', succeededCount: 1 }] },
        }),
      )
      const [a, b, c] = await start(s, 4)
      await s.ended(a as Seen, 1)
      await told(s)
      await s.ended(c as Seen, 0)
      await s.ended(b as Seen, 1)
      await told(s)
      await endGoing(s)
      await told(s)
    },
  },
  'job-quota-lets-some-pods': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '2' }))
      await s.pause(1000)
      await s.create('jobs', job('j', { parallelism: 4, completions: 4 }))
      const [a] = await start(s, 2)
      await told(s, 2500)
      await s.ended(a as Seen, 0)
      await told(s, 2500)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: '5' } } })
      await s.until('all', async () => (await s.list('pods')).length.valueOf() === 4, 30_000)
      await told(s)
    },
  },
  'job-pods-evicted-with-a-policy-of-codes': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { parallelism: 2, completions: 2, ...policy(onCodes('Ignore', 'In', 143), onDisruption('Count')) }),
      )
      const [a, b] = await start(s, 2)
      await evict(s, a?.metadata.name ?? '')
      await s.ended(a as Seen, 143)
      await told(s)
      await endGoing(s)
      await s.ended(b as Seen, 143)
      await told(s, 2500)
    },
  },
  'job-parallelism-zero-with-work-left': {
    async act(s) {
      await s.create('jobs', idx(4, { parallelism: 2 }))
      const [a] = await start(s, 2)
      await s.ended(a as Seen, 0)
      await start(s, 1)
      await told(s)
      await s.patch('jobs', 'j', { spec: { parallelism: 0 } })
      await told(s)
      await endGoing(s)
      await told(s)
      await s.patch('jobs', 'j', { spec: { parallelism: 4 } })
      await start(s, 3)
      await told(s)
    },
  },
  'job-restarts-on-failure-up-to-the-limit': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { backoffLimit: 2, parallelism: 2, completions: 2 }, { restartPolicy: 'OnFailure' }),
      )
      const [a, b] = await start(s, 2)
      await s.running(a as Seen, { restarts: 1 })
      await told(s)
      await s.running(b as Seen, { restarts: 1 })
      await told(s)
      await s.running(b as Seen, { restarts: 2 })
      await told(s)
      await endGoing(s)
      await told(s)
    },
  },
  'job-managed-by-other-and-suspended': {
    async act(s) {
      await s.create('jobs', job('j', { managedBy: 'x.y/z', suspend: true }))
      await told(s)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await tried(s, 'status', s.status('jobs', 'j', { active: 1, startTime: s.now() }))
      await told(s)
      await tried(s, 'ready beyond active', s.status('jobs', 'j', { ready: 3 }))
      await s.del('jobs', 'j', { propagationPolicy: 'Foreground' })
      await s.gone('jobs', 'j')
    },
  },
  'cron-replaces-a-held-job': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Replace' }, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [first] = await s.list('jobs')
      await s.patch('jobs', first.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await lastRun(s, 9)
      await s.pause(4000)
      s.note(`jobs ${(await s.list('jobs')).map((one) => (going(one) ? 'going' : 'stays')).toSorted()}`)
      await endGoing(s)
      await s.patch('jobs', first.metadata.name, { metadata: { finalizers: null } })
      await s.pause(4000)
      s.note(`jobs ${(await s.list('jobs')).map((one) => (going(one) ? 'going' : 'stays')).toSorted()}`)
    },
  },
  'cron-forbids-until-its-job-is-deleted': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 60_000 }, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      await lastRun(s, 9)
      await s.pause(3000)
      const [first] = await s.list('jobs')
      await s.del('jobs', first.metadata.name, { propagationPolicy: 'Background' })
      await s.pause(3000)
      s.note(`jobs ${(await s.list('jobs')).length}`)
      await endGoing(s)
      s.note(`active ${((await s.get('cronjobs', 'c')).status.active ?? []).length}`)
    },
  },
  'cron-history-with-failed-and-suspended-jobs': {
    async act(s) {
      await s.create(
        'cronjobs',
        cron({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }, job('x', { backoffLimit: 0 }).spec),
      )
      await s.pause(1000)
      for (const [hours, code] of [
        [5, 1],
        [30, 1],
        [60, 0],
      ] as const) {
        const before = (await s.list('jobs')).length
        const own = (await s.get('cronjobs', 'c')).spec
        await s.patch('cronjobs', 'c', {
          spec: { schedule: own.schedule === '45 */2 * * *' ? '15 */2 * * *' : '45 */2 * * *' },
        })
        await lastRun(s, hours)
        await s.until(
          'another',
          async () => (await s.list('jobs')).length > before || (await s.list('pods')).some(fresh),
          8000,
        )
        for (const one of (await s.list('pods')).filter(fresh)) {
          await s.running(one)
          await s.ended(one, code)
        }
        await s.pause(2500)
      }
      s.note(
        `jobs ${(await s.list('jobs')).map(({ status }) => `${status.failed ?? 0} ${status.succeeded ?? 0}`).toSorted()}`,
      )
    },
  },
  'cron-job-disowned-while-active': {
    async act(s) {
      await s.create('cronjobs', cron({ concurrencyPolicy: 'Forbid' }, job('x').spec))
      await s.pause(1000)
      await lastRun(s, 5)
      await jobs(s, 1)
      const [first] = await s.list('jobs')
      await s.pause(1500)
      await s.patch('jobs', first.metadata.name, { metadata: { ownerReferences: null } })
      await s.pause(2500)
      s.note(`active ${((await s.get('cronjobs', 'c')).status.active ?? []).length}`)
      await lastRun(s, 9)
      await s.pause(3000)
      s.note(
        `active ${((await s.get('cronjobs', 'c')).status.active ?? []).length} of ${(await s.list('jobs')).length}`,
      )
    },
  },
  'cron-template-that-is-refused': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { 'count/jobs.batch': '0' }))
      await s.pause(1000)
      await s.create('cronjobs', cron())
      await s.pause(1000)
      await lastRun(s, 5)
      await s.pause(4000)
      s.note(`jobs ${(await s.list('jobs')).length}`)
      await s.del('resourcequotas', 'q')
      await s.pause(1500)
      await s.patch('cronjobs', 'c', { metadata: { annotations: { x: 'y' } } })
      await jobs(s, 1)
      await s.pause(3000)
    },
  },
  'job-ended-pods-relabelled-and-deleted': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2, completions: 3 }))
      const [a] = await start(s, 2)
      await s.ended(a as Seen, 0)
      await told(s)
      await s.patch('pods', a?.metadata.name ?? '', { metadata: { labels: { 'job-name': 'else' } } })
      await told(s)
      await s.del('pods', a?.metadata.name ?? '')
      await told(s)
      for (const one of (await s.list('pods')).filter(live)) {
        if (!running(one)) await s.running(one)
        await s.ended(one, 0)
      }
      await told(s, 2500)
    },
  },
} satisfies Readonly<Record<string, Story>>
