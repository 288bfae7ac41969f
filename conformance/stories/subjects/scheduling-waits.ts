/** Pods that wait, and what wakes them; preemption across budgets, graces and places kept. */
import { aff, anti, claim, on, pc, pdb, pod, pv, pvcPod, res, rm, running, taintKey, waitUnsched } from '../objects.ts'
import type { Scene, Story } from '../story.ts'

const settled = (s: Scene, ms = 1500) => s.pause(ms)
const node = (s: Scene, name = 'n1') => `${s.ns}-${name}`

export const schedulingWaitsStories = {
  'sch-wakes-by-node-growth': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('p', on(s, res('6'))))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch('nodes', node(s), { metadata: { labels: { irrelevant: 'x' } } })
      await settled(s)
      await s.patch('nodes', node(s), { status: { allocatable: { cpu: '8' }, capacity: { cpu: '8' } } }, 'status')
      await s.untilObj('pods', 'p', running)
      await settled(s)
    },
  },
  'sch-wakes-by-label': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('p', on(s, { nodeSelector: { scenario: s.ns, disk: 'ssd' } })))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch('nodes', node(s), { metadata: { labels: { disk: 'hdd' } } })
      await settled(s)
      await s.patch('nodes', node(s), { metadata: { labels: { disk: 'ssd' } } })
      await s.untilObj('pods', 'p', running)
      await settled(s)
    },
  },
  'sch-wakes-by-toleration': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', node(s), { spec: { taints: [taintKey(s)] } })
      await s.create('pods', pod('p', on(s)))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch('pods', 'p', { metadata: { labels: { l: 'm' } } })
      await settled(s)
      const { spec } = await s.get('pods', 'p')
      await s.patch('pods', 'p', {
        spec: { tolerations: [...spec.tolerations, { key: 'only', operator: 'Exists', effect: 'NoSchedule' }] },
      })
      await s.untilObj('pods', 'p', running)
      await settled(s)
    },
  },
  'sch-wakes-by-namespace-labels': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('x', on(s), { labels: { app: 'x' } }))
      await s.untilObj('pods', 'x', running)
      const term = {
        topologyKey: 'kubernetes.io/hostname',
        labelSelector: { matchLabels: { app: 'x' } },
        namespaceSelector: { matchLabels: { team: s.ns } },
      }
      const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
      await s.create('pods', pod('p', on(s, { affinity })))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.patch('namespaces', s.ns, { metadata: { labels: { team: s.ns } } })
      await settled(s, 6000)
    },
  },
  'sch-wakes-by-pod-labels': {
    nodes: ['n1'],
    async act(s) {
      await s.create('pods', pod('x', on(s), { labels: { app: 'y' } }))
      await s.untilObj('pods', 'x', running)
      await s.create('pods', pod('p', on(s, { affinity: aff('kubernetes.io/hostname', { app: 'x' }) })))
      await s.create('pods', pod('q', on(s, { affinity: anti('kubernetes.io/hostname', { app: 'y' }) })))
      await waitUnsched(s, 'p')
      await waitUnsched(s, 'q')
      await settled(s)
      await s.patch('pods', 'x', { metadata: { labels: { app: 'x' } } })
      await s.untilObj('pods', 'p', running)
      await s.untilObj('pods', 'q', running)
      await settled(s)
    },
  },
  'sch-wakes-by-volume': {
    nodes: ['n1'],
    async act(s) {
      await s.create('persistentvolumeclaims', claim('k', { storageClassName: '' }))
      await s.create('pods', pvcPod('p', 'k', on(s)))
      await waitUnsched(s, 'p')
      await settled(s)
      await s.create('persistentvolumes', pv(s, 'v', { claimRef: { namespace: s.ns, name: 'k' } }))
      await s.untilObj('pods', 'p', running, 60_000)
      await settled(s)
    },
    restMs: 60_000,
    clean: rm(['persistentvolumes', 'v']),
  },
  'sch-gates-one-by-one': {
    nodes: ['n1'],
    async act(s) {
      const schedulingGates = [{ name: 'a' }, { name: 'b' }]
      await s.create('pods', pod('p', on(s, { schedulingGates, ...res('6') })))
      await settled(s)
      await s.patch('pods', 'p', { spec: { schedulingGates: [{ name: 'b' }] } })
      await settled(s)
      await s.patch('nodes', node(s), { metadata: { labels: { irrelevant: 'x' } } })
      await settled(s)
      await s.patch('pods', 'p', { spec: { schedulingGates: [] } })
      await waitUnsched(s, 'p')
      await settled(s)
    },
  },
  'sch-gated-selector-narrowed': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('pods', pod('p', on(s, { schedulingGates: [{ name: 'a' }] })))
      await settled(s)
      await s.patch('pods', 'p', { spec: { nodeSelector: { 'kubernetes.io/hostname': node(s, 'n2') } } })
      await s.patch('pods', 'p', { spec: { schedulingGates: null } })
      await s.untilObj('pods', 'p', running)
      s.note(`on ${(await s.get('pods', 'p')).spec.nodeName === node(s, 'n2')}`)
      await settled(s)
    },
  },
  'sch-preempt-two-budgets': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await pc(s, 'low', 10)
      await pc(s, 'hi', 1000)
      const low = { priorityClassName: `${s.ns}-low` }
      for (const [name, at, app] of [
        ['a', 'n1', 'one'],
        ['b', 'n1', 'two'],
        ['c', 'n2', 'one'],
        ['d', 'n2', 'free'],
      ] as const)
        await s.create('pods', pod(name, on(s, { ...res('2'), ...low, nodeName: node(s, at) }), { labels: { app } }))
      await s.untilPods(4, running)
      for (const app of ['one', 'two'])
        await s.create('poddisruptionbudgets', pdb(app, { maxUnavailable: 0, selector: { matchLabels: { app } } }))
      await s.untilObj('poddisruptionbudgets', 'one', (b) => b.status?.currentHealthy === 2)
      await s.untilObj('poddisruptionbudgets', 'two', (b) => b.status?.currentHealthy === 1)
      await s.create('pods', pod('hi', on(s, { ...res('4'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'low'], ['priorityclasses', 'hi']),
  },
  'sch-preempt-all-budgets-broken': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      await s.create('pods', pod('a', on(s, res('3')), { labels: { app: 'one' } }))
      await s.untilPods(1, running)
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: 1, selector: { matchLabels: { app: 'one' } } }))
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 1)
      await s.create('pods', pod('hi', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'sch-nominated-place-is-kept': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      const finalizers = ['example.com/kept']
      await s.create('pods', pod('low', on(s, res('3')), { finalizers }))
      await s.untilPods(1, running)
      await s.create('pods', pod('hi', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', ({ status }) => status?.nominatedNodeName)
      await settled(s)
      await s.create('pods', pod('small', on(s, res('2'))))
      await waitUnsched(s, 'small')
      await settled(s)
      await s.patch('pods', 'low', { metadata: { finalizers: [] } })
      await s.untilObj('pods', 'hi', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'sch-higher-takes-the-nominated-place': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      await pc(s, 'top', 2000)
      await s.create('pods', pod('low', on(s, res('3')), { finalizers: ['example.com/kept'] }))
      await s.untilPods(1, running)
      await s.create('pods', pod('hi', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', ({ status }) => status?.nominatedNodeName)
      await settled(s)
      await s.create('pods', pod('top', on(s, { ...res('3'), priorityClassName: `${s.ns}-top` })))
      await waitUnsched(s, 'top')
      await settled(s)
      await s.patch('pods', 'low', { metadata: { finalizers: [] } })
      await s.untilObj('pods', 'top', running)
      await settled(s, 3000)
    },
    clean: rm(['priorityclasses', 'hi'], ['priorityclasses', 'top']),
  },
  'sch-nominated-pod-deleted': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000)
      await s.create('pods', pod('low', on(s, res('3')), { finalizers: ['example.com/kept'] }))
      await s.untilPods(1, running)
      await s.create('pods', pod('hi', on(s, { ...res('2'), priorityClassName: `${s.ns}-hi` })))
      await s.untilObj('pods', 'hi', ({ status }) => status?.nominatedNodeName)
      await s.create('pods', pod('small', on(s, res('3'))))
      await waitUnsched(s, 'small')
      await s.del('pods', 'hi')
      await settled(s)
      await s.patch('pods', 'low', { metadata: { finalizers: [] } })
      await s.untilObj('pods', 'small', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'sch-priority-first-when-there-is-room': {
    nodes: ['n1'],
    async act(s) {
      await pc(s, 'hi', 1000, { preemptionPolicy: 'Never' })
      await s.create('pods', pod('x', on(s, res('4'))))
      await s.untilPods(1, running)
      await s.create('pods', pod('early', on(s, res('3'))))
      await waitUnsched(s, 'early')
      await s.create('pods', pod('later', on(s, { ...res('3'), priorityClassName: `${s.ns}-hi` })))
      await waitUnsched(s, 'later')
      await settled(s, 12_000)
      await s.del('pods', 'x')
      await s.untilObj('pods', 'later', running)
      await settled(s)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
} satisfies Readonly<Record<string, Story>>
