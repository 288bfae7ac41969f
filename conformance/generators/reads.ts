/** How reads are asked for: forms and encodings (Accept), selectors of every kind, versions, and watches in each form. */
import type { Case, Step } from '../recording.ts'
import { CM, configMap, GET, PATCH, POST } from './hostile-requests.ts'

const J = 'application/json'
const P = 'application/vnd.kubernetes.protobuf'
const Y = 'application/yaml'
const as = (kind: string, version = 'v1') => `as=${kind};v=${version};g=meta.k8s.io`
const [T, ONE, LIST] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'].map((kind) => as(kind)) as [
  string,
  string,
  string,
]
const DISCOVERY = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

const GADGETS = '/apis/probe.example.com/v1/namespaces/$NS/gadgets'
const gadget = (name: string) => ({
  apiVersion: 'probe.example.com/v1',
  kind: 'Gadget',
  metadata: { name },
  spec: { mode: 'A' },
})

type Named = readonly [name: string, steps: readonly Step[], more?: Partial<Case>]

/** Answers in protobuf hold times: of those only what JSON or an error answers is asked here. */
const ACCEPTS = [
  ...['*', '*/*', 'application/*', 'text/*', 'text/html', 'text/plain, */*', 'garbage', ';', 'a/b/c'],
  ...[`${J},${P}`, `${J};q=0.9,${P};q=0.5`, `${J};q=0`, `${J};q=2`, `${J};;q=1`, ` ${J} `, `,,${J}`, `*/*,${J}`],
  ...[`${J};${T}`, `${P};${T}`, `${P};${T},${J};${T},${J}`, `${J},${J};${T}`, `${J};${as('Table', 'v1beta1')}`],
  ...[`${J};${as('Table', 'v2')}`, `${J};as=Table;v=v1;g=other`, `${J};as=Table`, `${J};as=Table;v=v1`],
  ...[`${J};${ONE}`, `${J};${LIST}`, `${J};${as('PartialObjectMetadata', 'v1beta1')}`, `${P};${T},${J};${ONE}`],
  ...[
    `${J};${as('Bogus')}`,
    `${J};${as('Bogus')},${J}`,
    `${J};v=v1`,
    `${J};as=;v=v1;g=meta.k8s.io`,
    `${J};v=`,
    `${J};as=`,
  ],
  ...[
    `${J};stream=watch`,
    `${J};stream=other`,
    `${P};stream=other`,
    `${J};charset=utf-8`,
    `${J};a=b;c`,
    `${J};pretty=1`,
  ],
  ...['application/xml', `application/xml,${J};q=0.1`, 'application/cbor', `application/cbor,${J}`, 'APPLICATION/JSON'],
  ...[`*/*;${T}`, `application/*;${T},${J}`, `${J};v=v1,*/*`, '*/json', `text/*,*/*;q=0.1`],
]

function negotiation(): readonly Named[] {
  return [
    [CM, configMap('a', { data: { k: 'v' } }), {}] as const,
    [GADGETS, gadget('a'), { gadget: true }] as const,
  ].flatMap(([path, object, more]) =>
    ACCEPTS.map((accept): Named => {
      const h = { accept }
      return [
        `accept ${accept} at ${path}`,
        [
          POST(path, object),
          { ...GET(path, h) },
          { ...GET(`${path}/a`, h) },
          { ...GET(`${path}/none`, h) },
          { ...POST(`${path}?dryRun=All`, { ...object, metadata: { name: 'b' } }), h },
          { ...GET(`${path}?labelSelector=((`, h) },
        ],
        more,
      ]
    }),
  )
}

function discovery(): readonly Named[] {
  // Not /apis: which groups there are, other cases decide.
  const paths = ['/api', '/apis/apps', '/apis/apps/v1', '/api/v1', '/apis/none', '/apis/apps/v2']
  const accepts = ['*', 'application/*', 'text/html', `${J};v=v1`, `${J};${T}`, `${J};as=APIGroupDiscoveryList;v=v2`]
  return paths.map(
    (path): Named => [
      `discovery ${path}`,
      [
        ...accepts.map((accept) => GET(path, { accept })),
        ...(path === '/api' ? [] : [GET(path, { accept: `${J};${DISCOVERY}` })]),
      ],
      { ns: false },
    ],
  )
}

const KINDS: readonly (readonly [group: string, resources: string])[] = [
  [
    '/api/v1',
    'configmaps endpoints events limitranges persistentvolumeclaims pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services nodes namespaces persistentvolumes',
  ],
  ['/apis/apps/v1', 'controllerrevisions daemonsets deployments replicasets statefulsets'],
  ['/apis/batch/v1', 'jobs cronjobs'],
  ['/apis/autoscaling/v2', 'horizontalpodautoscalers'],
  ['/apis/events.k8s.io/v1', 'events'],
  ['/apis/discovery.k8s.io/v1', 'endpointslices'],
  ['/apis/coordination.k8s.io/v1', 'leases'],
  ['/apis/certificates.k8s.io/v1', 'certificatesigningrequests clustertrustbundles'],
  ['/apis/resource.k8s.io/v1', 'resourceslices resourceclaims'],
  ['/apis/networking.k8s.io/v1', 'ingresses networkpolicies ipaddresses'],
  ['/apis/rbac.authorization.k8s.io/v1', 'roles clusterroles'],
  ['/apis/storage.k8s.io/v1', 'storageclasses'],
  ['/apis/apiextensions.k8s.io/v1', 'customresourcedefinitions'],
  ['/apis/apiregistration.k8s.io/v1', 'apiservices'],
]
const LABELS = [
  ...['metadata.name', 'metadata.namespace', 'metadata.labels.a', 'metadata.uid', 'name', 'type', 'reason', 'source'],
  ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName', 'spec.hostNetwork'],
  ...[
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
    'status.replicas',
    'status.successful',
  ],
  ...['spec.unschedulable', 'spec.clusterIP', 'spec.type', 'spec.signerName', 'spec.driver', 'reportingComponent'],
  ...[
    'reportingController',
    'involvedObject.name',
    'involvedObject.fieldPath',
    'regarding.name',
    'regarding.fieldPath',
  ],
]

function selectors(): readonly Named[] {
  return KINDS.flatMap(([group, resources]) =>
    resources.split(' ').map((resource): Named => {
      const at = `${group}/${resource}?limit=1&fieldSelector=`
      const none = (selector: string) => GET(`${at}${encodeURIComponent(selector)}`, { accept: `${J};${LIST}` })
      return [
        `fields of ${group} ${resource}`,
        // What is selected is nothing: the answer shows only whether the label is known.
        [...LABELS.map((label) => none(`metadata.name=no-such,${label}=no-such`)), none('z=1,a=2'), none('b!=1,b=1')],
        { ns: false },
      ]
    }),
  )
}

function versions(): readonly Named[] {
  const far = 'resourceVersion=999999999'
  return [
    ...[CM, GADGETS].map(
      (path): Named => [
        `lists of ${path}`,
        [
          POST(path, path === CM ? configMap('a') : gadget('a')),
          ...['', '?limit=1', '?resourceVersion=0', '?labelSelector=a%3Db', '?fieldSelector=metadata.name%3Dnone'].map(
            (q) => GET(`${path}${q}`),
          ),
          GET(`${path}?labelSelector=a%3Db`, { accept: `${J};${LIST}` }),
        ],
        { gadget: path === GADGETS },
      ],
    ),
    ['an object asked for by name with the old export', [POST(CM, configMap('a')), GET(`${CM}/a?export=true`)]],
    ['a watch from a version that is none', [GET(`${CM}?watch=1&resourceVersion=x&timeoutSeconds=1`)]],
    // The current version stands in the message.
    ...[`${CM}?${far}x`, `${CM}/a?${far}999999999999`].map(
      (path): Named => [`a version too large to be one: ${path}`, [GET(path)]],
    ),
  ]
}

function watches(): readonly Named[] {
  // What comes when of a watch is a matter of time: here is only whether there is one.
  const refused = [`${P};${T}`, `${J};stream=other`, `${J};${as('Bogus')}`]
  return [[CM, {}] as const, [GADGETS, { gadget: true }] as const].map(([path, more]) => [
    `watches that nobody gives at ${path}`,
    refused.map((accept) => GET(`${path}?watch=1&timeoutSeconds=1`, { accept })),
    more,
  ])
}

function contentTypes(): readonly Named[] {
  const kinds = ['json-patch', 'merge-patch', 'strategic-merge-patch'].map((kind) => `application/${kind}+json`)
  const types = [
    ...kinds,
    J,
    Y,
    'text/plain',
    'Application/Merge-Patch+JSON',
    'application/merge-patch+json; charset=utf-8',
  ]
  const bodies = ['{}', '[]', '{"metadata":{"labels":{"x":"y"}}}', 'null', '']
  const malformed = [
    ';',
    `${J};;`,
    `${J};`,
    `${J};charset`,
    `${J};charset="utf-8"`,
    'application',
    `${J} x`,
    `${J};a=b;a=c`,
  ]
  return [[CM, configMap('a'), {}] as const, [GADGETS, gadget('a'), { gadget: true }] as const].flatMap(
    ([path, object, more]) => [
      ...types.map(
        (type): Named => [
          `patch ${type} at ${path}`,
          [
            POST(path, object),
            ...['a', 'none'].flatMap((name) =>
              bodies.map((b): Step => ({ ...PATCH(`${path}/${name}?dryRun=All`, type, {}), b })),
            ),
          ],
          more,
        ],
      ),
      [
        `malformed types at ${path}`,
        malformed.map((type) => ({ ...POST(`${path}?dryRun=All`, object), h: { 'content-type': type } })),
        more,
      ] as Named,
    ],
  )
}

/** What a body says of itself that the path says otherwise. */
function places(): readonly Named[] {
  const b = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'other' } }
  return [
    [
      'another name and another namespace',
      [
        POST(CM, configMap('a')),
        ...['application/merge-patch+json', 'application/apply-patch+yaml'].flatMap((type) =>
          ['a', 'none'].map((name) => PATCH(`${CM}/${name}?fieldManager=m`, type, b)),
        ),
        { ...PATCH(`${CM}/a`, J, b), m: 'PUT' },
        POST(CM, b),
      ],
    ],
    ...[CM, GADGETS].map(
      (path): Named => [
        `names that are no part of a path, at ${path}`,
        ['.', '..', '%2e%2e', '%25', 'a%25b', 'A', 'x'.repeat(254)].flatMap((name) => [
          GET(`${path}/${name}`),
          { ...GET(`${path}/${name}`), m: 'DELETE' },
          PATCH(`${path}/${name}`, 'application/merge-patch+json', {}),
        ]),
        { gadget: path === GADGETS },
      ],
    ),
  ]
}

export function reads(): readonly Case[] {
  const all = [negotiation, discovery, selectors, versions, watches, contentTypes, places]
  return all.flatMap((part) => part()).map(([name, steps, more]) => ({ name, ...more, steps }))
}
