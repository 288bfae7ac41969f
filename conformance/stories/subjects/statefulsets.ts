import { claim, img, pv, ready, rm, sts } from '../objects.ts'
import type { Story } from '../story.ts'

export const statefulsetsStories = {
  'sts-partition-down': {
    async act(s) {
      await s.create('statefulsets', sts('a', { updateStrategy: { rollingUpdate: { partition: 2 } } }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(2500)
      await s.patch('statefulsets', 'a', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } })
      await s.untilObj('statefulsets', 'a', (d) => d.status.updatedReplicas === 3 && ready(d))
    },
  },
  'sts-partition-scale': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, updateStrategy: { rollingUpdate: { partition: 3 } } }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 5 } })
      await s.untilObj('statefulsets', 'a', ready)
    },
  },
  'sts-min-ready': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, minReadySeconds: 2 }))
      await s.untilObj('statefulsets', 'a', (d) => d.status.availableReplicas === 2)
      await s.patch('statefulsets', 'a', img(2))
      await s.untilObj('statefulsets', 'a', (d) => d.status.availableReplicas === 2 && d.status.updatedReplicas === 2)
    },
  },
  'sts-ordinals-change': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, ordinals: { start: 3 } }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { ordinals: { start: 2 } } })
      await s.pause(4000)
    },
  },
  'sts-parallel-unavail': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', {
          replicas: 4,
          podManagementPolicy: 'Parallel',
          updateStrategy: { rollingUpdate: { maxUnavailable: 2 } },
        }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.untilObj('statefulsets', 'a', (d) => d.status.updatedReplicas === 4 && ready(d))
    },
  },
  'sts-claims-retain-delete': {
    async act(s) {
      for (const i of [0, 1]) await s.create('persistentvolumes', pv(s, `v${i}`, { storageClassName: s.ns }))
      await s.create(
        'statefulsets',
        sts(
          'a',
          {
            replicas: 2,
            persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
            volumeClaimTemplates: [claim('d', { storageClassName: s.ns })],
          },
          {},
        ),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.gone('persistentvolumeclaims', 'd-a-1')
      await s.patch('statefulsets', 'a', {
        spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain', whenDeleted: 'Delete' } },
      })
      await s.pause(1500)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Foreground' })
      await s.gone('statefulsets', 'a')
      await s.pause(1500)
    },
    clean: rm(['persistentvolumes', 'v0'], ['persistentvolumes', 'v1']),
  },
  'sts-pod-deleted': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.del('pods', 'a-0')
      await s.pause(2500)
      await s.untilObj('statefulsets', 'a', ready)
    },
  },
  'sts-broken-rollout': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { template: { spec: { nodeSelector: { none: 'such' } } } } })
      await s.pause(3000)
      await s.patch('statefulsets', 'a', { spec: { template: { spec: { nodeSelector: null } } } })
      await s.pause(3000)
    },
  },
  'sts-history-1': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1, revisionHistoryLimit: 1 }))
      await s.untilObj('statefulsets', 'a', ready)
      for (const t of [2, 3, 4, 3]) {
        await s.patch('statefulsets', 'a', img(t))
        await s.untilObj('statefulsets', 'a', (d) => ready(d) && d.status.currentRevision === d.status.updateRevision)
        await s.pause(800)
      }
    },
  },
  'sts-scale-during-update': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1, ...img(2).spec } })
      await s.untilObj('statefulsets', 'a', (d) => d.status.updatedReplicas === 1 && ready(d))
    },
  },
  'sts-failed-pod': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.status('pods', 'a-1', { phase: 'Failed' })
      await s.pause(3000)
    },
  },
  'sts-ondelete-scale': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, updateStrategy: { type: 'OnDelete' } }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 3 } })
      await s.pause(2500)
      await s.del('pods', 'a-0')
      await s.pause(2500)
    },
  },
  'sts-zero-delete': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 0 }))
      await s.pause(1500)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(1500)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(1500)
    },
  },
  'sts-orphan-readopt': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Orphan' })
      await s.pause(2000)
      await s.create('statefulsets', sts('a', { replicas: 1 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1500)
    },
  },
  'sts-label-removed': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('pods', 'a-0', {
        metadata: { labels: { 'statefulset.kubernetes.io/pod-name': null, 'apps.kubernetes.io/pod-index': null } },
      })
      await s.pause(2500)
    },
  },
  'sts-template-claims-volume': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', { replicas: 1, volumeClaimTemplates: [claim('d', { storageClassName: 'none-such' })] }),
      )
      await s.pause(3000)
    },
  },
  'sts-claim-going': {
    async act(s) {
      await s.create('persistentvolumeclaims', {
        ...claim('d-a-0', { storageClassName: 'x' }),
        metadata: { name: 'd-a-0', finalizers: ['x.y/z'] },
      })
      await s.pause(500)
      await s.del('persistentvolumeclaims', 'd-a-0')
      await s.pause(500)
      await s.create(
        'statefulsets',
        sts('a', { replicas: 1, volumeClaimTemplates: [claim('d', { storageClassName: 'x' })] }),
      )
      await s.pause(4000)
    },
    clean: async (s) => s.patch('persistentvolumeclaims', 'd-a-0', { metadata: { finalizers: null } }),
  },
  'sts-max-unavailable-ordered': {
    async act(s) {
      await s.create(
        'statefulsets',
        sts('a', { replicas: 4, updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', img(2))
      await s.untilObj('statefulsets', 'a', (d) => d.status.updatedReplicas === 4 && ready(d))
      await s.pause(1500)
    },
  },
  'sts-parallel-scale-down': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 4, podManagementPolicy: 'Parallel' }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.untilObj('statefulsets', 'a', (d) => d.status.replicas === 1)
      await s.pause(1500)
    },
  },
  'sts-parallel-unready': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2, podManagementPolicy: 'Parallel' }, { nodeName: 'idle' }))
      await s.untilPods(2)
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.untilPods(4)
      await s.patch('statefulsets', 'a', img(2))
      await s.pause(3000)
    },
  },
  'sts-ordered-unready': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }, { nodeName: 'idle' }))
      const [p] = await s.untilPods(1)
      await s.pause(1000)
      await s.running(p)
      const two = await s.untilPods(2)
      await s.running(two[1])
      await s.untilPods(3)
      await s.pause(1000)
      await s.status('pods', 'a-0', { conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }] })
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.pause(2500)
    },
  },
  'sts-claims-deleted-with-set': {
    async act(s) {
      for (const i of [0, 1]) await s.create('persistentvolumes', pv(s, `v${i}`, { storageClassName: s.ns }))
      await s.create(
        'statefulsets',
        sts('a', {
          replicas: 2,
          persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' },
          volumeClaimTemplates: [claim('d', { storageClassName: s.ns })],
        }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1000)
      await s.del('statefulsets', 'a', { propagationPolicy: 'Background' })
      await s.gone('persistentvolumeclaims', 'd-a-0')
      await s.pause(2000)
    },
    clean: rm(['persistentvolumes', 'v0'], ['persistentvolumes', 'v1']),
  },
  'sts-claims-policy-changed': {
    async act(s) {
      for (const i of [0, 1]) await s.create('persistentvolumes', pv(s, `v${i}`, { storageClassName: s.ns }))
      await s.create(
        'statefulsets',
        sts('a', { replicas: 2, volumeClaimTemplates: [claim('d', { storageClassName: s.ns })] }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', {
        spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Delete' } },
      })
      await s.pause(2000)
      await s.patch('statefulsets', 'a', { spec: { replicas: 0 } })
      await s.pause(3500)
    },
    clean: rm(['persistentvolumes', 'v0'], ['persistentvolumes', 'v1']),
  },
  'sts-rolled-back-midway': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.patch('statefulsets', 'a', { spec: { template: { spec: { nodeSelector: { none: 'such' } } } } })
      await s.pause(2500)
      await s.patch('statefulsets', 'a', { spec: { template: { spec: { nodeSelector: null } } } })
      await s.pause(2500)
      await s.del('pods', 'a-2')
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1500)
    },
  },
  'sts-succeeded-pod': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 1 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.status('pods', 'a-0', { phase: 'Succeeded' })
      await s.pause(3000)
    },
  },
} satisfies Readonly<Record<string, Story>>
