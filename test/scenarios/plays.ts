/** What the user did in each recorded scenario, and before it. */
import type { Fields } from '../../src/api/object.ts'
import {
  create,
  deployment,
  image,
  job,
  type Play,
  patch,
  pod,
  type RecordablePlay,
  remove,
  taintNodeOf,
  template,
} from './acts.ts'
import { autoscalerPlays } from './plays-autoscaler.ts'
import { consumerPlays } from './plays-consumers.ts'
import { cronJobPlays } from './plays-cronjob.ts'
import { daemonSetPlays } from './plays-daemonset.ts'
import { jobPlays } from './plays-jobs.ts'
import { mirroringPlays } from './plays-mirroring.ts'
import { quotaPlays } from './plays-quota.ts'
import { statefulSetPlays } from './plays-statefulset.ts'
import { volumePlays } from './plays-volumes.ts'
import { namespace, type Stage } from './stage.ts'

const isOver = (body: unknown): boolean =>
  ((body as Fields)['status'].conditions ?? []).some(({ type }: Fields) => type === 'Complete')
const deployed =
  (spec: Fields = {}) =>
  async (stage: Stage) =>
    void (await create(stage, 'deployments', deployment(spec)))
const deleted = (propagationPolicy: 'Orphan' | 'Background' | 'Foreground') => async (stage: Stage) =>
  void (await remove(stage, 'deployments', 'a', { propagationPolicy }))
const updated = (tag: string) => async (stage: Stage) => void (await patch(stage, 'deployments', 'a', image(tag)))

/** Those that record.ts can play. */
export const recordablePlays: Readonly<Record<string, RecordablePlay>> = {
  ...consumerPlays,
  ...jobPlays,
  ...mirroringPlays,
}

export const plays: Readonly<Record<string, Play>> = {
  ...recordablePlays,
  ...autoscalerPlays,
  ...quotaPlays,
  ...volumePlays,
  ...cronJobPlays,
  ...daemonSetPlays,
  ...statefulSetPlays,
  'deployment-create': { nodes: 1, act: deployed({ replicas: 2 }) },
  'S1-orphan': { nodes: 1, prepare: deployed(), act: deleted('Orphan') },
  'S2-background': { nodes: 1, prepare: deployed(), act: deleted('Background') },
  'S3-foreground': { nodes: 1, prepare: deployed(), act: deleted('Foreground') },
  'S5-finalizer-pod': {
    nodes: 1,
    prepare: async (stage) => void (await create(stage, 'pods', pod('b2', {}, { finalizers: ['kubernetes'] }))),
    async act(stage) {
      await remove(stage, 'pods', 'b2')
      await patch(stage, 'pods', 'b2', { metadata: { finalizers: null } })
    },
  },
  'S9-namespace-delete': {
    nodes: 1,
    async prepare(stage) {
      await create(stage, 'deployments', deployment())
      const metadata = { name: 'held', finalizers: ['example.com/f'] }
      await create(stage, 'configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    },
    async act(stage) {
      await remove(stage, 'namespaces', namespace)
      await patch(stage, 'configmaps', 'held', { metadata: { finalizers: null } })
    },
  },
  'deployment-rolling-update': { nodes: 1, prepare: deployed({ replicas: 3 }), act: updated('i:2') },
  'deployment-scale': {
    nodes: 1,
    prepare: deployed({ replicas: 3 }),
    act: async (stage) => void (await patch(stage, 'deployments', 'a', { spec: { replicas: 1 } }, 'scale')),
  },
  'deployment-recreate': {
    nodes: 2,
    prepare: deployed({ replicas: 2, strategy: { type: 'Recreate' } }),
    act: updated('i:2'),
    // Another scenario tainted the node of one of the new pods.
    meanwhile: (stage, { verb, uri }) =>
      verb === 'patch' && uri.includes('flv9k') ? taintNodeOf(stage, 'a-675784f59-flv9k') : undefined,
  },
  'deployment-rollback': {
    nodes: 2,
    namesBefore: 1,
    async prepare(stage) {
      await create(stage, 'deployments', deployment())
      await stage.runtime.advance(10_000)
      await patch(stage, 'deployments', 'a', image('i:2'))
    },
    act: updated('i:1'),
  },
  'deployment-progress-deadline': {
    nodes: 2,
    act: deployed({ progressDeadlineSeconds: 5, template: template({ app: 'a' }, { nodeSelector: { none: 'such' } }) }),
  },
  'replicaset-adopt-release': {
    nodes: 1,
    prepare: async (stage) => void (await create(stage, 'pods', pod('loose', {}, { labels: { app: 'r' } }))),
    async act(stage) {
      await create(stage, 'replicasets', {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'r' },
        spec: { replicas: 1, selector: { matchLabels: { app: 'r' } }, template: template({ app: 'r' }) },
      })
      await patch(stage, 'pods', 'loose', { metadata: { labels: { app: 'other' } } })
    },
  },
  'rc-scale-and-delete': {
    nodes: 1,
    prepare: async (stage) =>
      void (await create(stage, 'replicationcontrollers', {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'rc' },
        spec: { replicas: 2, template: template({ app: 'rc' }) },
      })),
    act: async (stage) =>
      void (await remove(stage, 'replicationcontrollers', 'rc', { propagationPolicy: 'Background' })),
  },
  'node-tainted-noexecute': {
    nodes: 2,
    prepare: async (stage) =>
      void (await create(
        stage,
        'pods',
        pod('p', {
          nodeName: 'kwok-2',
          tolerations: [{ key: 'x', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 2 }],
        }),
      )),
    act: async (stage) =>
      void (await patch(stage, 'nodes', 'kwok-2', { spec: { taints: [{ key: 'x', effect: 'NoExecute' }] } })),
  },
  'only-node-goes-silent': {
    nodes: 1,
    nodesRecorded: true,
    prepare: deployed({
      template: template(
        { app: 'a' },
        {
          tolerations: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
            key,
            operator: 'Exists',
            effect: 'NoExecute',
            tolerationSeconds: 5,
          })),
        },
      ),
    }),
    async act(stage) {
      stage.nodes.silence()
      await remove(stage, 'nodes', 'kwok-1')
    },
  },
  'service-endpoints': {
    nodes: 1,
    async prepare(stage) {
      await create(stage, 'services', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'svc' },
        spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 8080 }] },
      })
      await create(stage, 'deployments', deployment())
    },
    act: async (stage) => void (await remove(stage, 'deployments', 'a')),
  },
  'job-runs': {
    nodes: 1,
    // Pods that have ended go at once; the stand-in came between.
    isChance: ({ user }) => user === 'kwok',
    prepare: async (stage) => void (await create(stage, 'jobs', job({ completions: 2, parallelism: 1 }))),
    act: async (stage) => void (await remove(stage, 'jobs', 'j', { propagationPolicy: 'Foreground' })),
  },
  'job-suspend-resume': {
    nodes: 1,
    prepare: async (stage) => void (await create(stage, 'jobs', job({ suspend: true }))),
    act: async (stage) => void (await patch(stage, 'jobs', 'j', { spec: { suspend: false } })),
  },
  'job-indexed': {
    nodes: 2,
    act: async (stage) =>
      void (await create(stage, 'jobs', job({ completionMode: 'Indexed', completions: 3, parallelism: 2 }))),
    meanwhile: (stage, { user, verb, uri, body }) =>
      user === 'job-controller' && verb === 'update' && uri.endsWith('/jobs/j/status') && isOver(body)
        ? taintNodeOf(stage, 'j-1-pfkwq')
        : undefined,
  },
  'job-ttl': {
    nodes: 1,
    act: async (stage) => void (await create(stage, 'jobs', job({ ttlSecondsAfterFinished: 3 }))),
  },
  'pvc-protection': {
    nodes: 1,
    async prepare(stage) {
      await create(stage, 'persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'v' },
        spec: {
          storageClassName: '',
          volumeName: 'nope',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      })
      const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'v' } }]
      await create(stage, 'pods', pod('p', { nodeName: 'kwok-1', volumes }))
    },
    async act(stage) {
      await remove(stage, 'persistentvolumeclaims', 'v')
      await stage.user.raw('DELETE', `/api/v1/namespaces/${namespace}/pods/p?gracePeriodSeconds=0`)
    },
  },
  'pdb-status': {
    nodes: 1,
    async act(stage) {
      await create(stage, 'deployments', deployment({ replicas: 2 }))
      await create(stage, 'poddisruptionbudgets', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      })
    },
  },
  unschedulable: {
    nodes: 1,
    act: async (stage) => void (await create(stage, 'pods', pod('p', { nodeSelector: { none: 'such' } }))),
  },
}
