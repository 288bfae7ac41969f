/** Accounts, certificates, roles. */

import type { Fields } from '../../../src/api/object.ts'
import { approve, csr, csrObj, rm } from '../objects.ts'
import type { Story } from '../story.ts'

export const identityStories = {
  'sa-token-secret': {
    async act(s) {
      await s.create('serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'x' } })
      await s.create('secrets', {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 't', annotations: { 'kubernetes.io/service-account.name': 'x' } },
        type: 'kubernetes.io/service-account-token',
      })
      await s.pause(1500)
      await s.patch('secrets', 't', { data: { token: null, 'ca.crt': null } })
      await s.pause(1500)
      await s
        .create('secrets', {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'none', annotations: { 'kubernetes.io/service-account.name': 'missing' } },
          type: 'kubernetes.io/service-account-token',
        })
        .catch((e) => s.note(e.message))
      await s.pause(1500)
      await s.del('serviceaccounts', 'x')
      await s.pause(2500)
    },
  },
  'sa-default-deleted': {
    async act(s) {
      await s.del('serviceaccounts', 'default')
      await s.pause(1500)
      await s.del('configmaps', 'kube-root-ca.crt')
      await s.pause(1500)
      await s.patch('configmaps', 'kube-root-ca.crt', { data: { 'ca.crt': 'x', more: 'y' } })
      await s.pause(1500)
    },
  },
  'csr-signers': {
    exclusive: true,
    async act(s) {
      await csrObj(s, 'client', {
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth', 'digital signature'],
        request: csr('jane', ['dev']),
        expirationSeconds: 3600,
      })
      await csrObj(s, 'kubelet', {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['client auth', 'digital signature'],
        request: csr('system:node:n', ['system:nodes']),
      })
      await csrObj(s, 'serving', {
        signerName: 'kubernetes.io/kubelet-serving',
        usages: ['server auth', 'digital signature'],
        request: csr('system:node:n', ['system:nodes'], 'DNS:n'),
      })
      await csrObj(s, 'legacy', {
        signerName: 'kubernetes.io/legacy-unknown',
        usages: ['server auth', 'digital signature', 'key encipherment'],
        request: csr('web', [], 'DNS:web'),
      }).catch((e) => s.note(e.message))
      await csrObj(s, 'own', { signerName: 'x.y/z', usages: ['client auth'], request: csr('jane', []) })
      await csrObj(s, 'bad', {
        signerName: 'kubernetes.io/kubelet-serving',
        usages: ['client auth'],
        request: csr('nobody', []),
      })
      await csrObj(s, 'masters', {
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
        request: csr('jane', ['system:masters']),
      }).catch((e) => s.note(e.message))
      await s.pause(1500)
      for (const n of ['client', 'kubelet', 'serving', 'own', 'bad']) await approve(s, n)
      await csrObj(s, 'denied', {
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
        request: csr('jane', []),
      })
      await approve(s, 'denied', 'Denied')
      await s.pause(3000)
    },
    clean: rm(
      ...['client', 'kubelet', 'serving', 'legacy', 'own', 'bad', 'denied', 'masters'].map((n): [string, string] => [
        'certificatesigningrequests',
        n,
      ]),
    ),
  },
  'clusterrole-aggregated': {
    async act(s) {
      const agg = (n: string, spec: Fields) =>
        s.create('clusterroles', {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: `${s.ns}-${n}`, labels: spec['labels'] },
          rules: spec['rules'],
          aggregationRule: spec['aggregationRule'],
        })
      await agg('all', {
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { in: s.ns } }, { matchLabels: { also: s.ns } }] },
      })
      await agg('b', {
        labels: { in: s.ns },
        rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] }],
      })
      await agg('a', {
        labels: { also: s.ns, in: s.ns },
        rules: [
          { apiGroups: ['apps'], resources: ['*'], verbs: ['*'] },
          { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list'] },
        ],
      })
      await s.pause(2000)
      await s.patch('clusterroles', `${s.ns}-b`, { metadata: { labels: null } })
      await s.pause(1500)
      await s.patch('clusterroles', `${s.ns}-all`, { rules: [] })
      await s.pause(1500)
      await s.del('clusterroles', `${s.ns}-a`)
      await s.pause(1500)
    },
    clean: rm(['clusterroles', 'all'], ['clusterroles', 'a'], ['clusterroles', 'b']),
  },
} satisfies Readonly<Record<string, Story>>
