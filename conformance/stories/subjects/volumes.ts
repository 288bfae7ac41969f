/** Claims and volumes. */

import { claim, dep, done, pv, pvcPod, rm, running } from '../objects.ts'
import type { Story } from '../story.ts'

export const volumesStories = {
  'pv-bind-release-reuse': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.del('persistentvolumeclaims', 'c')
      await s.untilObj('persistentvolumes', `${s.ns}-v`, (v) => v.status.phase === 'Released')
      await s.create('persistentvolumeclaims', claim('d', { storageClassName: s.ns }))
      await s.pause(2000)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { claimRef: null } })
      await s.untilObj('persistentvolumeclaims', 'd', (c) => c.status.phase === 'Bound', 20000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pv-recycle-delete-unknown': {
    async act(s) {
      await s.create(
        'persistentvolumes',
        pv(s, 'd', {
          storageClassName: s.ns,
          persistentVolumeReclaimPolicy: 'Delete',
          hostPath: undefined,
          csi: { driver: 'x.y', volumeHandle: 'h' },
        }),
      )
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(3000)
    },
    clean: async (s) => {
      await s.patch('persistentvolumes', `${s.ns}-d`, { metadata: { finalizers: null } }).catch(() => {})
      await s.del('persistentvolumes', `${s.ns}-d`).catch(() => {})
    },
  },
  'pv-hostpath-delete': {
    async act(s) {
      await s.create(
        'persistentvolumes',
        pv(s, 'd', { storageClassName: s.ns, persistentVolumeReclaimPolicy: 'Delete', hostPath: { path: '/usr/zz' } }),
      )
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(3000)
    },
    clean: rm(['persistentvolumes', 'd']),
  },
  'pvc-modes-mismatch': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns, accessModes: ['ReadOnlyMany'] }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.create(
        'persistentvolumeclaims',
        claim('b', { storageClassName: s.ns, volumeMode: 'Block', accessModes: ['ReadOnlyMany'] }),
      )
      await s.create('persistentvolumeclaims', claim('n', { storageClassName: s.ns, volumeName: `${s.ns}-v` }))
      await s.create('persistentvolumeclaims', claim('m', { storageClassName: s.ns, volumeName: 'none-such' }))
      await s.create(
        'persistentvolumeclaims',
        claim('l', { storageClassName: s.ns, selector: { matchLabels: { q: 'r' } } }),
      )
      await s.pause(3000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pvc-default-class': {
    exclusive: true,
    async act(s) {
      await s.create('persistentvolumeclaims', claim('early', { storageClassName: undefined }))
      await s.pause(1500)
      await s.create('storageclasses', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: `${s.ns}-sc`, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'x.y/z',
      })
      await s.pause(2000)
      await s.create('persistentvolumeclaims', claim('late', { storageClassName: undefined }))
      await s.pause(18000)
    },
    clean: rm(['storageclasses', 'sc']),
    restMs: 40000,
  },
  'pvc-expansion': {
    async act(s) {
      await s.create('storageclasses', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: `${s.ns}-sc` },
        provisioner: 'x.y',
        allowVolumeExpansion: true,
      })
      await s.create(
        'persistentvolumes',
        pv(s, 'v', {
          storageClassName: `${s.ns}-sc`,
          hostPath: undefined,
          csi: { driver: 'x.y', volumeHandle: 'h' },
        }),
      )
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.patch('persistentvolumeclaims', 'c', { spec: { resources: { requests: { storage: '2Gi' } } } })
      await s.pause(2500)
    },
    clean: rm(['storageclasses', 'sc'], ['persistentvolumes', 'v']),
  },
  'pvc-protection-two-pods': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.create('pods', pvcPod('a', 'c'))
      await s.create('pods', pvcPod('b', 'c', { nodeName: 'idle' }))
      await s.untilPods(1, running)
      await s.del('persistentvolumeclaims', 'c')
      await s.del('persistentvolumes', `${s.ns}-v`)
      await s.pause(1500)
      await s.del('pods', 'a')
      await s.pause(1500)
      await s.ended({ metadata: { name: 'b' } }, 0)
      await s.pause(2500)
    },
  },
  'ephemeral-volumes': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create(
        'deployments',
        dep(
          'a',
          {},
          {
            volumes: [
              {
                name: 'e',
                ephemeral: {
                  volumeClaimTemplate: {
                    metadata: { labels: { l: 'm' } },
                    spec: claim('x', { storageClassName: s.ns }).spec,
                  },
                },
              },
            ],
          },
        ),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { replicas: 0 } })
      await s.pause(3000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'vac-missing': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create(
        'persistentvolumeclaims',
        claim('c', { storageClassName: s.ns, volumeAttributesClassName: 'none-such' }),
      )
      await s.pause(3000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pvc-best-fit': {
    async act(s) {
      for (const [name, storage] of [
        ['big', '5Gi'],
        ['fit', '2Gi'],
        ['small', '1Gi'],
      ] as const)
        await s.create('persistentvolumes', pv(s, name, { storageClassName: s.ns, capacity: { storage } }))
      await s.pause(500)
      await s.create(
        'persistentvolumeclaims',
        claim('c', { storageClassName: s.ns, resources: { requests: { storage: '2Gi' } } }),
      )
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.pause(1000)
    },
    clean: rm(['persistentvolumes', 'big'], ['persistentvolumes', 'fit'], ['persistentvolumes', 'small']),
  },
  'pvc-volume-deleted': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.del('persistentvolumes', `${s.ns}-v`)
      await s.pause(1000)
      await s.patch('persistentvolumes', `${s.ns}-v`, { metadata: { finalizers: null } })
      await s.pause(3000)
    },
  },
  'pv-claimref-other-uid': {
    async act(s) {
      await s.create(
        'persistentvolumes',
        pv(s, 'v', {
          storageClassName: s.ns,
          claimRef: { namespace: s.ns, name: 'c', uid: '11111111-2222-3333-4444-555555555555' },
        }),
      )
      await s.pause(2000)
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.pause(3000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pvc-selector': {
    async act(s) {
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns }, { labels: { tier: 'x' } }))
      await s.create(
        'persistentvolumeclaims',
        claim('c', {
          storageClassName: s.ns,
          selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['x', 'y'] }] },
        }),
      )
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.pause(1000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
} satisfies Readonly<Record<string, Story>>
