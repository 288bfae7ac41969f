import { dep, done, evict, pdb, pod, ready, rs, sts } from '../objects.ts'
import type { Story } from '../story.ts'

export const disruptionStories = {
  'pdb-percent': {
    async act(s) {
      await s.create('deployments', dep('a', { replicas: 5 }))
      await s.untilObj('deployments', 'a', done)
      await s.create(
        'poddisruptionbudgets',
        pdb('b', { maxUnavailable: '30%', selector: { matchLabels: { app: 'a' } } }),
      )
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 5)
      const ps = await s.list('pods')
      for (const p of ps.slice(0, 3)) await evict(s, p.metadata.name)
      await s.pause(3000)
    },
  },
  'pdb-min-percent-no-controller': {
    async act(s) {
      await s.create('pods', pod('x', {}, { labels: { app: 'a' } }))
      await s.create('poddisruptionbudgets', pdb('b', { minAvailable: '50%', selector: { matchLabels: { app: 'a' } } }))
      await s.pause(2500)
      await s.create('poddisruptionbudgets', pdb('c', { minAvailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.pause(1500)
      await evict(s, 'x')
      await s.pause(1000)
    },
  },
  'pdb-unhealthy': {
    async act(s) {
      await s.create('pods', pod('x', { nodeName: 'idle' }, { labels: { app: 'a' } }))
      const [_p] = await s.untilPods(1)
      await s.create(
        'poddisruptionbudgets',
        pdb('b', {
          minAvailable: 1,
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
          selector: { matchLabels: { app: 'a' } },
        }),
      )
      await s.pause(1500)
      await s.status('pods', 'x', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] })
      await s.pause(1000)
      await evict(s, 'x')
      await s.pause(1500)
    },
  },
  'pdb-disrupted-pods': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, { nodeName: 'idle' }))
      const ps = await s.untilPods(2)
      for (const p of ps) await s.running(p)
      await s.create('poddisruptionbudgets', pdb('b', { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.disruptionsAllowed === 1)
      await evict(s, ps[0].metadata.name)
      await s.pause(2500)
    },
  },
  'pdb-selector-empty': {
    async act(s) {
      await s.create('pods', pod('x'))
      await s.create('poddisruptionbudgets', pdb('b', { maxUnavailable: 0, selector: {} }))
      await s.pause(2000)
      await s.create('poddisruptionbudgets', pdb('c', { maxUnavailable: 1 }))
      await s.pause(1500)
    },
  },
  'pdb-scaled-owner': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 2 }))
      await s.create(
        'poddisruptionbudgets',
        pdb('b', { maxUnavailable: '50%', selector: { matchLabels: { app: 'a' } } }),
      )
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1000)
      await s.patch('statefulsets', 'a', { spec: { replicas: 4 } })
      await s.untilObj('statefulsets', 'a', ready)
      await s.pause(1000)
      await s.patch('poddisruptionbudgets', 'b', { spec: { maxUnavailable: '25%' } })
      await s.pause(1000)
    },
  },
  'pdb-unhealthy-always': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2 }, { nodeName: 'idle' }))
      const ps = await s.untilPods(2)
      await s.running(ps[0])
      await s.create(
        'poddisruptionbudgets',
        pdb('b', {
          minAvailable: 2,
          unhealthyPodEvictionPolicy: 'AlwaysAllow',
          selector: { matchLabels: { app: 'a' } },
        }),
      )
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 1)
      await s.status('pods', ps[1].metadata.name, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      await s.pause(1000)
      await evict(s, ps[1].metadata.name)
      await evict(s, ps[0].metadata.name)
      await s.pause(2000)
    },
  },
  'pdb-unhealthy-if-healthy-budget': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 3 }, { nodeName: 'idle' }))
      const ps = await s.untilPods(3)
      await s.running(ps[0])
      await s.running(ps[1])
      await s.create(
        'poddisruptionbudgets',
        pdb('b', {
          minAvailable: 2,
          unhealthyPodEvictionPolicy: 'IfHealthyBudget',
          selector: { matchLabels: { app: 'a' } },
        }),
      )
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 2)
      await s.status('pods', ps[2].metadata.name, {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: s.now() }],
      })
      await s.pause(1000)
      await evict(s, ps[2].metadata.name)
      await s.pause(1000)
      await evict(s, ps[0].metadata.name)
      await s.pause(2000)
    },
  },
  'pdb-generation': {
    async act(s) {
      await s.create('statefulsets', sts('a', { replicas: 3 }))
      await s.untilObj('statefulsets', 'a', ready)
      await s.create('poddisruptionbudgets', pdb('b', { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } }))
      await s.untilObj('poddisruptionbudgets', 'b', (b) => b.status?.currentHealthy === 3)
      await s.patch('poddisruptionbudgets', 'b', { spec: { maxUnavailable: 0 } })
      await s.pause(1500)
      await evict(s, 'a-0')
      await s.patch('poddisruptionbudgets', 'b', { spec: { selector: { matchLabels: { app: 'none' } } } })
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
