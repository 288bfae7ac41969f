/** Deployments, ReplicaSets, ReplicationControllers, StatefulSets and DaemonSets under changes that come one after the other. */
import type { Fields } from '../../../src/api/object.ts'
import { dep, done, ds, dsReady, force, fresh, going, img, live, pod, ready, rs, running, sts } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const IDLE = { nodeName: 'idle' }
const start = async (s: Scene, count: number) => {
  for (const one of await s.untilPods(count, fresh)) await s.running(one)
}
const endGoing = async (s: Scene) => {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one)
}
const conditions = async (s: Scene, resource: string, name = 'a') => {
  const { conditions: all = [], ...counts } = (await s.get(resource, name)).status
  s.note(
    JSON.stringify([
      all.map(({ type, status, reason, message }: Fields) => `${type} ${status} ${reason} ${message}`).toSorted(),
      { ...counts, currentRevision: undefined, updateRevision: undefined },
    ]),
  )
}
const rc = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: { replicas: 2, selector: { app: name }, template: rs(name, {}, IDLE).spec['template'], ...spec },
})
const names = async (s: Scene) =>
  s.note(
    (await s.list('pods'))
      .map(({ metadata }: Seen) => metadata.name)
      .toSorted()
      .join(),
  )
const twoRevisions = (s: Scene) => s.patch('statefulsets', 'a', img(2))

export const setsStories = {
  'rc-changed-scaled-and-orphaned': {
    async act(s) {
      await s.create('replicationcontrollers', rc('a', { replicas: 3 }))
      await start(s, 3)
      await s.pause(1500)
      await s.patch('replicationcontrollers', 'a', {
        spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } },
      })
      await s.pause(1500)
      await s.patch('replicationcontrollers', 'a', { spec: { replicas: 1 } })
      await s.pause(1500)
      await endGoing(s)
      await s.patch('replicationcontrollers', 'a', { spec: { replicas: 2, minReadySeconds: 2 } })
      await start(s, 1)
      await s.pause(3500)
      await conditions(s, 'replicationcontrollers')
      await s.del('replicationcontrollers', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
    },
  },
  'rc-and-rs-of-one-label': {
    async act(s) {
      await s.create('pods', pod('p', IDLE, { labels: { app: 'a' } }))
      await s.create('replicationcontrollers', rc('a', { replicas: 2 }))
      await s.pause(2000)
      await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      await s.pause(2500)
      await conditions(s, 'replicationcontrollers')
      await conditions(s, 'replicasets')
      await s.del('replicationcontrollers', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(3000)
      await conditions(s, 'replicasets')
    },
  },
  'rs-zero-while-pods-are-held': {
    async act(s) {
      await s.create(
        'replicasets',
        rs('a', {
          replicas: 2,
          template: {
            metadata: { labels: { app: 'a' }, finalizers: ['x.y/stay'] },
            spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
          },
        }),
      )
      await s.untilObj('replicasets', 'a', ready)
      await s.patch('replicasets', 'a', { spec: { replicas: 0 } })
      await s.pause(2500)
      await conditions(s, 'replicasets')
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.pause(2500)
      await conditions(s, 'replicasets')
      await s.del('replicasets', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2000)
      for (const { metadata } of await s.list('pods'))
        await s.patch('pods', metadata.name, { metadata: { finalizers: null } })
      await s.gone('replicasets', 'a')
    },
  },
  'rs-pods-end-in-every-way': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 4 }, IDLE))
      const [a, b, c] = await s.untilPods(4, fresh)
      await start(s, 4)
      await s.ended(a, 0)
      await s.ended(b, 1)
      await s.del('pods', c.metadata.name)
      await s.pause(2500)
      await conditions(s, 'replicasets')
      await s.patch('replicasets', 'a', { spec: { replicas: 2 } })
      await s.pause(2500)
      await conditions(s, 'replicasets')
    },
  },
  'rs-scaled-down-by-age-and-cost': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      const [keep] = await s.untilPods(2, fresh)
      await start(s, 2)
      await s.patch('pods', keep.metadata.name, { metadata: { labels: { kept: 'yes' } } })
      await s.pause(2500)
      await s.patch('replicasets', 'a', { spec: { replicas: 4 } })
      const later = await s.untilPods(2, fresh)
      await s.running(later[0])
      await s.patch('pods', later[1].metadata.name, {
        metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '100' } },
      })
      await s.patch('pods', keep.metadata.name, {
        metadata: { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-5' } },
      })
      await s.pause(1500)
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.pause(2000)
      s.note(
        (await s.list('pods'))
          .filter(live)
          .map(({ metadata }: Seen) => JSON.stringify(metadata.labels))
          .join(),
      )
    },
  },
  'dep-undone-twice': {
    async act(s) {
      await s.create('deployments', {
        ...dep('a', { replicas: 2 }),
        metadata: { name: 'a', annotations: { 'kubernetes.io/change-cause': 'one' } },
      })
      await s.untilObj('deployments', 'a', done)
      for (const [tag, cause] of [
        [2, 'two'],
        [1, 'three'],
        [2, 'four'],
        [3, 'five'],
        [1, 'six'],
      ] as const) {
        await s.patch('deployments', 'a', {
          ...img(tag),
          metadata: { annotations: { 'kubernetes.io/change-cause': cause } },
        })
        await s.pause(1000)
        await s.untilObj('deployments', 'a', done)
      }
      await s.pause(1500)
    },
  },
  'dep-selector-by-expressions': {
    async act(s) {
      const selector = {
        matchLabels: { app: 'a' },
        matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['x'] }],
      }
      await s.create('pods', pod('stray', {}, { labels: { app: 'a' } }))
      await s.create('deployments', dep('a', { replicas: 2, selector }))
      await s.untilObj('deployments', 'a', done)
      const [one] = (await s.list('pods')).filter(({ metadata }) => metadata.ownerReferences !== undefined)
      await s.patch('pods', (one as Seen).metadata.name, { metadata: { labels: { tier: 'x' } } })
      await s.pause(2500)
      await s.patch('deployments', 'a', {
        metadata: { labels: { d: 'e' } },
        spec: { template: { metadata: { labels: { tier: 'y' } } } },
      })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
    },
  },
  'dep-minready-raised-midway': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, minReadySeconds: 1 }))
      await s.untilObj('deployments', 'a', ({ status }) => status.availableReplicas === 2)
      await s.patch('deployments', 'a', { ...img(2), spec: { ...img(2).spec, minReadySeconds: 30 } })
      await s.pause(4000)
      await conditions(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { minReadySeconds: 0 } })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await conditions(s, 'deployments')
    },
  },
  'dep-scaled-to-zero-midway': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 4 }, IDLE))
      await start(s, 4)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1200)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { replicas: 0 } })
      await s.pause(2000)
      await endGoing(s)
      await s.pause(1500)
      await conditions(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { replicas: 2 } })
      await s.pause(2000)
      await conditions(s, 'deployments')
    },
  },
  'dep-paused-midway-and-scaled': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 4, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } }, IDLE),
      )
      await start(s, 4)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1200)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { paused: true } })
      await s.pause(1000)
      await s.patch('deployments', 'a', { spec: { replicas: 9 } })
      await s.pause(2000)
      await s.patch('deployments', 'a', img(3))
      await s.pause(1500)
      await conditions(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.pause(2500)
      await conditions(s, 'deployments')
    },
  },
  'dep-deadline-changed-when-late': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 1, progressDeadlineSeconds: 2 }, IDLE))
      await s.untilObj('deployments', 'a', ({ status }) =>
        (status.conditions ?? []).some(({ reason }: Fields) => reason === 'ProgressDeadlineExceeded'),
      )
      await conditions(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { progressDeadlineSeconds: 600 } })
      await s.pause(2000)
      await conditions(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { template: { metadata: { annotations: { a: 'b' } } } } })
      await s.pause(2000)
      await conditions(s, 'deployments')
    },
  },
  'dep-recreate-paused-with-old-pods': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 2, strategy: { type: 'Recreate' }, revisionHistoryLimit: 0 }, IDLE),
      )
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { paused: true } })
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.pause(2000)
      await conditions(s, 'deployments')
      await endGoing(s)
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await conditions(s, 'deployments')
    },
  },
  'sts-parallel-partition-and-undo': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', { replicas: 4, podManagementPolicy: 'Parallel', updateStrategy: { rollingUpdate: { partition: 2 } } }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await twoRevisions(s)
      await s.untilObj('statefulsets', 'a', ({ status }) => status.updatedReplicas === 2 && status.readyReplicas === 4)
      await s.patch('statefulsets', 'a', { spec: { replicas: 5 } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.del('pods', 'a-0')
      await s.pause(2500)
      await s.patch('statefulsets', 'a', img(1))
      await s.pause(3500)
      await conditions(s, 'statefulsets')
    },
  },
  'sts-middle-pod-unready-and-scaled': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }, IDLE))
      for (const n of ['a-0', 'a-1', 'a-2']) {
        await s.untilObj('pods', n, fresh)
        await s.running({ metadata: { name: n } })
      }
      await s.untilObj('statefulsets', 'a', ready)
      await s.status('pods', 'a-1', { conditions: [{ type: 'Ready', status: 'False' }] })
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.pause(2500)
      await names(s)
      await conditions(s, 'statefulsets')
      await endGoing(s)
      await s.pause(2000)
      await names(s)
      await endGoing(s)
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.pause(2000)
      await names(s)
    },
  },
  'sts-start-and-partition': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', { replicas: 3, ordinals: { start: 5 }, updateStrategy: { rollingUpdate: { partition: 6 } } }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await twoRevisions(s)
      await s.untilObj('statefulsets', 'a', ({ status }) => status.updatedReplicas === 2 && status.readyReplicas === 3)
      await s.pause(1500)
      await conditions(s, 'statefulsets')
      await s.patch('statefulsets', 'a', { spec: { ordinals: { start: 4 } } })
      await s.pause(5000)
      await names(s)
      await conditions(s, 'statefulsets')
    },
    restMs: 60_000,
  },
  'sts-ondelete-turned-rolling': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, updateStrategy: { type: 'OnDelete' } }))
      await s.untilObj('statefulsets', 'a', ready)
      await twoRevisions(s)
      await s.pause(1500)
      await s.del('pods', 'a-0')
      await s.untilObj('statefulsets', 'a', ({ status }) => status.updatedReplicas === 1 && status.readyReplicas === 2)
      await conditions(s, 'statefulsets')
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { type: 'RollingUpdate' } } })
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(1500)
      await conditions(s, 'statefulsets')
    },
  },
  'sts-evicted-and-finished-pods': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, podManagementPolicy: 'Parallel' }, IDLE))
      await start(s, 2)
      await s.untilObj('statefulsets', 'a', ready)
      await s.status('pods', 'a-0', {
        phase: 'Failed',
        reason: 'Evicted',
        message: 'no room',
        conditions: [{ type: 'Ready', status: 'False' }],
      })
      await s.pause(2500)
      await s.status('pods', 'a-1', { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False' }] })
      await s.pause(2500)
      await names(s)
      await conditions(s, 'statefulsets')
    },
  },
  'sts-made-again-over-orphans': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
      await s.create(
        'statefulsets',
        sts('a', { replicas: 3, minReadySeconds: 1 }, { containers: [{ name: 'c', image: 'i:2' }] }),
      )
      await s.pause(9000)
      await names(s)
      await conditions(s, 'statefulsets')
    },
    restMs: 60_000,
  },
  'sts-label-index-taken': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('pods', 'a-0', {
        metadata: { labels: { 'apps.kubernetes.io/pod-index': null, 'statefulset.kubernetes.io/pod-name': 'other' } },
      })
      await s.pause(2500)
      await s.patch('pods', 'a-1', { metadata: { labels: { 'controller-revision-hash': 'x' } } })
      await s.pause(3500)
      await conditions(s, 'statefulsets')
    },
  },
  'sts-two-of-one-selector': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1 }))
      await s.create(
        'statefulsets',
        sts('b', { replicas: 1, selector: { matchLabels: { app: 'a' } }, template: sts('a').spec['template'] }),
      )
      await s.untilObj('statefulsets', 'b', ready)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
      await s.patch('statefulsets', 'b', { spec: { replicas: 2 } })
      await s.pause(3000)
      await names(s)
    },
  },
  'ds-adopts-and-lets-go': {
    nodes: ['n1', 'n2'],
    async act(s) {
      const on = { nodeSelector: { scenario: s.ns } }
      await s.create('pods', pod('stray', { nodeName: `${s.ns}-n1` }, { labels: { app: 'a' } }))
      await s.create('pods', pod('elsewhere', { nodeName: 'kwok-1' }, { labels: { app: 'a' } }))
      await s.untilPods(2, running)
      await s.create('daemonsets', ds('a', {}, on))
      await s.pause(4000)
      await conditions(s, 'daemonsets')
      await s.patch('daemonsets', 'a', img(2))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      const [one] = (await s.list('pods')).filter(live)
      await s.patch('pods', one?.metadata.name ?? '', { metadata: { labels: { app: 'b' } } })
      await s.pause(3000)
      await conditions(s, 'daemonsets')
    },
  },
  'ds-host-ports-in-the-way': {
    nodes: ['n1', 'n2'],
    async act(s) {
      const on = { nodeSelector: { scenario: s.ns } }
      const port = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 8080 }] }] }
      await s.create('pods', pod('first', { nodeName: `${s.ns}-n1`, ...port }))
      await s.untilObj('pods', 'first', running)
      await s.create('daemonsets', ds('a', {}, { ...on, ...port }))
      await s.pause(3500)
      await conditions(s, 'daemonsets')
      await s.del('pods', 'first')
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('daemonsets', 'a', {
        spec: { template: { spec: { ...port, containers: [{ ...port.containers[0], image: 'i:2' }] } } },
      })
      await s.pause(4000)
      await conditions(s, 'daemonsets')
    },
    restMs: 60_000,
  },
  'ds-affinity-narrowed': {
    nodes: [
      { name: 'n1', labels: { zone: 'a' } },
      { name: 'n2', labels: { zone: 'b' } },
    ],
    async act(s) {
      const inZones = (...values: readonly string[]) => ({
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'zone', operator: 'In', values },
                  { key: 'scenario', operator: 'In', values: [s.ns] },
                ],
              },
            ],
          },
        },
      })
      await s.create('daemonsets', ds('a', {}, { affinity: inZones('a', 'b') }))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('daemonsets', 'a', { spec: { template: { spec: { affinity: inZones('b') } } } })
      await s.pause(4000)
      await conditions(s, 'daemonsets')
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { zone: 'b' } } })
      await s.pause(3000)
      await conditions(s, 'daemonsets')
      await s.patch('nodes', `${s.ns}-n2`, {
        spec: { unschedulable: true, taints: [{ key: 'x', effect: 'NoExecute' }] },
      })
      await s.pause(3000)
      await conditions(s, 'daemonsets')
    },
  },
} satisfies Readonly<Record<string, Story>>
