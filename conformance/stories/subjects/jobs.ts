import { cond, disrupted, force, fresh, going, idx, job, kjob, pod, quota, svc } from '../objects.ts'
import type { Seen, Story } from '../story.ts'

export const jobsStories = {
  'job-backoff-per-index': {
    async act(s) {
      await s.create('jobs', idx(3, { backoffLimitPerIndex: 1, maxFailedIndexes: 1 }))
      let ps = await s.untilPods(3, fresh)
      await s.ended(ps[0], 1)
      await s.pause(1500)
      ps = await s.untilPods(3, fresh, 20000)
      await s.ended(
        ps.find((p) => p.metadata.annotations['batch.kubernetes.io/job-completion-index'] === '0') as Seen,
        1,
      )
      await s.pause(1500)
      const rest = await s.untilPods(2, fresh)
      for (const p of rest) await s.ended(p, 0)
      await s.pause(1500)
    },
  },
  'job-policy-ready-condition': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', {
          backoffLimit: 2,
          podFailurePolicy: {
            rules: [
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
              { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'NotIn', values: [1, 2] } },
              { action: 'Count', onExitCodes: { operator: 'In', values: [1] } },
            ],
          },
        }),
      )
      let [p] = await s.untilPods(1, fresh)
      await s.ended(p, 1)
      ;[p] = await s.untilPods(1, fresh, 30000)
      await s.ended(p, 9, disrupted)
      ;[p] = await s.untilPods(1, fresh, 30000)
      await s.ended(p, 7)
      await s.pause(2000)
    },
  },
  'job-policy-evicted': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', {
          backoffLimit: 0,
          podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] },
        }),
      )
      let [p] = await s.untilPods(1, fresh)
      await s.running(p)
      await s.raw('POST', `/api/v1/namespaces/${s.ns}/pods/${p.metadata.name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: p.metadata.name, namespace: s.ns },
      })
      await s.pause(1500)
      const g = await s.untilPods(1, going)
      await s.ended(g[0], 143, g[0].status.conditions)
      await s.pause(1500)
      await force(s, g[0]).catch(() => {})
      ;[p] = await s.untilPods(1, fresh, 20000)
      await s.ended(p, 0)
      await s.pause(1500)
    },
  },
  'job-success-policy-indexes': {
    async act(s) {
      await s.create('jobs', idx(4, { successPolicy: { rules: [{ succeededIndexes: '0,2-3', succeededCount: 2 }] } }))
      const ps = await s.untilPods(4, fresh)
      for (const p of ps) await s.running(p)
      await s.ended(ps[2], 0)
      await s.pause(1500)
      await s.ended(ps[1], 0)
      await s.pause(1000)
      await s.ended(ps[3], 0)
      await s.pause(1500)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(1500)
    },
  },
  'job-suspended-created': {
    async act(s) {
      await s.create('jobs', job('j', { suspend: true, parallelism: 2, completions: 3 }))
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      const ps = await s.untilPods(2, fresh)
      await s.ended(ps[0], 0)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(1500)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: false, parallelism: 1 } })
      await s.pause(2500)
    },
  },
  'job-suspend-template-changed': {
    async act(s) {
      await s.create('jobs', job('j', { suspend: true }))
      await s.pause(1200)
      await s.patch('jobs', 'j', {
        spec: {
          template: {
            metadata: { labels: { n: 'm' }, annotations: { k: 'v' } },
            spec: { tolerations: [{ key: 't', operator: 'Exists' }], nodeSelector: { a: 'b' } },
          },
        },
      })
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.untilPods(1)
      await s.pause(1500)
    },
  },
  'job-replace-failed-policy': {
    async act(s) {
      await s.create('jobs', job('j', { podReplacementPolicy: 'Failed', parallelism: 2 }))
      const ps = await s.untilPods(2, fresh)
      for (const p of ps) await s.running(p)
      await s.del('pods', ps[0].metadata.name)
      await s.pause(2500)
      await s.ended(ps[0], 137)
      await s.pause(1000)
      await force(s, ps[0]).catch(() => {})
      await s.pause(12000)
    },
  },
  'job-active-deadline-suspend': {
    async act(s) {
      await s.create('jobs', job('j', { activeDeadlineSeconds: 4 }))
      const [p] = await s.untilPods(1, fresh)
      await s.running(p)
      await s.pause(2000)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(1500)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.pause(3000)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.pause(7000)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.pause(1500)
    },
  },
  'job-ttl-zero': {
    async act(s) {
      await s.create('jobs', kjob('j', { ttlSecondsAfterFinished: 0, completions: 2, parallelism: 2 }))
      await s.gone('jobs', 'j')
      await s.pause(1500)
    },
  },
  'job-ttl-set-later': {
    async act(s) {
      await s.create('jobs', kjob('j', { completions: 1 }))
      await s.untilObj('jobs', 'j', cond('Complete'))
      await s.pause(1000)
      await s.patch('jobs', 'j', { spec: { ttlSecondsAfterFinished: 2 } })
      await s.gone('jobs', 'j')
    },
  },
  'job-ttl-finalizer': {
    async act(s) {
      await s.create('jobs', {
        ...kjob('j', { ttlSecondsAfterFinished: 1 }),
        metadata: { name: 'j', finalizers: ['x.y/z'] },
      })
      await s.untilObj('jobs', 'j', (j) => j.metadata.deletionTimestamp)
      await s.pause(1500)
      await s.patch('jobs', 'j', { metadata: { finalizers: null } })
      await s.gone('jobs', 'j')
    },
  },
  'job-elastic-down-up': {
    async act(s) {
      await s.create('jobs', idx(4))
      const ps = await s.untilPods(4, fresh)
      await s.ended(ps[3], 0)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { completions: 2, parallelism: 2 } })
      await s.pause(2000)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.patch('jobs', 'j', { spec: { completions: 5, parallelism: 5 } })
      await s.pause(2000)
      for (const q of (await s.list('pods')).filter(fresh)) await s.ended(q, 0)
      await s.pause(2000)
    },
  },
  'job-managed-by': {
    async act(s) {
      await s.create('jobs', kjob('j', { managedBy: 'example.com/x' }))
      await s.pause(2500)
      await s.status('jobs', 'j', { active: 1, ready: 0, startTime: s.now() })
      await s.pause(1500)
      await s.del('jobs', 'j', { propagationPolicy: 'Background' })
    },
  },
  'job-parallelism-0': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 0, completions: 2 }))
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { parallelism: 3 } })
      await s.pause(2000)
      await s.patch('jobs', 'j', { spec: { parallelism: 1 } })
      await s.pause(2000)
    },
  },
  'job-completions-1-backoff-0': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 0, parallelism: 3, completions: 3 }))
      const ps = await s.untilPods(3, fresh)
      await s.running(ps[0])
      await s.ended(ps[1], 3)
      await s.pause(2000)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.pause(2000)
    },
  },
  'job-onfailure-restarts': {
    async act(s) {
      await s.create('jobs', job('j', { backoffLimit: 1 }, { restartPolicy: 'OnFailure' }))
      const [p] = await s.untilPods(1, fresh)
      await s.running(p, { restarts: 1 })
      await s.pause(1500)
      await s.running(p, { restarts: 2 })
      await s.pause(2000)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.pause(2000)
    },
  },
  'job-pod-deleted': {
    async act(s) {
      await s.create('jobs', job('j', {}))
      const [p] = await s.untilPods(1, fresh)
      await s.running(p)
      await s.del('pods', p.metadata.name)
      await s.pause(1500)
      await force(s, p)
      await s.pause(13000)
    },
  },
  'job-quota': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '1' }))
      await s.untilObj('resourcequotas', 'q', (q) => q.status?.hard)
      await s.create('jobs', job('j', { parallelism: 2, completions: 2 }))
      await s.pause(4000)
      const [p] = await s.untilPods(1, fresh)
      await s.ended(p, 0)
      await s.pause(6000)
    },
  },
  'job-manual-selector': {
    async act(s) {
      await s.create('jobs', job('j', { manualSelector: true, selector: { matchLabels: { x: 'y' } } }))
      await s.create('pods', pod('loose', { nodeName: 'idle', restartPolicy: 'Never' }, { labels: { x: 'y' } }))
      await s.pause(2500)
    },
  },
  'job-finalizer-orphan': {
    async act(s) {
      await s.create('jobs', job('j', {}))
      const [p] = await s.untilPods(1, fresh)
      await s.running(p)
      await s.del('jobs', 'j', { propagationPolicy: 'Orphan' })
      await s.gone('jobs', 'j')
      await s.pause(2000)
    },
  },
  'job-foreground': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2 }))
      const ps = await s.untilPods(2, fresh)
      await s.running(ps[0])
      await s.del('jobs', 'j', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.gone('jobs', 'j')
    },
  },
  'job-finished-pod-gone': {
    async act(s) {
      await s.create('jobs', kjob('j', { completions: 1 }))
      await s.untilObj('jobs', 'j', cond('Complete'))
      const [p] = await s.list('pods')
      await s.del('pods', p.metadata.name)
      await s.pause(2000)
      await s.patch('jobs', 'j', { spec: { parallelism: 3 } })
      await s.pause(1500)
    },
  },
  'job-indexed-hostnames': {
    async act(s) {
      await s.create('services', svc('sub', { clusterIP: 'None', selector: { x: 'y' } }))
      await s.create('jobs', { ...idx(2, {}, { subdomain: 'sub', nodeName: undefined }) })
      await s.untilObj('jobs', 'j', cond('Complete'))
      await s.pause(1500)
    },
  },
  'job-unsatisfied-pending-deadline': {
    async act(s) {
      await s.create(
        'jobs',
        job('j', { activeDeadlineSeconds: 2 }, { nodeName: undefined, nodeSelector: { none: 'such' } }),
      )
      await s.untilObj('jobs', 'j', cond('Failed'))
      await s.pause(1500)
    },
  },
  'job-ready-pods-removed': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 3, completions: 5 }))
      for (const p of await s.untilPods(3, fresh)) await s.running(p)
      await s.untilObj('jobs', 'j', (j) => j.status.ready === 3)
      await s.patch('jobs', 'j', { spec: { parallelism: 1 } })
      await s.pause(3000)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(2000)
    },
  },
  'job-ready-suspended': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2, completions: 2 }))
      for (const p of await s.untilPods(2, fresh)) await s.running(p)
      await s.untilObj('jobs', 'j', (j) => j.status.ready === 2)
      await s.patch('jobs', 'j', { spec: { suspend: true } })
      await s.pause(3000)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { suspend: false } })
      await s.pause(2000)
    },
  },
  'job-fail-index': {
    async act(s) {
      await s.create(
        'jobs',
        idx(3, {
          backoffLimitPerIndex: 2,
          podFailurePolicy: { rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [42] } }] },
        }),
      )
      const ps = await s.untilPods(3, fresh)
      await s.ended(ps[0], 42)
      await s.pause(1500)
      await s.ended(ps[1], 0)
      await s.ended(ps[2], 0)
      await s.pause(3000)
    },
  },
  'job-success-count': {
    async act(s) {
      await s.create('jobs', idx(3, { successPolicy: { rules: [{ succeededCount: 1 }] } }))
      const ps = await s.untilPods(3, fresh)
      for (const p of ps) await s.running(p)
      await s.ended(ps[1], 0)
      await s.pause(2000)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(1500)
    },
  },
  'job-replacement-failed-indexed': {
    async act(s) {
      await s.create('jobs', idx(2, { podReplacementPolicy: 'Failed' }))
      const ps = await s.untilPods(2, fresh)
      for (const p of ps) await s.running(p)
      await s.del('pods', ps[0].metadata.name)
      await s.pause(2000)
      await force(s, ps[0])
      await s.pause(13000)
    },
  },
  'job-elastic-succeeded-beyond': {
    async act(s) {
      await s.create('jobs', idx(3))
      const ps = await s.untilPods(3, fresh)
      await s.ended(ps[2], 0)
      await s.ended(ps[0], 0)
      await s.pause(1500)
      await s.patch('jobs', 'j', { spec: { completions: 1, parallelism: 1 } })
      await s.pause(2500)
      for (const p of await s.list('pods')) if (going(p)) await force(s, p)
      await s.pause(1500)
    },
  },
  'job-active-deadline-later': {
    async act(s) {
      await s.create('jobs', job('j', {}))
      const [p] = await s.untilPods(1, fresh)
      await s.running(p)
      await s.pause(2000)
      await s.patch('jobs', 'j', { spec: { activeDeadlineSeconds: 1 } })
      await s.pause(2500)
      for (const q of await s.list('pods')) if (going(q)) await force(s, q)
      await s.pause(1500)
    },
  },
  'job-all-indexes-failed': {
    async act(s) {
      await s.create('jobs', idx(2, { backoffLimitPerIndex: 0 }))
      const ps = await s.untilPods(2, fresh)
      await s.ended(ps[0], 1)
      await s.ended(ps[1], 1)
      await s.pause(3000)
    },
  },
  'job-removal-order': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 3, completions: 5 }))
      const ps = await s.untilPods(3, fresh)
      for (const p of ps.slice(0, 3)) {
        await s.running(p)
        await s.pause(2500)
      }
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-100' }
      await s.patch('pods', ps[0].metadata.name, { metadata: { annotations, labels: { ready: 'first' } } })
      await s.patch('pods', ps[2].metadata.name, { metadata: { labels: { ready: 'last' } } })
      await s.pause(500)
      await s.patch('jobs', 'j', { spec: { parallelism: 2 } })
      await s.pause(2500)
    },
  },
} satisfies Readonly<Record<string, Story>>
