/** Claims and volumes: how they find each other, are given back, protected, provisioned and used by pods of their own. */
import type { Fields } from '../../../src/api/object.ts'
import { claim, pod, pv, pvcPod, rm, running, sts, tried, wffc } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const bound = (s: Scene, name = 'c') =>
  s.untilObj('persistentvolumeclaims', name, (c) => c.status.phase === 'Bound', 20_000)
const volume = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) =>
  s.create('persistentvolumes', pv(s, name, { storageClassName: s.ns, ...spec }, metadata))
const makeClaim = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) =>
  s.create('persistentvolumeclaims', {
    ...claim(name, { storageClassName: s.ns, ...spec }),
    metadata: { name, ...metadata },
  })
const phases = async (s: Scene) => {
  const claims = (await s.list('persistentvolumeclaims')).map(
    ({ metadata, status, spec }) => `${metadata.name} ${status.phase} ${spec.volumeName?.replace(s.ns, '')}`,
  )
  const volumes = (await s.list('persistentvolumes'))
    .filter(({ metadata }) => metadata.name.startsWith(`${s.ns}-`))
    .map(({ metadata, status, spec }) => `${metadata.name.replace(s.ns, '')} ${status.phase} ${spec.claimRef?.name}`)
  s.note([...claims, ...volumes].toSorted().join(' | '))
}
const volumes = (...names: readonly string[]) => rm(...names.map((name) => ['persistentvolumes', name] as const))

export const claimBindingStories = {
  'pvc-names-its-volume': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v')
      await volume(s, 'w', { capacity: { storage: '5Gi' } })
      await makeClaim(s, 'c', { volumeName: `${s.ns}-w` })
      await bound(s)
      await makeClaim(s, 'd', { volumeName: `${s.ns}-w` })
      await makeClaim(s, 'e', { volumeName: `${s.ns}-v`, resources: { requests: { storage: '2Gi' } } })
      await s.pause(3000)
      await phases(s)
      await s.del('persistentvolumeclaims', 'e')
      await makeClaim(s, 'f', { volumeName: `${s.ns}-v`, accessModes: ['ReadWriteMany'] })
      await s.pause(3000)
      await phases(s)
    },
    clean: volumes('v', 'w'),
  },
  'pvc-class-of-annotation-and-none': {
    exclusive: true,
    async act(s) {
      await s.create(
        'persistentvolumes',
        pv(
          s,
          'v',
          { storageClassName: undefined },
          { annotations: { 'volume.beta.kubernetes.io/storage-class': s.ns } },
        ),
      )
      await makeClaim(
        s,
        'c',
        { storageClassName: undefined },
        { annotations: { 'volume.beta.kubernetes.io/storage-class': s.ns } },
      )
      await bound(s)
      await volume(s, 'w', { storageClassName: undefined })
      await makeClaim(s, 'd', { storageClassName: '' })
      await bound(s, 'd')
      await phases(s)
    },
    clean: volumes('v', 'w'),
  },
  'pv-bound-to-a-claim-that-comes-late': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v', { claimRef: { namespace: s.ns, name: 'c' } })
      await s.pause(2000)
      await phases(s)
      await makeClaim(s, 'other')
      await s.pause(2000)
      await phases(s)
      await makeClaim(s, 'c')
      await bound(s)
      await phases(s)
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(2500)
      await phases(s)
      await makeClaim(s, 'c')
      await s.pause(2500)
      await phases(s)
      await s.del('persistentvolumeclaims', 'other')
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { claimRef: null } })
      await bound(s)
      await phases(s)
    },
    clean: volumes('v'),
  },
  'pvc-block-and-file-modes': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v', { volumeMode: 'Block' })
      await makeClaim(s, 'c')
      await makeClaim(s, 'd', { volumeMode: 'Block' })
      await bound(s, 'd')
      await s.create(
        'pods',
        pod('p', {
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'd' } }],
          containers: [{ name: 'c', image: 'i', volumeDevices: [{ name: 'v', devicePath: '/d' }] }],
        }),
      )
      await s.untilObj('pods', 'p', running)
      await s.pause(1500)
      await phases(s)
    },
    clean: volumes('v'),
  },
  'pv-retained-and-policy-delete-of-hostpath': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v', { persistentVolumeReclaimPolicy: 'Delete', hostPath: { path: '/var/x' } })
      await volume(s, 'w', { persistentVolumeReclaimPolicy: 'Retain', capacity: { storage: '3Gi' } })
      await makeClaim(s, 'c')
      await makeClaim(s, 'd', { resources: { requests: { storage: '2Gi' } } })
      await bound(s)
      await bound(s, 'd')
      await s.del('persistentvolumeclaims', 'c')
      await s.del('persistentvolumeclaims', 'd')
      await s.pause(4000)
      await phases(s)
      await s.del('persistentvolumes', `${s.ns}-w`)
      await s.pause(1500)
      await phases(s)
    },
    clean: volumes('v', 'w'),
  },
  'pvc-waits-for-its-consumer-and-node': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await wffc(s)
      const local = (name: string, where: string) =>
        s.create(
          'persistentvolumes',
          pv(s, name, {
            storageClassName: `${s.ns}-sc`,
            hostPath: undefined,
            local: { path: '/x' },
            nodeAffinity: {
              required: {
                nodeSelectorTerms: [
                  {
                    matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [`${s.ns}-${where}`] }],
                  },
                ],
              },
            },
          }),
        )
      await local('v', 'n2')
      await makeClaim(s, 'c', { storageClassName: `${s.ns}-sc` })
      await s.pause(2000)
      await s.create('pods', pvcPod('p', 'c', { nodeSelector: { scenario: s.ns } }))
      await s.untilObj('pods', 'p', running)
      s.note((await s.get('pods', 'p')).spec.nodeName.replace(s.ns, ''))
      await s.create('pods', pvcPod('q', 'c', { nodeSelector: { 'kubernetes.io/hostname': `${s.ns}-n1` } }))
      await s.pause(2500)
      await phases(s)
    },
    clean: async (s) => {
      await volumes('v')(s)
      await rm(['storageclasses', 'sc'])(s)
    },
  },
  'ephemeral-claim-of-another-owner': {
    exclusive: true,
    async act(s) {
      const template = {
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: s.ns, resources: { requests: { storage: '1Gi' } } },
      }
      await makeClaim(s, 'p-v')
      await s.create('pods', pod('p', { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }] }))
      await s.pause(3500)
      await s.del('persistentvolumeclaims', 'p-v')
      await s.pause(2000)
      await volume(s, 'v')
      await s.pause(6000)
      await phases(s)
      await s.create(
        'pods',
        pod('q', {
          volumes: [
            {
              name: 'w',
              ephemeral: {
                volumeClaimTemplate: { metadata: { labels: { l: 'm' }, annotations: { n: 'o' } }, ...template },
              },
            },
          ],
        }),
      )
      await s.pause(2000)
      await s.del('pods', 'q', { gracePeriodSeconds: 0 })
      await s.gone('persistentvolumeclaims', 'q-w')
      await s.pause(1500)
    },
    clean: volumes('v'),
    restMs: 30_000,
  },
  'sts-claims-retained-then-deleted-by-policy': {
    exclusive: true,
    async act(s) {
      for (const n of [0, 1, 2]) await volume(s, `v${n}`)
      const volumeClaimTemplates = [
        {
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], storageClassName: s.ns, resources: { requests: { storage: '1Gi' } } },
        },
      ]
      await s.create(
        'statefulsets',
        sts('a', {
          replicas: 3,
          podManagementPolicy: 'Parallel',
          volumeClaimTemplates,
          persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete', whenDeleted: 'Retain' },
        }),
      )
      await s.untilObj('statefulsets', 'a', ({ status }) => status.readyReplicas === 3)
      await s.pause(1500)
      await s.patch('statefulsets', 'a', { spec: { replicas: 1 } })
      await s.gone('persistentvolumeclaims', 'd-a-2')
      await s.gone('persistentvolumeclaims', 'd-a-1')
      await s.del('statefulsets', 'a')
      await s.untilPods(0)
      await s.pause(3000)
      s.note(
        (await s.list('persistentvolumeclaims'))
          .map(({ metadata }) => `${metadata.name} ${metadata.ownerReferences?.length}`)
          .join(),
      )
    },
    clean: volumes('v0', 'v1', 'v2'),
  },
  'vac-changed-of-a-bound-claim': {
    exclusive: true,
    async act(s) {
      for (const name of ['gold', 'lead'])
        await s.create('volumeattributesclasses', {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'VolumeAttributesClass',
          metadata: { name: `${s.ns}-${name}` },
          driverName: 'x.y',
          parameters: { iops: '1' },
        })
      await volume(s, 'v', {
        hostPath: undefined,
        csi: { driver: 'x.y', volumeHandle: 'h' },
        volumeAttributesClassName: `${s.ns}-gold`,
      })
      await makeClaim(s, 'plain')
      await makeClaim(s, 'c', { volumeAttributesClassName: `${s.ns}-gold` })
      await bound(s)
      await s.pause(1500)
      await phases(s)
      await tried(
        s,
        'of the volume',
        s.patch('persistentvolumes', `${s.ns}-v`, { spec: { volumeAttributesClassName: `${s.ns}-lead` } }),
      )
      await s.pause(16_000)
      s.note(String((await s.get('persistentvolumeclaims', 'c')).status.currentVolumeAttributesClassName))
      await tried(
        s,
        'changed',
        s.patch('persistentvolumeclaims', 'c', { spec: { volumeAttributesClassName: `${s.ns}-lead` } }),
      )
      await tried(s, 'none', s.patch('persistentvolumeclaims', 'c', { spec: { volumeAttributesClassName: null } }))
      await tried(s, 'parameters', s.patch('volumeattributesclasses', `${s.ns}-gold`, { parameters: { iops: '2' } }))
      await s.del('volumeattributesclasses', `${s.ns}-gold`)
      await s.pause(2500)
      s.note(String((await s.get('persistentvolumeclaims', 'c')).status.currentVolumeAttributesClassName))
    },
    clean: async (s) => {
      await volumes('v')(s)
      await rm(['volumeattributesclasses', 'gold'], ['volumeattributesclasses', 'lead'])(s)
    },
  },
  'pvc-held-by-pods-of-every-phase': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v')
      await makeClaim(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('gated', 'c', { schedulingGates: [{ name: 'x.y/g' }] }))
      await s.create('pods', pvcPod('ended', 'c', { nodeName: 'idle', restartPolicy: 'Never' }))
      await s.ended({ metadata: { name: 'ended' } }, 0)
      await s.create('pods', pvcPod('held', 'c', { nodeName: 'idle' }))
      await s.running({ metadata: { name: 'held' } })
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(2000)
      await s.del('pods', 'held', { gracePeriodSeconds: 0 })
      await s.gone('persistentvolumeclaims', 'c')
      await s.pause(1500)
      await phases(s)
    },
    clean: volumes('v'),
  },
} satisfies Readonly<Record<string, Story>>
