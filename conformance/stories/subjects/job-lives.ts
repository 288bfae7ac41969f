/** Jobs whose limits, indexes and pods change while they run, and which of their ends comes. */
import type { Fields } from '../../../src/api/object.ts'
import {
  cond,
  disrupted,
  force,
  fresh,
  going,
  idx,
  job,
  kjob,
  live,
  pdb,
  pod,
  running,
  svc,
  tried,
} from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const conditions = async (s: Scene, name = 'j') => {
  const { status } = await s.get('jobs', name)
  const told = (status.conditions ?? []).map(
    ({ type, status: is, reason, message }: Fields) => `${type} ${is} ${reason} ${message}`,
  )
  const { active, ready, failed, succeeded, terminating, completedIndexes, failedIndexes } = status
  s.note(JSON.stringify([told, { active, ready, failed, succeeded, terminating, completedIndexes, failedIndexes }]))
}
const finished = (s: Scene) => s.untilObj('jobs', 'j', (one) => cond('Complete')(one) || cond('Failed')(one))
const release = async (s: Scene) => {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one).catch(() => {})
}
const indexOf = ({ metadata }: Seen) => metadata.annotations['batch.kubernetes.io/job-completion-index']

export const jobLivesStories = {
  'job-backoff-limit-raised-and-lowered': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 1, completions: 4, parallelism: 4 }))
      const pods = await s.untilPods(4, fresh)
      await s.ended(pods[0], 1)
      await s.pause(1500)
      await tried(s, 'raised', s.patch('jobs', 'j', { spec: { backoffLimit: 3 } }))
      await s.ended(pods[1], 1)
      await s.pause(1500)
      await conditions(s)
      await tried(s, 'lowered', s.patch('jobs', 'j', { spec: { backoffLimit: 0 } }))
      await s.pause(1500)
      await release(s)
      await finished(s)
      await conditions(s)
    },
  },
  'job-per-index-limits-changed': {
    async act(s) {
      await s.create('jobs', idx(3, { backoffLimitPerIndex: 1, maxFailedIndexes: 2 }))
      await s.untilPods(3, fresh)
      await tried(s, 'per index', s.patch('jobs', 'j', { spec: { backoffLimitPerIndex: 2 } }))
      await tried(s, 'max failed', s.patch('jobs', 'j', { spec: { maxFailedIndexes: 1 } }))
      await tried(s, 'policy', s.patch('jobs', 'j', { spec: { podReplacementPolicy: 'Failed' } }))
      await tried(s, 'mode', s.patch('jobs', 'j', { spec: { completionMode: 'NonIndexed' } }))
      await tried(s, 'success', s.patch('jobs', 'j', { spec: { successPolicy: { rules: [{ succeededCount: 1 }] } } }))
      await tried(s, 'selector', s.patch('jobs', 'j', { spec: { selector: { matchLabels: { q: 'r' } } } }))
      await tried(s, 'deadline', s.patch('jobs', 'j', { spec: { activeDeadlineSeconds: 500 } }))
    },
  },
  'job-indexed-suspended-keeps-what-is-done': {
    async act(s) {
      await s.create('jobs', idx(5, { parallelism: 3 }))
      const [a, , c] = await s.untilPods(3, fresh)
      await s.ended(a, 0)
      await s.ended(c, 0)
      await s.untilObj('jobs', 'j', ({ status }) => status.succeeded === 2)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(2000)
      await release(s)
      await s.pause(1500)
      await conditions(s)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      const pods = await s.untilPods(3, fresh)
      s.note(pods.map(indexOf).join())
      for (const one of pods) await s.ended(one, 0)
      await finished(s)
      await conditions(s)
    },
  },
  'job-success-policy-while-suspended': {
    async act(s) {
      await s.create('jobs', idx(3, { successPolicy: { rules: [{ succeededIndexes: '0,2' }] } }))
      const [a, , c] = await s.untilPods(3, fresh)
      await s.ended(a, 0)
      await s.pause(1200)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(300)
      await s.ended(c, 0).catch((error) => s.note(error.message))
      await s.pause(2500)
      await conditions(s)
      await release(s)
      await s.pause(1500)
      await conditions(s)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.pause(2500)
      await conditions(s)
    },
  },
  'job-replaced-index-when-failed-alone': {
    async act(s) {
      await s.create('jobs', idx(2, { podReplacementPolicy: 'Failed', backoffLimitPerIndex: 2 }))
      const [a] = await s.untilPods(2, fresh)
      await s.running(a)
      await s.del('pods', a.metadata.name)
      await s.pause(2000)
      await conditions(s)
      await s.ended(a, 137)
      await s.pause(1500)
      await conditions(s)
      await force(s, a).catch(() => {})
      await s.pause(12_000)
      await conditions(s)
      s.note((await s.untilPods(2, live)).map(indexOf).join())
    },
  },
  'job-work-queue-fails-after-first-success': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 3, backoffLimit: 4 }))
      const [a, b, c] = await s.untilPods(3, fresh)
      await s.ended(a, 0)
      await s.pause(1500)
      await conditions(s)
      await s.ended(b, 1)
      await s.pause(12_000)
      await conditions(s)
      await s.patch('jobs', 'j', { spec: { parallelism: 5 } })
      await s.pause(1500)
      await conditions(s)
      await s.ended(c, 0)
      await s.pause(2000)
      await conditions(s)
    },
  },
  'job-parallelism-raised-then-zero-then-back': {
    async act(s) {
      await s.create('jobs', job('j', { completions: 6, parallelism: 1 }))
      await s.untilPods(1, fresh)
      await s.patch('jobs', 'j', { spec: { parallelism: 4 } })
      await s.untilPods(4, fresh)
      await s.patch('jobs', 'j', { spec: { parallelism: 0 } })
      await s.pause(2000)
      await conditions(s)
      await release(s)
      await s.patch('jobs', 'j', { spec: { parallelism: 2 } })
      const pods = await s.untilPods(2, fresh)
      for (const one of pods) await s.ended(one, 0)
      await s.untilPods(2, fresh)
      await conditions(s)
    },
  },
  'job-policy-of-disruption-by-eviction': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', {
          backoffLimit: 0,
          podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
        }),
      )
      const [one] = await s.untilPods(1, fresh)
      await s.running(one)
      const answer = await s.raw('POST', `/api/v1/namespaces/${s.ns}/pods/${one.metadata.name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: one.metadata.name, namespace: s.ns },
      })
      s.note(String(answer.status))
      await s.pause(1500)
      await conditions(s)
      const { status } = await s.get('pods', one.metadata.name)
      await s.ended(one, 137, status.conditions)
      await force(s, one).catch(() => {})
      await s.pause(3000)
      await conditions(s)
    },
  },
  'job-policy-unknown-container-and-false-condition': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', {
          backoffLimit: 2,
          podFailurePolicy: {
            rules: [
              { action: 'FailJob', onPodConditions: [{ type: 'x.y/Bad', status: 'False' }] },
              { action: 'Ignore', onPodConditions: [{ type: 'x.y/Bad', status: 'Unknown' }] },
            ],
          },
        }),
      )
      const [a] = await s.untilPods(1, fresh)
      await s.ended(a, 1, [{ type: 'x.y/Bad', status: 'True' }])
      await s.pause(12_000)
      await conditions(s)
      const [b] = await s.untilPods(1, fresh)
      await s.ended(b, 1, [{ type: 'x.y/Bad', status: 'Unknown' }])
      await s.pause(3000)
      const [c] = await s.untilPods(1, fresh)
      await s.ended(c, 1, [{ type: 'x.y/Bad', status: 'False' }])
      await finished(s)
      await conditions(s)
    },
  },
  'job-all-indexes-failed-but-success-policy': {
    async act(s) {
      await s.create('jobs', idx(3, { backoffLimitPerIndex: 0, successPolicy: { rules: [{ succeededCount: 2 }] } }))
      const [a, b, c] = await s.untilPods(3, fresh)
      await s.ended(a, 1)
      await s.ended(b, 0)
      await s.pause(1500)
      await conditions(s)
      await s.ended(c, 0)
      await finished(s)
      await conditions(s)
    },
  },
  'job-deadline-changed-while-it-runs': {
    async act(s) {
      await s.create('jobs', job('j', { activeDeadlineSeconds: 100 }))
      const [one] = await s.untilPods(1, fresh)
      await s.running(one)
      await s.pause(2500)
      await s.patch('jobs', 'j', { spec: { activeDeadlineSeconds: 1 } })
      await s.pause(1500)
      await release(s)
      await finished(s)
      await conditions(s)
      await tried(s, 'after its end', s.patch('jobs', 'j', { spec: { activeDeadlineSeconds: 200 } }))
      await tried(s, 'suspend after', s.patch('jobs', 'j', { spec: { suspend: true } }))
      await s.pause(2000)
      await conditions(s)
    },
  },
  'job-ttl-and-held-by-a-finalizer-of-its-pods': {
    async act(s) {
      await s.create('jobs', kjob('j', { ttlSecondsAfterFinished: 1 }, { restartPolicy: 'Never' }))
      const [one] = await s.untilPods(1)
      await s.patch('pods', one.metadata.name, {
        metadata: { finalizers: ['batch.kubernetes.io/job-tracking', 'x.y/stay'] },
      })
      await finished(s)
      await s.pause(4500)
      s.note(String((await s.list('jobs')).length))
      await s.patch('pods', one.metadata.name, { metadata: { finalizers: null } })
      await s.gone('jobs', 'j')
    },
  },
  'job-with-service-and-budget': {
    async act(s) {
      await s.create('services', svc('n', { clusterIP: 'None', selector: { x: 'y' }, publishNotReadyAddresses: true }))
      await s.create('poddisruptionbudgets', pdb('b', { maxUnavailable: 1, selector: { matchLabels: { x: 'y' } } }))
      await s.create('jobs', idx(2, {}, { subdomain: 'n' }))
      const [a, b] = await s.untilPods(2, fresh)
      await s.running(a, { ip: '10.9.1.1' })
      await s.running(b, { ip: '10.9.1.2' })
      await s.pause(3000)
      await s.ended(a, 0)
      await s.pause(3000)
      await conditions(s)
    },
  },
  'job-two-manual-selectors-of-one-label': {
    async act(s) {
      const spec = { manualSelector: true, selector: { matchLabels: { x: 'y' } }, completions: 2, parallelism: 2 }
      await s.create('jobs', job('j', spec))
      await s.untilPods(2, fresh)
      await s.create('jobs', job('k', spec))
      await s.untilPods(4, fresh)
      await s.pause(1500)
      await conditions(s)
      await conditions(s, 'k')
      await s.del('jobs', 'k', { propagationPolicy: 'Background' })
      await s.pause(3000)
      await conditions(s)
    },
  },
  'job-of-none-and-of-zero': {
    async act(s) {
      await s.create('jobs', job('j', { completions: 0 }))
      await finished(s)
      await s.create('jobs', idx(0, { parallelism: 2 }) as Fields).catch((error) => s.note(error.message))
      await s.create('jobs', job('k', { completions: 0, suspend: true }))
      await s.create('jobs', { ...(idx(0, { parallelism: 1 }) as Fields), metadata: { name: 'i' } })
      await s.create('jobs', job('l', { parallelism: 0 }))
      await s.pause(2500)
      for (const name of ['j', 'k', 'i', 'l']) await conditions(s, name)
    },
  },
  'job-pod-of-index-taken-by-user': {
    async act(s) {
      await s.create('jobs', idx(2))
      const [a] = await s.untilPods(2, fresh)
      await s.patch('pods', a.metadata.name, { metadata: { ownerReferences: null } })
      await s.pause(2000)
      await conditions(s)
      await s.patch('pods', a.metadata.name, {
        metadata: { annotations: { 'batch.kubernetes.io/job-completion-index': null } },
      })
      await s.pause(2500)
      await conditions(s)
      s.note(String((await s.list('pods')).length))
    },
  },
  'job-fails-while-its-pod-waits': {
    async act(s) {
      await s.create(
        'jobs',
        kjob('j', { backoffLimit: 0, completions: 2, parallelism: 2 }, { schedulingGates: [{ name: 'x.y/g' }] }),
      )
      const [a, b] = await s.untilPods(2)
      await s.patch('pods', a.metadata.name, { spec: { schedulingGates: null } })
      await s.pause(2500)
      await conditions(s)
      await s.del('pods', b.metadata.name)
      await s.pause(2500)
      await conditions(s)
    },
  },
  'job-disrupted-counts-without-a-policy': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 1 }))
      const [a] = await s.untilPods(1, fresh)
      await s.running(a)
      await s.pause(1100)
      await s.ended(a, 137, disrupted)
      await s.pause(12_000)
      await conditions(s)
      const [b] = await s.untilPods(1, fresh)
      await s.create('pods', pod('other', { nodeName: 'idle' }))
      await s.ended(b, 1, undefined, 'Evicted')
      await finished(s)
      await conditions(s)
      s.note(String((await s.list('pods')).filter(running).length))
    },
  },
} satisfies Readonly<Record<string, Story>>
