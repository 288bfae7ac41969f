/** Sequences about what requests mean together: watches, pages, ownership, patches, subresources, preconditions, the end of objects. */
import type { Case, Step } from '../recording.ts'
import { CM, configMap, DELETE, DEP, GET, PATCH, POD, POST, PUT } from './hostile-requests.ts'

const M = 'application/merge-patch+json'
const J = 'application/json-patch+json'
const S = 'application/strategic-merge-patch+json'
const A = 'application/apply-patch+yaml'
type Fields = Record<string, unknown>

const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec }
const selected = { selector: { matchLabels: { a: 'b' } }, template }

interface Kind {
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  readonly rest: Fields
}
const kindOf = (apiVersion: string, kind: string, resource: string, rest: Fields = {}): Kind => ({
  path: `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/$NS/${resource}`,
  apiVersion,
  kind,
  rest,
})
const jobSpec = { template: { spec: { restartPolicy: 'Never', ...podSpec } } }
const workloads: readonly Kind[] = [
  kindOf('apps/v1', 'Deployment', 'deployments', { spec: selected }),
  kindOf('apps/v1', 'ReplicaSet', 'replicasets', { spec: selected }),
  kindOf('apps/v1', 'StatefulSet', 'statefulsets', { spec: { ...selected, serviceName: 's' } }),
  kindOf('apps/v1', 'DaemonSet', 'daemonsets', { spec: selected }),
  kindOf('v1', 'ReplicationController', 'replicationcontrollers', { spec: { selector: { a: 'b' }, template } }),
  kindOf('batch/v1', 'Job', 'jobs', { spec: { ...jobSpec, suspend: true } }),
  kindOf('batch/v1', 'CronJob', 'cronjobs', { spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: jobSpec } } }),
]
const others: readonly Kind[] = [
  kindOf('v1', 'ConfigMap', 'configmaps', { data: { k: 'v' } }),
  kindOf('v1', 'Secret', 'secrets', { stringData: { k: 'v' } }),
  kindOf('v1', 'Pod', 'pods', { spec: podSpec }),
  kindOf('v1', 'Service', 'services', { spec: { ports: [{ port: 80 }] } }),
  kindOf('v1', 'ServiceAccount', 'serviceaccounts'),
  kindOf('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }),
  kindOf('v1', 'Endpoints', 'endpoints', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  kindOf('coordination.k8s.io/v1', 'Lease', 'leases', { spec: { holderIdentity: 'h' } }),
  kindOf('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
  }),
  kindOf('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', { spec: { podSelector: {} } }),
  kindOf('networking.k8s.io/v1', 'Ingress', 'ingresses', {
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  }),
  kindOf('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', {
    spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } },
  }),
  kindOf('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', {
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  }),
  kindOf('rbac.authorization.k8s.io/v1', 'Role', 'roles', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  }),
]
const all = [...workloads, ...others]

const make = ({ apiVersion, kind, rest }: Kind, meta: Fields = {}, more: Fields = {}): Fields => ({
  apiVersion,
  kind,
  metadata: { name: 'o', ...meta },
  ...rest,
  ...more,
})
const foreign = '99999999-2222-4333-8444-555555555555'
const deletion = (more: Fields) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...more })
const first = (path: string) => `{{0.${path}}}`
type Named = readonly [string, readonly Step[]]

/** The same story for each kind. */
function perKind(): readonly Named[] {
  return all.flatMap((k): readonly Named[] => {
    const at = `${k.path}/o`
    return [
      [
        `${k.kind}: preconditions and versions`,
        [
          POST(k.path, make(k)),
          PUT(at, make(k, { resourceVersion: first('metadata.resourceVersion'), labels: { l: '1' } })),
          PUT(at, make(k, { resourceVersion: first('metadata.resourceVersion'), labels: { l: '2' } })),
          PUT(at, make(k, { uid: foreign })),
          PUT(at, make(k, { labels: { l: '3' } })),
          PATCH(at, M, { metadata: { resourceVersion: first('metadata.resourceVersion') } }),
          DELETE(at, deletion({ preconditions: { resourceVersion: first('metadata.resourceVersion') } })),
          DELETE(at, deletion({ preconditions: { uid: foreign } })),
          DELETE(at, deletion({ gracePeriodSeconds: 0, preconditions: { uid: first('metadata.uid') } })),
          PUT(at, make(k, { labels: { l: '4' } })),
        ],
      ],
      [
        `${k.kind}: dry runs`,
        [
          POST(`${k.path}?dryRun=All`, make(k)),
          GET(at),
          POST(k.path, make(k)),
          POST(`${k.path}?dryRun=All`, make(k)),
          PATCH(`${at}?dryRun=All`, M, { metadata: { labels: { x: '1' } } }),
          DELETE(`${at}?dryRun=All`),
          DELETE(at, deletion({ dryRun: ['All'], propagationPolicy: 'Foreground' })),
          GET(at),
        ],
      ],
      [
        `${k.kind}: finalizers and a watch over its end`,
        [
          POST(k.path, make(k, { finalizers: ['example.com/f'] })),
          DELETE(at, deletion({ propagationPolicy: 'Foreground' })),
          POST(k.path, make(k)),
          PATCH(at, M, { metadata: { labels: { late: 'yes' } } }),
          PATCH(at, J, [{ op: 'remove', path: '/metadata/finalizers/0' }]),
          GET(at),
          PATCH(at, M, { metadata: { finalizers: null } }),
          GET(at),
          GET(`${k.path}?watch=1&timeoutSeconds=1&resourceVersion=${first('metadata.resourceVersion')}`),
        ],
      ],
      [
        `${k.kind}: applied by two`,
        [
          PATCH(`${at}?fieldManager=one`, A, make(k, { labels: { l: '1', m: '1' } })),
          PATCH(`${at}?fieldManager=two`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o', labels: { l: '2' } },
          }),
          PATCH(`${at}?fieldManager=two&force=true`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o', labels: { l: '2' } },
          }),
          PATCH(`${at}?fieldManager=one`, A, make(k)),
          PATCH(`${at}?fieldManager=two`, A, { apiVersion: k.apiVersion, kind: k.kind, metadata: { name: 'o' } }),
          GET(at),
        ],
      ],
      [
        `${k.kind}: unknown and repeated fields`,
        [
          POST(`${k.path}?dryRun=All&fieldValidation=Strict`, { ...make(k), bogus: 1 }),
          POST(`${k.path}?dryRun=All&fieldValidation=Ignore`, { ...make(k), bogus: 1 }),
          POST(k.path, { ...make(k), bogus: 1 }),
          PUT(`${at}?fieldValidation=Strict`, { ...make(k), bogus: 1 }),
          PATCH(`${at}?fieldValidation=Strict`, M, { bogus: 1 }),
          PATCH(`${at}?fieldValidation=Strict`, S, { bogus: 1 }),
          PATCH(at, M, { bogus: 1 }),
        ],
      ],
      [
        `${k.kind}: names generated, tables, metadata alone`,
        [
          POST(k.path, { ...make(k), metadata: { generateName: 'probe-gen-' } }),
          GET(k.path, { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
          GET(`${k.path}/${first('metadata.name')}`, {
            accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
          }),
          GET(`${k.path}?includeObject=None`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
          GET(`${k.path}?includeObject=Object&limit=1`, {
            accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
          }),
          DELETE(`${k.path}?fieldSelector=metadata.name%3D${first('metadata.name')}&gracePeriodSeconds=0`),
          GET(`${k.path}`),
        ],
      ],
    ]
  })
}

function workloadStories(): readonly Named[] {
  return workloads.flatMap((k): readonly Named[] => {
    const at = `${k.path}/o`
    const policies = ['Orphan', 'Background', 'Foreground']
    return [
      ...policies.map(
        (policy): Named => [
          `${k.kind}: deleted ${policy}, then otherwise`,
          [
            POST(k.path, make(k, { finalizers: ['example.com/f'] })),
            DELETE(at, deletion({ propagationPolicy: policy })),
            ...policies
              .filter((other) => other !== policy)
              .map((other) => DELETE(at, deletion({ propagationPolicy: other }))),
            DELETE(at, deletion({ orphanDependents: true })),
            DELETE(at, deletion({ orphanDependents: false })),
            DELETE(at),
            PATCH(at, M, { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } }),
            PATCH(at, M, { metadata: { finalizers: [] } }),
            GET(at),
          ],
        ],
      ),
      [
        `${k.kind}: status apart`,
        [
          POST(k.path, make(k, {}, { status: { replicas: 7 } })),
          PUT(`${at}/status`, {
            ...make(k, { labels: { s: '1' }, annotations: { s: '1' } }),
            status: { replicas: 2, active: [], numberReady: 1 },
          }),
          PATCH(`${at}/status`, M, { spec: { replicas: 9, suspend: false }, status: { observedGeneration: 3 } }),
          PATCH(`${at}/status`, S, {
            status: {
              conditions: [
                { type: 'X', status: 'True' },
                { type: 'Y', status: 'False' },
              ],
            },
          }),
          PATCH(`${at}/status`, S, { status: { conditions: [{ type: 'X', status: 'Unknown' }] } }),
          PATCH(`${at}/status`, J, [{ op: 'replace', path: '/status/conditions', value: [] }]),
          PATCH(at, M, { status: { replicas: 5 } }),
          PATCH(`${at}/status?fieldManager=s`, A, {
            apiVersion: k.apiVersion,
            kind: k.kind,
            metadata: { name: 'o' },
            status: { replicas: 3 },
          }),
          GET(`${at}/status`),
        ],
      ],
      [
        `${k.kind}: scale`,
        [
          POST(k.path, make(k)),
          GET(`${at}/scale`),
          PATCH(`${at}/scale`, M, { spec: { replicas: 3 } }),
          GET(at),
          PUT(`${at}/scale`, {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name: 'o', namespace: '$NS' },
            spec: { replicas: 0 },
          }),
          GET(`${at}/scale`),
        ],
      ],
    ]
  })
}

function lists(): readonly Named[] {
  const some = ['a', 'b', 'c', 'd'].map((name) =>
    POST(CM, configMap(name, { data: { n: name } }, { labels: { l: name < 'c' ? '1' : '2' } })),
  )
  return [
    [
      'pages',
      [
        ...some,
        GET(`${CM}?limit=2`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}`),
        GET(`${CM}?limit=3&continue={{4.metadata.continue}}`),
        POST(CM, configMap('bb')),
        DELETE(`${CM}/c`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}`),
        GET(`${CM}?limit=1&labelSelector=l%3D2`),
        GET(`${CM}?limit=1&fieldSelector=metadata.name%3Dd`),
        GET(`${CM}?limit=100`),
        GET(`${CM}?limit=2&continue={{4.metadata.continue}}&resourceVersion=5`),
        GET(`${CM}?continue={{4.metadata.continue}}&resourceVersionMatch=Exact`),
        GET(`${CM}?limit=1&resourceVersion=0`),
      ],
    ],
    [
      'lists at versions',
      [
        ...some,
        PATCH(`${CM}/a`, M, { data: { n: 'z' } }),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=Exact`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=Exact&limit=1`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}`),
        GET(`${CM}?resourceVersion={{1.metadata.resourceVersion}}&limit=1`),
        GET(`${CM}?resourceVersion=0`),
        GET(`${CM}/a?resourceVersion=0`),
        GET(`${CM}/a?resourceVersion={{0.metadata.resourceVersion}}`),
        GET(`${CM}/a?resourceVersion=abc`),
      ],
    ],
    [
      'watches',
      [
        ...some,
        PATCH(`${CM}/a`, M, { metadata: { labels: { l: '2' } } }),
        PATCH(`${CM}/c`, M, { metadata: { labels: { l: '1' } } }),
        DELETE(`${CM}/b`),
        ...[
          '',
          '&labelSelector=l%3D1',
          '&labelSelector=l%3D2',
          '&labelSelector=!l',
          '&fieldSelector=metadata.name%3Da',
          '&fieldSelector=metadata.name!%3Da',
          '&limit=1',
          '&allowWatchBookmarks=true',
        ].map((q) => GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}${q}`)),
        GET(
          `/api/v1/watch/namespaces/$NS/configmaps/a?timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`,
        ),
        GET(`${CM}/a?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`),
        GET(`${CM}?watch=1&timeoutSeconds=1`),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion=0&labelSelector=l%3D1`),
        GET(
          `${CM}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=l%3D2`,
        ),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{0.metadata.resourceVersion}}`, {
          accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        }),
        GET(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={{3.metadata.resourceVersion}}`, {
          accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        }),
      ],
    ],
    [
      'deletecollection',
      [
        ...some,
        POST(CM, configMap('e', {}, { finalizers: ['example.com/f'] })),
        DELETE(`${CM}?labelSelector=l%3D1&dryRun=All`),
        DELETE(`${CM}?labelSelector=l%3D1`),
        DELETE(`${CM}?limit=1`),
        DELETE(`${CM}?fieldSelector=metadata.name%3Dnope`),
        DELETE(CM, deletion({ preconditions: { uid: foreign } })),
        DELETE(CM, deletion({ propagationPolicy: 'Orphan' })),
        GET(CM),
        DELETE(`${CM}?resourceVersion=0`),
        DELETE(`${CM}?watch=1`),
      ],
    ],
  ]
}

function ownership(): readonly Named[] {
  const apply = (manager: string, spec: Fields, query = '') =>
    PATCH(`${DEP}/o?fieldManager=${manager}${query}`, A, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'o' },
      spec,
    })
  const containers = (...list: readonly Fields[]) => ({ template: { spec: { containers: list } } })
  const deployment = make(workloads[0]!)
  const on = (name: string, ...steps: readonly Step[]): Named => [
    `apply: ${name}`,
    [POST(`${DEP}?fieldManager=maker`, deployment), ...steps, GET(`${DEP}/o`)],
  ]
  return [
    on(
      "a container of one's own, then none",
      apply('x', containers({ name: 'd', image: 'd' })),
      apply('x', { replicas: 1 }),
    ),
    on(
      'a conflict of images, forced',
      apply('x', containers({ name: 'c', image: 'z' })),
      apply('x', containers({ name: 'c', image: 'z' }), '&force=true'),
      apply('x', {}),
    ),
    on(
      'ports keyed by number and protocol',
      apply('x', containers({ name: 'c', ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] })),
      apply('x', containers({ name: 'c', ports: [{ containerPort: 80, protocol: 'UDP', name: 'u' }] })),
    ),
    on('keys twice', apply('x', containers({ name: 'd', image: 'a' }, { name: 'd', image: 'b' }))),
    on('a key left out', apply('x', containers({ image: 'a' }))),
    on(
      'an atomic list',
      apply('x', containers({ name: 'c', command: ['a', 'b'] })),
      apply('y', containers({ name: 'c', command: ['b'] })),
      apply('y', containers({ name: 'c', command: ['b'] }), '&force=true'),
    ),
    on(
      'an atomic map',
      apply('x', { selector: { matchLabels: { a: 'b', c: 'd' } } }),
      apply('x', { selector: { matchLabels: { a: 'b' } } }),
    ),
    on(
      'equal values are shared',
      apply('x', containers({ name: 'c', image: 'i' })),
      apply('y', containers({ name: 'c', image: 'i' })),
      apply('x', {}),
      apply('y', {}),
    ),
    on(
      'null is nothing',
      apply('x', { replicas: null }),
      apply('x', { replicas: 2 }, '&force=true'),
      apply('x', { replicas: null }),
    ),
    on(
      'env and volumes',
      apply('x', {
        template: {
          spec: {
            containers: [
              { name: 'c', env: [{ name: 'A', value: '1' }], volumeMounts: [{ name: 'v', mountPath: '/v' }] },
            ],
            volumes: [{ name: 'v', emptyDir: {} }],
          },
        },
      }),
      apply('x', { template: { spec: { containers: [{ name: 'c', env: [{ name: 'B', value: '1' }] }] } } }),
    ),
    on(
      'an update takes over',
      apply('x', { replicas: 4 }, '&force=true'),
      PATCH(`${DEP}/o?fieldManager=u`, M, { spec: { replicas: 5 } }),
      apply('x', { replicas: 4 }),
      apply('x', { replicas: 5 }),
    ),
    on('wrong types', apply('x', { replicas: 'many' }), apply('x', { template: [] }), apply('x', { nope: 1 })),
    on(
      'entries cleared',
      PATCH(`${DEP}/o`, M, { metadata: { managedFields: [{}] } }),
      apply('x', { replicas: 1 }),
      PATCH(`${DEP}/o?fieldManager=z`, M, { spec: { replicas: 2 } }),
    ),
    on(
      'strategic directives',
      PATCH(`${DEP}/o`, S, {
        spec: {
          template: {
            spec: {
              containers: [{ name: 'd', image: 'd' }],
              '$setElementOrder/containers': [{ name: 'd' }, { name: 'c' }],
            },
          },
        },
      }),
      PATCH(`${DEP}/o`, S, { spec: { template: { spec: { containers: [{ name: 'c', $patch: 'delete' }] } } } }),
      PATCH(`${DEP}/o`, S, {
        spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'e', image: 'e' }] } } },
      }),
      PATCH(`${DEP}/o`, S, { spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }),
    ),
    on(
      'strategic lists of values',
      PATCH(`${DEP}/o`, S, { metadata: { finalizers: ['x.y/a', 'x.y/b'] } }),
      PATCH(`${DEP}/o`, S, { metadata: { finalizers: ['x.y/c'], '$setElementOrder/finalizers': ['x.y/c', 'x.y/a'] } }),
      PATCH(`${DEP}/o`, S, { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.y/a', 'x.y/b', 'x.y/c'] } }),
    ),
  ]
}

function podStories(): readonly Named[] {
  const pod = (meta: Fields = {}, spec: Fields = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'o', ...meta },
    spec: { ...podSpec, ...spec },
  })
  const bound = { nodeName: 'nowhere' }
  return [
    [
      'Pod: grace shortened, prolonged, over',
      [
        POST(POD, pod({}, bound)),
        DELETE(`${POD}/o?gracePeriodSeconds=20`),
        DELETE(`${POD}/o?gracePeriodSeconds=30`),
        DELETE(`${POD}/o?gracePeriodSeconds=10`),
        DELETE(`${POD}/o`),
        PATCH(`${POD}/o`, M, { metadata: { deletionGracePeriodSeconds: 0 } }),
        DELETE(`${POD}/o?gracePeriodSeconds=0`),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: finished, with a finalizer',
      [
        POST(POD, pod({ finalizers: ['example.com/f'] }, bound)),
        PATCH(`${POD}/o/status`, M, { status: { phase: 'Succeeded' } }),
        DELETE(`${POD}/o`),
        PATCH(`${POD}/o/status`, M, { status: { phase: 'Failed' } }),
        PATCH(`${POD}/o`, M, { metadata: { finalizers: null } }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: what may change',
      [
        POST(POD, pod()),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 9 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 8 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: 10 } }),
        PATCH(`${POD}/o`, M, { spec: { activeDeadlineSeconds: null } }),
        PATCH(`${POD}/o`, S, { spec: { containers: [{ name: 'c', image: 'j' }] } }),
        PATCH(`${POD}/o`, J, [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'k', operator: 'Exists' } }]),
        PATCH(`${POD}/o`, M, { spec: { tolerations: [] } }),
        PATCH(`${POD}/o`, M, { spec: { terminationGracePeriodSeconds: 5 } }),
        PATCH(`${POD}/o`, M, { spec: { hostname: 'h' } }),
      ],
    ],
    [
      'Pod: status rules',
      [
        POST(POD, pod({}, bound)),
        PATCH(`${POD}/o/status`, M, { status: { podIP: 'x' } }),
        PATCH(`${POD}/o/status`, M, { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] } }),
        PATCH(`${POD}/o/status`, M, { status: { podIP: '10.0.0.1' } }),
        PATCH(`${POD}/o/status`, M, { status: { qosClass: 'Guaranteed' } }),
        PATCH(`${POD}/o/status`, M, { status: { nominatedNodeName: 'A B' } }),
        PATCH(`${POD}/o/status`, M, {
          status: {
            containerStatuses: [
              {
                name: 'c',
                state: { terminated: { exitCode: 1 } },
                image: 'i',
                imageID: '',
                ready: false,
                restartCount: 0,
              },
            ],
          },
        }),
        PATCH(`${POD}/o/status`, M, {
          status: {
            containerStatuses: [
              { name: 'c', state: { running: {} }, image: 'i', imageID: '', ready: true, restartCount: 0 },
            ],
          },
        }),
        PATCH(`${POD}/o/status`, M, { spec: { nodeName: 'else' }, metadata: { labels: { a: 'b' } } }),
        GET(`${POD}/o/status`),
      ],
    ],
    [
      'Pod: gates and binding',
      [
        POST(POD, pod({}, { schedulingGates: [{ name: 'x.y/g' }] })),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o' },
          target: { kind: 'Node', name: 'n' },
        }),
        PATCH(`${POD}/o`, M, { spec: { nodeSelector: { a: 'b' } } }),
        PATCH(`${POD}/o`, M, { spec: { schedulingGates: [] } }),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o', annotations: { a: 'b' }, labels: { 'topology.kubernetes.io/zone': 'z' } },
          target: { kind: 'Node', name: 'n' },
        }),
        POST(`${POD}/o/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'o' },
          target: { kind: 'Node', name: 'm' },
        }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: ephemeral containers',
      [
        POST(POD, pod({}, bound)),
        PATCH(`${POD}/o/ephemeralcontainers`, S, { spec: { ephemeralContainers: [{ name: 'e', image: 'e' }] } }),
        PATCH(`${POD}/o/ephemeralcontainers`, S, { spec: { ephemeralContainers: [{ name: 'e', image: 'f' }] } }),
        PATCH(`${POD}/o/ephemeralcontainers`, S, {
          spec: { ephemeralContainers: [{ name: 'f', image: 'f', targetContainerName: 'c' }] },
        }),
        PATCH(`${POD}/o/ephemeralcontainers`, M, { spec: { ephemeralContainers: [] } }),
        PATCH(`${POD}/o`, M, { spec: { ephemeralContainers: [] } }),
        GET(`${POD}/o/ephemeralcontainers`),
      ],
    ],
    [
      'Pod: resized',
      [
        POST(
          POD,
          pod({}, { ...bound, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] }),
        ),
        PATCH(`${POD}/o`, S, { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '200m' } } }] } }),
        PATCH(`${POD}/o/resize`, S, {
          spec: { containers: [{ name: 'c', resources: { requests: { cpu: '200m' } } }] },
        }),
        PATCH(`${POD}/o/resize`, S, { spec: { containers: [{ name: 'c', image: 'j' }] } }),
        PATCH(`${POD}/o/resize`, S, {
          spec: { containers: [{ name: 'c', resources: { limits: { memory: '1Gi' } } }] },
        }),
        GET(`${POD}/o`),
      ],
    ],
    [
      'Pod: selectors of fields',
      [
        POST(POD, pod({}, bound)),
        POST(POD, pod({ name: 'p' })),
        ...[
          'spec.nodeName%3Dnowhere',
          'spec.nodeName!%3Dnowhere',
          'status.phase%3DPending,spec.nodeName%3D',
          'spec.restartPolicy%3DNever',
          'status.podIP%3D10.0.0.1',
          'spec.schedulerName!%3Dx',
          'spec.nope%3D1',
          'metadata.namespace%3D$NS',
        ].map((s) =>
          GET(`${POD}?fieldSelector=${s}`, {
            accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
          }),
        ),
      ],
    ],
    [
      'Pod: evicted',
      [
        POST(POD, pod({ labels: { a: 'b' } }, bound)),
        POST(`${POD}/o/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'o' },
          deleteOptions: { dryRun: ['All'] },
        }),
        POST(`${POD}/o/eviction`, {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'o' },
          deleteOptions: { gracePeriodSeconds: 3 },
        }),
        GET(`${POD}/o`),
        POST(`${POD}/o/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'o' } }),
        GET(`${POD}/o`),
      ],
    ],
  ]
}

export function semantics(): readonly Case[] {
  return [...perKind(), ...workloadStories(), ...lists(), ...ownership(), ...podStories()].map(([name, steps]) => ({
    name,
    steps,
  }))
}
