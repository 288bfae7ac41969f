/** Volumes that wait for their first consumer, and pods that wait for their volumes; claims made for one pod. */
import type { Fields } from '../../src/api/object.ts'
import { brief, create, patch, pause, type RecordablePlay } from './acts.ts'
import type { Scene } from './stage.ts'

const classOf = ({ namespace }: Scene) => `class-${namespace}`
const volumeOf = ({ namespace }: Scene, mark = '') => `pv${mark}-${namespace}`
const onNode = (name: string) => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }],
    },
  },
})
const storageClass = (scene: Scene, fields: Fields) =>
  create(scene, 'storageclasses', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: classOf(scene) },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...fields,
  })
const withClass =
  (fields: Fields = {}) =>
  async (scene: Scene) =>
    void (await storageClass(scene, fields))
const volume = (scene: Scene, spec: Fields = {}, mark = '', storage = '1Gi') =>
  create(scene, 'persistentvolumes', {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeOf(scene, mark) },
    spec: {
      capacity: { storage },
      accessModes: ['ReadWriteOnce'],
      storageClassName: classOf(scene),
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: '/x' },
      ...spec,
    },
  })
const claimSpec = (scene: Scene, fields: Fields = {}) => ({
  storageClassName: classOf(scene),
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  ...fields,
})
const claim = (scene: Scene, name = 'v', fields: Fields = {}) =>
  create(scene, 'persistentvolumeclaims', {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: claimSpec(scene, fields),
  })
const podOf = (scene: Scene, volumes: readonly Fields[]) =>
  create(scene, 'pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: {
      automountServiceAccountToken: false,
      tolerations: ['not-ready', 'unreachable'].map((what) => ({
        key: `node.kubernetes.io/${what}`,
        operator: 'Exists',
        effect: 'NoExecute',
      })),
      containers: [{ name: 'c', image: 'i' }],
      volumes,
    },
  })
const consumer = (scene: Scene, ...claims: readonly string[]) =>
  podOf(
    scene,
    claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  )
/** Claims are looked at again every 15 seconds. */
const resynced = { nodes: 2, lingerMs: 16_000 } as const
const two = { nodes: 2 } as const

export const consumerPlays: Readonly<Record<string, RecordablePlay>> = brief<RecordablePlay>({
  'consumer-static': {
    ...two,
    prepare: withClass(),
    async act(scene) {
      await claim(scene)
      await pause(scene, 2000)
      await volume(scene, onNode('kwok-2'))
      await pause(scene, 2000)
      await consumer(scene, 'v')
    },
  },
  'consumer-provisioned': {
    ...two,
    prepare: withClass({ provisioner: 'example.com/p' }),
    async act(scene) {
      const made = await claim(scene)
      await pause(scene, 2000)
      await consumer(scene, 'v')
      await pause(scene, 4000)
      const { name, namespace, uid } = made.metadata
      const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid }
      await volume(scene, { claimRef })
    },
  },
  'consumer-no-volume': {
    ...two,
    // Told every 15 seconds, if at all.
    isForeign: ({ reason }) => reason === 'WaitForPodScheduled',
    prepare: withClass(),
    async act(scene) {
      await claim(scene)
      await pause(scene, 2000)
      await consumer(scene, 'v')
      await pause(scene, 4000)
      await volume(scene)
    },
  },
  'consumer-too-small': {
    ...resynced,
    prepare: withClass(),
    async act(scene) {
      await volume(scene, {}, '', '500Mi')
      await pause(scene, 1000)
      await claim(scene)
      await pause(scene, 2000)
      await consumer(scene, 'v')
    },
  },
  'consumer-two-claims': {
    ...two,
    prepare: withClass(),
    async act(scene) {
      await volume(scene, onNode('kwok-1'), '1')
      await volume(scene, onNode('kwok-2'), '2')
      await volume(scene, onNode('kwok-1'), '3', '2Gi')
      await claim(scene, 'v')
      await claim(scene, 'w')
      await pause(scene, 2000)
      await consumer(scene, 'v', 'w')
    },
  },
  'consumer-immediate': {
    ...two,
    prepare: withClass({ volumeBindingMode: 'Immediate' }),
    async act(scene) {
      await claim(scene)
      await pause(scene, 1000)
      await consumer(scene, 'v')
      await pause(scene, 4000)
      await volume(scene)
    },
  },
  'consumer-elsewhere': {
    ...two,
    // Said twice: the scheduler tried again before it saw that it had said it.
    isChance: ({ user, uri }) => user === 'kube-scheduler' && uri.endsWith('/status'),
    prepare: withClass({ volumeBindingMode: 'Immediate' }),
    async act(scene) {
      await volume(scene, onNode('elsewhere'))
      await claim(scene)
      await pause(scene, 3000)
      await consumer(scene, 'v')
    },
  },
  'consumer-claim-missing': {
    ...two,
    prepare: withClass(),
    async act(scene) {
      await consumer(scene, 'v')
      await pause(scene, 4000)
      await claim(scene)
    },
  },
  'consumer-topology': {
    ...resynced,
    prepare: withClass({
      provisioner: 'example.com/p',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'kubernetes.io/hostname', values: ['kwok-9'] }] }],
    }),
    async act(scene) {
      await claim(scene)
      await pause(scene, 2000)
      await consumer(scene, 'v')
    },
  },
  'consumer-ephemeral': {
    ...two,
    prepare: withClass(),
    async act(scene) {
      await volume(scene)
      await pause(scene, 1000)
      const template = { metadata: { labels: { a: 'b' } }, spec: claimSpec(scene) }
      await podOf(scene, [{ name: 'e', ephemeral: { volumeClaimTemplate: template } }])
    },
  },
  'consumer-ephemeral-taken': {
    ...resynced,
    prepare: withClass(),
    async act(scene) {
      await claim(scene, 'p-e')
      await pause(scene, 2000)
      await podOf(scene, [{ name: 'e', ephemeral: { volumeClaimTemplate: { spec: claimSpec(scene) } } }])
    },
  },
  'consumer-selected-again': {
    ...two,
    prepare: withClass({ provisioner: 'example.com/p' }),
    async act(scene) {
      await claim(scene)
      await pause(scene, 1000)
      await consumer(scene, 'v')
      await pause(scene, 3000)
      const annotations = { 'volume.kubernetes.io/selected-node': null }
      await patch(scene, 'persistentvolumeclaims', 'v', { metadata: { annotations } })
    },
  },
})
