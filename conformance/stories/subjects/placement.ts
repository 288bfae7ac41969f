/** The scheduler, in several turns: which pod makes room for which, what comes after what, where volumes are. */
import type { Fields } from '../../../src/api/object.ts'
import {
  anti,
  claim,
  dep,
  done,
  going,
  on,
  pc,
  pdb,
  pod,
  pv,
  pvcPod,
  res,
  rm,
  rs,
  running,
  spread,
  waitUnsched,
  wffc,
  zones,
} from '../objects.ts'
import type { Scene, Story, StoryNode } from '../story.ts'

const small = (name: string, cpu = '4'): StoryNode => {
  const room = { cpu, memory: '8Gi', pods: '10' }
  return { name, status: { allocatable: room, capacity: room } }
}
/** A pod that stays when it is told to go, until it is let go. */
const lingering = (name: string, spec: Fields, labels: Fields = {}) =>
  pod(name, spec, { finalizers: ['x.y/stay'], labels })
const letGo = (s: Scene, name: string) => s.patch('pods', name, { metadata: { finalizers: null } })
const csi = (handle: string) => ({ hostPath: undefined, csi: { driver: 'x.y', volumeHandle: handle } })
const classes = rm(['priorityclasses', 'low'], ['priorityclasses', 'mid'], ['priorityclasses', 'hi'])
async function threeClasses(s: Scene): Promise<void> {
  await pc(s, 'low', 10)
  await pc(s, 'mid', 100)
  await pc(s, 'hi', 1000)
}
const inZone = (s: Scene, zone: string) => on(s, { nodeSelector: { scenario: s.ns, zone } })

export const placementStories = {
  'sch-nominated-outbid': {
    nodes: ['n1'],
    async act(s) {
      await threeClasses(s)
      await s.create('pods', lingering('low', on(s, { ...res('3'), priorityClassName: `${s.ns}-low` })))
      await s.untilObj('pods', 'low', running)
      await s.create('pods', pod('mid', on(s, { ...res('3'), priorityClassName: `${s.ns}-mid` })))
      await s.untilObj('pods', 'mid', ({ status }) => status.nominatedNodeName)
      await s.pause(1500)
      await s.create('pods', pod('hi', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await waitUnsched(s, 'hi')
      await s.pause(1500)
      await letGo(s, 'low')
      await s.untilObj('pods', 'hi', running)
      await s.pause(2000)
    },
    clean: classes,
  },
  'sch-nomination-withdrawn': {
    nodes: ['n1'],
    async act(s) {
      await threeClasses(s)
      await s.create('pods', lingering('low', on(s, { ...res('2'), priorityClassName: `${s.ns}-low` })))
      await s.create('pods', pod('also', on(s, { ...res('2'), priorityClassName: `${s.ns}-mid` })))
      await s.untilPods(2, running)
      await s.create('pods', pod('mid', on(s, { ...res('2'), priorityClassName: `${s.ns}-mid` })))
      await s.untilObj('pods', 'mid', ({ status }) => status.nominatedNodeName)
      await s.pause(1500)
      await s.create('pods', pod('hi', on(s, { ...res('4'), priorityClassName: `${s.ns}-hi` })))
      await waitUnsched(s, 'hi')
      await s.pause(3000)
      await letGo(s, 'low')
      await s.untilObj('pods', 'hi', running)
      await s.pause(2000)
    },
    clean: classes,
  },
  'sch-preempt-chain': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await threeClasses(s)
      const at = (name: string, node: string, cls: string) =>
        s.create(
          'pods',
          pod(
            name,
            on(s, {
              ...res('3'),
              priorityClassName: `${s.ns}-${cls}`,
              nodeSelector: { 'kubernetes.io/hostname': `${s.ns}-${node}` },
            }),
          ),
        )
      await at('low', 'n1', 'low')
      await at('mid', 'n2', 'mid')
      await s.untilPods(2, running)
      await s.create('pods', pod('one', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'one', running)
      await s.create('pods', pod('two', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'two', running)
      await s.create('pods', pod('three', on(s, { ...res('3'), priorityClassName: `${s.ns}-mid` })))
      await waitUnsched(s, 'three')
      await s.pause(1500)
    },
    clean: classes,
  },
  'sch-preempt-for-anti-affinity': {
    nodes: ['n1'],
    async act(s) {
      await threeClasses(s)
      const key = 'kubernetes.io/hostname'
      await s.create('pods', pod('a', on(s, { priorityClassName: `${s.ns}-low` }), { labels: { app: 'x' } }))
      await s.untilObj('pods', 'a', running)
      await s.create(
        'pods',
        pod('b', on(s, { priorityClassName: `${s.ns}-mid`, affinity: anti(key, { app: 'x' }) }), {
          labels: { app: 'y' },
        }),
      )
      await s.untilObj('pods', 'b', running)
      await s.create('pods', pod('c', on(s, { priorityClassName: `${s.ns}-low` }), { labels: { app: 'x' } }))
      await waitUnsched(s, 'c')
      await s.del('pods', 'b')
      await s.untilObj('pods', 'c', running)
      await s.pause(1000)
    },
    clean: classes,
  },
  'sch-preempt-refused-by-budget': {
    nodes: ['n1'],
    async act(s) {
      await threeClasses(s)
      await s.create('replicasets', rs('a', { replicas: 2 }, on(s, { ...res('2'), priorityClassName: `${s.ns}-low` })))
      await s.untilPods(2, running)
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 2, selector: { matchLabels: { app: 'a' } } }))
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 2)
      await s.create('pods', pod('hi', on(s, { ...res('4'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', running)
      await s.pause(2500)
    },
    clean: classes,
  },
  'sch-preempt-grace': {
    nodes: ['n1'],
    async act(s) {
      await threeClasses(s)
      await s.create(
        'pods',
        lingering('old', on(s, { ...res('3'), priorityClassName: `${s.ns}-low`, terminationGracePeriodSeconds: 7 })),
      )
      await s.untilObj('pods', 'old', running)
      await s.create('pods', pod('hi', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await s.untilPods(1, going)
      await s.pause(1500)
      await s.del('pods', 'hi')
      await s.pause(1500)
      await s.create('pods', pod('next', on(s, { ...res('1'), priorityClassName: `${s.ns}-low` })))
      await s.untilObj('pods', 'next', running)
      await letGo(s, 'old')
      await s.pause(1500)
    },
    clean: classes,
  },
  'sch-spread-of-a-rollout': {
    nodes: zones,
    async act(s) {
      const constraint = spread('zone', { app: 'a' }, { matchLabelKeys: ['pod-template-hash'] })
      await s.create('deployments', dep('a', { replicas: 4 }, on(s, constraint)))
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { annotations: { n: '2' } } } } })
      await s.untilObj('deployments', 'a', done)
      for (const zone of ['n1', 'n2'])
        s.note(`${zone} ${(await s.list('pods')).filter(({ spec }) => spec.nodeName === `${s.ns}-${zone}`).length}`)
    },
  },
  'sch-spread-taints-policy': {
    nodes: [
      { name: 'n1', labels: { zone: 'a' } },
      { name: 'n2', labels: { zone: 'b' }, spec: { taints: [{ key: 'own', effect: 'NoSchedule' }] } },
    ],
    async act(s) {
      const make = (name: string, more: Fields) =>
        s.create('pods', pod(name, on(s, spread('zone', { app: 'x' }, more)), { labels: { app: 'x' } }))
      await make('a', { nodeTaintsPolicy: 'Honor' })
      await s.untilObj('pods', 'a', running)
      await make('b', { nodeTaintsPolicy: 'Honor' })
      await s.untilObj('pods', 'b', running)
      await make('c', {})
      await waitUnsched(s, 'c')
      await s.patch('nodes', `${s.ns}-n2`, { spec: { taints: null } })
      await s.untilObj('pods', 'c', running)
      await s.pause(1000)
    },
  },
  'sch-namespaces-of-affinity': {
    nodes: zones,
    async act(s) {
      const other = `${s.ns}-other`
      await s.create('namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: other, labels: { team: s.ns } },
      })
      await s.until('account', () => s.api('serviceaccounts', other).get('default'))
      await s.api('pods', other).create(pod('x', inZone(s, 'a'), { labels: { app: 'x' } }))
      await s.until('x', async () => (await s.api('pods', other).get('x'))['status'] !== undefined)
      await s.pause(1000)
      const term = (more: Fields) => ({
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'x' } }, ...more },
          ],
        },
      })
      await s.create('pods', pod('own', { ...inZone(s, 'a'), affinity: term({}) }))
      await s.untilObj('pods', 'own', running)
      await s.create('pods', pod('named', { ...inZone(s, 'a'), affinity: term({ namespaces: [other] }) }))
      await waitUnsched(s, 'named')
      await s.create(
        'pods',
        pod('chosen', { ...inZone(s, 'a'), affinity: term({ namespaceSelector: { matchLabels: { team: s.ns } } }) }),
      )
      await waitUnsched(s, 'chosen')
      await s.create('pods', pod('any', { ...on(s), affinity: term({ namespaceSelector: {} }) }))
      await s.untilObj('pods', 'any', running)
      await s.pause(1000)
    },
    clean: rm(['namespaces', 'other']),
  },
  'sch-node-comes': {
    nodes: [small('n1', '1')],
    async act(s) {
      await s.create('pods', pod('a', on(s, res('2'))))
      await waitUnsched(s, 'a')
      await s.create('pods', pod('b', on(s, { ...res('1'), nodeSelector: { scenario: s.ns, disk: 'fast' } })))
      await waitUnsched(s, 'b')
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { labels: { disk: 'fast' } } })
      await s.untilObj('pods', 'b', running)
      await s.addNodes([small('n2', '3')])
      await s.untilObj('pods', 'a', running)
      await s.create('pods', pod('c', on(s, res('2'))))
      await waitUnsched(s, 'c')
      await s.del('pods', 'a')
      await s.untilObj('pods', 'c', running)
      await s.pause(1000)
    },
  },
  'sch-gates-and-quota': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }, { schedulingGates: [{ name: 'a.b/c' }] }))
      const ps = await s.untilPods(2)
      await s.pause(1500)
      await s.patch('pods', ps[0].metadata.name, { spec: { schedulingGates: null } })
      await s.untilObj('pods', ps[0].metadata.name, running)
      await s.patch('deployments', 'a', { spec: { template: { spec: { schedulingGates: null } } } })
      await s.untilObj('deployments', 'a', done)
      await s.pause(1000)
    },
  },
  'sch-volume-nowhere': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await wffc(s)
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.create('pods', pvcPod('p', 'c', on(s)))
      await waitUnsched(s, 'p')
      await s.pause(1500)
      await s.create(
        'persistentvolumes',
        pv(s, 'small', { storageClassName: `${s.ns}-sc`, capacity: { storage: '1Mi' } }),
      )
      await s.pause(1500)
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: `${s.ns}-sc` }))
      await s.untilObj('pods', 'p', running)
      await s.pause(1000)
    },
    clean: rm(['persistentvolumes', 'v'], ['persistentvolumes', 'small'], ['storageclasses', 'sc']),
  },
  'sch-volume-elsewhere': {
    nodes: zones,
    async act(s) {
      const only = (zone: string) => ({
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] },
        },
      })
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns, ...only('b') }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', (c) => c.status.phase === 'Bound')
      await s.create('pods', pvcPod('p', 'c', inZone(s, 'a')))
      await waitUnsched(s, 'p')
      await s.create('pods', pvcPod('q', 'c', { ...on(s), ...res('5') }))
      await waitUnsched(s, 'q')
      await s.create('pods', pvcPod('r', 'c', on(s)))
      await s.untilObj('pods', 'r', running)
      await s.pause(1000)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'sch-volume-provisioned': {
    nodes: ['n1'],
    async act(s) {
      await wffc(s, { provisioner: 'x.y' })
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.create('pods', pvcPod('p', 'c', on(s)))
      await s.untilObj(
        'persistentvolumeclaims',
        'c',
        ({ metadata }) => metadata.annotations?.['volume.kubernetes.io/selected-node'],
      )
      await s.pause(1500)
      await s.create(
        'persistentvolumes',
        pv(
          s,
          'v',
          { storageClassName: `${s.ns}-sc`, ...csi('h'), claimRef: { namespace: s.ns, name: 'c' } },
          { annotations: { 'pv.kubernetes.io/provisioned-by': 'x.y' } },
        ),
      )
      await s.untilObj('pods', 'p', running)
      await s.pause(2500)
      await s.del('pods', 'p')
      await s.pause(2500)
    },
    clean: rm(['persistentvolumes', 'v'], ['storageclasses', 'sc']),
  },
  'sch-volume-provisioning-refused': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await wffc(s, { provisioner: 'x.y' })
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.create('pods', pvcPod('p', 'c', { ...on(s), nodeSelector: { 'kubernetes.io/hostname': `${s.ns}-n1` } }))
      await s.untilObj(
        'persistentvolumeclaims',
        'c',
        ({ metadata }) => metadata.annotations?.['volume.kubernetes.io/selected-node'],
      )
      await s.pause(1000)
      await s.patch('persistentvolumeclaims', 'c', {
        metadata: { annotations: { 'volume.kubernetes.io/selected-node': null } },
      })
      await s.pause(4000)
      await s.del('pods', 'p')
      await s.pause(1000)
    },
    clean: rm(['storageclasses', 'sc']),
  },
  'sch-csi-capacity-and-limits': {
    nodes: ['n1'],
    async act(s) {
      const driver = `${s.ns}-drv`
      await s.create('csidrivers', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIDriver',
        metadata: { name: driver },
        spec: { storageCapacity: true, attachRequired: false },
      })
      await wffc(s, { provisioner: driver })
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await s.create('pods', pvcPod('p', 'c', on(s)))
      await waitUnsched(s, 'p')
      await s.create('csistoragecapacities', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSIStorageCapacity',
        metadata: { name: 'k' },
        storageClassName: `${s.ns}-sc`,
        nodeTopology: { matchLabels: { scenario: s.ns } },
        capacity: '1Mi',
      })
      await s.pause(2500)
      await s.patch('csistoragecapacities', 'k', { capacity: '10Gi' })
      await s.untilObj(
        'persistentvolumeclaims',
        'c',
        ({ metadata }) => metadata.annotations?.['volume.kubernetes.io/selected-node'],
      )
      await s.pause(1500)
    },
    clean: rm(['storageclasses', 'sc'], ['csidrivers', 'drv']),
  },
  'sch-csi-volume-limits': {
    nodes: ['n1'],
    async act(s) {
      const driver = `${s.ns}-drv`
      const node = await s.get('nodes', `${s.ns}-n1`)
      await s.create('csinodes', {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: {
          name: `${s.ns}-n1`,
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: `${s.ns}-n1`, uid: node.metadata.uid }],
        },
        spec: { drivers: [{ name: driver, nodeID: 'n', topologyKeys: null, allocatable: { count: 1 } }] },
      })
      const ephemeral = { volumes: [{ name: 'v', csi: { driver } }] }
      for (const name of ['a', 'b']) {
        await s.create(
          'persistentvolumes',
          pv(s, name, {
            storageClassName: s.ns,
            hostPath: undefined,
            csi: { driver, volumeHandle: name },
            claimRef: { namespace: s.ns, name },
          }),
        )
        await s.create('persistentvolumeclaims', claim(name, { storageClassName: s.ns }))
        await s.untilObj('persistentvolumeclaims', name, (c) => c.status.phase === 'Bound')
      }
      await s.create('pods', pvcPod('p', 'a', on(s)))
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pvcPod('q', 'b', on(s)))
      await waitUnsched(s, 'q')
      await s.create('pods', pod('e', on(s, ephemeral)))
      await s.untilObj('pods', 'e', running)
      await s
        .patch('csinodes', `${s.ns}-n1`, {
          spec: { drivers: [{ name: driver, nodeID: 'n', topologyKeys: null, allocatable: { count: 2 } }] },
        })
        .catch((error) => s.note(error.message))
      await s.untilObj('pods', 'q', running)
      await s.pause(1500)
    },
    clean: rm(['persistentvolumes', 'a'], ['persistentvolumes', 'b'], ['csinodes', 'n1']),
  },
  'sch-pod-level-requests': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('a', on(s, { ...res('1'), resources: { requests: { cpu: '3' } } })))
      await s.untilObj('pods', 'a', running)
      await s.create('pods', pod('b', on(s, { ...res('500m'), resources: { requests: { cpu: '2', memory: '1Gi' } } })))
      await waitUnsched(s, 'b')
      await s.create('pods', pod('c', on(s, { resources: { limits: { cpu: '1' } } })))
      await s.untilObj('pods', 'c', running)
      await s.del('pods', 'a')
      await s.untilObj('pods', 'b', running)
      await s.pause(1000)
    },
  },
} satisfies Readonly<Record<string, Story>>
