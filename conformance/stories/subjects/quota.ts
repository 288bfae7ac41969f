/** Quotas and limit ranges. */

import { claim, dep, done, pc, pod, quota, res, rm, sts, svc } from '../objects.ts'
import type { Story } from '../story.ts'

export const quotaStories = {
  'quota-scopes': {
    async act(s) {
      await s.create('resourcequotas', quota('best', { pods: '2' }, { scopes: ['BestEffort'] }))
      await s.create('resourcequotas', quota('not', { pods: '3', 'requests.cpu': '2' }, { scopes: ['NotBestEffort'] }))
      await s.create('resourcequotas', quota('term', { pods: '5' }, { scopes: ['Terminating'] }))
      await s.create('resourcequotas', quota('notterm', { pods: '5' }, { scopes: ['NotTerminating'] }))
      await s.pause(2000)
      await s.create('pods', pod('a'))
      await s.create('pods', pod('b', res('1')))
      await s.create('pods', pod('c', { activeDeadlineSeconds: 1000 }))
      await s.pause(2500)
      await s.del('pods', 'a')
      await s.pause(6000)
    },
  },
  'quota-priority': {
    exclusive: true,
    async act(s) {
      await pc(s, 'hi', 1000)
      await s.create(
        'resourcequotas',
        quota(
          'q',
          { pods: '1', 'requests.cpu': '1' },
          {
            scopeSelector: {
              matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: [`${s.ns}-hi`] }],
            },
          },
        ),
      )
      await s.create(
        'resourcequotas',
        quota(
          'x',
          { pods: '5' },
          { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] } },
        ),
      )
      await s.create(
        'resourcequotas',
        quota(
          'aff',
          { pods: '5' },
          { scopeSelector: { matchExpressions: [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }] } },
        ),
      )
      await s.pause(1500)
      await s.create('pods', pod('a', { ...res('1'), priorityClassName: `${s.ns}-hi` }))
      await s.create('pods', pod('b', { ...res('1'), priorityClassName: `${s.ns}-hi` })).catch((e) => s.note(e.message))
      await s.create('pods', pod('c'))
      await s.pause(3000)
    },
    clean: rm(['priorityclasses', 'hi']),
  },
  'quota-many-kinds': {
    async act(s) {
      await s.create(
        'resourcequotas',
        quota('q', {
          'count/deployments.apps': '3',
          'count/replicasets.apps': '9',
          services: '5',
          'services.nodeports': '2',
          'services.loadbalancers': '1',
          configmaps: '9',
          secrets: '9',
          persistentvolumeclaims: '3',
          'requests.storage': '10Gi',
          replicationcontrollers: '2',
          resourcequotas: '3',
          'count/ingresses.networking.k8s.io': '2',
          'requests.x.y/z': '3',
          'limits.memory': '3Gi',
          'gold.storageclass.storage.k8s.io/requests.storage': '3Gi',
        }),
      )
      await s.pause(2500)
      await s.create(
        'deployments',
        dep(
          'a',
          {},
          {
            containers: [{ name: 'c', image: 'i', resources: { limits: { memory: '1Gi', 'x.y/z': '1' } } }],
            nodeName: 'idle',
          },
        ),
      )
      await s.create('services', svc('a', { type: 'LoadBalancer' }))
      await s.create('persistentvolumeclaims', claim('c', { storageClassName: 'gold' }))
      await s.create('ingresses', {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'i' },
        spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
      })
      await s.pause(8000)
      await s.del('services', 'a')
      await s.del('persistentvolumeclaims', 'c')
      await s.pause(8000)
    },
  },
  'quota-finished-pods': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '2', 'count/pods': '5', 'requests.cpu': '1' }))
      await s.pause(1500)
      await s.create('pods', pod('a', { ...res('500m'), nodeName: 'idle' }))
      await s.pause(1000)
      await s.ended({ metadata: { name: 'a' } }, 0)
      await s.pause(6000)
    },
  },
  'quota-changed': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { pods: '2', configmaps: '5' }))
      await s.pause(1500)
      await s.patch('resourcequotas', 'q', { spec: { hard: { pods: null, secrets: '5' } } })
      await s.pause(2500)
    },
  },
  'limitrange-defaults': {
    async act(s) {
      await s.create('limitranges', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'l' },
        spec: {
          limits: [
            {
              type: 'Container',
              default: { cpu: '1', memory: '1Gi' },
              defaultRequest: { cpu: '100m' },
              maxLimitRequestRatio: { memory: '1' },
            },
            { type: 'Pod', max: { cpu: '2' } },
            { type: 'PersistentVolumeClaim', max: { storage: '2Gi' } },
          ],
        },
      })
      await s.pause(1000)
      await s.create('deployments', dep('a', { replicas: 1 }, { initContainers: [{ name: 'i', image: 'i' }] }))
      await s.untilObj('deployments', 'a', done)
      await s.create(
        'statefulsets',
        sts('b', {
          replicas: 1,
          volumeClaimTemplates: [claim('d', { storageClassName: 'x', resources: { requests: { storage: '3Gi' } } })],
        }),
      )
      await s.pause(3000)
    },
  },
  'quota-terminating-scope': {
    async act(s) {
      await s.create('resourcequotas', quota('t', { pods: '1' }, { scopes: ['Terminating'] }))
      await s.create('resourcequotas', quota('n', { pods: '1' }, { scopes: ['NotTerminating'] }))
      await s.untilObj('resourcequotas', 't', (q) => q.status?.hard)
      await s.untilObj('resourcequotas', 'n', (q) => q.status?.hard)
      await s.create('pods', pod('a', { nodeName: 'idle', activeDeadlineSeconds: 600 }))
      await s.create('pods', pod('b', { nodeName: 'idle' }))
      await s.create('pods', pod('c', { nodeName: 'idle' })).catch((e) => s.note(e.message))
      await s.pause(1500)
      await s.del('pods', 'a', { gracePeriodSeconds: 0 })
      await s.pause(3000)
    },
  },
  'quota-deleted-objects': {
    async act(s) {
      await s.create('resourcequotas', quota('q', { configmaps: '3', 'count/deployments.apps': '1', services: '1' }))
      await s.untilObj('resourcequotas', 'q', (q) => q.status?.hard)
      await s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      await s.create('services', svc('a'))
      await s.create('services', svc('b')).catch((e) => s.note(e.message))
      await s.del('services', 'a')
      await s.pause(8000)
      await s.create('services', svc('b')).catch((e) => s.note(e.message))
      await s.pause(3000)
    },
  },
} satisfies Readonly<Record<string, Story>>
