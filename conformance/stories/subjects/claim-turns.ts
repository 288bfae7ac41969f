/** Volumes and claims that are changed while they wait, are bound, held, and let go; attachments; storage classes that come and go. */
import type { Fields } from '../../../src/api/object.ts'
import { claim, cond, force, going, pod, pv, pvcPod, rm, running, sts, tried, waitUnsched, wffc } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const csi = (s: Scene) => ({ hostPath: null, csi: { driver: `${s.ns}.x.y`, volumeHandle: 'h' } })
const volume = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) =>
  s.create('persistentvolumes', pv(s, name, { storageClassName: s.ns, ...spec }, metadata))
const ask = (s: Scene, name: string, spec: Fields = {}, metadata: Fields = {}) => {
  const one = claim(name, { storageClassName: s.ns, ...spec })
  return s.create('persistentvolumeclaims', { ...one, metadata: { ...one.metadata, ...metadata } })
}
const bound = (s: Scene, name = 'c') =>
  s.untilObj('persistentvolumeclaims', name, ({ status }) => status.phase === 'Bound')
const told = async (s: Scene, ms = 2000) => {
  await s.pause(ms)
  const claims = (await s.list('persistentvolumeclaims')).map(
    (one) =>
      `${one.metadata.name} ${one.status.phase} ${one.spec.volumeName ?? '-'}${going(one) ? ' going' : ''} ${one.metadata.finalizers ?? ''}`,
  )
  const volumes = (await s.list('persistentvolumes'))
    .filter(({ metadata }) => metadata.name.startsWith(`${s.ns}-`))
    .map(
      (one) =>
        `${one.metadata.name} ${one.status.phase} ${one.spec.claimRef?.name ?? '-'}${going(one) ? ' going' : ''} ${one.metadata.finalizers ?? ''} ${one.status.message ?? ''}`,
    )
  s.note([...claims.toSorted(), ...volumes.toSorted()].join(' | '))
}
const unheld = (s: Scene, resource: string, name: string) => s.patch(resource, name, { metadata: { finalizers: null } })
/** As a kubelet says that it leaves attaching to the controller. */
const attachable = (s: Scene, ...names: readonly string[]) =>
  Promise.all(
    names.map((name) =>
      s.patch('nodes', `${s.ns}-${name}`, {
        metadata: { annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' } },
      }),
    ),
  )
const dropVolumes = rm(['persistentvolumes', 'v'], ['persistentvolumes', 'w'], ['storageclasses', 'sc'])

export const claimTurnsStories = {
  'pv-released-and-its-reference-taken': {
    async act(s) {
      await volume(s, 'v')
      await ask(s, 'c')
      await bound(s)
      await s.del('persistentvolumeclaims', 'c')
      await s.gone('persistentvolumeclaims', 'c')
      await told(s)
      await ask(s, 'd')
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { claimRef: { uid: null, resourceVersion: null } } })
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { claimRef: null } })
      await bound(s, 'd')
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-deleted-while-a-pod-waits-and-made-again': {
    exclusive: true,
    async act(s) {
      await volume(s, 'v')
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: 'idle' }))
      await s.pause(1500)
      await s.del('persistentvolumeclaims', 'c')
      await told(s)
      await tried(s, 'another pod', s.create('pods', pvcPod('q', 'c')))
      await s.pause(1500)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await s.gone('persistentvolumeclaims', 'c')
      await told(s)
      await ask(s, 'c', { volumeName: `${s.ns}-v` })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-finalizer-taken-by-user-while-used': {
    async act(s) {
      await volume(s, 'v')
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: 'idle' }))
      await s.pause(1500)
      await unheld(s, 'persistentvolumeclaims', 'c')
      await told(s)
      await unheld(s, 'persistentvolumes', `${s.ns}-v`)
      await told(s)
      await s.del('persistentvolumes', `${s.ns}-v`)
      await told(s)
      await s.del('persistentvolumeclaims', 'c')
      await told(s)
      await unheld(s, 'persistentvolumeclaims', 'c')
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-held-by-pods-that-end': {
    async act(s) {
      await volume(s, 'v')
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: 'idle' }))
      await s.create('pods', pvcPod('q', 'c', { schedulerName: 'none' }))
      await s.pause(1500)
      await s.del('persistentvolumeclaims', 'c')
      await told(s)
      await s.ended({ metadata: { name: 'p' } }, 0)
      await told(s)
      await s.del('pods', 'q', { gracePeriodSeconds: 0 })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pv-deleted-midway-of-binding': {
    async act(s) {
      await volume(s, 'v', {}, { finalizers: ['x.y/z'] })
      await s.pause(1500)
      await s.del('persistentvolumes', `${s.ns}-v`)
      await ask(s, 'c')
      await told(s)
      await s.patch('persistentvolumeclaims', 'c', { spec: { volumeName: `${s.ns}-v` } })
      await told(s)
      await unheld(s, 'persistentvolumes', `${s.ns}-v`)
      await told(s)
      await volume(s, 'v')
      await told(s, 4000)
    },
    clean: dropVolumes,
  },
  'pv-policy-turns-while-released': {
    async act(s) {
      await volume(s, 'v', csi(s))
      await ask(s, 'c')
      await bound(s)
      await s.del('persistentvolumeclaims', 'c')
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { persistentVolumeReclaimPolicy: 'Recycle' } })
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { persistentVolumeReclaimPolicy: 'Delete' } })
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, {
        metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': `${s.ns}.x.y` } },
      })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pv-access-modes-and-class-changed': {
    async act(s) {
      await volume(s, 'v', { accessModes: ['ReadOnlyMany'] })
      await ask(s, 'c')
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } })
      await told(s)
      await tried(s, 'class', s.patch('persistentvolumes', `${s.ns}-v`, { spec: { storageClassName: 'other' } }))
      await told(s)
      await ask(s, 'd', { accessModes: ['ReadWriteMany'] })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-asks-more-than-there-is-then-less': {
    async act(s) {
      await volume(s, 'v', { capacity: { storage: '5Gi' } })
      await ask(s, 'c', { resources: { requests: { storage: '10Gi' } } })
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { capacity: { storage: '10Gi' } } })
      await bound(s)
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { spec: { capacity: { storage: '20Gi' } } })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-selector-by-expressions': {
    async act(s) {
      await volume(s, 'v', {}, { labels: { tier: 'slow' } })
      await volume(s, 'w', { capacity: { storage: '9Gi' } }, { labels: { tier: 'fast' } })
      await s.pause(1500)
      const key = 'tier'
      await ask(s, 'c', { selector: { matchExpressions: [{ key, operator: 'NotIn', values: ['slow'] }] } })
      await ask(s, 'd', { selector: { matchExpressions: [{ key, operator: 'DoesNotExist' }] } })
      await told(s)
      await s.patch('persistentvolumes', `${s.ns}-v`, { metadata: { labels: { tier: null } } })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-class-comes-late-and-goes': {
    async act(s) {
      await ask(s, 'c', { storageClassName: `${s.ns}-sc` })
      await told(s)
      await s.create('storageclasses', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: `${s.ns}-sc` },
        provisioner: `${s.ns}.x.y`,
      })
      await told(s, 18_000)
      await s.del('storageclasses', `${s.ns}-sc`)
      await told(s)
      await volume(s, 'v', { storageClassName: `${s.ns}-sc` })
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-waits-for-a-pod-that-is-deleted': {
    async act(s) {
      await wffc(s)
      await ask(s, 'c', { storageClassName: `${s.ns}-sc` })
      await s.create('pods', pvcPod('p', 'c'))
      await waitUnsched(s, 'p')
      await s.del('pods', 'p')
      await s.pause(1500)
      await volume(s, 'v', { storageClassName: `${s.ns}-sc` })
      await told(s)
      await s.create('pods', pvcPod('q', 'c'))
      await s.untilObj('pods', 'q', running)
      await told(s)
    },
    clean: dropVolumes,
  },
  'pvc-waits-and-is-named-by-the-user': {
    async act(s) {
      await wffc(s)
      await volume(s, 'v', { storageClassName: `${s.ns}-sc` })
      await ask(s, 'c', { storageClassName: `${s.ns}-sc`, volumeName: `${s.ns}-v` })
      await ask(s, 'd', { storageClassName: `${s.ns}-sc` })
      await told(s)
      await s.create('pods', pvcPod('p', 'd'))
      await waitUnsched(s, 'p')
      await volume(s, 'w', { storageClassName: `${s.ns}-sc` })
      await s.untilObj('pods', 'p', running)
      await told(s)
    },
    clean: dropVolumes,
  },
  'ephemeral-claims-of-a-replaced-pod': {
    async act(s) {
      const ephemeral = {
        volumeClaimTemplate: { metadata: { labels: { l: 'm' } }, spec: claim('x', { storageClassName: s.ns }).spec },
      }
      const spec = { volumes: [{ name: 'd', ephemeral }], nodeName: 'idle' }
      await volume(s, 'v')
      await s.create('pods', pod('p', spec))
      await bound(s, 'p-d')
      await told(s)
      await s.patch('persistentvolumeclaims', 'p-d', { metadata: { ownerReferences: null } })
      await told(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await told(s)
      await s.create('pods', pod('p', spec))
      await told(s)
    },
    clean: dropVolumes,
  },
  'ephemeral-claim-deleted-and-pod-ends': {
    async act(s) {
      const ephemeral = { volumeClaimTemplate: { spec: claim('x', { storageClassName: s.ns }).spec } }
      await volume(s, 'v')
      await s.create('pods', pod('p', { volumes: [{ name: 'd', ephemeral }], nodeName: 'idle' }))
      await bound(s, 'p-d')
      await s.del('persistentvolumeclaims', 'p-d')
      await told(s)
      await s.ended({ metadata: { name: 'p' } }, 0)
      await told(s)
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await told(s)
    },
    clean: dropVolumes,
  },
  'sts-claims-lost-and-replaced-by-hand': {
    async act(s) {
      await volume(s, 'v')
      await volume(s, 'w')
      await s.create(
        'statefulsets',
        sts('a', { replicas: 1, volumeClaimTemplates: [claim('d', { storageClassName: s.ns })] }, { nodeName: 'idle' }),
      )
      await bound(s, 'd-a-0')
      await s.running({ metadata: { name: 'a-0' } })
      await s.pause(1500)
      await s.del('persistentvolumeclaims', 'd-a-0')
      await told(s)
      await force(s, await s.get('pods', 'a-0'))
      await s.pause(2500)
      await told(s)
      await s.patch('statefulsets', 'a', { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } } })
      await told(s)
      await s.del('statefulsets', 'a')
      await told(s)
      for (const one of await s.list('pods')) await force(s, one).catch(() => {})
      await told(s)
    },
    clean: dropVolumes,
  },
  'vac-unknown-then-made': {
    async act(s) {
      await volume(s, 'v', csi(s))
      await ask(s, 'c', { volumeAttributesClassName: `${s.ns}-a` })
      await told(s)
      await s.create('volumeattributesclasses', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'VolumeAttributesClass',
        metadata: { name: `${s.ns}-a` },
        driverName: `${s.ns}.x.y`,
        parameters: { iops: '1' },
      })
      await told(s, 18_000)
      await volume(s, 'w', { ...csi(s), volumeAttributesClassName: `${s.ns}-a` })
      await told(s)
      await s.del('volumeattributesclasses', `${s.ns}-a`)
      await told(s)
      await s.del('persistentvolumeclaims', 'c')
      await told(s)
    },
    clean: rm(['persistentvolumes', 'v'], ['persistentvolumes', 'w'], ['volumeattributesclasses', 'a']),
  },
  'volume-attachment-of-a-node-that-goes': {
    nodes: ['n1'],
    async act(s) {
      await attachable(s, 'n1')
      await volume(s, 'v', csi(s))
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: `${s.ns}-n1` }))
      await s.untilObj('pods', 'p', running)
      const own = async () => (await s.list('volumeattachments')).filter((one) => one.spec.nodeName === `${s.ns}-n1`)
      await s.until('attachment', async () => (await own()).length === 1)
      const [one] = await own()
      if (one === undefined) return
      await s.patch('volumeattachments', one.metadata.name, { metadata: { finalizers: ['x.y/attacher'] } })
      await s.status('volumeattachments', one.metadata.name, { attached: true })
      await s.pause(2000)
      await s.del('nodes', `${s.ns}-n1`)
      await s.gone('pods', 'p')
      await s.pause(3000)
      s.note(`attachments ${(await own()).map((each) => (going(each) ? 'going' : 'stays'))}`)
      for (const each of await own()) await unheld(s, 'volumeattachments', each.metadata.name)
      await s.pause(2000)
      s.note(`attachments ${(await own()).length}`)
    },
    clean: dropVolumes,
  },
  'volume-attached-to-two-nodes': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await attachable(s, 'n1', 'n2')
      await volume(s, 'v', csi(s))
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: `${s.ns}-n1` }))
      await s.untilObj('pods', 'p', running)
      await s.pause(2000)
      await s.create('pods', pvcPod('q', 'c', { nodeName: `${s.ns}-n2` }))
      await s.pause(4000)
      const own = async () => (await s.list('volumeattachments')).filter((one) => one.spec.attacher === `${s.ns}.x.y`)
      s.note(`attached to ${(await own()).map((one) => one.spec.nodeName).toSorted()}`)
      for (const one of await own()) await s.status('volumeattachments', one.metadata.name, { attached: true })
      await s.pause(2500)
      await s.del('pods', 'p')
      await s.gone('pods', 'p')
      await s.pause(4000)
      s.note(`attached to ${(await own()).map((one) => one.spec.nodeName).toSorted()}`)
    },
    clean: dropVolumes,
  },
  'node-attached-volume-in-use-status': {
    nodes: ['n1'],
    async act(s) {
      await attachable(s, 'n1')
      await volume(s, 'v', csi(s))
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: `${s.ns}-n1` }))
      await s.untilObj('pods', 'p', running)
      const own = async () => (await s.list('volumeattachments')).filter((one) => one.spec.attacher === `${s.ns}.x.y`)
      await s.until('attachment', async () => (await own()).length === 1)
      const [one] = await own()
      if (one === undefined) return
      await s.status('volumeattachments', one.metadata.name, {
        attached: false,
        attachError: { message: 'could not', time: s.now() },
      })
      await s.pause(3000)
      await s.status('volumeattachments', one.metadata.name, { attached: true, attachError: null })
      await s.untilObj('nodes', `${s.ns}-n1`, ({ status }) => (status.volumesAttached ?? []).length > 0)
      await s.status('nodes', `${s.ns}-n1`, { volumesInUse: [`kubernetes.io/csi/${s.ns}.x.y^h`] })
      await s.del('pods', 'p')
      await s.gone('pods', 'p')
      await s.pause(4000)
      s.note(`attachments ${(await own()).length}`)
      await s.status('nodes', `${s.ns}-n1`, { volumesInUse: null })
      await s.pause(3000)
      s.note(`attachments ${(await own()).length}`)
    },
    clean: dropVolumes,
  },
  'pvc-of-a-namespace-that-ends': {
    async act(s) {
      await volume(s, 'v', { persistentVolumeReclaimPolicy: 'Delete' })
      await ask(s, 'c')
      await bound(s)
      await s.create('pods', pvcPod('p', 'c', { nodeName: 'idle', terminationGracePeriodSeconds: 30 }))
      await s.running({ metadata: { name: 'p' } })
      await s.pause(1500)
      await s.del('namespaces', s.ns)
      await s.pause(4000)
      await told(s)
      await s.untilObj('namespaces', s.ns, cond('NamespaceContentRemaining'))
      await s.del('pods', 'p', { gracePeriodSeconds: 0 })
      await s.gone('namespaces', s.ns)
      await told(s)
    },
    clean: dropVolumes,
  },
} satisfies Readonly<Record<string, Story>>
