/** What a client's author meets at the edges of built-in kinds: lists and maps that are sent empty, labels that are read from a template. */
import type { Case, Step } from '../recording.ts'
import { type Any, apply, get, merge, post, put } from './definitions.ts'

const FORCED = '?fieldManager=m&force=true'

const policies = '/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies'
const policy = (spec: Any, labels?: Any): Any => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'x', ...(labels ? { labels } : {}) },
  spec: { podSelector: {}, ...spec },
})

const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const hookConfiguration = (webhooks: readonly Any[]): Any => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: '$NS' },
  webhooks,
})
const hook: Any = {
  name: 'a.b.io',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  clientConfig: { url: 'https://127.0.0.1:1/' },
  namespaceSelector: { matchLabels: { no: 'never' } },
}

/** A generation of kinds that compare an empty list with an absent one as different; and what is immutable so. */
function empties(): readonly Case[] {
  const one = `${policies}/x`
  const hooked = `${hooks}/$NS`
  const labelled = (path: string, a: string) => merge(path, { metadata: { labels: { a } } })
  const frozen = (kind: string, plural: string, other: string) =>
    [{}, { data: {} }, { data: { a: 'YQ==' } }].map((data): Case => {
      const at = `/api/v1/namespaces/$NS/${plural}`
      const made = (more: Any) => ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, immutable: true, ...more })
      return {
        name: `empties: an immutable ${kind} of ${JSON.stringify(data)}`,
        steps: [
          post(at, made(data)),
          ...[{}, null].flatMap((value) =>
            ['data', other].flatMap((field) => [
              put(`${at}/x`, made({ ...data, [field]: value })),
              merge(`${at}/x`, { [field]: value }),
              merge(`${at}/x`, { [field]: { b: value } }),
            ]),
          ),
          apply(`${at}/x${FORCED}`, made({ [other]: {} })),
          apply(`${at}/x${FORCED}`, made({ data: {} })),
        ],
      }
    })
  return [
    {
      name: 'empties: a network policy',
      steps: [
        post(policies, policy({ ingress: [] })),
        put(one, policy({ ingress: [] })),
        put(one, policy({ ingress: [] }, { a: 'b' })),
        labelled(one, 'c'),
        labelled(one, 'c'),
        ...[{ ingress: [] }, { ingress: null }, { policyTypes: [] }, { podSelector: { matchLabels: {} } }].map((spec) =>
          merge(one, { spec }),
        ),
        ...[{ ingress: [] }, { ingress: [] }, {}].map((spec) => apply(`${one}${FORCED}`, policy(spec))),
        put(one, policy({})),
        merge(one, { spec: { ingress: [{ from: [] }] } }),
        merge(one, { spec: { ingress: [{ from: [] }] } }),
        labelled(one, 'd'),
      ],
    },
    {
      name: 'empties: a webhook configuration',
      steps: [
        post(hooks, hookConfiguration([])),
        labelled(hooked, 'c'),
        merge(hooked, { webhooks: [] }),
        labelled(hooked, 'd'),
        ...[[hook], [hook], [{ ...hook, matchConditions: [] }], [{ ...hook, rules: [] }], null].map((webhooks) =>
          merge(hooked, { webhooks }),
        ),
        apply(`${hooked}${FORCED}`, hookConfiguration([])),
        apply(`${hooked}${FORCED}`, hookConfiguration([])),
        labelled(hooked, 'e'),
      ],
    },
    ...frozen('ConfigMap', 'configmaps', 'binaryData'),
    ...frozen('Secret', 'secrets', 'stringData'),
  ]
}

/** A Job without labels is read with those of its template, whichever request took them away. */
function jobs(): readonly Case[] {
  const at = '/apis/batch/v1/namespaces/$NS/jobs'
  const job = (metadata: Any, active: number, more: Any = {}): Any => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'x', ...metadata },
    spec: {
      ...more.spec,
      template: { metadata: more.metadata, spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
    },
    status: { active },
  })
  const own = {
    spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
    metadata: { labels: { a: 'b' } },
  }
  const begun: Readonly<Record<string, Any>> = {
    'no labels': job({}, 0),
    'labels of its own': job({ labels: { x: 'y' } }, 0),
    'a selector of its own': job({}, 0, own),
  }
  const written: readonly Step[] = [
    put(`${at}/x/status`, job({}, 1)),
    merge(`${at}/x/status`, { metadata: { labels: null }, status: { active: 2 } }),
    put(`${at}/x/status`, job({ labels: { x: 'z' } }, 3)),
    put(`${at}/x/status`, job({ labels: {} }, 4, { metadata: { labels: { q: 'r' } } })),
    merge(`${at}/x`, { metadata: { labels: null }, spec: { suspend: true } }),
  ]
  return Object.entries(begun).map(([name, first]) => ({
    name: `a Job with ${name}, its labels taken away`,
    steps: [post(at, first), ...written.flatMap((step) => [step, get(`${at}/x`)])],
  }))
}

const inNamespace = '/api/v1/namespaces/$NS'
const pod: Any = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: [
      { name: 'c', image: 'i', resources: { requests: { cpu: '100m' }, limits: { cpu: '200m', memory: '64Mi' } } },
    ],
  },
}

/** A path that says watch, whose options are a list's unless the query says watch, too. */
function watchPaths(): readonly Case[] {
  const queries = [
    ...['', 'sendInitialEvents=true', 'sendInitialEvents=false', 'resourceVersionMatch=x', 'continue=x'],
    ...['sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Exact', 'limit=1'],
    ...['resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Exact&resourceVersion=0'],
    'resourceVersionMatch=Exact&resourceVersion={{0.metadata.resourceVersion}}',
  ]
  const named = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  return ['', 'watch=false&', 'watch=true&'].map((watch) => ({
    name: `a path that says watch, ${watch === '' ? 'alone' : watch}`,
    steps: [
      post(`${inNamespace}/configmaps`, named),
      ...queries.map((query) =>
        get(`/api/v1/watch/namespaces/$NS/configmaps/a?${watch}${query === '' ? '' : `${query}&`}timeoutSeconds=1`),
      ),
    ],
  }))
}

/** Headers are UTF-8; what is bound, evicted, connected to and resized. */
function podWrites(): readonly Case[] {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const latin = Buffer.from('Jürgen', 'utf8').toString('latin1')
  const asked = ['user', 'group', 'uid', 'extra-a'].map(
    (part): Step => ({
      ...post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review),
      h: { 'impersonate-user': 'u', [`impersonate-${part}`]: latin },
    }),
  )
  const binding = (metadata: Any) => ({ apiVersion: 'v1', kind: 'Binding', metadata, target: { name: 'n' } })
  const evicted = (query: string, dryRun?: readonly string[]) =>
    post(`${inNamespace}/pods/p/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p' },
      ...(dryRun ? { deleteOptions: { dryRun } } : {}),
    })
  const strategic = (p: string, b: Any): Step => ({
    ...merge(p, b),
    h: { 'content-type': 'application/strategic-merge-patch+json' },
  })
  const resized = (resources: Any) =>
    strategic(`${inNamespace}/pods/p/resize`, { spec: { containers: [{ name: 'c', resources }] } })
  const places = ['services/s/proxy', 'services/s/proxy/x', 'pods/p/proxy', 'pods/p/attach', 'pods/p/portforward']
  return [
    { name: 'impersonation in UTF-8', steps: asked },
    {
      name: 'bindings without a name',
      steps: [{}, { name: '' }, { generateName: 'x-' }].map((metadata) =>
        post(`${inNamespace}/bindings`, binding(metadata)),
      ),
    },
    {
      name: 'evictions that are dry runs twice',
      steps: [
        post(`${inNamespace}/pods`, pod),
        evicted('?dryRun=All&dryRun=All', ['All']),
        evicted('?dryRun=All', ['All', 'All']),
        evicted('?dryRun=All', ['All']),
        evicted('?dryRun=All&dryRun=All'),
        evicted('?dryRun=All', []),
        evicted('', ['All', 'All']),
        get(`${inNamespace}/pods/p`),
      ],
    },
    {
      name: 'a pod with what is warned of at its creation, written again',
      steps: [
        post(`${inNamespace}/pods`, {
          ...pod,
          spec: {
            ...pod.spec,
            schedulingGates: [{ name: 'g' }],
            nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
            topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' }],
          },
        }),
        ...[
          { nodeSelector: { x: 'y' } },
          { affinity: { nodeAffinity: {} } },
          { activeDeadlineSeconds: 50 },
          { schedulingGates: null },
        ].map((spec) => merge(`${inNamespace}/pods/p`, { spec })),
      ],
    },
    ...['0', '-1', '1'].map((cpu) => ({
      name: `a pod resized to a cpu of ${cpu}`,
      steps: [post(`${inNamespace}/pods`, pod), resized({ requests: { cpu } }), resized({ limits: { cpu } })],
    })),
    {
      name: 'a pod that requests no cpu',
      steps: [
        post(`${inNamespace}/pods`, {
          ...pod,
          spec: {
            containers: [
              { name: 'c', image: 'i', resources: { requests: { cpu: '0' }, limits: { cpu: '1', memory: '1Gi' } } },
            ],
          },
        }),
      ],
    },
    {
      name: 'dry runs of what is connected to',
      steps: places.flatMap((place) =>
        ['?dryRun=All', '?dryRun=', '?dryRun=x'].map((query) => post(`${inNamespace}/${place}${query}`, '')),
      ),
    },
  ]
}

/** Paths are what they are decoded to; slashes behind those of discovery do not count. */
function paths(): readonly Case[] {
  const ofPath: Readonly<Record<string, readonly string[]>> = {
    escaped: [
      '/%6civez',
      '/healthz%2Fping',
      '/healthz%2Fnope',
      '/apis%2Fapps',
      '/%61pi/v1%2Fnamespaces/$NS',
      '/%2Fapi',
    ],
    'of other bytes than UTF-8': ['/%E9', '/api/v1/%E9', `${inNamespace}/%E9/x`],
    'that cannot be decoded': ['/%zz', '/api/v1/%', `${inNamespace}/configmaps/%a?limit=1`],
    'with slashes': [
      '/apis//',
      '/apis//apps',
      '/apis//apps/x',
      '/api//',
      '/api/v1//',
      '/apis/apps//',
      '/apis/apps/v1///',
    ],
    'that name nothing to watch': ['/api/v1/watch', '/api/v1/watch?limit=1', '/apis/apps/v1/proxy?x=%41'],
  }
  return Object.entries(ofPath).map(([name, asked]) => ({
    name: `paths ${name}`,
    steps: asked.map((path) => get(path)),
  }))
}

/** A list's order where its items have directives. */
function orders(): readonly Case[] {
  const at = `${inNamespace}/services`
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: {
      clusterIP: 'None',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    },
  }
  const [replace, added] = [{ $patch: 'replace' }, { name: 'c', port: 82 }]
  const patches: readonly (readonly [unknown, unknown])[] = [
    ...[[], [{ port: 81 }], [{ port: 82 }], [{ name: 'a' }], null].flatMap((order) =>
      [[replace], [replace, added], [{ $patch: 'x' }], [{ $patch: 'merge' }]].map((ports) => [ports, order] as const),
    ),
    [[added, null], [{ port: 82 }]],
    [null, [{ port: 81 }]],
  ]
  const strategic = (path: string, patch: unknown): Step => ({
    ...merge(`${path}?dryRun=All`, patch),
    h: { 'content-type': 'application/strategic-merge-patch+json' },
  })
  const patched = ([ports, order]: readonly [unknown, unknown]): Step =>
    strategic(`${at}/s`, { spec: { ports, '$setElementOrder/ports': order } })
  return [
    { name: 'orders of lists and directives', steps: [post(at, service), ...patches.map(patched)] },
    ...ordersOfWorkloads(strategic),
  ]
}

/** Orders of no items, directives at each place of an order, elements that are no maps, lists that there are none of. */
function ordersOfWorkloads(strategic: (path: string, patch: unknown) => Step): readonly Case[] {
  const at = '/apis/apps/v1/namespaces/$NS/deployments'
  const env = [
    { name: 'E', value: '1' },
    { name: 'F', value: '2' },
  ]
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', finalizers: ['a/a', 'a/b', 'a/c'] },
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          containers: [
            { name: 'c', image: 'i', env },
            { name: 'd', image: 'j' },
          ],
        },
      },
    },
  }
  const ofPod = (spec: unknown) => ({ spec: { template: { spec } } })
  const ordered = (field: string, order: unknown, list?: unknown) => ({
    [`$setElementOrder/${field}`]: order,
    ...(list === undefined ? {} : { [field]: list }),
  })
  const [c, d, n, m] = ['c', 'd', 'n', 'm'].map((name) => ({ name, image: 'q' }))
  const replace = { $patch: 'replace' }
  const removed = (name: string) => ({ name, $patch: 'delete' })
  const ofContainers: readonly (readonly [unknown, unknown?])[] = [
    ...[[n], [n, m], [n, d], [], [replace, n], [removed('c')], [replace, n, d, m, c]].map(
      (list) => [[], list] as const,
    ),
    ...[
      [n, replace],
      [replace, n],
      [n, removed('c')],
      [removed('d'), n],
      [replace, replace, n],
    ].map((list) => [[n], list] as const),
    [
      [n, d],
      [n, replace],
    ],
    [
      [n, m],
      [n, m, removed('d')],
    ],
    [[c], [c, { name: 'd', $patch: 'merge' }]],
    [[c], [c, { $patch: 'x' }]],
    [
      [c, d],
      [c, { $patch: 'x' }],
    ],
    ...[[null], ['c'], [c, null], [c, d, null], [{}, null]].flatMap((order) => [
      [order] as const,
      [order, []] as const,
    ]),
  ]
  const ofEnv = [
    [[], [{ name: 'G', value: '3' }]],
    [[{ name: 'G' }], [{ name: 'G', value: '3' }, replace]],
    [[{ name: 'G' }], [{ name: 'G', value: '3' }, removed('E')]],
  ]
  const volumes = ['v', 'a'].map((name) => ({ name, emptyDir: {} }))
  const absent = ['volumes', 'tolerations', 'initContainers'].flatMap((field) => [
    ordered(field, [], []),
    ordered(field, [null], []),
    ordered(field, []),
  ])
  const finalizers = [['a/x'], ['a/c', 'a/x', 'a/b'], ['a/x', 'a/y', 'a/z']]
  const patches: readonly unknown[] = [
    ...ofContainers.map(([order, list]) => ofPod(ordered('containers', order, list))),
    ...ofEnv.map(([order, list]) =>
      ofPod(ordered('containers', [c, d], [{ name: 'c', ...ordered('env', order, list) }])),
    ),
    ...absent.map(ofPod),
    ofPod(ordered('volumes', [], volumes)),
    ofPod(ordered('volumes', [], [replace])),
    ofPod(ordered('volumes', [volumes[0]], [volumes[0], replace])),
    ...finalizers.map((list) => ({ metadata: ordered('finalizers', [], list) })),
    { metadata: ordered('finalizers', ['a/c'], [replace]) },
    { metadata: ordered('ownerReferences', [], []) },
  ]
  return [
    {
      name: 'orders of no items, and directives beside an order',
      steps: [post(at, deployment), ...patches.map((patch) => strategic(`${at}/d`, patch))],
    },
  ]
}

export const edgeCases = (): readonly Case[] => [
  ...empties(),
  ...jobs(),
  ...watchPaths(),
  ...podWrites(),
  ...paths(),
  ...orders(),
]
