/** Bodies of kinds that configure a cluster, and of reviews. */
import { type Kind, namespaced, template } from './hostile-parts.ts'

export const clusterKinds: readonly Kind[] = [
  [
    namespaced('/apis/rbac.authorization.k8s.io/v1', 'rolebindings'),
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    [
      {},
      { roleRef: { apiGroup: 'x', kind: 'x', name: '' } },
      { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: '..' } },
      {
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [
          {},
          { kind: 'x', name: 'y' },
          { kind: 'User', name: '' },
          { kind: 'ServiceAccount', name: 'A' },
          { kind: 'ServiceAccount', name: 's', apiGroup: 'x' },
          { kind: 'Group', name: 'g', apiGroup: 'x' },
        ],
      },
    ],
  ],
  [
    namespaced('/api/v1', 'persistentvolumeclaims'),
    'v1',
    'PersistentVolumeClaim',
    [
      {},
      { spec: { accessModes: [] } },
      { spec: { accessModes: ['x'], resources: { requests: { storage: '-1' } } } },
      {
        spec: {
          accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
          resources: { requests: { storage: '0' } },
          volumeMode: 'x',
          storageClassName: 'A B',
          dataSource: { kind: 'x', name: '' },
          selector: { matchExpressions: [{ key: 'a', operator: 'x' }] },
        },
      },
    ],
  ],
  [
    namespaced('/apis/coordination.k8s.io/v1', 'leases'),
    'coordination.k8s.io/v1',
    'Lease',
    [
      {},
      { spec: { leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' } },
      { spec: { acquireTime: 'x' } },
      { spec: { acquireTime: '2026-01-01T00:00:00Z' } },
      { spec: { strategy: 'x', preferredHolder: 'y' } },
    ],
  ],
  [
    namespaced('/apis/discovery.k8s.io/v1', 'endpointslices'),
    'discovery.k8s.io/v1',
    'EndpointSlice',
    [
      {},
      { addressType: 'x', endpoints: [] },
      {
        addressType: 'IPv4',
        endpoints: [{ addresses: [] }, { addresses: ['x', '::1', '127.0.0.1', '10.0.0.1', '10.0.0.1'] }],
      },
      {
        addressType: 'IPv4',
        endpoints: [],
        ports: [{ name: 'A B' }, { name: 'a', port: 0 }, { name: 'a', port: 1, protocol: 'x', appProtocol: 'a b' }],
      },
      {
        addressType: 'FQDN',
        endpoints: [{ addresses: ['A..b'], hostname: 'A', nodeName: 'A B', deprecatedTopology: { a: 'b' } }],
      },
    ],
  ],
  [
    namespaced('/api/v1', 'events'),
    'v1',
    'Event',
    [
      {},
      { involvedObject: { namespace: 'other' } },
      { involvedObject: { namespace: '$NS' }, type: 'x', count: -1 },
      { eventTime: 'x', involvedObject: { namespace: '$NS' } },
      { involvedObject: { namespace: '$NS' }, eventTime: '2026-01-01T00:00:00.000000Z' },
    ],
  ],
  [
    namespaced('/apis/events.k8s.io/v1', 'events'),
    'events.k8s.io/v1',
    'Event',
    [
      {},
      { eventTime: '2026-01-01T00:00:00.000000Z' },
      {
        eventTime: '2026-01-01T00:00:00.000000Z',
        action: 'a'.repeat(129),
        reason: 'r',
        type: 'x',
        reportingController: 'A B',
        reportingInstance: 'i',
        regarding: { namespace: '$NS' },
        note: 'n'.repeat(1025),
      },
    ],
  ],
  [
    namespaced('/api/v1', 'limitranges'),
    'v1',
    'LimitRange',
    [
      {
        spec: {
          limits: [
            {
              type: 'Container',
              min: { cpu: '2' },
              max: { cpu: '1' },
              default: { cpu: '9' },
              defaultRequest: { cpu: '9' },
            },
            { type: 'x' },
            { type: 'PersistentVolumeClaim' },
            { type: 'Pod', default: { cpu: '1' } },
          ],
        },
      },
    ],
  ],
  [
    namespaced('/api/v1', 'resourcequotas'),
    'v1',
    'ResourceQuota',
    [
      {
        spec: {
          hard: { pods: '-1', 'a b': '1', bogus: '1', 'count/x': '1', 'requests.nvidia.com/gpu': '1.5' },
          scopes: ['x', 'BestEffort', 'NotBestEffort'],
        },
      },
    ],
  ],
  [
    namespaced('/api/v1', 'endpoints'),
    'v1',
    'Endpoints',
    [{ subsets: [{}] }, { subsets: [{ addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }] }] }],
  ],
  [
    namespaced('/api/v1', 'replicationcontrollers'),
    'v1',
    'ReplicationController',
    [
      {},
      { spec: { selector: {}, template: null } },
      { spec: { replicas: -1, selector: { z: 'z' }, template: template() } },
    ],
  ],
  ['/api/v1/namespaces', 'v1', 'Namespace', [{ spec: { finalizers: ['x'] } }, { status: { phase: 'x' } }]],
  [
    '/api/v1/nodes',
    'v1',
    'Node',
    [
      {
        spec: {
          podCIDR: 'x',
          taints: [
            { key: 'a b', effect: 'x' },
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', effect: 'NoSchedule' },
          ],
        },
      },
      { status: { capacity: { 'a b': '1', cpu: '-1' } } },
    ],
  ],
  [
    '/api/v1/persistentvolumes',
    'v1',
    'PersistentVolume',
    [
      {},
      {
        spec: {
          capacity: { storage: '0' },
          accessModes: ['x'],
          hostPath: { path: '..' },
          nfs: { server: '', path: 'x' },
          persistentVolumeReclaimPolicy: 'x',
          volumeMode: 'x',
          storageClassName: 'A B',
        },
      },
    ],
  ],
  [
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    'scheduling.k8s.io/v1',
    'PriorityClass',
    [{ value: 2000000000 }, { value: 1000000001 }, { preemptionPolicy: 'x' }, { value: 1.5 }, {}],
  ],
  [
    '/apis/storage.k8s.io/v1/storageclasses',
    'storage.k8s.io/v1',
    'StorageClass',
    [
      {},
      {
        provisioner: 'A B',
        reclaimPolicy: 'x',
        volumeBindingMode: 'x',
        parameters: { '': 'x' },
        allowedTopologies: [{ matchLabelExpressions: [{ key: '', values: [] }] }],
      },
    ],
  ],
  [
    '/apis/node.k8s.io/v1/runtimeclasses',
    'node.k8s.io/v1',
    'RuntimeClass',
    [
      {},
      {
        handler: 'A_B',
        overhead: { podFixed: { cpu: '-1' } },
        scheduling: {
          nodeSelector: { 'a b': 'c' },
          tolerations: [
            { key: 'a', operator: 'x' },
            { key: 'a', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      },
    ],
  ],
  [
    '/apis/networking.k8s.io/v1/ingressclasses',
    'networking.k8s.io/v1',
    'IngressClass',
    [{}, { spec: { controller: 'A B', parameters: { kind: 'a/b', name: '', scope: 'x', namespace: 'y' } } }],
  ],
  [
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    'certificates.k8s.io/v1',
    'CertificateSigningRequest',
    [
      {},
      { spec: { request: 'eA==', signerName: 'x', usages: [] } },
      { spec: { request: null, signerName: 'a.b/c', usages: ['x', 'x'], expirationSeconds: 5 } },
      { spec: { request: '!!', signerName: 'kubernetes.io/legacy-unknown' } },
    ],
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    [
      { webhooks: [{}] },
      {
        webhooks: [
          {
            name: 'x',
            clientConfig: { url: 'http://a', service: { name: 'x', namespace: 'y', path: 'x', port: 0 } },
            sideEffects: 'Some',
            admissionReviewVersions: ['x'],
            rules: [{ operations: ['x'], apiGroups: ['*', 'a'], apiVersions: [], resources: ['*/*', 'a'] }],
            failurePolicy: 'x',
            timeoutSeconds: 31,
          },
        ],
      },
      {
        webhooks: [
          {
            name: 'a.b.c',
            clientConfig: { url: 'https://u:p@a/?q#f' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            matchPolicy: 'x',
          },
        ],
      },
    ],
  ],
  [
    '/apis/apiregistration.k8s.io/v1/apiservices',
    'apiregistration.k8s.io/v1',
    'APIService',
    [{}, { spec: { group: 'g', version: 'v', groupPriorityMinimum: 0, versionPriority: 0 } }],
  ],
  [
    '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
    'flowcontrol.apiserver.k8s.io/v1',
    'FlowSchema',
    [
      {},
      {
        spec: {
          matchingPrecedence: 0,
          priorityLevelConfiguration: {},
          distinguisherMethod: { type: 'x' },
          rules: [
            { subjects: [], resourceRules: [] },
            { subjects: [{ kind: 'x' }], nonResourceRules: [{ verbs: [], nonResourceURLs: ['x'] }] },
          ],
        },
      },
    ],
  ],
  [
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    'authorization.k8s.io/v1',
    'SubjectAccessReview',
    [
      {},
      { spec: {} },
      { spec: { user: 'x' } },
      { spec: { user: 'x', resourceAttributes: {}, nonResourceAttributes: {} } },
      { spec: { user: 'x', resourceAttributes: { labelSelector: {} } } },
      { spec: { user: 'x', resourceAttributes: { fieldSelector: { rawSelector: '=', requirements: [{ key: '' }] } } } },
      {
        spec: {
          user: 'x',
          resourceAttributes: { labelSelector: { requirements: [{ key: 'a', operator: 'x', values: ['1'] }] } },
        },
      },
    ],
  ],
  [
    '/apis/authentication.k8s.io/v1/tokenreviews',
    'authentication.k8s.io/v1',
    'TokenReview',
    [
      {},
      { spec: {} },
      { spec: { token: '' } },
      { spec: { token: 'junk' } },
      { spec: { token: 'a.b.c', audiences: ['x'] } },
    ],
  ],
  [
    namespaced('/apis/authorization.k8s.io/v1', 'localsubjectaccessreviews'),
    'authorization.k8s.io/v1',
    'LocalSubjectAccessReview',
    [
      { spec: { user: 'x', nonResourceAttributes: { path: '/', verb: 'get' } } },
      { spec: { user: 'x', resourceAttributes: { namespace: 'other' } } },
    ],
  ],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    'authorization.k8s.io/v1',
    'SelfSubjectRulesReview',
    [{}, { spec: {} }],
  ],
]
