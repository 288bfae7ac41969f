import { dep, done, img, pod, quota, ready, rs, tmpl } from '../objects.ts'
import type { Condition, Seen, Story } from '../story.ts'

export const deploymentsStories = {
  'dep-surge-0-unavail-100': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 4, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '100%' } } }),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-surge-100-unavail-0': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 3, strategy: { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } } }),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-percents-round': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 3, strategy: { rollingUpdate: { maxSurge: '34%', maxUnavailable: '34%' } } }),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { spec: { nodeSelector: { none: 'such' } } } } })
      await s.pause(4000)
      await s.patch('deployments', 'a', { spec: { replicas: 7 } })
    },
  },
  'dep-paused-scale': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { paused: true } })
      await s.pause(1500)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { replicas: 4 } }, 'scale')
      await s.pause(3000)
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-created-paused': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, paused: true }))
      await s.pause(2500)
      await s.patch('deployments', 'a', { spec: { paused: null } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-history-0': {
    async act(s) {
      await s.create('deployments', dep('a', { revisionHistoryLimit: 0 }))
      await s.untilObj('deployments', 'a', done)
      for (const t of [2, 3]) {
        await s.patch('deployments', 'a', img(t))
        await s.untilObj('deployments', 'a', done)
        await s.pause(1000)
      }
    },
  },
  'dep-history-2': {
    async act(s) {
      await s.create('deployments', dep('a', { revisionHistoryLimit: 2 }))
      await s.untilObj('deployments', 'a', done)
      for (const t of [2, 3, 4, 5, 2]) {
        await s.patch('deployments', 'a', img(t))
        await s.untilObj('deployments', 'a', done)
        await s.pause(800)
      }
    },
  },
  'dep-deadline-then-good': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, progressDeadlineSeconds: 3 }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { spec: { nodeSelector: { none: 'such' } } } } })
      await s.untilObj('deployments', 'a', (d) =>
        d.status.conditions.some((c: Condition) => c.reason === 'ProgressDeadlineExceeded'),
      )
      await s.pause(1000)
      await s.patch('deployments', 'a', { spec: { template: { spec: { nodeSelector: null } } } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-min-ready': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, minReadySeconds: 3 }))
      await s.untilObj('deployments', 'a', (d) => d.status.availableReplicas === 2)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', (d) => done(d) && d.status.availableReplicas === 2)
    },
  },
  'dep-recreate-scale': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3, strategy: { type: 'Recreate' } }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { replicas: 2, ...img(2).spec } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-to-recreate': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', {
        spec: { strategy: { type: 'Recreate', rollingUpdate: null }, ...img(2).spec },
      })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-adopts-rs': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }))
      await s.untilObj('replicasets', 'a', ready)
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-adopts-other-rs': {
    async act(s) {
      await s.create(
        'replicasets',
        rs('old', {
          replicas: 2,
          selector: { matchLabels: { app: 'a' } },
          template: tmpl({ app: 'a' }, { containers: [{ name: 'c', image: 'other' }] }),
        }),
      )
      await s.untilObj('replicasets', 'old', ready)
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-pod-released': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [p] = await s.list('pods')
      await s.patch('pods', p.metadata.name, { metadata: { labels: { app: 'free' } } })
      await s.pause(2500)
      await s.patch('pods', p.metadata.name, { metadata: { labels: { app: 'a' } } })
    },
  },
  'dep-rs-relabelled': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [r] = await s.list('replicasets')
      await s.patch('replicasets', r.metadata.name, { metadata: { labels: { app: 'free' } } })
      await s.pause(3000)
    },
  },
  'dep-rs-deleted': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [r] = await s.list('replicasets')
      await s.del('replicasets', r.metadata.name, { propagationPolicy: 'Background' })
      await s.pause(3000)
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-rs-scaled-by-user': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [r] = await s.list('replicasets')
      await s.patch('replicasets', r.metadata.name, { spec: { replicas: 5 } })
      await s.pause(2500)
    },
  },
  'dep-quota-refuses': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '2' }))
      await s.untilObj('resourcequotas', 'q', (q) => q.status?.hard)
      await s.create('deployments', dep('a', { replicas: 4 }))
      await s.pause(3000)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: '10' } } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-scale-proportional': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } }),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { spec: { nodeSelector: { none: 'such' } } } } })
      await s.pause(3000)
      await s.patch('deployments', 'a', { spec: { replicas: 15 } })
      await s.pause(3000)
      await s.patch('deployments', 'a', { spec: { replicas: 5 } })
    },
  },
  'dep-zero': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 0 }))
      await s.pause(1500)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { replicas: 1 } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-annotations': {
    async act(s) {
      await s.create('deployments', {
        ...dep('a'),
        metadata: { name: 'a', annotations: { 'kubernetes.io/change-cause': 'first', my: 'x' }, labels: { l: '1' } },
      })
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', {
        metadata: { annotations: { 'kubernetes.io/change-cause': 'second', my: null, new: 'y' } },
      })
      await s.pause(1500)
      await s.patch('deployments', 'a', {
        metadata: { annotations: { 'kubernetes.io/change-cause': 'third' } },
        ...img(2),
      })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-same-selector': {
    async act(s) {
      await s.create('deployments', dep('a'))
      await s.untilObj('deployments', 'a', done)
      await s.create('deployments', { ...dep('a'), metadata: { name: 'b' } })
      await s.untilObj('deployments', 'b', done)
      await s.pause(1500)
      await s.patch('deployments', 'b', { spec: { replicas: 3 } })
      await s.untilObj('deployments', 'b', done)
    },
  },
  'dep-pod-finished': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [p] = await s.list('pods')
      await s.status('pods', p.metadata.name, { phase: 'Failed', reason: 'Evicted', message: 'x' })
      await s.pause(3000)
    },
  },
  'dep-pods-unready': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [p] = await s.list('pods')
      await s.status('pods', p.metadata.name, {
        conditions: p.status.conditions.map((c: Condition) => (c.type === 'Ready' ? { ...c, status: 'False' } : c)),
      })
      await s.pause(2000)
      await s.patch('deployments', 'a', { spec: { replicas: 1 } })
      await s.pause(2000)
    },
  },
  'dep-deletion-cost': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 4 }))
      await s.untilObj('deployments', 'a', done)
      const ps = await s.list('pods')
      for (const [i, c] of ['10', '-5', '3', 'x'].entries())
        await s
          .patch('pods', (ps[i] as Seen).metadata.name, {
            metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': c } },
          })
          .catch((e) => s.note(e.message))
      await s.pause(800)
      await s.patch('deployments', 'a', { spec: { replicas: 2 } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-foreground-finalizer': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      const [p] = await s.list('pods')
      await s.patch('pods', p.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await s.del('deployments', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(3000)
      await s.patch('pods', p.metadata.name, { metadata: { finalizers: null } })
      await s.gone('deployments', 'a')
    },
  },
  'dep-invalid-template-sa': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }, { serviceAccountName: 'missing' }))
      await s.pause(2500)
      await s.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'missing' } })
      await s.untilObj('deployments', 'a', done)
    },
  },
  'dep-limitrange-refuses': {
    async act(s) {
      await s.create('limitranges', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'l' },
        spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '100m' } }] },
      })
      await s.pause(1000)
      await s.create(
        'deployments',
        dep(
          'a',
          {},
          { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }] },
        ),
      )
      await s.pause(3000)
    },
  },
  'dep-pss-refuses': {
    async act(s) {
      await s.patch('namespaces', s.ns, {
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      })
      await s.pause(1000)
      await s.create('deployments', dep('a'))
      await s.pause(3000)
    },
  },
  'dep-priorityclass-missing': {
    async act(s) {
      await s.create('deployments', dep('a', {}, { priorityClassName: 'none-such' }))
      await s.pause(3000)
    },
  },
  'dep-hash-collision': {
    async act(s) {
      await s.create('replicasets', {
        ...rs('a-55766649d', {
          replicas: 0,
          selector: { matchLabels: { other: 'x' } },
          template: tmpl({ other: 'x' }),
        }),
      })
      await s.pause(800)
      await s.create('deployments', dep('a', { replicas: 1 }))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
    },
  },
  'dep-paused-deadline': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, progressDeadlineSeconds: 2, minReadySeconds: 1 }))
      await s.untilObj('deployments', 'a', (d) => d.status.availableReplicas === 2)
      await s.patch('deployments', 'a', {
        spec: { paused: true, template: { spec: { nodeSelector: { none: 'such' } } } },
      })
      await s.pause(4000)
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.pause(5000)
    },
  },
  'dep-annotated-revision-back': {
    async act(s) {
      await s.create('deployments', dep('a'))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
      await s.pause(800)
      await s.patch('deployments', 'a', img(1))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1000)
    },
  },
  'dep-selector-adopts-pods': {
    async act(s) {
      await s.create('pods', pod('x', {}, { labels: { app: 'a' } }))
      await s.pause(800)
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
    },
  },
  'dep-orphan-readopt': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.del('deployments', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('deployments', 'a')
      await s.pause(1000)
      await s.create('deployments', dep('a', { replicas: 3 }))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
