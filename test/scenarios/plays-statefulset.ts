/** Stateful sets: made, scaled, updated, repaired and deleted in their order, with their claims. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, image, patch, pause, remove, resource, template } from './acts.ts'
import type { SeenEvent } from './recording.ts'
import type { Stage } from './stage.ts'

const set = (spec: Fields = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 's' },
  spec: {
    replicas: 3,
    serviceName: 's',
    selector: { matchLabels: { app: 's' } },
    template: template({ app: 's' }),
    ...spec,
  },
})
const claims = [
  {
    metadata: { name: 'd' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  },
]
const rolling = (rollingUpdate: Fields) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })
const made = (spec?: Fields) => async (stage: Stage) => void (await create(stage, 'statefulsets', set(spec)))
const updated = (tag: string) => async (stage: Stage) => void (await patch(stage, 'statefulsets', 's', image(tag)))
const scaled = (stage: Stage, replicas: number) => patch(stage, 'statefulsets', 's', { spec: { replicas } }, 'scale')
const gone = (propagationPolicy: 'Background' | 'Foreground' | 'Orphan') => async (stage: Stage) =>
  void (await remove(stage, 'statefulsets', 's', { propagationPolicy }))
const phase = (stage: Stage, value: string) => patch(stage, 'pods', 's-0', { status: { phase: value } }, 'status')

async function unready(stage: Stage, name: string): Promise<void> {
  const { status } = (await resource(stage, 'pods').get(name)) as Fields
  const conditions = (status.conditions as readonly Fields[]).map((condition) =>
    condition['type'] === 'Ready' ? { ...condition, status: 'False' } : condition,
  )
  await patch(stage, 'pods', name, { status: { conditions } } as never, 'status')
}
async function retained(stage: Stage): Promise<void> {
  const spec = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } }
  await patch(stage, 'statefulsets', 's', { spec })
}

/** The scheduler says so again now and then, for as long as a pod waits. */
const isUnschedulable = ({ reason }: SeenEvent): boolean => reason === 'FailedScheduling'

export const statefulSetPlays = brief({
  'statefulset-create': { nodes: 2, act: made({ replicas: 2 }) },
  'statefulset-up-and-down': {
    nodes: 1,
    prepare: made({ replicas: 2 }),
    act: async (stage) => void (await scaled(stage, 0)),
  },
  'statefulset-rolling-update': {
    nodes: 2,
    prepare: made(),
    act: updated('i:2'),
  },
  'statefulset-parallel': {
    nodes: 2,
    async act(stage) {
      await made({ podManagementPolicy: 'Parallel' })(stage)
      await pause(stage, 3000)
      await scaled(stage, 1)
    },
  },
  'statefulset-parallel-update': {
    nodes: 2,
    prepare: made({ podManagementPolicy: 'Parallel', ...rolling({ maxUnavailable: '50%' }) }),
    act: updated('i:2'),
  },
  'statefulset-parallel-broken': {
    nodes: 2,
    async prepare(stage) {
      await made({ podManagementPolicy: 'Parallel' })(stage)
      await pause(stage, 3000)
      await unready(stage, 's-1')
    },
    act: updated('i:2'),
  },
  'statefulset-max-unavailable': { nodes: 2, prepare: made(rolling({ maxUnavailable: 2 })), act: updated('i:2') },
  'statefulset-partition': { nodes: 2, prepare: made(rolling({ partition: 2 })), act: updated('i:2') },
  'statefulset-on-delete': {
    nodes: 2,
    prepare: made({ replicas: 2, updateStrategy: { type: 'OnDelete' } }),
    async act(stage) {
      await updated('i:2')(stage)
      await pause(stage, 3000)
      await remove(stage, 'pods', 's-0')
    },
  },
  'statefulset-update-stuck': {
    nodes: 2,
    prepare: made(),
    async act(stage) {
      const nowhere = { nodeSelector: { none: 'such' } }
      await patch(stage, 'statefulsets', 's', { spec: { template: { spec: nowhere } } })
      await pause(stage, 3000)
      await remove(stage, 'pods', 's-0')
      await pause(stage, 3000)
      const spec = { nodeSelector: null, containers: [{ name: 'c', image: 'i:3' }] }
      await patch(stage, 'statefulsets', 's', { spec: { template: { spec } } })
    },
  },
  'statefulset-ordinals': {
    nodes: 2,
    async act(stage) {
      await made({ replicas: 2, minReadySeconds: 3, ordinals: { start: 5 } })(stage)
      await pause(stage, 15_000)
      await patch(stage, 'statefulsets', 's', { spec: { ordinals: { start: 4 } } })
    },
  },
  'statefulset-rollback': {
    nodes: 2,
    async prepare(stage) {
      await made({ replicas: 1 })(stage)
      await pause(stage, 3000)
      await updated('i:2')(stage)
    },
    act: updated('i:1'),
  },
  'statefulset-history': {
    nodes: 2,
    async prepare(stage) {
      await made({ replicas: 1, revisionHistoryLimit: 1 })(stage)
      for (const tag of ['i:2', 'i:3']) {
        await pause(stage, 5000)
        await updated(tag)(stage)
      }
    },
    act: updated('i:4'),
  },
  'statefulset-adopts': {
    nodes: 2,
    async prepare(stage) {
      await made({ replicas: 2 })(stage)
      await pause(stage, 5000)
      await gone('Orphan')(stage)
    },
    act: made({ replicas: 2 }),
  },
  'statefulset-released': {
    nodes: 2,
    prepare: made({ replicas: 1 }),
    async act(stage) {
      await patch(stage, 'pods', 's-0', { metadata: { labels: { app: 'other' } } })
      await pause(stage, 3000)
      await remove(stage, 'pods', 's-0')
    },
  },
  'statefulset-pod-fails': {
    nodes: 2,
    prepare: made({ replicas: 2 }),
    act: async (stage) => void (await phase(stage, 'Failed')),
  },
  'statefulset-succeeded': {
    nodes: 2,
    prepare: made({ replicas: 1 }),
    act: async (stage) => void (await phase(stage, 'Succeeded')),
  },
  'statefulset-unready': {
    nodes: 2,
    prepare: made({ replicas: 2 }),
    async act(stage) {
      await unready(stage, 's-0')
      for (const replicas of [3, 1, 0]) {
        await pause(stage, 2000)
        await scaled(stage, replicas)
      }
    },
  },
  'statefulset-quota': {
    nodes: 2,
    isChance: ({ user }) => user === 'apiserver',
    prepare: async (stage) =>
      void (await create(stage, 'resourcequotas', {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'q' },
        spec: { hard: { pods: '1' } },
      })),
    act: made({ replicas: 2 }),
  },
  'statefulset-claims': {
    nodes: 2,
    async act(stage) {
      await made({ replicas: 1, volumeClaimTemplates: claims })(stage)
      await pause(stage, 3000)
      await retained(stage)
    },
  },
  'statefulset-claims-parallel': {
    nodes: 2,
    async act(stage) {
      await made({ replicas: 1, podManagementPolicy: 'Parallel', volumeClaimTemplates: claims })(stage)
      await pause(stage, 3000)
      await retained(stage)
    },
  },
  'statefulset-claims-scaled': {
    nodes: 2,
    prepare: made({
      replicas: 2,
      podManagementPolicy: 'Parallel',
      volumeClaimTemplates: claims,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' },
    }),
    isForeign: isUnschedulable,
    act: async (stage) => void (await scaled(stage, 1)),
  },
  'statefulset-claims-deleted': {
    nodes: 2,
    // Whether the scheduler looks at the pod between its claim's end and its own.
    isChance: ({ user }) => user === 'kube-scheduler',
    isForeign: isUnschedulable,
    prepare: made({
      replicas: 1,
      volumeClaimTemplates: claims,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
    }),
    act: gone('Foreground'),
  },
  'statefulset-deleted': { nodes: 2, prepare: made({ replicas: 2 }), act: gone('Background') },
})
