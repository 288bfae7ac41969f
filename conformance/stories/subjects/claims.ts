/** Claims and volumes that change while they are used. */
import type { Fields } from '../../../src/api/object.ts'
import { claim, pv, pvcPod, rm, running } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const bound = (s: Scene, name = 'c') => s.untilObj('persistentvolumeclaims', name, (c) => c.status.phase === 'Bound')
const volume = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) =>
  s.create('persistentvolumes', pv(s, name, { storageClassName: s.ns, ...spec }, metadata))
const makeClaim = (s: Scene, name: string, spec: Fields = {}) =>
  s.create('persistentvolumeclaims', claim(name, { storageClassName: s.ns, ...spec }))
const csi = { hostPath: undefined, csi: { driver: 'x.y', volumeHandle: 'h' } }
const noted = (s: Scene, promise: Promise<unknown>) =>
  promise.then(
    () => s.note('made'),
    (error) => s.note(error.message),
  )

export const claimsStories = {
  'pv-deleted-while-bound': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v')
      await makeClaim(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c'))
      await s.untilObj('pods', 'p', running)
      await s.del('persistentvolumes', `${s.ns}-v`)
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(2500)
      await s.create('pods', pvcPod('q', 'c')).catch((error) => s.note(error.message))
      await s.pause(1500)
      await s.ended({ metadata: { name: 'p' } }, 0)
      await s.pause(1500)
      await s.del('pods', 'q')
      await s.gone('persistentvolumeclaims', 'c')
      await s.gone('persistentvolumes', `${s.ns}-v`)
      await s.pause(1500)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pv-two-claims-race': {
    async act(s) {
      await makeClaim(s, 'a')
      await s.pause(1200)
      await makeClaim(s, 'b')
      await s.pause(1200)
      await volume(s, 'v')
      await s.until(
        'one bound',
        async () => (await s.list('persistentvolumeclaims')).some((c) => c.status.phase === 'Bound'),
        20_000,
      )
      await s.pause(1500)
      await volume(s, 'w')
      await s.untilObj('persistentvolumeclaims', 'b', (c) => c.status.phase === 'Bound', 20_000)
      await s.untilObj('persistentvolumeclaims', 'a', (c) => c.status.phase === 'Bound', 20_000)
    },
    clean: rm(['persistentvolumes', 'v'], ['persistentvolumes', 'w']),
    restMs: 60_000,
  },
  'pv-reserved-for-none': {
    async act(s) {
      await volume(s, 'v', { claimRef: { namespace: s.ns, name: 'late' } })
      await makeClaim(s, 'other')
      await s.pause(2500)
      await makeClaim(s, 'late', { resources: { requests: { storage: '2Gi' } } })
      await s.pause(2500)
      await s.del('persistentvolumeclaims', 'late')
      await s.pause(1500)
      await makeClaim(s, 'late')
      await bound(s, 'late')
      await s.patch('persistentvolumes', `${s.ns}-v`, {
        spec: { claimRef: { uid: '00000000-0000-0000-0000-000000000000' } },
      })
      await s.pause(17_000)
    },
    clean: rm(['persistentvolumes', 'v']),
    restMs: 60_000,
  },
  'pv-policy-changed': {
    async act(s) {
      await volume(s, 'v', { persistentVolumeReclaimPolicy: 'Delete', ...csi })
      await makeClaim(s, 'c')
      await bound(s)
      await s.pause(1000)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { persistentVolumeReclaimPolicy: 'Retain' } })
      await s.pause(1500)
      await s.del('persistentvolumeclaims', 'c')
      await s.untilObj('persistentvolumes', `${s.ns}-v`, (v) => v.status.phase === 'Released')
      await s.pause(1000)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { persistentVolumeReclaimPolicy: 'Delete' } })
      await s.pause(2500)
    },
    clean: async (s) => {
      await s.patch('persistentvolumes', `${s.ns}-v`, { metadata: { finalizers: null } }).catch(() => {})
      await s.del('persistentvolumes', `${s.ns}-v`).catch(() => {})
    },
  },
  'pvc-unused-since': {
    async act(s) {
      await volume(s, 'v')
      await makeClaim(s, 'c')
      await bound(s)
      await s.pause(2000)
      await s.create('pods', pvcPod('p', 'c'))
      await s.untilObj('pods', 'p', running)
      await s.pause(2000)
      await s.create('pods', pvcPod('q', 'c', { nodeName: 'idle' }))
      await s.pause(1000)
      await s.del('pods', 'p')
      await s.pause(1500)
      await s.ended({ metadata: { name: 'q' } }, 1)
      await s.pause(2500)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'pvc-two-defaults': {
    exclusive: true,
    async act(s) {
      const storageClass = (name: string) =>
        s.create('storageclasses', {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name: `${s.ns}-${name}`, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
          provisioner: 'x.y/z',
        })
      await storageClass('b')
      await s.pause(1200)
      await storageClass('a')
      await s.pause(500)
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: undefined }))
      await s.pause(1500)
      await s.del('storageclasses', `${s.ns}-a`)
      await s.create('persistentvolumeclaims', claim('d', { storageClassName: undefined }))
      await s.create('persistentvolumeclaims', claim('e'))
      await s.pause(2000)
    },
    clean: rm(['storageclasses', 'a'], ['storageclasses', 'b']),
  },
  'pvc-grown-and-shrunk': {
    async act(s) {
      await s.create('storageclasses', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: s.ns },
        provisioner: 'x.y',
        allowVolumeExpansion: true,
      })
      await volume(s, 'v', csi)
      await makeClaim(s, 'c')
      await bound(s)
      const ask = (storage: string) =>
        noted(s, s.patch('persistentvolumeclaims', 'c', { spec: { resources: { requests: { storage } } } }))
      await ask('3Gi')
      await s.pause(1500)
      await ask('2Gi')
      await ask('1Gi')
      await s.pause(1500)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { capacity: { storage: '2Gi' } } })
      await s.status('persistentvolumeclaims', 'c', {
        capacity: { storage: '2Gi' },
        allocatedResources: { storage: '2Gi' },
        allocatedResourceStatuses: { storage: 'NodeResizePending' },
      })
      await s.pause(2000)
      await ask('1500Mi')
    },
    clean: async (s) => {
      await s.del('storageclasses', s.ns).catch(() => {})
      await s.del('persistentvolumes', `${s.ns}-v`).catch(() => {})
    },
  },
  'vac-used-and-deleted': {
    async act(s) {
      const vac = (name: string) =>
        s.create('volumeattributesclasses', {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttributesClass',
          metadata: { name: `${s.ns}-${name}` },
          driverName: 'x.y',
          parameters: { iops: '1' },
        })
      await vac('a')
      await vac('b')
      await volume(s, 'v', { ...csi, volumeAttributesClassName: `${s.ns}-a` })
      await makeClaim(s, 'c', { volumeAttributesClassName: `${s.ns}-a` })
      await bound(s)
      await s.pause(1500)
      await s.del('volumeattributesclasses', `${s.ns}-a`)
      await s.pause(1500)
      await noted(s, s.patch('persistentvolumeclaims', 'c', { spec: { volumeAttributesClassName: `${s.ns}-b` } }))
      await s.pause(1500)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { volumeAttributesClassName: `${s.ns}-b` } })
      await s.status('persistentvolumeclaims', 'c', { currentVolumeAttributesClassName: `${s.ns}-b` })
      await s.pause(2500)
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(1500)
    },
    clean: rm(['persistentvolumes', 'v'], ['volumeattributesclasses', 'a'], ['volumeattributesclasses', 'b']),
  },
  'volume-attached-and-detached': {
    nodes: ['n1'],
    async act(s) {
      await volume(s, 'v', { ...csi })
      await makeClaim(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: `${s.ns}-n1` }))
      await s.untilObj('pods', 'p', running)
      const attachments = () => s.list('volumeattachments')
      const found = await s.until('attachment', async () =>
        (await attachments()).find((one) => one.spec.nodeName === `${s.ns}-n1`),
      )
      s.note(`attach ${found?.spec.attacher} ${found?.spec.source.persistentVolumeName}`)
      if (found === undefined) return
      await s.status('volumeattachments', found.metadata.name, { attached: true })
      await s.pause(2500)
      await s.del('pods', 'p')
      await s.pause(3000)
      s.note(`attachments ${(await attachments()).filter((one) => one.spec.nodeName === `${s.ns}-n1`).length}`)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
} satisfies Readonly<Record<string, Story>>
