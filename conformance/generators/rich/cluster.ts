/** Kinds that configure a cluster, using every part of their types: those of the files beside this one, and all others. */
import { readFileSync } from 'node:fs'
import type { CorpusEntry } from '../mutations.ts'
import { richAdmission } from './admission.ts'
import { richDevices } from './devices.ts'
import { entry } from './entry.ts'
import { richNetworks } from './networks.ts'
import { richStorage } from './storage.ts'

const flow: readonly CorpusEntry[] = [
  entry('flowcontrol.apiserver.k8s.io/v1', 'flowschemas', 'FlowSchema', 'rich-fs', {
    spec: {
      matchingPrecedence: 900,
      distinguisherMethod: { type: 'ByUser' },
      priorityLevelConfiguration: { name: 'global-default' },
      rules: [
        {
          subjects: [
            { kind: 'User', user: { name: 'u' } },
            { kind: 'Group', group: { name: 'g' } },
            { kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } },
          ],
          resourceRules: [
            { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], namespaces: ['n'], clusterScope: true },
          ],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz', '/x/*'] }],
        },
      ],
    },
  }),
  entry('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', 'rich-plc', {
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 5,
        lendablePercent: 50,
        borrowingLimitPercent: 40,
        limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 20 } },
      },
    },
  }),
  entry('flowcontrol.apiserver.k8s.io/v1', 'prioritylevelconfigurations', 'PriorityLevelConfiguration', 'rich-reject', {
    spec: { type: 'Limited', limited: { nominalConcurrencyShares: 0, limitResponse: { type: 'Reject' } } },
  }),
]

const others: readonly CorpusEntry[] = [
  entry('rbac.authorization.k8s.io/v1', 'clusterroles', 'ClusterRole', 'rich-cr', {
    rules: [
      {
        apiGroups: ['', 'apps'],
        resources: ['pods', 'deployments/scale'],
        resourceNames: ['a'],
        verbs: ['get', 'watch'],
      },
      { nonResourceURLs: ['/healthz/*'], verbs: ['get'] },
    ],
    aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }] },
  }),
  entry('rbac.authorization.k8s.io/v1 ns', 'rolebindings', 'RoleBinding', 'rb', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' },
      { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'n' },
    ],
  }),
  entry('node.k8s.io/v1', 'runtimeclasses', 'RuntimeClass', 'rich-rtc', {
    handler: 'kata',
    overhead: { podFixed: { cpu: '100m', memory: '64Mi' } },
    scheduling: {
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' }],
    },
  }),
  entry('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass', 'rich-pc', {
    value: 1000,
    description: 'd',
    preemptionPolicy: 'Never',
    globalDefault: false,
  }),
  entry('coordination.k8s.io/v1 ns', 'leases', 'Lease', 'l', {
    spec: {
      holderIdentity: 'h',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 2,
    },
  }),
  entry(
    'v1',
    'nodes',
    'Node',
    'rich-node',
    {
      spec: {
        podCIDR: '10.244.0.0/24',
        podCIDRs: ['10.244.0.0/24', 'fd00:10::/64'],
        providerID: 'x://1',
        unschedulable: true,
        taints: [
          { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' },
          { key: 'l', effect: 'NoSchedule' },
        ],
      },
    },
    { labels: { zone: 'a' } },
  ),
  entry('v1 ns', 'limitranges', 'LimitRange', 'lr', {
    spec: {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2', memory: '1Gi' },
          min: { cpu: '10m' },
          default: { cpu: '500m' },
          defaultRequest: { cpu: '100m' },
          maxLimitRequestRatio: { cpu: '10' },
        },
        { type: 'Pod', max: { cpu: '4' }, min: { memory: '1Mi' }, maxLimitRequestRatio: { memory: '2' } },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '10Gi' } },
      ],
    },
  }),
  entry('v1 ns', 'resourcequotas', 'ResourceQuota', 'rq', {
    spec: {
      hard: {
        pods: '10',
        'requests.cpu': '4',
        'limits.memory': '8Gi',
        'count/deployments.apps': '3',
        'requests.storage': '10Gi',
        'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      },
    },
  }),
  entry('v1 ns', 'resourcequotas', 'ResourceQuota', 'scoped', {
    spec: {
      hard: { pods: '10', cpu: '4' },
      scopes: ['NotTerminating'],
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
    },
  }),
  entry('v1 ns', 'configmaps', 'ConfigMap', 'cm', {
    data: { a: 'b', 'c.d': 'e' },
    binaryData: { bin: 'AAEC' },
    immutable: true,
  }),
  entry('v1 ns', 'secrets', 'Secret', 'docker', {
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': 'e30=' },
    stringData: { other: 'x' },
  }),
  entry('v1 ns', 'secrets', 'Secret', 'basic', {
    type: 'kubernetes.io/basic-auth',
    stringData: { username: 'u', password: 'p' },
    immutable: true,
  }),
  entry('v1 ns', 'serviceaccounts', 'ServiceAccount', 'sa', {
    secrets: [{ name: 's' }],
    imagePullSecrets: [{ name: 'i' }],
    automountServiceAccountToken: false,
  }),
  entry('v1 ns', 'events', 'Event', 'ev', {
    involvedObject: { kind: 'Pod', namespace: '$NS', name: 'p', apiVersion: 'v1', uid: 'u', fieldPath: 'spec' },
    reason: 'R',
    message: 'm',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    count: 1,
    type: 'Normal',
    eventTime: '2026-01-01T00:00:00.000000Z',
    series: { count: 2, lastObservedTime: '2026-01-01T00:00:00.000000Z' },
    action: 'A',
    related: { kind: 'Node', name: 'n' },
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
  }),
  entry('apps/v1 ns', 'controllerrevisions', 'ControllerRevision', 'cr', {
    revision: 3,
    data: { spec: { a: [1, 2] } },
  }),
  entry('certificates.k8s.io/v1', 'clustertrustbundles', 'ClusterTrustBundle', 'rich.example.com:s:b', {
    spec: {
      signerName: 'rich.example.com/s',
      trustBundle: readFileSync(new URL('../../hook/cert.pem', import.meta.url), 'utf8'),
    },
  }),
  entry('storagemigration.k8s.io/v1', 'storageversionmigrations', 'StorageVersionMigration', 'rich-svm', {
    spec: { resource: { group: 'apps', resource: 'deployments' } },
  }),
  entry('apiregistration.k8s.io/v1', 'apiservices', 'APIService', 'v1.rich.example.com', {
    spec: {
      group: 'rich.example.com',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      insecureSkipTLSVerify: true,
      service: { name: 's', namespace: 'n', port: 443 },
    },
  }),
]

export const richClusterKinds: readonly CorpusEntry[] = [
  ...richStorage,
  ...richNetworks,
  ...richAdmission,
  ...flow,
  ...richDevices,
  ...others,
]
