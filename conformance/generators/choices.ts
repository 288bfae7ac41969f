/**
 * Values where a type has names to choose from, and what Kubernetes prints of them: one that HTML would read shows which are types of
 * their own. Besides, integers too large for their fields, nulls that a strategic patch takes out, and updates of nodes and drivers.
 */
import type { Case, Step } from '../recording.ts'
import { DELETE, PATCH, POST } from './hostile-requests.ts'
import { A, M, S } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Any = any

const X = '<a>&'
const containers = [{ name: 'c', image: 'i' }]
const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
const selector = { matchLabels: { a: 'b' } }
const asked = (path: string, apiVersion: string, kind: string, fields: Any): Step =>
  POST(`${path}?dryRun=All`, { apiVersion, kind, metadata: { name: 'd' }, ...fields })

const pod = (spec: Any) => asked('/api/v1/namespaces/$NS/pods', 'v1', 'Pod', { spec: { containers, ...spec } })
const container = (fields: Any, more: Any = {}) => pod({ containers: [{ name: 'c', image: 'i', ...fields }], ...more })
const volume = (source: Any) => pod({ volumes: [{ name: 'v', ...source }] })
const expressions = [{ key: 'a', operator: X }]

const pods: readonly Step[] = [
  pod({ restartPolicy: X }),
  pod({ dnsPolicy: X }),
  pod({ preemptionPolicy: X }),
  pod({ tolerations: [{ key: 'a', operator: X, effect: X }] }),
  pod({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: X, nodeAffinityPolicy: X }],
  }),
  pod({ os: { name: X } }),
  pod({ securityContext: { seccompProfile: { type: X }, fsGroupChangePolicy: X, supplementalGroupsPolicy: X } }),
  pod({ securityContext: { appArmorProfile: { type: X } } }),
  pod({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: expressions }] },
      },
    },
  }),
  container({ imagePullPolicy: X }),
  container({ terminationMessagePolicy: X }),
  container({ ports: [{ containerPort: 1, protocol: X }] }),
  container({ securityContext: { procMount: X } }),
  container({ livenessProbe: { httpGet: { port: 1, scheme: X } } }),
  container({ resizePolicy: [{ resourceName: X, restartPolicy: X }] }),
  container({ restartPolicy: X }),
  container(
    { volumeMounts: [{ name: 'v', mountPath: '/x', mountPropagation: X, recursiveReadOnly: X }] },
    { volumes: [{ name: 'v', emptyDir: {} }] },
  ),
  volume({ hostPath: { path: '/x', type: X } }),
  volume({ emptyDir: { medium: X } }),
]

const service = (spec: Any) =>
  asked('/api/v1/namespaces/$NS/services', 'v1', 'Service', { spec: { ports: [{ port: 1 }], ...spec } })
const of = (group: string, version: string, plural: string, kind: string, fields: Any, namespaced = true) =>
  asked(
    `/apis/${group}/${version}${namespaced ? '/namespaces/$NS' : ''}/${plural}`,
    `${group}/${version}`,
    kind,
    fields,
  )
const cluster = (group: string, plural: string, kind: string, fields: Any) =>
  of(group, 'v1', plural, kind, fields, false)
const rules = [{ operations: [X], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: X }]
const hook = { sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://x' } }
const ADMISSION = 'admissionregistration.k8s.io'
const FLOW = 'flowcontrol.apiserver.k8s.io'
const MIGRATION = 'storagemigration.k8s.io'
const retained = { whenDeleted: X, whenScaled: X }

const others: readonly Step[] = [
  ...[
    { type: X },
    { sessionAffinity: X },
    { externalTrafficPolicy: X, type: 'NodePort' },
    { internalTrafficPolicy: X },
    { ipFamilies: [X] },
    { ipFamilyPolicy: X },
    { ports: [{ port: 1, protocol: X }] },
    { trafficDistribution: X },
  ].map(service),
  of('apps', 'v1', 'deployments', 'Deployment', { spec: { selector, strategy: { type: X }, template } }),
  of('apps', 'v1', 'statefulsets', 'StatefulSet', {
    spec: {
      selector,
      template,
      serviceName: 's',
      updateStrategy: { type: X },
      podManagementPolicy: X,
      persistentVolumeClaimRetentionPolicy: retained,
    },
  }),
  of('batch', 'v1', 'jobs', 'Job', {
    spec: {
      completionMode: X,
      podReplacementPolicy: X,
      podFailurePolicy: { rules: [{ action: X, onExitCodes: { operator: X, values: [1] } }] },
      template: { spec: { restartPolicy: X, containers } },
    },
  }),
  of('batch', 'v1', 'cronjobs', 'CronJob', {
    spec: {
      schedule: '* * * * *',
      concurrencyPolicy: X,
      jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers } } } },
    },
  }),
  asked('/api/v1/namespaces/$NS/persistentvolumeclaims', 'v1', 'PersistentVolumeClaim', {
    spec: { accessModes: [X], volumeMode: X, resources: { requests: { storage: '1' } } },
  }),
  of('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy', {
    spec: {
      podSelector: { matchExpressions: expressions },
      policyTypes: [X],
      ingress: [{ ports: [{ protocol: X, port: 1 }] }],
    },
  }),
  of('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget', {
    spec: { minAvailable: 1, unhealthyPodEvictionPolicy: X },
  }),
  of('autoscaling', 'v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', {
    spec: {
      maxReplicas: 2,
      scaleTargetRef: { kind: 'D', name: 'x' },
      metrics: [{ type: X, resource: { name: 'cpu', target: { type: X } } }],
      behavior: { scaleUp: { selectPolicy: X, policies: [{ type: X, value: 1, periodSeconds: 1 }] } },
    },
  }),
  of('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding', {
    roleRef: { apiGroup: X, kind: X, name: 'x' },
    subjects: [{ kind: X, name: 'x' }],
  }),
  asked('/api/v1/namespaces/$NS/resourcequotas', 'v1', 'ResourceQuota', {
    spec: {
      hard: { pods: '1' },
      scopes: [X],
      scopeSelector: { matchExpressions: [{ scopeName: X, operator: X }] },
    },
  }),
  of('coordination.k8s.io', 'v1', 'leases', 'Lease', { spec: { strategy: X } }),
  of('resource.k8s.io', 'v1', 'resourceclaims', 'ResourceClaim', {
    spec: {
      devices: {
        requests: [
          {
            name: 'r',
            exactly: {
              deviceClassName: 'x',
              allocationMode: X,
              tolerations: [{ key: 'a', operator: X, effect: X }],
            },
          },
        ],
      },
    },
  }),
  cluster('storage.k8s.io', 'storageclasses', 'StorageClass', {
    provisioner: 'x',
    reclaimPolicy: X,
    volumeBindingMode: X,
  }),
  cluster('scheduling.k8s.io', 'priorityclasses', 'PriorityClass', { value: 1, preemptionPolicy: X }),
  cluster(FLOW, 'prioritylevelconfigurations', 'PriorityLevelConfiguration', { spec: { type: X } }),
  cluster(ADMISSION, 'validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', {
    webhooks: [
      { ...hook, name: 'a.b.c', sideEffects: X, failurePolicy: X, matchPolicy: X, rules },
      { ...hook, name: 'é'.repeat(200) },
      { ...hook, name: `${'x.'.repeat(150)}y` },
    ],
  }),
  cluster(ADMISSION, 'validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    spec: {
      failurePolicy: X,
      matchConstraints: { matchPolicy: X, resourceRules: rules },
      validations: [{ expression: 'true', reason: X }],
    },
  }),
  cluster(ADMISSION, 'validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    spec: { policyName: 'x', validationActions: [X], paramRef: { name: 'x', parameterNotFoundAction: X } },
  }),
  cluster('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', {
    metadata: { name: 'a.b.c' },
    spec: {
      group: 'b.c',
      scope: X,
      names: { plural: 'a', kind: 'A' },
      conversion: { strategy: X },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: X } } }],
    },
  }),
  ...[
    ['é'.repeat(200), 'x'],
    ['É', 'X Y'.repeat(40)],
  ].map(([group, resource]) =>
    cluster(MIGRATION, 'storageversionmigrations', 'StorageVersionMigration', {
      spec: { resource: { group, resource } },
    }),
  ),
]

const deployments = '/apis/apps/v1/namespaces/$NS/deployments'
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { replicas: 1, selector, template },
}
const at = `${deployments}/d?dryRun=All`
const LARGE = ['2147483648', '-2147483649', '4294967297', '1e20', '-1e20', '12345678901234567890', '3.0', '0.5']
const seconds = '{"template":{"spec":{"terminationGracePeriodSeconds":0}}}'

const tooLarge: Case = {
  name: 'integers too large for their fields',
  steps: [
    POST(deployments, deployment),
    ...LARGE.flatMap((number): readonly Step[] => [
      PATCH(at, S, `{"spec":{"replicas":${number}}}`),
      PATCH(at, S, `{"spec":${seconds.replace('0', number)}}`),
      PATCH(
        `${at}&fieldManager=me&force=true`,
        A,
        JSON.stringify(deployment).replace('"replicas":1', `"replicas":${number}`),
      ),
    ]),
  ],
}

const nulls: Case = {
  name: 'nulls of a strategic patch that is refused',
  steps: [
    POST(deployments, deployment),
    ...[
      {
        spec: {
          replicas: 'x',
          strategy: { rollingUpdate: { a: null }, z: null },
          new: { a: null, b: [{ c: null }, null] },
          selector: { matchLabels: { x: null }, zz: { y: null } },
        },
      },
      {
        spec: {
          replicas: 'x',
          template: {
            spec: {
              containers: [
                { name: 'c', args: null, env: [{ name: 'e', value: null }] },
                { name: 'n', args: null },
              ],
            },
          },
        },
      },
      { kind: { a: null }, spec: 'x' },
      { metadata: [{ a: null }], spec: null },
    ].map((patch) => PATCH(at, S, patch)),
  ],
}

const changes = (path: string, object: Any, list: readonly Any[]): Case => ({
  name: `${object.kind}: changes`,
  steps: [
    POST(path, object),
    ...list.map((change) => PATCH(`${path}/${object.metadata.name}?dryRun=All`, M, change)),
    DELETE(`${path}/${object.metadata.name}`),
  ],
})

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n-$NS' }, spec: { podCIDR: '10.244.0.0/24' } }
const driver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'e-$NS' },
  spec: { fsGroupPolicy: 'File' },
}

const bound = (roleRef: Any) => ({ roleRef, subjects: [] })
const GROUP = 'rbac.authorization.k8s.io'
const binding = {
  apiVersion: `${GROUP}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'b' },
  ...bound({ apiGroup: GROUP, kind: 'Role', name: 'x' }),
}
const runtimeClass = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'q-$NS' }, handler: 'k' }

export const choiceCases = (): readonly Case[] => [
  { name: 'choices of pods', steps: pods },
  { name: 'choices of other kinds', steps: others },
  tooLarge,
  nulls,
  changes(`/apis/${GROUP}/v1/namespaces/$NS/rolebindings`, binding, [
    { roleRef: { name: '' } },
    { roleRef: { apiGroup: 'x', kind: 'X', name: '' } },
    { roleRef: { name: 'y' } },
  ]),
  changes('/apis/node.k8s.io/v1/runtimeclasses', runtimeClass, [{ handler: '' }, { handler: null }]),
  changes('/api/v1/nodes', node, [
    {
      metadata: { labels: { 'a b': '!' } },
      spec: { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'], taints: [{ key: 'a', effect: X }] },
    },
    { spec: { podCIDR: '10.1.0.0/24', taints: [{ key: '', effect: X }] } },
  ]),
  changes('/apis/storage.k8s.io/v1/csidrivers', driver, [
    ...['None', null, 'Bad', 'ReadWriteOnceWithFSType'].map((fsGroupPolicy) => ({ spec: { fsGroupPolicy } })),
    { spec: { attachRequired: false } },
    { spec: { volumeLifecycleModes: ['Ephemeral'] } },
  ]),
]
