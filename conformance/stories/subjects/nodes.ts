/** Nodes: taints, conditions, silence. */

import { beat, cond, dep, done, on, ownNode, pod, rm, svc } from '../objects.ts'
import type { Condition, Story } from '../story.ts'

export const nodesStories = {
  'node-deleted-podgc': {
    nodes: ['n1', 'n2'],
    async act(s) {
      await s.create('pods', pod('a', { nodeName: `${s.ns}-n1` }, { finalizers: ['x.y/z'] }))
      await s.create('deployments', dep('d', { replicas: 2 }, on(s)))
      await s.untilObj('deployments', 'd', done)
      await s.del('nodes', `${s.ns}-n1`)
      await s.pause(45000)
    },
    quietMs: 45000,
    restMs: 100000,
  },
  'node-noexecute-seconds': {
    nodes: ['n1', 'n2'],
    async act(s) {
      const tol = (n?: number) => [
        { key: 'k', operator: 'Exists', effect: 'NoExecute', ...(n === undefined ? {} : { tolerationSeconds: n }) },
      ]
      await s.create('pods', pod('none', { nodeName: `${s.ns}-n1` }))
      await s.create('pods', pod('two', { nodeName: `${s.ns}-n1`, tolerations: tol(2) }))
      await s.create('pods', pod('ever', { nodeName: `${s.ns}-n1`, tolerations: tol() }))
      await s.create('pods', pod('long', { nodeName: `${s.ns}-n1`, tolerations: tol(30) }))
      await s.untilPods(4, (p) => p.status.phase === 'Running')
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } })
      await s.pause(4000)
      await s.patch('nodes', `${s.ns}-n1`, { spec: { taints: null } })
      await s.pause(1500)
    },
  },
  'node-oos-taint': {
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await beat(s, 'n1')
      await s.until('no taints', async () => (await s.get('nodes', `${s.ns}-n1`)).spec.taints === undefined)
      await s.create('deployments', dep('d', { replicas: 2 }, on(s)))
      for (const p of await s.untilPods(2, ({ spec }) => spec.nodeName !== undefined)) await s.running(p)
      await s.untilObj('deployments', 'd', done)
      await s.untilObj('nodes', `${s.ns}-n1`, cond('Ready', 'Unknown'), 90000)
      await s.pause(2000)
      await s.patch('nodes', `${s.ns}-n1`, {
        spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }] },
      })
      await s.pause(50000)
    },
    clean: rm(['nodes', 'n1']),
    exclusive: true,
  },
  'node-podcidr-labels': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', `${s.ns}-n1`, {
        metadata: {
          labels: { 'kubernetes.io/arch': 'arm64', 'beta.kubernetes.io/arch': 'x', 'kubernetes.io/os': 'linux2' },
        },
      })
      await s.pause(2000)
    },
  },
  'node-conditions-taints': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', `${s.ns}-n1`, { metadata: { annotations: { 'kwok.x-k8s.io/node': null } } })
      const { status } = await s.get('nodes', `${s.ns}-n1`)
      await s.status('nodes', `${s.ns}-n1`, {
        conditions: status.conditions.map((c: Condition) =>
          c.type === 'MemoryPressure' || c.type === 'PIDPressure' ? { ...c, status: 'True' } : c,
        ),
      })
      await s.pause(2500)
      await s.status('nodes', `${s.ns}-n1`, {
        conditions: status.conditions.map((c: Condition) =>
          c.type === 'Ready'
            ? { ...c, status: 'False' }
            : c.type === 'NetworkUnavailable'
              ? { ...c, status: 'True' }
              : c,
        ),
      })
      await s.pause(3000)
    },
  },
  'node-silent': {
    async act(s) {
      await s.create('nodes', ownNode(s, 'n1'))
      await beat(s, 'n1')
      await s.until('no taints', async () => (await s.get('nodes', `${s.ns}-n1`)).spec.taints === undefined)
      const a = await s.create('pods', pod('a', { nodeName: `${s.ns}-n1` }))
      await s.create('services', svc('a'))
      const b = await s.create('pods', pod('b', { nodeName: `${s.ns}-n1` }, { labels: { app: 'a' } }))
      await s.running(a, { ip: '10.9.0.1' })
      await s.running(b, { ip: '10.9.0.2' })
      await s.untilObj('nodes', `${s.ns}-n1`, (n) => n.spec.taints?.length >= 2, 90000)
      await s.pause(6000)
      await beat(s, 'n1')
      await s.running(b, { ip: '10.9.0.2' })
      await s.untilObj('nodes', `${s.ns}-n1`, (n) => n.spec.taints === undefined, 30000)
      await s.pause(6000)
    },
    clean: rm(['nodes', 'n1']),
    exclusive: true,
  },
  'node-unready-and-back': {
    nodes: ['n1'],
    async act(s) {
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: true } })
      await s.pause(1000)
      await s.patch('nodes', `${s.ns}-n1`, { spec: { unschedulable: null } })
      await s.pause(1500)
    },
  },
  'node-pod-of-none': {
    async act(s) {
      await s.create('pods', pod('p', { nodeName: 'none-such', tolerations: [{ operator: 'Exists' }] }))
      await s.pause(45000)
    },
    exclusive: true,
    restMs: 60000,
    quietMs: 25000,
  },
} satisfies Readonly<Record<string, Story>>
