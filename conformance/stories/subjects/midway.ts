/** Owners that are deleted in the midst of their work, and references that users edit: what is let go, taken on again, and collected. */
import type { Fields } from '../../../src/api/object.ts'
import {
  claim,
  cond,
  dep,
  done,
  ds,
  dsReady,
  evict,
  force,
  fresh,
  going,
  idx,
  img,
  job,
  kjob,
  live,
  on,
  pdb,
  pod,
  pv,
  rm,
  rs,
  running,
  sts,
  svc,
  tried,
} from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const IDLE = { nodeName: 'idle' }
async function start(s: Scene, count: number): Promise<void> {
  for (const one of await s.untilPods(count, fresh)) await s.running(one)
}
async function endGoing(s: Scene): Promise<void> {
  for (const one of await s.list('pods')) if (going(one)) await force(s, one).catch(() => {})
}
const owners = ({ metadata }: Seen) =>
  (metadata.ownerReferences ?? []).map(({ kind, name, controller }) => `${kind} ${name} ${controller ?? '-'}`).join()
/** What there is, and whose it is. */
const told = async (s: Scene, ...resources: readonly string[]) => {
  for (const resource of resources)
    s.note(
      `${resource}: ${(await s.list(resource))
        .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
        .map((one) => `${owners(one)}${going(one) ? ' going' : ''}`)
        .toSorted()
        .join(' | ')}`,
    )
}
const disowned = (s: Scene, resource: string, { metadata }: Seen) =>
  s.patch(resource, metadata.name, { metadata: { ownerReferences: null } })
const half = async (s: Scene, replicas: number) => {
  await s.create('deployments', dep('a', { replicas }, IDLE))
  await start(s, replicas)
  await s.untilObj('deployments', 'a', done)
  await s.patch('deployments', 'a', img(2))
  await s.pause(1500)
}

export const midwayStories = {
  'dep-deleted-midway-in-the-background': {
    async act(s) {
      await half(s, 4)
      await s.del('deployments', 'a')
      await s.pause(2500)
      await told(s, 'deployments', 'replicasets', 'pods')
      await endGoing(s)
    },
  },
  'dep-deleted-midway-in-the-foreground': {
    async act(s) {
      await half(s, 4)
      await s.del('deployments', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await told(s, 'deployments', 'replicasets', 'pods')
      await endGoing(s)
      await s.gone('deployments', 'a')
    },
  },
  'dep-orphaned-midway-and-made-again': {
    async act(s) {
      await half(s, 4)
      await s.del('deployments', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('deployments', 'a')
      await s.pause(1500)
      await told(s, 'replicasets')
      await s.create('deployments', dep('a', { replicas: 2 }, IDLE))
      await s.pause(2500)
      await told(s, 'replicasets', 'pods')
      await endGoing(s)
    },
  },
  'dep-new-replicaset-deleted-midway': {
    async act(s) {
      await half(s, 3)
      const newest = (await s.list('replicasets')).find(
        ({ metadata }) => metadata.annotations['deployment.kubernetes.io/revision'] === '2',
      )
      await s.del('replicasets', newest?.metadata.name ?? '')
      await s.pause(2500)
      await endGoing(s)
      for (const one of await s.list('pods')) if (fresh(one)) await s.running(one)
      await s.pause(2500)
      await told(s, 'replicasets', 'pods')
    },
  },
  'dep-old-replicaset-orphans-its-pods-midway': {
    async act(s) {
      await half(s, 3)
      const oldest = (await s.list('replicasets')).find(
        ({ metadata }) => metadata.annotations['deployment.kubernetes.io/revision'] === '1',
      )
      await s.del('replicasets', oldest?.metadata.name ?? '', { propagationPolicy: 'Orphan' })
      await s.pause(3000)
      await told(s, 'replicasets', 'pods')
      await s.patch('deployments', 'a', img(1))
      await s.pause(3000)
      await told(s, 'replicasets', 'pods')
    },
  },
  'sts-deleted-midway-in-the-foreground': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', done)
      await s.patch('pods', 'a-1', { metadata: { finalizers: ['x.y/z'] } })
      await s.patch('statefulsets', 'a', img(2))
      await s.until('going', async () => going(await s.get('pods', 'a-1')))
      await s.pause(1000)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await told(s, 'statefulsets', 'pods')
      await s.patch('pods', 'a-1', { metadata: { finalizers: null } })
      await s.gone('statefulsets', 'a')
    },
  },
  'sts-orphaned-midway-and-made-again-smaller': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', done)
      await s.patch('statefulsets', 'a', {
        spec: { updateStrategy: { rollingUpdate: { partition: 2 } }, ...img(2).spec },
      })
      await s.untilObj('statefulsets', 'a', ({ status }) => status.updatedReplicas === 1 && status.readyReplicas === 3)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('statefulsets', 'a')
      await s.pause(1500)
      await told(s, 'pods', 'controllerrevisions')
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(2000)
      await told(s, 'pods', 'controllerrevisions')
    },
  },
  'ds-orphaned-midway-and-made-again': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      await s.patch('daemonsets', 'a', { spec: { updateStrategy: { type: 'OnDelete' }, ...img(2).spec } })
      await s.pause(1500)
      const [one] = await s.list('pods')
      await s.del('pods', one.metadata.name)
      await s.pause(2500)
      await s.del('daemonsets', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('daemonsets', 'a')
      await s.pause(1500)
      await told(s, 'pods', 'controllerrevisions')
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.pause(6000)
      await told(s, 'pods', 'controllerrevisions')
    },
  },
  'job-orphaned-while-it-runs': {
    async act(s) {
      await s.create('jobs', idx(2))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      await s.del('jobs', 'j', { propagationPolicy: 'Orphan' })
      await s.gone('jobs', 'j')
      await s.pause(2000)
      await told(s, 'pods')
      const [one] = await s.list('pods')
      s.note(`finalizers ${one.metadata.finalizers ?? 'none'}`)
      await s.ended(one, 0)
      await s.pause(1500)
      await s.create('jobs', idx(2))
      await s.pause(2500)
      await told(s, 'pods')
    },
  },
  'job-deleted-in-foreground-with-a-held-pod': {
    async act(s) {
      await s.create('jobs', idx(2))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      const [first, second] = await s.untilPods(2)
      await s.patch('pods', first.metadata.name, {
        metadata: { finalizers: [...(first.metadata.finalizers ?? []), 'x.y/z'] },
      })
      await s.del('jobs', 'j', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await told(s, 'jobs', 'pods')
      await force(s, second).catch(() => {})
      await force(s, first).catch(() => {})
      await s.pause(2500)
      await told(s, 'jobs', 'pods')
      await s.patch('pods', first.metadata.name, { metadata: { finalizers: null } })
      await s.gone('jobs', 'j')
    },
  },
  'cron-orphaned-with-active-and-ended-jobs': {
    async act(s) {
      await s.create('cronjobs', {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: { schedule: '45 */2 * * *', jobTemplate: { spec: kjob('x').spec } },
      })
      await s.pause(1000)
      const ago = (hours: number) =>
        new Date(Date.parse(s.now()) - hours * 3_600_000).toISOString().replace(/\.\d+/, '')
      await s.status('cronjobs', 'c', { lastScheduleTime: ago(5) })
      await s.until('a job', async () => (await s.list('jobs')).length.valueOf() === 1)
      const [first] = await s.list('jobs')
      await s.untilObj('jobs', first.metadata.name, cond('Complete'))
      await s.patch('cronjobs', 'c', { spec: { jobTemplate: { spec: { template: { spec: { nodeName: 'idle' } } } } } })
      await s.status('cronjobs', 'c', { lastScheduleTime: ago(8) })
      await s.pause(3000)
      await s.del('cronjobs', 'c', { propagationPolicy: 'Orphan' })
      await s.gone('cronjobs', 'c')
      await s.pause(2000)
      await told(s, 'jobs', 'pods')
    },
  },
  'rs-owner-references-edited': {
    async act(s) {
      const set = await s.create('replicasets', rs('a', { replicas: 3 }, IDLE))
      await start(s, 3)
      await s.untilObj('replicasets', 'a', ({ status }) => status.readyReplicas === 3)
      const [first, second, third] = await s.list('pods')
      await disowned(s, 'pods', first)
      await s.pause(2000)
      await told(s, 'pods')
      const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: set.metadata.uid }
      await s.patch('pods', second.metadata.name, { metadata: { ownerReferences: [reference] } })
      await s.pause(2000)
      await told(s, 'pods')
      const none = { ...reference, uid: '00000000-0000-4000-8000-000000000000', controller: true }
      await s.patch('pods', third.metadata.name, { metadata: { ownerReferences: [none] } })
      await s.pause(3000)
      await told(s, 'pods')
      await endGoing(s)
    },
  },
  'rs-pod-with-a-second-owner': {
    async act(s) {
      const map = await s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } })
      const set = await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      await start(s, 2)
      await s.untilObj('replicasets', 'a', ({ status }) => status.readyReplicas === 2)
      const [first, second] = await s.list('pods')
      const reference = (more: Fields = {}) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'm',
        uid: map.metadata.uid,
        ...more,
      })
      const also = async (one: Seen, more: Fields = {}) =>
        tried(
          s,
          'second owner',
          s.patch('pods', one.metadata.name, {
            metadata: { ownerReferences: [...(one.metadata.ownerReferences ?? []), reference(more)] },
          }),
        )
      await also(first, { controller: true })
      await also(first)
      await also(second, { blockOwnerDeletion: true })
      await s.pause(1500)
      await s.del('replicasets', 'a')
      await s.pause(2500)
      await told(s, 'pods')
      await s.del('configmaps', 'm', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await told(s, 'pods', 'configmaps')
      await endGoing(s)
      s.note(`set was ${set.metadata.name}`)
    },
  },
  'dep-replicaset-disowned-and-claimed-by-another': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }, IDLE))
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      const [set] = await s.list('replicasets')
      await disowned(s, 'replicasets', set)
      await s.pause(2000)
      await told(s, 'replicasets')
      await s.create('deployments', {
        ...dep('a', { replicas: 1, paused: true }, IDLE),
        metadata: { name: 'b' },
      })
      await s.pause(1500)
      await disowned(s, 'replicasets', set)
      await s.pause(2500)
      await told(s, 'replicasets', 'pods')
    },
  },
  'dep-replicaset-labels-leave-and-return': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }, IDLE))
      await start(s, 2)
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      const [set] = await s.list('replicasets')
      await s.patch('replicasets', set.metadata.name, { metadata: { labels: { app: 'else' } } })
      await s.pause(2500)
      await told(s, 'replicasets', 'pods')
      await s.patch('replicasets', set.metadata.name, { metadata: { labels: { app: 'a' } } })
      await s.pause(2500)
      await told(s, 'replicasets', 'pods')
      await endGoing(s)
    },
  },
  'sts-pod-disowned-and-revision-disowned': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', done)
      await disowned(s, 'pods', await s.get('pods', 'a-0'))
      await s.pause(2000)
      await told(s, 'pods')
      const [revision] = await s.list('controllerrevisions')
      await disowned(s, 'controllerrevisions', revision)
      await s.pause(2000)
      await told(s, 'controllerrevisions')
      await s.patch('statefulsets', 'a', { metadata: { annotations: { x: 'y' } } })
      await s.pause(2000)
      await told(s, 'controllerrevisions')
    },
  },
  'sts-pod-owned-by-another-set': {
    async act(s) {
      const other = await s.create('statefulsets', sts('b', { replicas: 0 }))
      const reference = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'b', uid: other.metadata.uid }
      await s.create(
        'pods',
        pod('a-1', {}, { labels: { app: 'a' }, ownerReferences: [{ ...reference, controller: true }] }),
      )
      await s.pause(2000)
      await told(s, 'pods')
      await s.create('statefulsets', sts('a', { replicas: 2, podManagementPolicy: 'Parallel' }))
      await s.pause(5000)
      await told(s, 'pods')
    },
  },
  'job-pod-disowned-and-given-back': {
    async act(s) {
      const made = await s.create('jobs', idx(2))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      const [first, second] = await s.untilPods(2)
      await disowned(s, 'pods', first)
      await s.pause(2000)
      await told(s, 'pods')
      await s.patch('pods', second.metadata.name, {
        metadata: { labels: { 'batch.kubernetes.io/controller-uid': null, 'controller-uid': null } },
      })
      await s.pause(2500)
      await told(s, 'pods')
      await s.patch('pods', second.metadata.name, {
        metadata: {
          labels: {
            'batch.kubernetes.io/controller-uid': made.metadata.uid,
            'controller-uid': made.metadata.uid,
          },
        },
      })
      await s.pause(2500)
      await told(s, 'pods')
      await endGoing(s)
    },
  },
  'ds-pod-disowned-and-relabelled': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('daemonsets', ds('a', {}, on(s)))
      await s.untilObj('daemonsets', 'a', dsReady(2))
      const [first, second] = await s.list('pods')
      await disowned(s, 'pods', first)
      await s.pause(2000)
      await told(s, 'pods')
      await s.patch('pods', second.metadata.name, { metadata: { labels: { app: 'else' } } })
      await s.pause(3000)
      await told(s, 'pods')
      await s.patch('pods', second.metadata.name, { metadata: { labels: { app: 'a' } } })
      await s.pause(3000)
      await told(s, 'pods')
    },
  },
  'rs-pods-change-hands-by-labels': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      await s.create('replicasets', rs('b', { replicas: 2 }, IDLE))
      await start(s, 4)
      await s.untilObj('replicasets', 'b', ({ status }) => status.readyReplicas === 2)
      const [one] = await s.list('pods', { labelSelector: 'app=a' })
      await s.patch('pods', one.metadata.name, { metadata: { labels: { app: 'b' } } })
      await s.pause(2500)
      await told(s, 'pods')
      await s.patch('replicasets', 'a', { spec: { replicas: 0 } })
      await s.pause(2500)
      await told(s, 'pods')
      await endGoing(s)
    },
  },
  'svc-deleted-midway-and-made-again': {
    async act(s) {
      await s.create('services', svc('a'))
      await half(s, 2)
      await s.del('services', 'a')
      await s.pause(1500)
      await told(s, 'endpointslices', 'endpoints')
      await s.create('services', svc('a', { ports: [{ name: 'n', port: 81, targetPort: 8081 }] }))
      await s.pause(2500)
      await told(s, 'endpointslices', 'endpoints')
    },
  },
  'svc-foreground-with-its-slices': {
    async act(s) {
      await s.create('services', svc('a'))
      await s.create('pods', pod('p', IDLE, { labels: { app: 'a' } }))
      await s.running({ metadata: { name: 'p' } }, { ip: '10.9.0.1' })
      await s.pause(1500)
      const [slice] = await s.list('endpointslices')
      await s.patch('endpointslices', slice.metadata.name, { metadata: { finalizers: ['x.y/z'] } })
      await s.del('services', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await told(s, 'services', 'endpointslices', 'endpoints')
      await s.patch('endpointslices', slice.metadata.name, { metadata: { finalizers: null } })
      await s.gone('services', 'a')
    },
  },
  'pdb-deleted-midway-of-evictions': {
    async act(s) {
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 2, selector: { matchLabels: { app: 'a' } } }))
      await s.create('replicasets', rs('a', { replicas: 2 }, IDLE))
      await start(s, 2)
      await s.untilObj('replicasets', 'a', ({ status }) => status.readyReplicas === 2)
      await s.pause(1500)
      const [first] = await s.list('pods')
      await evict(s, first.metadata.name)
      await s.del('poddisruptionbudgets', 'b')
      await s.pause(1000)
      await evict(s, first.metadata.name)
      await s.pause(2000)
      await endGoing(s)
    },
  },
  'sts-claims-orphaned-by-their-set': {
    async act(s) {
      for (const n of ['v', 'w']) await s.create('persistentvolumes', pv(s, n, { storageClassName: s.ns }))
      const volumeClaimTemplates = [claim('d', { storageClassName: s.ns })]
      await s.create(
        'statefulsets',
        sts('a', {
          replicas: 2,
          volumeClaimTemplates,
          persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
        }),
      )
      await s.untilObj('statefulsets', 'a', done)
      await s.pause(2000)
      await told(s, 'persistentvolumeclaims')
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.gone('statefulsets', 'a')
      await s.pause(2500)
      await told(s, 'persistentvolumeclaims', 'pods')
    },
    clean: rm(['persistentvolumes', 'v'], ['persistentvolumes', 'w']),
  },
  'job-made-again-by-its-name': {
    async act(s) {
      await s.create('jobs', job('j', { parallelism: 2, completions: 2 }))
      for (const one of await s.untilPods(2, fresh)) await s.running(one)
      await s.untilObj('jobs', 'j', ({ status }) => status.ready === 2)
      await s.del('jobs', 'j', { propagationPolicy: 'Background' })
      await s.gone('jobs', 'j')
      await s.create('jobs', job('j', { parallelism: 1, completions: 1 }))
      await s.pause(3000)
      await told(s, 'pods')
      await endGoing(s)
      const found = (await s.list('pods')).filter(live)
      for (const one of found) await s.ended(one, 0)
      await s.untilObj('jobs', 'j', cond('Complete'))
    },
  },
  'dep-made-again-while-it-goes': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }))
      await s.untilPods(2, running)
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { metadata: { finalizers: ['x.y/z'] } })
      await s.del('deployments', 'a')
      await s.pause(1500)
      await s.patch('deployments', 'a', { spec: { replicas: 3 } })
      await s.patch('deployments', 'a', img(2))
      await s.pause(2000)
      await told(s, 'deployments', 'replicasets', 'pods')
      await tried(s, 'create', s.create('deployments', dep('a', { replicas: 2 })))
      await s.patch('deployments', 'a', { metadata: { finalizers: null } })
      await s.create('deployments', dep('a', { replicas: 1 }))
      await s.untilObj('deployments', 'a', done)
      await s.pause(2000)
      await told(s, 'replicasets', 'pods')
    },
  },
} satisfies Readonly<Record<string, Story>>
