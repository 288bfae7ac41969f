/** ReplicaSets and ReplicationControllers. */

import { pod, quota, ready, rs, tmpl } from '../objects.ts'
import type { Story } from '../story.ts'

export const replicasetsStories = {
  'rs-many-scale-down': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 12 }))
      await s.untilObj('replicasets', 'a', ready)
      await s.patch('replicasets', 'a', { spec: { replicas: 1 } })
      await s.untilObj('replicasets', 'a', (r) => r.status.replicas === 1)
    },
  },
  'rs-min-ready': {
    async act(s) {
      await s.create('replicasets', rs('a', { replicas: 2, minReadySeconds: 2 }))
      await s.untilObj('replicasets', 'a', (r) => r.status.availableReplicas === 2)
    },
  },
  'rs-adopts-too-many': {
    async act(s) {
      for (const n of ['x', 'y', 'z']) await s.create('pods', pod(n, {}, { labels: { app: 'a' } }))
      await s.untilPods(3, (p) => p.status.phase === 'Running')
      await s.create('replicasets', rs('a', { replicas: 1 }))
      await s.untilObj('replicasets', 'a', (r) => r.status.replicas === 1)
    },
  },
  'rs-orphaned-finished': {
    async act(s) {
      await s.create('pods', pod('x', { nodeName: 'idle' }, { labels: { app: 'a' } }))
      await s.ended({ metadata: { name: 'x' } }, 0)
      await s.create('replicasets', rs('a', { replicas: 1 }))
      await s.untilObj('replicasets', 'a', ready)
    },
  },
  'rc-quota': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '1' }))
      await s.untilObj('resourcequotas', 'q', (q) => q.status?.hard)
      await s.create('replicationcontrollers', {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'a' },
        spec: { replicas: 3, template: tmpl({ app: 'a' }) },
      })
      await s.pause(3000)
      await s.patch('replicationcontrollers', 'a', { spec: { replicas: 1 } })
      await s.pause(1500)
    },
  },
  'rc-adopts-releases': {
    async act(s) {
      await s.create('pods', pod('x', {}, { labels: { app: 'a' } }))
      await s.untilPods(1, ({ status }) => status.phase === 'Running')
      await s.create('replicationcontrollers', {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'a' },
        spec: { replicas: 2, template: tmpl({ app: 'a' }) },
      })
      await s.untilObj('replicationcontrollers', 'a', (r) => r.status.readyReplicas === 2)
      await s.patch('pods', 'x', { metadata: { labels: { app: 'free' } } })
      await s.pause(2500)
    },
  },
  'rc-foreground': {
    async act(s) {
      await s.create('replicationcontrollers', {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'a' },
        spec: { replicas: 2, minReadySeconds: 1, template: tmpl({ app: 'a' }) },
      })
      await s.untilObj('replicationcontrollers', 'a', (r) => r.status.availableReplicas === 2)
      await s.del('replicationcontrollers', 'a', { propagationPolicy: 'Foreground' })
      await s.gone('replicationcontrollers', 'a')
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
