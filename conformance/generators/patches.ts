/**
 * What patches refuse and in which words: values of wrong types at places of every type by each way of writing, keys that no
 * header and no message can hold as they are, several things wrong at once, and kinds whose updates are judged apart.
 */
import type { Case, Step } from '../recording.ts'
import { DELETE, PATCH, POST, PUT } from './hostile-requests.ts'
import { A, J, M, S } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Any = any

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: 'y' } }
const configMaps = '/api/v1/namespaces/$NS/configmaps'

const VALUES = ['', 'x', '1Gi', 'é', 'YQ==', '2020-01-01T00:00:00Z', 1, -1, 1.5, true, null, [], {}, [1], { a: 1 }]

/** A base object, and the places in it whose values are replaced. */
const PLACES: readonly (readonly [string, Any, readonly string[]])[] = [
  [
    '/api/v1/namespaces/$NS/persistentvolumeclaims',
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'a' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    ['spec.resources.requests.storage', 'metadata.creationTimestamp', 'metadata.selfLink', 'metadata.managedFields'],
  ],
  [
    '/apis/coordination.k8s.io/v1/namespaces/$NS/leases',
    { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: {} },
    ['spec.renewTime', 'spec.leaseDurationSeconds'],
  ],
  ['/api/v1/namespaces/$NS/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, ['data.k']],
  [
    '/apis/apps/v1/namespaces/$NS/controllerrevisions',
    { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'a' }, revision: 1, data: { a: 1 } },
    ['data', 'data.x'],
  ],
  [
    '/apis/policy/v1/namespaces/$NS/poddisruptionbudgets',
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a' },
      spec: { selector: { matchLabels: { a: 'b' } } },
    },
    ['spec.minAvailable', 'spec.selector'],
  ],
]

const inside = (path: readonly string[], value: Any): Any => path.reduceRight((inner, key) => ({ [key]: inner }), value)

function replaced(object: Any, [key, ...rest]: readonly string[], value: Any): Any {
  return { ...object, [key!]: rest.length === 0 ? value : replaced(object[key!] ?? {}, rest, value) }
}

const values = PLACES.flatMap(([path, object, places]) =>
  places.map((place): Case => {
    const keys = place.split('.')
    const at = `${path}/${object.metadata.name}?dryRun=All`
    return {
      name: `${object.kind}: values of ${place}`,
      steps: [
        POST(path, object),
        ...VALUES.flatMap((value): readonly Step[] => [
          PUT(at, replaced(object, keys, value)),
          PATCH(at, M, inside(keys, value)),
          PATCH(at, S, inside(keys, value)),
          PATCH(at, J, [{ op: 'add', path: `/${keys.join('/')}`, value }]),
          PATCH(`${at}&fieldManager=me&force=true`, A, replaced(object, keys, value)),
        ]),
        PUT(at, `${JSON.stringify(replaced(object, keys, 0)).replace(/:0\b/, ':100000000000000000000')}`),
      ],
    }
  }),
)

const KEYS = ['日本', '\u{1f600}', 'a\u0001b', 'a\tb', 'a\nb', '"', '\\', '\u202e', 'a,b', '\ud800', '']

const twice = (key: string) => `{${JSON.stringify(key)}:"a",${JSON.stringify(key)}:"b"}`

const keys = ['', '&fieldValidation=Strict'].map(
  (strict): Case => ({
    name: `keys of all kinds ${strict}`,
    steps: [
      POST(configMaps, configMap),
      ...KEYS.flatMap((key): readonly Step[] => {
        const at = `${configMaps}/a?dryRun=All${strict}`
        const unknown = { [key]: 1, metadata: { [key]: 2 } }
        return [
          PUT(at, { ...configMap, [key]: 1 }),
          PATCH(at, M, unknown),
          PATCH(at, S, unknown),
          PATCH(at, J, [{ op: 'add', path: '/data/y', value: 'z', [key]: 1 }]),
          PATCH(at, M, `{"data":${twice(key)}}`),
          PATCH(`${at}&fieldManager=me`, A, `{"apiVersion":"v1","kind":"ConfigMap","data":${twice(key)}}`),
        ]
      }),
      ...['"\\ud83d\\ude00"', '"\\\\ud83d"', "'\\ud83d'", '"\\u00e9"'].map((text) =>
        PATCH(
          `${configMaps}/a?dryRun=All&fieldManager=me`,
          A,
          `apiVersion: v1\nkind: ConfigMap\ndata:\n  k: ${text}\n`,
        ),
      ),
    ],
  }),
)

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', annotations: { html: '<a>&\u2028' } },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const deployments = '/apis/apps/v1/namespaces/$NS/deployments'

/** Of several things wrong at once the first in the order of each patch is told. */
const WRONG: readonly Any[] = [
  { spec: { template: { metadata: 'x' }, progressDeadlineSeconds: 'y' } },
  { spec: { template: { spec: { containers: [{ name: 1, image: 2, args: 3 }] } } } },
  { spec: { strategy: { rollingUpdate: { maxSurge: [], maxUnavailable: {} } }, selector: 5 } },
  { spec: 'x', metadata: 'y' },
  { metadata: 'a\u0001b' },
  { metadata: { annotations: { x: '<b>', y: 1 } } },
  { spec: { zzz: 1, aaa: 2, template: { zz: 1 } }, aaa: 1, metadata: { zz: 1 } },
  { apiVersion: { z: 1, a: [{ z: 1, a: 2 }] } },
  { spec: { replicas: '\u202e' } },
]

const several: Case = {
  name: 'several things wrong',
  steps: [
    POST(deployments, deployment),
    ...WRONG.flatMap((wrong): readonly Step[] => [
      PATCH(`${deployments}/d?dryRun=All`, M, wrong),
      PATCH(`${deployments}/d?dryRun=All`, S, wrong),
      PATCH(
        `${deployments}/d?dryRun=All`,
        J,
        Object.entries(wrong).map(([key, value]) => ({ op: 'add', path: `/${key}`, value })),
      ),
    ]),
  ],
}

const ofCluster = (path: string, object: Any, changes: readonly Any[], more: readonly Step[] = []): Case => ({
  name: `${object.kind}: changes that are judged`,
  steps: [
    POST(path, object),
    ...changes.flatMap((change): readonly Step[] => [
      PATCH(`${path}/${object.metadata.name}?dryRun=All`, M, change),
      POST(`${path}?dryRun=All`, { ...object, ...change, metadata: { name: `${object.metadata.name}-2` } }),
    ]),
    ...more,
    DELETE(`${path}/${object.metadata.name}`),
  ],
})

const attachments = '/apis/storage.k8s.io/v1/volumeattachments'
const attachment = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'VolumeAttachment',
  metadata: { name: 'v-$NS' },
  spec: { attacher: 'x.example.com', nodeName: 'n', source: { persistentVolumeName: 'p' } },
}
const attachedBy = (attacher: unknown) => ({ spec: { ...attachment.spec, attacher } })

const runtimeClass = {
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name: 'r-$NS' },
  handler: 'kata',
  overhead: { podFixed: { cpu: '1' } },
}
const tolerating = (...tolerations: readonly object[]) => ({ scheduling: { tolerations } })

const drivers = '/apis/storage.k8s.io/v1/csidrivers'
const driver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: 'd-$NS' },
  spec: { tokenRequests: [{ audience: 'a' }] },
}
const driving = (more: object) => ({ spec: { ...driver.spec, ...more } })

const updates: readonly Case[] = [
  ofCluster(attachments, attachment, ['', 'é', null, 'A', 'a b', 'x'.repeat(64), 'y.example.com'].map(attachedBy), [
    PATCH(`${attachments}/v-$NS/status`, M, { status: { attached: true, attachmentMetadata: { a: 'b' } } }),
  ]),
  ofCluster('/apis/node.k8s.io/v1/runtimeclasses', runtimeClass, [
    ...['A', 'x', 'x'.repeat(64)].map((handler) => ({ handler })),
    ...[{ MEM: '1' }, { cpu: '-1' }, null, { 'example.com/x': '1.5' }].map((podFixed) => ({ overhead: { podFixed } })),
    { scheduling: { nodeSelector: { 'a b': 'c' } } },
    tolerating({ key: 'k', operator: 'Exists', value: 'x' }),
    tolerating({ key: 'k', operator: 'Exists' }, { key: 'k', operator: 'Exists' }),
    { handler: 'A', overhead: { podFixed: { MEM: '1' } }, scheduling: { nodeSelector: { a: '!' } } },
  ]),
  ofCluster(drivers, driver, [
    { metadata: { labels: { a: 'b' } } },
    driving({ tokenRequests: [{ audience: 'b' }] }),
    driving({ tokenRequests: [] }),
    driving({ requiresRepublish: true }),
    driving({ serviceAccountTokenInSecrets: false }),
    driving({ storageCapacity: true }),
    driving({ podInfoOnMount: true }),
    driving({ seLinuxMount: true }),
    driving({ nodeAllocatableUpdatePeriodSeconds: 10 }),
  ]),
]

export const patchCases = (): readonly Case[] => [...values, ...keys, several, ...updates]
