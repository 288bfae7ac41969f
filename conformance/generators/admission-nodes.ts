/** What a node may write, and what admission does to claims, services and signing requests. */
import type { Case } from '../recording.ts'
import { type Any, as, claim, core, get, merge, node, pod, post, put } from './admission-parts.ts'

export function nodeRestrictions(): readonly Case[] {
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
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: '{{0.metadata.uid}}', controller: true },
        ],
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
        post(
          nodes,
          n('$NS-n4', { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'u' }] }),
          node('$NS-n4'),
        ),
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
        merge(
          `${nodes}/$NS-n`,
          { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'u' }] } },
          me,
        ),
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
        post(`${core}/pods`, pod('plain'), me),
        post(`${core}/pods`, pod('plain', { nodeName: '$NS-n' }), me),
        post(`${core}/pods`, mirror('m', '$NS-n'), me),
        post(`${core}/pods`, mirror('m2', '$NS-other'), me),
        post(`${core}/pods`, mirror('m3', '$NS-n', { ownerReferences: undefined }), me),
        post(
          `${core}/pods`,
          mirror('m4', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-other', uid: 'u', controller: true }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m5', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-n', uid: 'wrong', controller: true }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m6', '$NS-n', {
            ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '$NS-n', uid: '{{0.metadata.uid}}' }],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m7', '$NS-n', {
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'Node',
                name: '$NS-n',
                uid: '{{0.metadata.uid}}',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          }),
          me,
        ),
        post(
          `${core}/pods`,
          mirror('m8', '$NS-n', {
            ownerReferences: [{ apiVersion: 'apps/v1', kind: 'X', name: '$NS-n', uid: 'u', controller: true }],
          }),
          me,
        ),
        post(`${core}/pods`, mirror('m9', '$NS-n', {}, { serviceAccountName: 'default' }), me),
        post(`${core}/pods`, mirror('m10', '$NS-n', {}, { volumes: [{ name: 'v', secret: { secretName: 's' } }] }), me),
        post(`${core}/pods`, mirror('m11', '$NS-n', {}, { volumes: [{ name: 'v', configMap: { name: 's' } }] }), me),
        post(
          `${core}/pods`,
          mirror('m12', '$NS-n', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }),
          me,
        ),
        post(
          `${core}/pods`,
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
          me,
        ),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other' })),
        merge(`${core}/pods/mine/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/theirs/status`, { status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { metadata: { labels: { a: 'b' } }, status: { phase: 'Running' } }, me),
        merge(`${core}/pods/mine/status`, { status: { resourceClaimStatuses: [{ name: 'x' }] } }, me),
        merge(`${core}/pods/mine`, { metadata: { labels: { a: 'b' } } }, me),
        post(
          `${core}/pods/theirs/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'theirs' } },
          me,
        ),
        post(
          `${core}/pods/mine/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'mine' } },
          me,
        ),
        post(
          `${core}/pods/gone/eviction`,
          { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'gone' } },
          me,
        ),
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
        post(
          '/apis/storage.k8s.io/v1/csinodes',
          { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$NS-other' }, spec: { drivers: [] } },
          me,
        ),
        post(
          '/apis/storage.k8s.io/v1/csinodes',
          { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$NS-n' }, spec: { drivers: [] } },
          me,
        ),
        post(`${core}/pods`, pod('mine', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('theirs', { nodeName: '$NS-other', serviceAccountName: 'default' })),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: { audiences: ['https://kubernetes.default.svc'] },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'wrong' },
            },
          },
          me,
        ),
        post(
          `${core}/serviceaccounts/default/token`,
          {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenRequest',
            spec: {
              audiences: ['https://kubernetes.default.svc'],
              boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'theirs', uid: '{{8.metadata.uid}}' },
            },
          },
          me,
        ),
        { m: 'DELETE', p: `${core}/pods/theirs?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/mine?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/apis/storage.k8s.io/v1/csinodes/$NS-n' },
        { m: 'DELETE', p: `${nodes}/$NS-n` },
      ],
    },
  ]
}

export function claims(): readonly Case[] {
  const storageClass = (name: string, allowVolumeExpansion: boolean | undefined): Any => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'example.com/x',
    allowVolumeExpansion,
  })
  const classes = '/apis/storage.k8s.io/v1/storageclasses'
  const claimsPath = `${core}/persistentvolumeclaims`
  const bound = (name: string, storage: string, more: Any) => ({
    ...claim(name, storage, more),
    status: { phase: 'Bound', capacity: { storage } },
  })
  const grow = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
  return [
    {
      name: 'claims that grow',
      steps: [
        post(classes, storageClass('$NS-fixed', undefined)),
        post(classes, storageClass('$NS-grows', true)),
        post(claimsPath, claim('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        post(claimsPath, claim('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        post(claimsPath, claim('c', '1Gi', { storageClassName: '' })),
        post(claimsPath, claim('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        put(`${claimsPath}/a/status`, bound('a', '1Gi', { storageClassName: '$NS-fixed', volumeName: 'v' })),
        put(`${claimsPath}/b/status`, bound('b', '1Gi', { storageClassName: '$NS-grows', volumeName: 'v' })),
        put(`${claimsPath}/c/status`, bound('c', '1Gi', { storageClassName: '' })),
        put(`${claimsPath}/d/status`, bound('d', '1Gi', { storageClassName: '$NS-gone', volumeName: 'v' })),
        merge(`${claimsPath}/a`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('2Gi')),
        merge(`${claimsPath}/c`, grow('2Gi')),
        merge(`${claimsPath}/d`, grow('2Gi')),
        merge(`${claimsPath}/b`, grow('1500Mi')),
        merge(`${claimsPath}/b`, grow('1Gi')),
        merge(`${claimsPath}/b`, grow('512Mi')),
        { m: 'DELETE', p: `${classes}/$NS-fixed` },
        { m: 'DELETE', p: `${classes}/$NS-grows` },
      ],
    },
    {
      name: 'pod topology labels',
      steps: [
        post('/api/v1/nodes', {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: {
            name: '$NS-n',
            labels: {
              'topology.kubernetes.io/zone': 'z',
              'topology.kubernetes.io/region': 'r',
              'topology.k8s.io/rack': 'k',
              other: 'o',
            },
          },
        }),
        post(`${core}/pods`, pod('a')),
        post(`${core}/pods/a/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/a`),
        post(`${core}/pods`, pod('b', { nodeName: '$NS-n' })),
        post(`${core}/pods`, pod('c', {}, { labels: { 'topology.kubernetes.io/zone': 'mine' } })),
        post(`${core}/pods/c/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'c' },
          target: { kind: 'Node', name: '$NS-n' },
        }),
        get(`${core}/pods/c`),
        { m: 'DELETE', p: `${core}/pods/a?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/b?gracePeriodSeconds=0` },
        { m: 'DELETE', p: `${core}/pods/c?gracePeriodSeconds=0` },
        { m: 'DELETE', p: '/api/v1/nodes/$NS-n' },
      ],
    },
  ]
}
