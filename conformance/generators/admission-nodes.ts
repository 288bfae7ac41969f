/** What a node may write: nodes, pods, leases, tokens. */
import type { Case } from '../recording.ts'
import { type Any, as, core, merge, node, pod, post } from './admission-parts.ts'

const owner = (name: string, uid: string, more: Any = {}) => ({ apiVersion: 'v1', kind: 'Node', name, uid, ...more })
const owned = (...ownerReferences: readonly Any[]) => ({ ownerReferences })
/** Of the node that the first step made. */
const uid = '{{0.metadata.uid}}'
const n = (name: string, meta: Any = {}, spec: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...meta },
  spec,
})
const mirror = (name: string, nodeName: string, meta: Any = {}, spec: Any = {}) =>
  pod(
    name,
    { nodeName, ...spec },
    {
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ...owned(owner(nodeName, uid, { controller: true })),
      ...meta,
    },
  )
const nodes = '/api/v1/nodes'
const me = node('$NS-n')
const lease = (name: string, namespace: string): Any => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace },
  spec: { holderIdentity: name },
})
const csiNode = (name: string) =>
  post(
    '/apis/storage.k8s.io/v1/csinodes',
    { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name }, spec: { drivers: [] } },
    me,
  )
const token = (boundObjectRef?: Any) =>
  post(
    `${core}/serviceaccounts/default/token`,
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['https://kubernetes.default.svc'], ...(boundObjectRef ? { boundObjectRef } : {}) },
    },
    me,
  )
const eviction = (name: string) =>
  post(`${core}/pods/${name}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }, me)
const writes = (made: Any) => post(`${core}/pods`, made, me)

export function nodeRestrictions(): readonly Case[] {
  return [
    {
      name: 'node restriction: nodes',
      steps: [
        post(nodes, n('$NS-n'), me),
        post(nodes, n('$NS-other'), me),
        post(nodes, n('$NS-n2', { labels: { 'node-restriction.kubernetes.io/a': 'b' } }), node('$NS-n2')),
        post(nodes, n('$NS-n2', { labels: { 'kubernetes.io/custom': 'b', 'x.k8s.io/y': 'z' } }), node('$NS-n2')),
        post(
          nodes,
          n('$NS-n2', { labels: { 'kubelet.kubernetes.io/a': 'b', 'node.kubernetes.io/c': 'd' } }),
          node('$NS-n2'),
        ),
        post(nodes, n('$NS-n3', {}, { taints: [{ key: 'k', effect: 'NoSchedule' }] }), node('$NS-n3')),
        post(nodes, n('$NS-n4', owned(owner('x', 'u'))), node('$NS-n4')),
        post(
          nodes,
          n('$NS-n5', {}, { configSource: { configMap: { namespace: 'a', name: 'b', kubeletConfigKey: 'k' } } }),
          node('$NS-n5'),
        ),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'node-restriction.kubernetes.io/x': 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'kubernetes.io/custom': 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { free: 'y' } } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { 'kubernetes.io/os': 'linux' } } }, me),
        merge(`${nodes}/$NS-n`, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }, me),
        merge(`${nodes}/$NS-n/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, me),
        merge(`${nodes}/$NS-n`, { metadata: { labels: { a: 'b' } } }, node('$NS-n2')),
        merge(`${nodes}/$NS-n/status`, { status: { phase: 'x' } }, node('$NS-n2')),
        merge(`${nodes}/$NS-n`, { metadata: owned(owner('x', 'u')) }, me),
        { m: 'DELETE', p: `${nodes}/$NS-n`, h: me },
        { m: 'DELETE', p: `${nodes}/$NS-n2`, h: me },
        post(nodes, n('$NS-x'), as('system:node:', 'system:nodes')),
        { m: 'DELETE', p: `${nodes}/$NS-n` },
        { m: 'DELETE', p: `${nodes}/$NS-n2` },
        { m: 'DELETE', p: `${nodes}/$NS-n3` },
        { m: 'DELETE', p: `${nodes}/$NS-n4` },
      ],
    },
    {
      name: 'node restriction: pods',
      steps: [
        post(nodes, n('$NS-n')),
        writes(pod('plain')),
        writes(pod('plain', { nodeName: '$NS-n' })),
        writes(mirror('m', '$NS-n')),
        writes(mirror('m2', '$NS-other')),
        writes(mirror('m3', '$NS-n', { ownerReferences: undefined })),
        writes(mirror('m4', '$NS-n', owned(owner('$NS-other', 'u', { controller: true })))),
        writes(mirror('m5', '$NS-n', owned(owner('$NS-n', 'wrong', { controller: true })))),
        writes(mirror('m6', '$NS-n', owned(owner('$NS-n', uid)))),
        writes(mirror('m7', '$NS-n', owned(owner('$NS-n', uid, { controller: true, blockOwnerDeletion: true })))),
        writes(
          mirror('m8', '$NS-n', {
            ownerReferences: [{ apiVersion: 'apps/v1', kind: 'X', name: '$NS-n', uid: 'u', controller: true }],
          }),
        ),
        writes(mirror('m9', '$NS-n', {}, { serviceAccountName: 'default' })),
        writes(mirror('m10', '$NS-n', {}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] })),
        writes(mirror('m11', '$NS-n', {}, { volumes: [{ name: 'v', configMap: { name: 's' } }] })),
        writes(mirror('m12', '$NS-n', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] })),
        writes(
          mirror(
            'm13',
            '$NS-n',
            {},
            {
              containers: [
                { name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
              ],
            },
          ),
        ),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other' })),
        merge(`${core}/pods/mine/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/theirs/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { status: { resourceClaimStatuses: [{ name: 'x' }] } }, me),
        merge(`${core}/pods/mine`, { metadata: { labels: { a: 'b' } } }, me),
        eviction('theirs'),
        eviction('mine'),
        eviction('gone'),
        { m: 'DELETE', p: `${core}/pods/theirs`, h: me },
        { m: 'DELETE', p: `${core}/pods/mine?gracePeriodSeconds=0`, h: me },
        { m: 'DELETE', p: `${core}/pods/gone`, h: me },
        { m: 'DELETE', p: `${core}/pods/theirs?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${nodes}/$NS-n` },
      ],
    },
    {
      name: 'node restriction: leases, tokens, claims',
      steps: [
        post(nodes, n('$NS-n')),
        post('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', lease('$NS-n', 'kube-node-lease'), me),
        post(
          '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
          lease('$NS-other', 'kube-node-lease'),
          me,
        ),
        post('/apis/coordination.k8s.io/v1/namespaces/$NS/leases', lease('$NS-n', '$NS'), me),
        { m: 'DELETE', p: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/$NS-n', h: me },
        csiNode('$NS-other'),
        csiNode('$NS-n'),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other', serviceAccountName: 'default' })),
        token(),
        token({ apiVersion: 'v1', kind: 'Secret', name: 's' }),
        token({ apiVersion: 'v1', kind: 'Pod', name: 'mine' }),
        token({ apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'wrong' }),
        token({ apiVersion: 'v1', kind: 'Pod', name: 'theirs', uid: '{{8.metadata.uid}}' }),
        { m: 'DELETE', p: `${core}/pods/theirs?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/mine?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/apis/storage.k8s.io/v1/csinodes/$NS-n' },
        { m: 'DELETE', p: `${nodes}/$NS-n` },
      ],
    },
  ]
}
