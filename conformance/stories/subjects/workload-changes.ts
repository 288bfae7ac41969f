/** Deployments, sets and controllers whose changes meet unready, held and foreign pods. */
import type { Fields } from '../../../src/api/object.ts'
import {
  dep,
  done,
  ds,
  dsReady,
  evict,
  force,
  fresh,
  going,
  img,
  live,
  on,
  pdb,
  pod,
  ready,
  rs,
  running,
  sts,
  svc,
  tried,
} from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const IDLE = { nodeName: 'idle' }
const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  strategy: { rollingUpdate: { maxSurge, maxUnavailable } },
})
const rc = (name: string, spec: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { app: name },
    template: {
      metadata: { labels: { app: name } },
      spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i:1' }] },
    },
    ...spec,
  },
})
async function start(s: Scene, count: number): Promise<void> {
  for (const one of await s.untilPods(count, fresh)) await s.running(one)
}
async function endGoing(s: Scene): Promise<void> {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one).catch(() => {})
}
const sizes = async (s: Scene) =>
  s.note(
    (await s.list('replicasets'))
      .map(
        ({ metadata, spec, status }) =>
          `${metadata.annotations['deployment.kubernetes.io/revision']}: ${spec.replicas} ${status.replicas} ${status.availableReplicas ?? 0}`,
      )
      .toSorted()
      .join(' | '),
  )
const told = async (s: Scene, resource: string) => {
  const { status } = await s.get(resource, 'a')
  const { conditions, collisionCount: _, currentRevision: __, updateRevision: ___, ...counts } = status
  const each = (conditions ?? []).map((one: Fields) => `${one['type']} ${one['status']} ${one['reason']}`)
  s.note(JSON.stringify([each, counts]))
}
const unready = (s: Scene, { metadata }: Seen) =>
  s.status('pods', metadata.name, { conditions: [{ type: 'Ready', status: 'False' }] })

export const workloadChangesStories = {
  'dep-scaled-in-midway-by-proportion': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 10, ...rolling(3, 2) }, IDLE))
      await start(s, 10)
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await sizes(s)
      await s.patch('deployments', 'a', { spec: { replicas: 4 } })
      await s.pause(2000)
      await sizes(s)
      await endGoing(s)
      await s.patch('deployments', 'a', { spec: { replicas: 15 } })
      await s.pause(2000)
      await sizes(s)
      await told(s, 'deployments')
    },
  },
  'dep-three-revisions-scaled-midway': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 6, ...rolling(2, 1) }, IDLE))
      await start(s, 6)
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      const [one] = (await s.list('pods')).filter(fresh)
      await s.running(one as Seen)
      await s.pause(1500)
      await s.patch('deployments', 'a', img(3))
      await s.pause(1500)
      await sizes(s)
      await s.patch('deployments', 'a', { spec: { replicas: 9 } })
      await s.pause(1500)
      await sizes(s)
      await s.patch('deployments', 'a', img(1))
      await s.pause(1500)
      await sizes(s)
      await told(s, 'deployments')
    },
  },
  'dep-deadline-while-paused-and-resumed': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, progressDeadlineSeconds: 4 }, IDLE))
      await s.pause(2000)
      await s.patch('deployments', 'a', { spec: { paused: true } })
      await s.pause(5000)
      await told(s, 'deployments')
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.pause(5500)
      await told(s, 'deployments')
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await told(s, 'deployments')
    },
  },
  'dep-min-ready-with-pods-lost': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3, minReadySeconds: 4, ...rolling(1, 0) }, IDLE))
      await start(s, 3)
      await s.pause(2000)
      await told(s, 'deployments')
      await s.pause(4000)
      await told(s, 'deployments')
      await s.patch('deployments', 'a', img(2))
      await start(s, 1)
      await s.pause(2000)
      const old = [...(await s.list('pods'))].find((one) => one.spec.containers[0].image === 'i:1') as Seen
      await s.del('pods', old.metadata.name, { gracePeriodSeconds: 0 })
      await s.pause(4500)
      await sizes(s)
      await told(s, 'deployments')
    },
  },
  'dep-surge-and-unavailable-of-zero-percent': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3, ...rolling('0%', '1%') }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await sizes(s)
    },
  },
  'dep-selector-and-labels-that-do-not-match': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 1 }))
      await s.untilObj('deployments', 'a', done)
      await tried(s, 'selector', s.patch('deployments', 'a', { spec: { selector: { matchLabels: { app: 'b' } } } }))
      await tried(
        s,
        'labels',
        s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { app: 'b' } } } } }),
      )
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { more: 'x' } } } } })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await sizes(s)
    },
  },
  'dep-evicted-one-by-one-of-a-budget': {
    async act(s) {
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: '60%', selector: { matchLabels: { app: 'a' } } }))
      await s.create('deployments', dep('a', { replicas: 4 }, IDLE))
      await start(s, 4)
      await s.untilObj('deployments', 'a', done)
      await s.untilObj('poddisruptionbudgets', 'b', ({ status }) => status.disruptionsAllowed === 1)
      const pods = await s.list('pods')
      await evict(s, pods[0].metadata.name)
      await evict(s, pods[1].metadata.name)
      await s.pause(1500)
      await endGoing(s)
      await start(s, 1)
      await s.untilObj('poddisruptionbudgets', 'b', ({ status }) => status.disruptionsAllowed === 1)
      await unready(s, pods[2])
      await s.untilObj('poddisruptionbudgets', 'b', ({ status }) => status.disruptionsAllowed === 0)
      await evict(s, pods[2].metadata.name)
      await s.patch('poddisruptionbudgets', 'b', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })
      await s.pause(1000)
      await evict(s, pods[2].metadata.name)
      await s.pause(1500)
    },
  },
  'dep-replicasets-deleted-of-it': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1200)
      for (const { metadata } of await s.list('replicasets'))
        await s.del('replicasets', metadata.name, { propagationPolicy: 'Orphan' })
      await s.pause(3000)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await sizes(s)
      s.note(String((await s.list('pods')).length))
    },
  },
  'rs-scaled-while-its-pods-wait': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 4 }, { schedulingGates: [{ name: 'x.y/g' }] }))
      const pods = await s.untilPods(4)
      await s.patch('pods', pods[0].metadata.name, { spec: { schedulingGates: null } })
      await s.untilPods(1, running)
      await s.patch('replicasets', 'a', { spec: { replicas: 2 } })
      await s.pause(2500)
      await told(s, 'replicasets')
      s.note(String((await s.list('pods')).filter(running).length))
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.pause(2500)
      s.note(String((await s.list('pods')).filter(running).length))
    },
  },
  'rc-pods-relabelled-and-foreign': {
    async act(s) {
      await s.create('pods', pod('stray', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, running)
      await s.create('replicationcontrollers', rc('a', { minReadySeconds: 2 }))
      await s.untilObj('replicationcontrollers', 'a', ready)
      await s.pause(3000)
      await told(s, 'replicationcontrollers')
      await s.patch('pods', 'stray', { metadata: { labels: { app: 'z' } } })
      await s.pause(3500)
      await s.patch('replicationcontrollers', 'a', {
        spec: { selector: { app: 'z' }, template: { metadata: { labels: { app: 'z' } } } },
      })
      await s.pause(3500)
      await told(s, 'replicationcontrollers')
      s.note(
        (await s.list('pods'))
          .map(({ metadata }) => `${metadata.labels['app']} ${metadata.ownerReferences === undefined}`)
          .toSorted()
          .join(),
      )
    },
  },
  'rc-scaled-through-its-scale': {
    async act(s) {
      await s.create('replicationcontrollers', rc('a'))
      await s.untilObj('replicationcontrollers', 'a', ready)
      await s.patch('replicationcontrollers', 'a', { spec: { replicas: 4 } }, 'scale')
      await s.untilObj('replicationcontrollers', 'a', ready)
      await s.create('services', svc('a'))
      await s.patch('replicationcontrollers', 'a', { spec: { replicas: 0 } }, 'scale')
      await s.untilObj('replicationcontrollers', 'a', ({ status }) => status.replicas === 0)
      await s.untilPods(0)
      await s.del('replicationcontrollers', 'a')
      await s.pause(2000)
    },
  },
  'sts-partition-beyond-and-back': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3, updateStrategy: { rollingUpdate: { partition: 7 } } }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(2000)
      await told(s, 'statefulsets')
      await s.del('pods', 'a-1')
      await s.pause(2500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { rollingUpdate: { partition: 3 } } } })
      await s.pause(3000)
      await told(s, 'statefulsets')
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(1500)
      await told(s, 'statefulsets')
    },
  },
  'sts-min-ready-paces-its-scale': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3, minReadySeconds: 3 }))
      await s.pause(5000)
      await told(s, 'statefulsets')
      await s.untilObj('statefulsets', 'a', ({ status }) => status.availableReplicas === 3)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(5000)
      await told(s, 'statefulsets')
      await s.patch('statefulsets', 'a', { spec: { minReadySeconds: 0 } })
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(1500)
      await told(s, 'statefulsets')
    },
  },
  'sts-scaled-down-with-unready-and-held': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 4, podManagementPolicy: 'Parallel' }))
      await s.untilObj('statefulsets', 'a', ready)
      await unready(s, await s.get('pods', 'a-1'))
      await s.patch('pods', 'a-3', { metadata: { finalizers: ['x.y/stay'] } })
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.pause(2500)
      await told(s, 'statefulsets')
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.pause(2500)
      await told(s, 'statefulsets')
      await s.patch('pods', 'a-3', { metadata: { finalizers: null } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1500)
    },
  },
  'sts-fields-that-may-not-change': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1 }))
      await s.untilObj('statefulsets', 'a', ready)
      const set = (spec: Fields) => s.patch('statefulsets', 'a', { spec })
      await tried(s, 'service', set({ serviceName: 'z' }))
      await tried(s, 'policy', set({ podManagementPolicy: 'Parallel' }))
      await tried(s, 'history', set({ revisionHistoryLimit: 0 }))
      await tried(s, 'ordinals', set({ ordinals: { start: 5 } }))
      await s.pause(4000)
      await tried(
        s,
        'claims',
        set({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } }),
      )
      await s.pause(2500)
      await told(s, 'statefulsets')
      s.note((await s.list('pods')).map(({ metadata }) => metadata.name).join())
    },
  },
  'ds-ondelete-and-history': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', { updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 1 }, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      for (const n of [2, 3, 4]) {
        await s.patch('daemonsets', 'a', img(n))
        await s.pause(1500)
      }
      const [one] = await s.list('pods')
      await s.del('pods', one.metadata.name)
      await s.pause(3000)
      s.note(
        (await s.list('controllerrevisions'))
          .map((each) => String((each as Fields)['revision']))
          .toSorted()
          .join(),
      )
      await s.patch('daemonsets', 'a', { spec: { updateStrategy: { type: 'RollingUpdate' } } })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(2000)
      s.note(
        (await s.list('controllerrevisions'))
          .map((each) => String((each as Fields)['revision']))
          .toSorted()
          .join(),
      )
      await told(s, 'daemonsets')
    },
  },
  'ds-surge-min-ready': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds(
          'a',
          { minReadySeconds: 3, updateStrategy: { rollingUpdate: { maxSurge: '50%', maxUnavailable: 0 } } },
          on(s),
        ),
      )
      await s.untilObj('daemonsets', 'a', ({ status }) => status.numberAvailable === 2)
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(2000)
      await told(s, 'daemonsets')
      await s.untilObj('daemonsets', 'a', (set) => dsReady(2)(set) && set.status.numberAvailable === 2)
      await s.pause(2000)
      await told(s, 'daemonsets')
    },
  },
  'ds-node-tainted-then-tolerated': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.patch('nodes', `${s.ns}-n2`, { spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } })
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await told(s, 'daemonsets')
      await s.patch('daemonsets', 'a', {
        spec: {
          template: {
            spec: { tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 4, effect: 'NoExecute' }] },
          },
        },
      })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(7000)
      await told(s, 'daemonsets')
      s.note(String([...(await s.list('pods'))].filter(live).length))
      await s.patch('nodes', `${s.ns}-n2`, { spec: { taints: null } })
      await s.pause(3000)
      await told(s, 'daemonsets')
    },
  },
} satisfies Readonly<Record<string, Story>>
