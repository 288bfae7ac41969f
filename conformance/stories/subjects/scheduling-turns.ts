/** Pods that wait while nodes, budgets, classes, volumes and their own fields change; what is preempted then, and what is told of it. */
import type { Fields } from '../../../src/api/object.ts'
import {
  aff,
  anti,
  claim,
  dep,
  done,
  labelled,
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
  taintKey,
  tried,
  waitUnsched,
  wffc,
  zones,
} from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const settled = (s: Scene, ms = 1500) => s.pause(ms)
const node = (s: Scene, name = 'n1') => `${s.ns}-${name}`
const places = async (s: Scene, ms = 1500) => {
  await s.pause(ms)
  s.note(
    (await s.list('pods'))
      .map(
        ({ metadata, spec, status }) =>
          `${metadata.name.replace(/-[a-z0-9]{5}$/, '')} ${spec.nodeName?.replace(s.ns, '') ?? 'none'} ${status.nominatedNodeName?.replace(s.ns, '') ?? ''}${metadata.deletionTimestamp === undefined ? '' : ' going'}`,
      )
      .toSorted()
      .join(),
  )
}
const byPriority = (s: Scene, name: string) => ({ priorityClassName: `${s.ns}-${name}` })
const HOST = 'kubernetes.io/hostname'

export const schedulingTurnsStories = {
  'sch-cordoned-midway-of-a-rollout': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create(
        'deployments',
        dep(
          'a',
          { replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
          on(s, { affinity: anti(HOST, { app: 'a' }) }),
        ),
      )
      await s.untilObj('deployments', 'a', done)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { v: '2' } } } } })
      await places(s, 2500)
      await s.patch('nodes', node(s), { spec: { unschedulable: true } })
      await s.patch('deployments', 'a', { spec: { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } } })
      await places(s, 3500)
      await s.patch('nodes', node(s), { spec: { unschedulable: null } })
      await s.untilObj('deployments', 'a', done)
      await places(s)
    },
  },
  'sch-waits-for-a-taint-to-go-and-another-comes': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', node(s), { spec: { taints: [taintKey(s)] } })
      await s.create('pods', pod('p', on(s)))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch('nodes', node(s), { spec: { taints: [{ key: 'other', effect: 'NoExecute' }] } })
      await settled(s, 2500)
      await s.patch('nodes', node(s), { spec: { taints: [{ key: 'soft', effect: 'PreferNoSchedule' }] } })
      await s.untilObj('pods', 'p', running)
      await places(s)
    },
  },
  'sch-several-wait-and-one-fits': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('full', on(s, res('3'))))
      await s.untilObj('pods', 'full', running)
      await s.create('pods', pod('large', on(s, res('4'))))
      await s.create('pods', pod('small', on(s, res('2'))))
      await waitUnsched(s, 'large')
      await waitUnsched(s, 'small')
      await settled(s, 2500)
      await s.del('pods', 'full')
      await places(s, 4000)
      await s.del('pods', 'small')
      await places(s, 4000)
    },
  },
  'sch-preempts-on-one-of-two-nodes': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await pc(s, 'low', 1)
      await pc(s, 'mid', 5)
      await pc(s, 'high', 9)
      const at = (n: string) => ({ nodeSelector: { [HOST]: node(s, n) } })
      await s.create('pods', pod('low', { ...at('n1'), ...res('3'), ...byPriority(s, 'low') }))
      await s.create('pods', pod('mid', { ...at('n2'), ...res('3'), ...byPriority(s, 'mid') }))
      await s.untilPods(2, running)
      await settled(s)
      await s.create('pods', pod('high', on(s, { ...res('2'), ...byPriority(s, 'high') })))
      await s.untilObj('pods', 'high', running)
      await places(s)
      await s.create('pods', pod('high2', on(s, { ...res('2'), ...byPriority(s, 'high') })))
      await s.untilObj('pods', 'high2', running)
      await s.create('pods', pod('high3', on(s, { ...res('2'), ...byPriority(s, 'mid') })))
      await places(s, 3000)
    },
    clean: rm(['priorityclasses', 'low'], ['priorityclasses', 'mid'], ['priorityclasses', 'high']),
  },
  'sch-preempts-a-budgeted-replicaset-pod': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'high', 9)
      await s.create('poddisruptionbudgets', pdb('b', { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.create('replicasets', rs('a', { replicas: 1 }, on(s, res('3'))))
      await s.untilPods(1, running)
      await settled(s, 2500)
      await s.create('pods', pod('high', on(s, { ...res('3'), ...byPriority(s, 'high') })))
      await s.untilObj('pods', 'high', running)
      await places(s, 3000)
      await s.del('pods', 'high')
      await s.untilObj('replicasets', 'a', ({ status }) => status.readyReplicas === 1)
      await places(s)
    },
    clean: rm(['priorityclasses', 'high']),
  },
  'sch-preemption-never-waits-for-room': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'calm', 9, { preemptionPolicy: 'Never' })
      await s.create('pods', pod('x', on(s, res('3'))))
      await s.untilObj('pods', 'x', running)
      await s.create('pods', pod('calm', on(s, { ...res('3'), ...byPriority(s, 'calm') })))
      await waitUnsched(s, 'calm')
      await s.create('pods', pod('later', on(s, res('3'))))
      await waitUnsched(s, 'later')
      await settled(s, 2500)
      await s.del('pods', 'x')
      await places(s, 4000)
    },
    clean: rm(['priorityclasses', 'calm']),
  },
  'sch-gates-of-a-deployment-taken-by-hand': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 2 }, { schedulingGates: [{ name: 'x.y/g' }] }))
      await s.untilPods(2)
      await settled(s, 2500)
      const [first] = await s.list('pods')
      await s.patch('pods', first.metadata.name, { spec: { schedulingGates: [] } })
      await s.untilPods(1, running)
      await settled(s)
      await s.patch('deployments', 'a', { spec: { template: { spec: { schedulingGates: null } } } })
      await s.untilObj('deployments', 'a', done)
      await places(s)
    },
  },
  'sch-spread-over-zones-as-one-comes': {
    nodes: zones,
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 3 }, on(s, spread('zone', { app: 'a' }))))
      await s.untilObj('deployments', 'a', done)
      await s.pause(1500)
      await s.addNodes([{ name: 'n3', labels: { zone: 'c' } }])
      await s.patch('deployments', 'a', { spec: { replicas: 5 } })
      await s.untilPods(5)
      await settled(s, 4000)
      s.note(
        (await s.list('pods'))
          .map(({ spec }) => spec.nodeName?.replace(s.ns, '') ?? 'none')
          .filter((name) => name === '-n3')
          .join(),
      )
    },
  },
  'sch-spread-match-label-keys-and-min-domains': {
    nodes: zones,
    async act(s) {
      const constraint = spread('zone', { app: 'a' }, { minDomains: 3, matchLabelKeys: ['pod-template-hash'] })
      await s.create('deployments', dep('a', { replicas: 3, strategy: { type: 'Recreate' } }, on(s, constraint)))
      await settled(s, 3500)
      await s.addNodes([{ name: 'n3', labels: { zone: 'c' } }])
      await s.untilObj('deployments', 'a', done)
      await settled(s)
      await s.patch('deployments', 'a', { spec: { template: { metadata: { labels: { v: '2' } } } } })
      await s.untilObj('deployments', 'a', done)
      await settled(s)
    },
  },
  'sch-affinity-to-a-pod-that-goes': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('pods', labelled('x', { nodeSelector: { [HOST]: node(s) } }))
      await s.untilObj('pods', 'x', running)
      await s.create('pods', pod('p', on(s, { affinity: aff(HOST, { app: 'a' }) })))
      await s.untilObj('pods', 'p', running)
      await s.del('pods', 'x')
      await s.gone('pods', 'x')
      await settled(s)
      await s.create('pods', pod('q', on(s, { affinity: aff(HOST, { app: 'a' }) })))
      await waitUnsched(s, 'q')
      await settled(s)
      await s.create('pods', labelled('y', { nodeSelector: { [HOST]: node(s, 'n2') } }))
      await s.untilObj('pods', 'q', running)
      await places(s)
    },
  },
  'sch-host-port-freed-by-a-pod-that-ends': {
    nodes: ['n1'],
    async act(s) {
      const port = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }] }
      await s.create('pods', pod('x', on(s, { ...port, restartPolicy: 'Never' })))
      await s.untilObj('pods', 'x', running)
      await s.create('pods', pod('p', on(s, port)))
      await waitUnsched(s, 'p')
      await settled(s, 2500)
      await s.ended({ metadata: { name: 'x' } }, 0)
      await s.untilObj('pods', 'p', running)
      await places(s)
    },
  },
  'sch-extended-resource-comes-and-goes': {
    nodes: ['n1'],
    async act(s) {
      const ask = { containers: [{ name: 'c', image: 'i', resources: { limits: { 'x.y/gpu': '2' } } }] }
      await s.create('pods', pod('p', on(s, ask)))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch(
        'nodes',
        node(s),
        { status: { allocatable: { 'x.y/gpu': '1' }, capacity: { 'x.y/gpu': '1' } } },
        'status',
      )
      await settled(s, 2500)
      await s.patch(
        'nodes',
        node(s),
        { status: { allocatable: { 'x.y/gpu': '2' }, capacity: { 'x.y/gpu': '2' } } },
        'status',
      )
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pod('q', on(s, ask)))
      await waitUnsched(s, 'q')
      await s.patch(
        'nodes',
        node(s),
        { status: { allocatable: { 'x.y/gpu': null }, capacity: { 'x.y/gpu': null } } },
        'status',
      )
      await places(s, 2500)
    },
  },
  'sch-volume-node-affinity-and-zones': {
    nodes: zones,
    async act(s) {
      const zone = (value: string) => ({
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] }] },
        },
      })
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: s.ns, ...zone('b') }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: s.ns }))
      await s.untilObj('persistentvolumeclaims', 'c', ({ status }) => status.phase === 'Bound')
      await settled(s)
      await s.create('pods', pvcPod('p', 'c', on(s)))
      await s.untilObj('pods', 'p', running)
      await s.create('pods', pvcPod('q', 'c', { nodeSelector: { scenario: s.ns, zone: 'a' } }))
      await waitUnsched(s, 'q')
      await places(s, 2500)
    },
    clean: rm(['persistentvolumes', 'v']),
  },
  'sch-waits-for-the-first-consumer-in-a-zone': {
    nodes: zones,
    async act(s) {
      await wffc(s)
      const zone = {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }] },
        },
      }
      await s.create('persistentvolumes', pv(s, 'v', { storageClassName: `${s.ns}-sc`, ...zone }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: `${s.ns}-sc` }))
      await settled(s)
      await s.create('pods', pvcPod('p', 'c', { nodeSelector: { scenario: s.ns, zone: 'a' } }))
      await waitUnsched(s, 'p')
      await settled(s, 2500)
      await s.del('pods', 'p')
      await s.create('pods', pvcPod('q', 'c', on(s)))
      await s.untilObj('pods', 'q', running)
      await places(s)
    },
    clean: rm(['persistentvolumes', 'v'], ['storageclasses', 'sc']),
  },
  'sch-fields-that-may-not-change': {
    async act(s) {
      await s.create('pods', pod('g', { schedulingGates: [{ name: 'x.y/g' }], nodeSelector: { a: 'b' } }))
      await s.create('pods', pod('p', { schedulerName: 'none' }))
      await settled(s)
      const change = (what: string, name: string, spec: Fields) => tried(s, what, s.patch('pods', name, { spec }))
      await change('selector of gated', 'g', { nodeSelector: { a: 'b', c: 'd' } })
      await change('selector widened', 'g', { nodeSelector: { a: null } })
      await change('selector of ungated', 'p', { nodeSelector: { a: 'b' } })
      await change('gate added', 'p', { schedulingGates: [{ name: 'x.y/h' }] })
      await change('node', 'p', { nodeName: 'idle' })
      await change('priority', 'p', { priority: 5 })
      await change('tolerations taken', 'p', { tolerations: [] })
      await change('deadline', 'p', { activeDeadlineSeconds: 9 })
      await change('deadline longer', 'p', { activeDeadlineSeconds: 19 })
      await change('gate', 'g', { schedulingGates: null })
      await settled(s)
    },
  },
  'sch-too-many-pods-and-one-ends': {
    nodes: [
      {
        name: 'n1',
        status: {
          allocatable: { cpu: '4', memory: '8Gi', pods: '2' },
          capacity: { cpu: '4', memory: '8Gi', pods: '2' },
        },
      },
    ],
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 3 }, on(s)))
      await s.untilPods(2, running)
      await settled(s, 2500)
      await s.patch('nodes', node(s), { status: { allocatable: { pods: '3' } } }, 'status')
      await s.untilPods(3, running)
      await settled(s)
    },
  },
} satisfies Readonly<Record<string, Story>>
