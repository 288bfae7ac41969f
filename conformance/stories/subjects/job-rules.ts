/** Jobs: rules that meet. */
import { cond, disrupted, force, fresh, going, idx, job, kjob, running } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const indexOf = ({ metadata }: Seen) => metadata.annotations['batch.kubernetes.io/job-completion-index']
async function endGoing(s: Scene): Promise<void> {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one)
}
const byIndex = (pods: readonly Seen[], index: string) => pods.find((one) => indexOf(one) === index) as Seen

export const jobRulesStories = {
  'job-failure-target-waits': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', {
          parallelism: 3,
          completions: 3,
          podReplacementPolicy: 'Failed',
          podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } }] },
        }),
      )
      const ps = await s.untilPods(3, fresh)
      for (const p of ps) await s.running(p)
      await s.ended(ps[1], 42)
      await s.untilObj('jobs', 'j', cond('FailureTarget'))
      await s.pause(2000)
      await s.ended(ps[0], 0)
      await s.pause(1500)
      await endGoing(s)
      await s.untilObj('jobs', 'j', cond('Failed'))
    },
  },
  'job-success-then-failure': {
    async act(s) {
      await s.create(
        'jobs',
        idx(3, {
          backoffLimitPerIndex: 0,
          maxFailedIndexes: 1,
          successPolicy: { rules: [{ succeededIndexes: '1', succeededCount: 1 }, { succeededCount: 2 }] },
        }),
      )
      const ps = await s.untilPods(3, fresh)
      for (const p of ps) await s.running(p)
      await s.ended(byIndex(ps, '0'), 1)
      await s.pause(1500)
      await s.ended(byIndex(ps, '1'), 0)
      await s.pause(1500)
      await s.ended(byIndex(ps, '2'), 1)
      await s.pause(2000)
      await endGoing(s)
    },
  },
  'job-max-failed-indexes': {
    async act(s) {
      await s.create('jobs', idx(5, { backoffLimitPerIndex: 0, maxFailedIndexes: 1, parallelism: 3 }))
      let ps = await s.untilPods(3, fresh)
      await s.ended(ps[0], 1)
      await s.pause(2000)
      ps = await s.untilPods(3, fresh)
      await s.running(ps[0])
      await s.ended(ps[1], 3)
      await s.pause(2500)
      await endGoing(s)
      await s.pause(1500)
    },
  },
  'job-index-retries-with-policy': {
    async act(s) {
      await s.create(
        'jobs',
        idx(2, {
          backoffLimitPerIndex: 1,
          podReplacementPolicy: 'Failed',
          podFailurePolicy: {
            rules: [
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
              { action: 'FailIndex', onExitCodes: { operator: 'In', values: [9] } },
            ],
          },
        }),
      )
      let ps = await s.untilPods(2, fresh)
      await s.ended(byIndex(ps, '0'), 1, disrupted)
      await s.pause(1500)
      ps = await s.untilPods(2, fresh, 20_000)
      await s.ended(byIndex(ps, '0'), 1)
      await s.pause(1500)
      ps = await s.untilPods(2, fresh, 30_000)
      await s.ended(byIndex(ps, '0'), 0)
      await s.ended(byIndex(ps, '1'), 9)
      await s.untilObj('jobs', 'j', cond('Failed'))
    },
  },
  'job-suspended-resources-changed': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2 }))
      for (const p of await s.untilPods(2, fresh)) await s.running(p)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.untilPods(2, going)
      const template = (cpu: string) => ({
        spec: {
          template: {
            spec: { containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu } } }] },
          },
        },
      })
      await s.patch('jobs', 'j', template('10m')).catch((error) => s.note(error.message))
      await endGoing(s)
      await s.untilObj('jobs', 'j', ({ status }) => !status.active)
      await s.patch('jobs', 'j', template('20m')).catch((error) => s.note(error.message))
      await s
        .patch('jobs', 'j', { spec: { template: { metadata: { annotations: { n: 'o' } } } } })
        .catch((error) => s.note(error.message))
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.untilPods(2, fresh)
      await s.pause(1500)
      await s.patch('jobs', 'j', template('30m')).catch((error) => s.note(error.message))
    },
  },
  'job-retries-back-off': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 2 }))
      let last = Date.parse(s.now())
      for (let i = 0; i < 3; i++) {
        const [p] = await s.untilPods(1, fresh, 60_000)
        s.note(`pod ${i} after ${Math.round((Date.parse(s.now()) - last) / 10_000) * 10} s`)
        last = Date.parse(s.now())
        await s.ended(p, 1)
      }
      await s.untilObj('jobs', 'j', cond('Failed'))
    },
  },
  'job-managed-finished-ttl': {
    async act(s) {
      await s.create('jobs', kjob('j', { managedBy: 'example.com/x', ttlSecondsAfterFinished: 2 }))
      await s.pause(1000)
      const at = s.now()
      await s.status('jobs', 'j', { startTime: at, active: 1, ready: 0 })
      await s.pause(1000)
      const done = { status: 'True', lastTransitionTime: s.now(), lastProbeTime: s.now(), reason: 'r', message: 'm' }
      await s.status('jobs', 'j', {
        active: null,
        succeeded: 1,
        completionTime: s.now(),
        conditions: [
          { type: 'SuccessCriteriaMet', ...done },
          { type: 'Complete', ...done },
        ],
      })
      await s.gone('jobs', 'j')
    },
  },
  'job-finalizer-taken-by-user': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2, completions: 4 }))
      const ps = await s.untilPods(2, fresh)
      await s.patch('pods', ps[0].metadata.name, { metadata: { finalizers: null } })
      await s.ended(ps[0], 0)
      await s.pause(1500)
      await s.patch('pods', ps[1].metadata.name, {
        metadata: { labels: { 'batch.kubernetes.io/controller-uid': null, 'controller-uid': null } },
      })
      await s.pause(3000)
    },
  },
  'job-pods-deleted-indexed': {
    async act(s) {
      await s.create('jobs', idx(3, { backoffLimit: 1 }))
      const ps = await s.untilPods(3, fresh)
      for (const p of ps) await s.running(p)
      await s.del('pods', ps[1].metadata.name)
      await s.pause(1500)
      await s.ended(ps[1], 137)
      await s.pause(2000)
      await force(s, ps[1]).catch(() => {})
      const [again] = await s.untilPods(1, fresh, 30_000)
      await s.ended(again, 1)
      await s.pause(3000)
      await endGoing(s)
      await s.pause(2000)
    },
  },
  'job-parallelism-while-failing': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 4, completions: 8, backoffLimit: 3 }))
      const ps = await s.untilPods(4, fresh)
      await s.ended(ps[0], 0)
      await s.ended(ps[1], 1)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { parallelism: 1 } })
      await s.pause(2500)
      await s.patch('jobs', 'j', { spec: { parallelism: 6 } })
      await s.untilPods(6, fresh, 30_000)
      await s.pause(1500)
    },
  },
  'job-work-queue': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 3 }))
      const ps = await s.untilPods(3, fresh)
      for (const p of ps) await s.running(p)
      await s.ended(ps[0], 0)
      await s.pause(1500)
      await s.ended(ps[1], 1)
      await s.pause(2500)
      await s.patch('jobs', 'j', { spec: { parallelism: 5 } }).catch((error) => s.note(error.message))
      await s.pause(1500)
      await s.ended(ps[2], 0)
      await s.untilObj('jobs', 'j', cond('Complete'))
    },
  },
  'job-onfailure-suspended-deadline': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { backoffLimit: 3, activeDeadlineSeconds: 8, parallelism: 2 }, { restartPolicy: 'OnFailure' }),
      )
      const ps = await s.untilPods(2, fresh)
      await s.running(ps[0], { restarts: 2 })
      await s.running(ps[1], { restarts: 1 })
      await s.untilObj('jobs', 'j', cond('Failed'))
      await s.pause(1500)
      await endGoing(s)
      await s.pause(1500)
    },
  },
  'job-terminating-counted': {
    async act(s) {
      await s.create('jobs', { ...kjob('j', { parallelism: 2, completions: 2 }, { nodeName: 'idle' }) })
      const ps = await s.untilPods(2, fresh)
      for (const p of ps) await s.running(p)
      await s.untilPods(2, running)
      await s.del('pods', ps[0].metadata.name)
      await s.untilObj('jobs', 'j', ({ status }) => status.terminating === 1)
      await s.pause(12_000)
      s.note(`pods ${(await s.list('pods')).length}`)
      await endGoing(s)
      await s.pause(3000)
    },
  },
} satisfies Readonly<Record<string, Story>>
