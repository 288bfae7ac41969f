/** What goes: by the garbage collector, with its namespace, or since it never ran. */

import type { Fields } from '../../../src/api/object.ts'
import { cond, crd, dep, pod, rm, svc, waitUnsched } from '../objects.ts'
import type { Seen, Story } from '../story.ts'

export const collectionStories = {
  'ns-finalizers': {
    async act(s) {
      const n = `${s.ns}-x`
      await s.create('namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: n, finalizers: ['a.b/c'] },
      })
      await s.pause(800)
      await s
        .api('configmaps', n)
        .create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers: ['x.y/z'] } })
      await s.api('pods', n).create(pod('p', { nodeName: 'idle' }))
      await s.del('namespaces', n)
      await s.pause(3000)
      await s.api('configmaps', n).patch('held', 'merge', { metadata: { finalizers: null } })
      await s.pause(2000)
      await s.api('pods', n).delete('p', { gracePeriodSeconds: 0 })
      await s.pause(8000)
      await s.patch('namespaces', n, { metadata: { finalizers: null } })
      await s.pause(2000)
    },
    clean: rm(['namespaces', 'x']),
  },
  'ns-spec-finalizer': {
    async act(s) {
      const n = `${s.ns}-x`
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: n } })
      const o = await s.get('namespaces', n)
      await s
        .api('namespaces')
        .update({ ...o, spec: { finalizers: ['kubernetes', 'my.own/one'] } }, { subresource: 'finalize' })
        .catch((e) => s.note(e.message))
      await s.del('namespaces', n)
      await s.pause(4000)
      const q = await s.get('namespaces', n)
      await s.api('namespaces').update({ ...q, spec: { finalizers: [] } }, { subresource: 'finalize' })
      await s.pause(1500)
    },
  },
  'ns-deployment-pods': {
    async act(s) {
      const n = `${s.ns}-x`
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: n } })
      await s.pause(800)
      await s.api('deployments', n).create(dep('a', { replicas: 2 }))
      await s.api('services', n).create(svc('a'))
      await s.pause(3000)
      await s.del('namespaces', n)
      await s.gone('namespaces', n)
      await s.pause(1000)
    },
  },
  'gc-owner-chain': {
    async act(s) {
      const cm = (n: string, owners: readonly Fields[] = [], extra: Fields = {}) =>
        s.create('configmaps', {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: n, ownerReferences: owners, ...extra },
        })
      const a = await cm('a')
      const ref = (o: Seen, x: Fields = {}) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: o.metadata.name,
        uid: o.metadata.uid,
        ...x,
      })
      const b = await cm('b', [ref(a, { blockOwnerDeletion: true })])
      await cm('c', [ref(b, { blockOwnerDeletion: true }), ref(a)], { finalizers: ['x.y/z'] })
      await cm('gone', [{ ...ref(a), uid: '11111111-2222-3333-4444-555555555555' }])
      await s.pause(2500)
      await s.del('configmaps', 'a', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await s.patch('configmaps', 'c', { metadata: { finalizers: null } })
      await s.pause(2000)
    },
  },
  'gc-crd-owner': {
    async act(s) {
      await s.create('customresourcedefinitions', crd(s))
      await s.untilObj('customresourcedefinitions', `ws.${s.ns}.example.com`, cond('Established'))
      const c = s.api('configmaps')
      await s.pause(3000)
      const w = await s.raw('POST', `/apis/${s.ns}.example.com/v1/namespaces/${s.ns}/ws`, {
        apiVersion: `${s.ns}.example.com/v1`,
        kind: 'W',
        metadata: { name: 'w' },
      })
      const o = JSON.parse(w.body)
      await c.create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'x',
          ownerReferences: [{ apiVersion: `${s.ns}.example.com/v1`, kind: 'W', name: 'w', uid: o.metadata.uid }],
        },
      })
      await s.pause(1500)
      await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`)
      await s.pause(40000)
    },
    restMs: 60000,
    clean: async (s) => {
      await s.del('customresourcedefinitions', `ws.${s.ns}.example.com`).catch(() => {})
    },
  },
  'pod-terminated-never-scheduled': {
    async act(s) {
      await s.create(
        'pods',
        pod('a', { nodeSelector: { none: 'such' }, terminationGracePeriodSeconds: 30 }, { finalizers: ['x.y/z'] }),
      )
      await waitUnsched(s, 'a')
      await s.del('pods', 'a')
      await s.pause(2000)
      await s.patch('pods', 'a', { metadata: { finalizers: null } })
    },
  },
  'lease-and-events': {
    async act(s) {
      await s.create('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', name: 'x', namespace: s.ns },
        reason: 'R',
        type: 'Normal',
      })
      await s.pause(500)
    },
  },
  'gc-cluster-owner': {
    async act(s) {
      const owner = await s.create('clusterroles', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: `${s.ns}-r` },
        rules: [],
      })
      await s.create('configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'a',
          ownerReferences: [
            {
              apiVersion: 'rbac.authorization.k8s.io/v1',
              kind: 'ClusterRole',
              name: owner.metadata.name,
              uid: owner.metadata.uid,
            },
          ],
        },
      })
      await s.pause(1500)
      await s.del('clusterroles', owner.metadata.name)
      await s.gone('configmaps', 'a')
      await s.pause(1000)
    },
  },
  'gc-namespaced-owner-of-cluster': {
    async act(s) {
      const owner = await s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
      await s.create('clusterroles', {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: {
          name: `${s.ns}-r`,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: owner.metadata.uid }],
        },
        rules: [],
      })
      await s.pause(2500)
      await s.del('configmaps', 'a')
      await s.pause(2500)
    },
    clean: rm(['clusterroles', 'r']),
  },
  'gc-owner-elsewhere': {
    async act(s) {
      const account = await s.get('serviceaccounts', 'default')
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${s.ns}-x` } })
      await s.pause(800)
      await s.api('configmaps', `${s.ns}-x`).create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'a',
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', uid: account.metadata.uid ?? '' },
          ],
        },
      })
      await s.pause(4000)
    },
    clean: rm(['namespaces', 'x']),
  },
  'gc-absent-owner': {
    async act(s) {
      const ref = (name: string, more: Fields = {}) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid: '11111111-2222-3333-4444-555555555555',
        ...more,
      })
      await s.create('configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', ownerReferences: [ref('none')] },
      })
      const real = await s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'real' } })
      await s.create('configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'b', ownerReferences: [ref('none'), { ...ref('real'), uid: real.metadata.uid }] },
      })
      await s.create('configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c', ownerReferences: [{ ...ref('none'), kind: 'NoKind', apiVersion: 'no.group/v1' }] },
      })
      await s.pause(3000)
    },
  },
  'gc-block-some': {
    async act(s) {
      const cm = (name: string, metadata: Fields = {}) =>
        s.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } })
      const owner = await cm('owner')
      const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }
      await cm('blocks', { ownerReferences: [{ ...ref, blockOwnerDeletion: true }], finalizers: ['x.y/z'] })
      await cm('not', { ownerReferences: [ref], finalizers: ['x.y/z'] })
      await s.pause(1500)
      await s.del('configmaps', 'owner', { propagationPolicy: 'Foreground' })
      await s.pause(2500)
      await s.patch('configmaps', 'blocks', { metadata: { finalizers: null } })
      await s.gone('configmaps', 'owner')
      await s.patch('configmaps', 'not', { metadata: { finalizers: null } })
      await s.pause(1500)
    },
  },
  'ns-pods-first': {
    async act(s) {
      const n = `${s.ns}-x`
      await s.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: n } })
      await s.pause(800)
      await s.api('configmaps', n).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } })
      await s.api('pods', n).create(pod('p', { nodeName: 'idle' }, { finalizers: ['x.y/z'] }))
      await s.pause(500)
      await s.del('namespaces', n)
      await s.pause(3000)
      await s.api('pods', n).delete('p', { gracePeriodSeconds: 0 })
      await s.api('pods', n).patch('p', 'merge', { metadata: { finalizers: null } })
      await s.gone('namespaces', n, 60000)
      await s.pause(1000)
    },
  },
  'root-ca-restored': {
    async act(s) {
      await s.patch('configmaps', 'kube-root-ca.crt', { data: { 'ca.crt': 'x', more: 'y' } })
      await s.pause(1500)
      await s.del('configmaps', 'kube-root-ca.crt')
      await s.pause(1500)
    },
  },
} satisfies Readonly<Record<string, Story>>
