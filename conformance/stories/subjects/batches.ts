/** Jobs, step by step: what is suspended and changed, retried, replaced, adopted, and which of two reasons ends it. */
import type { Fields } from '../../../src/api/object.ts'
import { cond, disrupted, force, fresh, going, idx, job, kjob, live, pod, running, tried } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const conditions = async (s: Scene, name = 'j') => {
  const { status } = await s.get('jobs', name)
  const told = (status.conditions ?? []).map(
    ({ type, status: is, reason, message }: Fields) => `${type} ${is} ${reason} ${message}`,
  )
  const { active, ready, failed, succeeded, terminating, completedIndexes, failedIndexes } = status
  s.note(JSON.stringify([told, { active, ready, failed, succeeded, terminating, completedIndexes, failedIndexes }]))
}
const start = async (s: Scene, count: number) => {
  for (const one of await s.untilPods(count, fresh)) await s.running(one)
}
const exits = (rules: readonly object[]) => ({ podFailurePolicy: { rules } })
const codes = (action: string, operator: string, ...values: readonly number[]) => ({
  action,
  onExitCodes: { operator, values },
})
const finished = (s: Scene) => s.untilObj('jobs', 'j', (one) => cond('Complete')(one) || cond('Failed')(one))

export const batchesStories = {
  'job-suspended-moved-and-resumed': {
    async act(s) {
      await s.create('jobs', job('j', { suspend: true, completions: 2, parallelism: 2 }, { nodeName: undefined }))
      await s.pause(1500)
      await tried(
        s,
        'template',
        s.patch('jobs', 'j', {
          spec: {
            template: {
              metadata: { labels: { q: 'r' }, annotations: { n: 'o' } },
              spec: {
                nodeSelector: { 'kubernetes.io/os': 'linux' },
                tolerations: [{ key: 'k', operator: 'Exists' }],
                schedulingGates: [{ name: 'x.y/g' }],
              },
            },
          },
        }),
      )
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.untilPods(2)
      await tried(
        s,
        'while it runs',
        s.patch('jobs', 'j', { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
      )
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.untilPods(0)
      await tried(
        s,
        'after it has run',
        s.patch('jobs', 'j', { spec: { template: { spec: { nodeSelector: { a: 'b' } } } } }),
      )
      await s.pause(1500)
      await conditions(s)
    },
  },
  'job-suspended-twice-with-deadline': {
    async act(s) {
      await s.create('jobs', job('j', { activeDeadlineSeconds: 4 }))
      await start(s, 1)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(4500)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(1000)
      await s.patch('jobs', 'j', { spec: { suspend: false, activeDeadlineSeconds: 2 } })
      await finished(s)
      await conditions(s)
    },
  },
  'job-limit-and-deadline-at-once': {
    async act(s) {
      await s.create('jobs', job('j', { activeDeadlineSeconds: 3, backoffLimit: 1, completions: 3, parallelism: 3 }))
      for (const one of await s.untilPods(3, fresh)) await s.running(one)
      await s.pause(3500)
      for (const one of await s.list('pods')) if (live(one)) await s.ended(one, 1)
      await s.pause(2500)
      await conditions(s)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
      await conditions(s)
    },
  },
  'job-replacement-waits-for-terminating': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { podReplacementPolicy: 'Failed', completions: 2, parallelism: 2, backoffLimit: 9 }),
      )
      const [first] = await s.untilPods(2, fresh)
      await s.running(first)
      await s.del('pods', first.metadata.name)
      await s.pause(2500)
      await conditions(s)
      await s.ended(first, 1)
      await s.pause(2500)
      await conditions(s)
      await force(s, first).catch(() => {})
      await s.pause(3000)
      await conditions(s)
    },
  },
  'job-parallel-failures-counted': {
    async act(s) {
      await s.create('jobs', job('j', { completions: 6, parallelism: 6, backoffLimit: 2 }))
      const pods = await s.untilPods(6, fresh)
      for (const one of pods.slice(0, 2)) await s.ended(one, 1)
      await s.pause(1500)
      await conditions(s)
      await s.ended(pods[2], 1)
      await s.pause(2500)
      await conditions(s)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
      await conditions(s)
    },
  },
  'job-onfailure-counts-restarts': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { backoffLimit: 3, completions: 2, parallelism: 2 }, { restartPolicy: 'OnFailure' }),
      )
      const [a, b] = await s.untilPods(2, fresh)
      await s.running(a, { restarts: 2 })
      await s.running(b, { restarts: 1 })
      await s.pause(2000)
      await conditions(s)
      await s.running(b, { restarts: 2 })
      await s.pause(2500)
      await conditions(s)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
    },
  },
  'job-policy-codes-and-containers': {
    async act(s) {
      await s.create(
        'jobs',
        job(
          'j',
          {
            backoffLimit: 1,
            completions: 4,
            parallelism: 4,
            ...exits([
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
              codes('Ignore', 'In', 3, 4),
              { action: 'FailJob', onExitCodes: { containerName: 'other', operator: 'In', values: [5] } },
              codes('Count', 'NotIn', 6),
              codes('FailJob', 'In', 6),
            ]),
          },
          {
            containers: [
              { name: 'c', image: 'i' },
              { name: 'other', image: 'i' },
            ],
          },
        ),
      )
      const [a, b, c] = await s.untilPods(4, fresh)
      await s.ended(a, 3)
      await s.ended(b, 1, disrupted)
      await s.ended(c, 5)
      await s.pause(2500)
      await conditions(s)
      const [d] = (await s.list('pods')).filter(fresh)
      if (d !== undefined) await s.ended(d, 6)
      await s.pause(2500)
      await conditions(s)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
      await conditions(s)
    },
  },
  'job-fail-index-by-policy-and-limit': {
    async act(s) {
      await s.create(
        'jobs',
        idx(4, {
          backoffLimitPerIndex: 1,
          maxFailedIndexes: 2,
          ...exits([codes('FailIndex', 'In', 7), codes('Ignore', 'In', 8)]),
        }),
      )
      const [a, b, c] = await s.untilPods(4, fresh)
      await s.ended(a, 7)
      await s.ended(b, 8)
      await s.ended(c, 1)
      await s.pause(3000)
      await conditions(s)
      for (const one of (await s.list('pods')).filter(fresh)) await s.ended(one, 0)
      await s.pause(14_000)
      for (const one of (await s.list('pods')).filter(fresh)) await s.ended(one, 0)
      await s.pause(2500)
      await conditions(s)
    },
  },
  'job-success-policy-ends-the-rest': {
    async act(s) {
      await s.create(
        'jobs',
        idx(4, { successPolicy: { rules: [{ succeededIndexes: '1-2', succeededCount: 1 }, { succeededCount: 3 }] } }),
      )
      const [a, , c] = await s.untilPods(4, fresh)
      for (const one of await s.list('pods')) await s.running(one)
      await s.ended(a, 0)
      await s.pause(1500)
      await conditions(s)
      await s.ended(c, 0)
      await s.pause(2500)
      await conditions(s)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
      await conditions(s)
    },
  },
  'job-success-policy-beside-failed-indexes': {
    async act(s) {
      await s.create('jobs', idx(3, { backoffLimitPerIndex: 0, successPolicy: { rules: [{ succeededIndexes: '0' }] } }))
      const [a, b] = await s.untilPods(3, fresh)
      await s.ended(b, 1)
      await s.pause(1500)
      await conditions(s)
      await s.ended(a, 1)
      await s.pause(2500)
      await conditions(s)
      for (const one of (await s.list('pods')).filter(live)) if (one.status.phase === 'Pending') await s.ended(one, 0)
      await finished(s)
      await conditions(s)
    },
  },
  'job-two-pods-of-one-index': {
    async act(s) {
      await s.create('jobs', idx(2))
      const [a] = await s.untilPods(2, fresh)
      const {
        uid: _,
        resourceVersion: __,
        creationTimestamp: ___,
        name: ____,
        generateName,
        managedFields: _____,
        ...metadata
      } = a.metadata as Fields
      await s.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, name: 'twin' },
        spec: {
          nodeName: 'idle',
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'i:1' }],
        },
      })
      await s.pause(2500)
      await conditions(s)
      await s.create('pods', {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...metadata, name: 'beyond', annotations: { 'batch.kubernetes.io/job-completion-index': '7' } },
        spec: {
          nodeName: 'idle',
          restartPolicy: 'Never',
          automountServiceAccountToken: false,
          containers: [{ name: 'c', image: 'i:1' }],
        },
      })
      await s.pause(2500)
      await conditions(s)
      s.note(String(generateName))
    },
  },
  'job-adopts-by-manual-selector': {
    async act(s) {
      const labelled = (name: string, spec: Fields) => {
        const made = job(name, { manualSelector: true, selector: { matchLabels: { x: 'y' } }, ...spec })
        return made
      }
      await s.create('pods', pod('stray', { nodeName: 'idle', restartPolicy: 'Never' }, { labels: { x: 'y' } }))
      await s.pause(1100)
      await s.create('jobs', labelled('j', { completions: 2, parallelism: 2 }))
      await s.pause(2500)
      await conditions(s)
      await s.del('jobs', 'j', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
      await s.create('jobs', labelled('k', { completions: 3, parallelism: 1 }))
      await s.pause(3000)
      await conditions(s, 'k')
      for (const one of (await s.list('pods')).filter(live)) await s.ended(one, 0)
      await s.pause(3500)
      await conditions(s, 'k')
    },
  },
  'job-pod-relabelled-and-back': {
    async act(s) {
      await s.create('jobs', job('j', { completions: 1 }))
      const [one] = await s.untilPods(1, fresh)
      const uid = one.metadata.labels['batch.kubernetes.io/controller-uid'] as string
      await s.patch('pods', one.metadata.name, {
        metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'other' } },
      })
      await s.pause(2500)
      await conditions(s)
      await s.patch('pods', one.metadata.name, { metadata: { labels: { 'batch.kubernetes.io/controller-uid': uid } } })
      await s.pause(2500)
      await conditions(s)
    },
  },
  'job-parallelism-more-than-left': {
    async act(s) {
      await s.create('jobs', kjob('j', { completions: 5, parallelism: 3 }))
      await s.pause(500)
      await s.patch('jobs', 'j', { spec: { parallelism: 9 } })
      await finished(s)
      await conditions(s)
      s.note(String((await s.list('pods')).length))
    },
  },
  'job-elastic-index-grows-and-shrinks': {
    async act(s) {
      await s.create('jobs', idx(2))
      const [a] = await s.untilPods(2, fresh)
      await s.ended(a, 0)
      await s.pause(1500)
      await tried(s, 'completions alone', s.patch('jobs', 'j', { spec: { completions: 4 } }))
      await tried(s, 'both', s.patch('jobs', 'j', { spec: { completions: 4, parallelism: 4 } }))
      await s.untilPods(3, fresh)
      await conditions(s)
      await tried(s, 'one', s.patch('jobs', 'j', { spec: { completions: 1, parallelism: 1 } }))
      await s.pause(3000)
      for (const one of await s.list('pods')) if (going(one)) await force(s, one)
      await finished(s)
      await conditions(s)
    },
  },
  'job-ttl-longer-then-shorter': {
    async act(s) {
      await s.create('jobs', kjob('j', { ttlSecondsAfterFinished: 100 }))
      await finished(s)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { ttlSecondsAfterFinished: 3 } })
      await s.gone('jobs', 'j')
      await s.create('jobs', kjob('k', { ttlSecondsAfterFinished: 2 }))
      await s.untilObj('jobs', 'k', cond('Complete'))
      await s.patch('jobs', 'k', { spec: { ttlSecondsAfterFinished: null } })
      await s.pause(4000)
    },
  },
  'job-managed-elsewhere-then-read': {
    async act(s) {
      await s.create('jobs', kjob('j', { managedBy: 'x.y/z', completions: 2 }))
      await s.pause(1500)
      await s.status('jobs', 'j', { active: 1, startTime: s.now(), uncountedTerminatedPods: {} })
      await s.pause(1500)
      await tried(s, 'managedBy', s.patch('jobs', 'j', { spec: { managedBy: 'kubernetes.io/job-controller' } }))
      await s.pause(1500)
      await s.del('jobs', 'j')
      await s.create('jobs', kjob('k', { managedBy: 'kubernetes.io/job-controller' }))
      await s.untilObj('jobs', 'k', cond('Complete'))
    },
  },
  'job-pod-evicted-and-unscheduled': {
    async act(s) {
      await s.create(
        'jobs',
        kjob(
          'j',
          { backoffLimit: 0, ...exits([{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }]) },
          { nodeSelector: { none: 'such' } },
        ),
      )
      const [one] = await s.untilPods(1, ({ status }) => status.phase === 'Pending')
      await s.raw('POST', `/api/v1/namespaces/${s.ns}/pods/${one.metadata.name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: one.metadata.name, namespace: s.ns },
      })
      await s.pause(24_000)
      await conditions(s)
    },
    restMs: 20_000,
  },
  'job-held-pods-hold-its-end': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 0, completions: 2, parallelism: 2 }))
      const [a, b] = await s.untilPods(2, fresh)
      await s.patch('pods', b.metadata.name, {
        metadata: { finalizers: ['batch.kubernetes.io/job-tracking', 'x.y/stay'] },
      })
      await s.ended(a, 1)
      await s.pause(2500)
      await conditions(s)
      await force(s, b)
      await s.pause(2000)
      await conditions(s)
      await s.patch('pods', b.metadata.name, { metadata: { finalizers: null } }).catch(() => {})
      await finished(s)
      await conditions(s)
    },
  },
  'jobs-of-cronjob-by-hand': {
    async act(s) {
      const jobTemplate = { spec: { template: job('x').spec['template'] } }
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { schedule: '0 0 1 1 *', successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0, jobTemplate },
      })
      const owner = await s.get('cronjobs', 'c')
      for (const n of ['a', 'b', 'd']) {
        const reference = {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          name: 'c',
          uid: owner.metadata.uid,
          controller: true,
        }
        const made = kjob(n) as Fields
        await s.create('jobs', { ...made, metadata: { name: n, ownerReferences: [reference] } })
        await s.untilObj('jobs', n, cond('Complete'))
        await s.pause(1200)
      }
      await s.pause(3000)
      await s.patch('cronjobs', 'c', { spec: { suspend: true } })
      await s.pause(2000)
      s.note((await s.list('jobs')).map(({ metadata }: Seen) => metadata.name).join())
    },
  },
  'job-run-to-end-with-ready-counted': {
    async act(s) {
      await s.create('jobs', job('j', { completions: 3, parallelism: 2 }))
      await start(s, 2)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      await conditions(s)
      for (const one of (await s.list('pods')).filter(running)) await s.ended(one, 0)
      await start(s, 1)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 1)
      await conditions(s)
      for (const one of (await s.list('pods')).filter(running)) await s.ended(one, 0)
      await finished(s)
      await conditions(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
