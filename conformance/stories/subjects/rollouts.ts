/** Workloads whose changes meet other changes: the user brings their pods on, so that each step is seen. */
import type { Fields } from '../../../src/api/object.ts'
import { dep, done, ds, dsReady, force, fresh, going, img, live, on, pdb, ready, rs, sts } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const IDLE = { nodeName: 'idle' }
const stays = (metadata: Fields = {}) => ({ metadata: { labels: { app: 'a' }, finalizers: ['x.y/stay'], ...metadata } })
/** A template of pods that stay when they are told to go. */
const lingering = (spec: Fields = {}) => ({
  ...stays(),
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i:1' }], ...spec },
})
async function letGo(s: Scene, holds: (pod: Seen) => boolean = going): Promise<void> {
  for (const { metadata } of (await s.list('pods')).filter(holds))
    await s.patch('pods', metadata.name, { metadata: { finalizers: null } })
}
async function start(s: Scene, count: number): Promise<void> {
  for (const one of await s.untilPods(count, fresh)) await s.running(one)
}
async function endGoing(s: Scene): Promise<void> {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one)
}
const revision = (s: Scene, resource: string, name: string) => s.get(resource, name)

export const rolloutsStories = {
  'dep-proportional-midway': {
    async act(s) {
      await s.create(
        'deployments',
        dep('a', { replicas: 6, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } } }, IDLE),
      )
      await start(s, 6)
      await s.untilObj('deployments', 'a', done)
      await s.pause(2100)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await endGoing(s)
      await s.pause(1000)
      await s.patch('deployments', 'a', { spec: { replicas: 12 } })
      await s.pause(2000)
      await s.patch('deployments', 'a', { spec: { replicas: 5 } })
      await s.pause(2000)
      await endGoing(s)
      await s.pause(1500)
    },
  },
  'dep-terminating-replicas': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3, template: lingering() }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { replicas: 1 } })
      await s.untilObj('deployments', 'a', ({ status }) => status.terminatingReplicas === 2)
      await s.patch('deployments', 'a', img(2))
      await s.untilObj(
        'deployments',
        'a',
        ({ status }) => status.updatedReplicas === 1 && status.terminatingReplicas === 3,
      )
      await letGo(s)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await letGo(s, live)
    },
  },
  'dep-recreate-waits': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, strategy: { type: 'Recreate' }, template: lingering() }))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', img(2))
      await s.untilPods(2, going)
      await s.pause(1500)
      await s.patch('deployments', 'a', img(3))
      await s.pause(1500)
      await letGo(s)
      await s.untilObj('deployments', 'a', done)
      await letGo(s, live)
    },
  },
  'dep-rolled-back-midway': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 4, revisionHistoryLimit: 1 }, IDLE))
      await start(s, 4)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1100)
      await s.patch('deployments', 'a', img(2))
      await s.pause(1500)
      await s.patch('deployments', 'a', img(3))
      await s.pause(1500)
      await endGoing(s)
      await s.pause(1000)
      await s.patch('deployments', 'a', img(1))
      await s.pause(2000)
      await endGoing(s)
      await s.pause(1000)
      for (const one of (await s.list('pods')).filter(fresh)) await s.running(one)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
    },
  },
  'dep-deadline-while-scaled': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2, progressDeadlineSeconds: 3, minReadySeconds: 1 }, IDLE))
      await s.pause(5000)
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      await s.pause(2000)
      await s.patch('deployments', 'a', { spec: { replicas: 3 } })
      await s.pause(5000)
      await s.patch('deployments', 'a', { spec: { paused: true, progressDeadlineSeconds: 4 } })
      await s.pause(1000)
      await s.patch('deployments', 'a', img(2))
      await s.patch('deployments', 'a', { spec: { paused: false } })
      await s.pause(6500)
    },
  },
  'dep-all-unavailable-evicted': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3 }, IDLE))
      await start(s, 3)
      await s.untilObj('deployments', 'a', done)
      await s.create(
        'poddisruptionbudgets',
        pdb('b', { minAvailable: '100%', selector: { matchLabels: { app: 'a' } } }),
      )
      await s.pause(1500)
      const [first, second] = await s.list('pods')
      await s.ended(first, 1, undefined, 'Evicted')
      await s.pause(1500)
      await s.status('pods', second.metadata.name, {
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { replicas: 2 } })
      await s.pause(2000)
      await endGoing(s)
      await s.pause(1500)
    },
  },
  'rs-adoption-of-several-kinds': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      await start(s, 2)
      await s.untilObj('replicasets', 'a', ready)
      const [first, second] = await s.list('pods')
      await s.patch('pods', first.metadata.name, { metadata: { labels: { app: 'b' } } })
      await start(s, 1)
      await s.patch('pods', second.metadata.name, { metadata: { ownerReferences: null } })
      await s.pause(2000)
      await s.create('replicasets', { ...rs('b', { replicas: 1 }, IDLE) })
      await s.pause(2000)
      await s.patch('pods', first.metadata.name, { metadata: { labels: { app: 'a' } } })
      await s.pause(2500)
      await endGoing(s)
      await s.pause(1500)
    },
  },
  'rs-terminating-counted': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 3, template: lingering() }))
      await s.untilObj('replicasets', 'a', ready)
      const [first] = await s.list('pods')
      await s.del('pods', first.metadata.name)
      await s.untilObj('replicasets', 'a', ({ status }) => status.terminatingReplicas === 1)
      await s.pause(1000)
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.untilObj('replicasets', 'a', ({ status }) => status.terminatingReplicas === 3)
      await letGo(s)
      await s.untilObj('replicasets', 'a', ({ status }) => !status.terminatingReplicas)
      await s.pause(1000)
      await letGo(s, live)
    },
  },
  'sts-max-unavailable-percent': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts(
          'a',
          {
            replicas: 5,
            podManagementPolicy: 'Parallel',
            updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '40%', partition: 1 } },
          },
          IDLE,
        ),
      )
      await start(s, 5)
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await endGoing(s)
      await s.pause(1500)
      await start(s, 2)
      await s.pause(1500)
      await endGoing(s)
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { rollingUpdate: { partition: 4 } } } })
      await s.pause(1500)
      for (const one of (await s.list('pods')).filter(fresh)) await s.running(one)
      await s.pause(2000)
    },
  },
  'sts-revisions-kept': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', { replicas: 2, revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      for (const tag of [2, 3, 4]) {
        await s.patch('statefulsets', 'a', img(tag))
        await s.pause(1500)
      }
      await s.del('pods', 'a-1')
      await s.pause(2500)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { type: 'RollingUpdate' } } })
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(2000)
      await revision(s, 'statefulsets', 'a')
    },
  },
  'sts-ordinal-start-moves': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3, ordinals: { start: 2 }, podManagementPolicy: 'Parallel' }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { ordinals: { start: 4 } } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(2000)
      await s.patch('statefulsets', 'a', { spec: { ordinals: null, replicas: 2 } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(2000)
    },
  },
  'sts-pod-stuck-going': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3, template: lingering() }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.del('pods', 'a-1')
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.pause(1500)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await letGo(s)
      await s.pause(3000)
      for (let i = 0; i < 4; i++) {
        await letGo(s)
        await s.pause(1500)
      }
      await s.untilObj('statefulsets', 'a', done)
      await letGo(s, live)
    },
  },
  'sts-claims-and-scale': {
    async act(s) {
      const claims = [
        {
          metadata: { name: 'd', labels: { l: 'm' } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'none',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ]
      await s.create(
        'statefulsets',
        sts('a', {
          replicas: 2,
          podManagementPolicy: 'Parallel',
          volumeClaimTemplates: claims,
          persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
        }),
      )
      await s.untilPods(2)
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.gone('persistentvolumeclaims', 'd-a-1')
      await s.patch('statefulsets', 'a', { spec: { replicas: 2 } })
      await s.pause(2000)
      await s.patch('statefulsets', 'a', {
        spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } },
      })
      await s.pause(2000)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2500)
    },
    exclusive: true,
  },
  'ds-unavailable-two-broken': {
    nodes: ['n1', 'n2', 'n3'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } }, minReadySeconds: 1 }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(3))
      const [first] = await s.list('pods')
      await s.status('pods', first.metadata.name, {
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      await s.pause(1500)
      await s.patch('daemonsets', 'a', img(2))
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.pause(2000)
      await s.patch('daemonsets', 'a', img(1))
      await s.untilObj('daemonsets', 'a', dsReady(3))
      await s.pause(2000)
    },
  },
  'ds-history-and-labels': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', { revisionHistoryLimit: 1 }, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      for (const tag of [2, 3]) {
        await s.patch('daemonsets', 'a', img(tag))
        await s.untilObj('daemonsets', 'a', dsReady(2))
        await s.pause(1000)
      }
      await s.patch('daemonsets', 'a', { spec: { template: { spec: { nodeSelector: { only: 'one' } } } } })
      await s.pause(1500)
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { only: 'one' } } })
      await s.untilObj('daemonsets', 'a', dsReady(1))
      await s.pause(2000)
    },
  },
  'ds-surge-with-drain': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'daemonsets',
        ds('a', { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }, on(s)),
      )
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } })
      await s.pause(1000)
      await s.patch('daemonsets', 'a', img(2))
      await s.pause(4000)
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: null } })
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(1500)
      const [first] = (await s.list('pods')).filter(({ spec }) => spec.nodeName === `${s.ns}-n2`)
      if (first !== undefined) await s.ended(first, 1)
      await s.pause(1000)
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
