/** Admission webhooks: what they are told, what becomes of their answers, and of those that do not answer. */
import type { Case, Step } from '../recording.ts'

// biome-ignore lint/suspicious/noExplicitAny: parts of objects of several kinds
type Any = any

const core = '/api/v1/namespaces/$NS'
const group = '/apis/admissionregistration.k8s.io/v1'
const json = JSON.stringify
const post = (p: string, body: Any, h?: Step['h']): Step => ({ m: 'POST', p, b: json(body), ...(h ? { h } : {}) })
const settled = ([first, ...rest]: readonly Step[]): readonly Step[] => [{ ...(first as Step), settle: true }, ...rest]
const merge = (p: string, body: Any): Step => ({
  m: 'PATCH',
  p,
  b: json(body),
  h: { 'content-type': 'application/merge-patch+json' },
})
const remove = (p: string, body?: Any): Step => ({ m: 'DELETE', p, ...(body ? { b: json(body) } : {}) })

const configMap = (name: string, more: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...more },
  data: { a: '1' },
})
const pod = (name: string): Any => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const every = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }
const only = (resource: string, more: Any = {}): Any => ({
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: [resource],
  ...more,
})

function hook(way: string, rules: Any[], more: Any = {}): Any {
  return {
    name: `${way.split('?')[0]?.replace(/[^a-z0-9]/g, '-') || 'x'}.example.com`,
    clientConfig: { url: `$HOOK/${way}`, caBundle: '$CA' },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$NS' } },
    ...more,
  }
}

const configuration = (kind: 'Mutating' | 'Validating', name: string, webhooks: Any[]): Step =>
  post(`${group}/${kind.toLowerCase()}webhookconfigurations`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks,
  })
const cleanup = (kind: 'Mutating' | 'Validating', name: string) =>
  remove(`${group}/${kind.toLowerCase()}webhookconfigurations/${name}`)

function around(name: string, kind: 'Mutating' | 'Validating', webhooks: Any[], steps: readonly Step[]): Case {
  return {
    name: `${kind.toLowerCase()} webhook: ${name}`,
    // Objects of the cluster, which others make meanwhile, match every selector of namespaces.
    ...(JSON.stringify(webhooks).includes('"*/*"') || name === 'scope' ? { serial: true } : {}),
    steps: [configuration(kind, '$NS-w', webhooks), ...settled(steps), cleanup(kind, '$NS-w')],
  }
}

const maps = only('configmaps', { operations: ['*'] })
const create = post(`${core}/configmaps`, configMap('a'))

export function webhookCases(): readonly Case[] {
  const refusals = ['deny', 'message', 'reason', 'status', 'ok', 'denywarn', 'warn', 'allow', 'audit', 'nosuchway']
  const failures = [
    ...['500', '503', '404', '403', '401', '400', 'text', 'blank', 'noresponse', 'otherkind', 'beta', 'nouid'],
    ...['wronguid', 'drop'],
  ]
  const patches = [
    ...['label', 'data', 'unknown', 'missing', 'test', 'badtype', 'empty', 'rename', 'notype', 'nopatch', 'wrongtype'],
  ]
  return [
    ...refusals.map((way) => around(way, 'Validating', [hook(way, [maps])], [create])),
    ...refusals.map((way) => around(way, 'Mutating', [hook(way, [maps])], [create])),
    ...failures.map((way) => around(way, 'Validating', [hook(way, [maps])], [create])),
    ...failures.map((way) =>
      around(`${way}, ignored`, 'Validating', [hook(way, [maps], { failurePolicy: 'Ignore' })], [create]),
    ),
    ...patches.map((way) =>
      around(way, 'Mutating', [hook(way, [maps])], [create, merge(`${core}/configmaps/a`, { data: { b: '2' } })]),
    ),
    ...patches.map((way) => around(`${way}, validating`, 'Validating', [hook(way, [maps])], [create])),
    ...patches.map((way) =>
      around(`${way}, ignored`, 'Mutating', [hook(way, [maps], { failurePolicy: 'Ignore' })], [create]),
    ),
    ...patches.map((way) =>
      around(`${way}, pods`, 'Mutating', [hook(way, [only('pods')])], [post(`${core}/pods`, pod('a'))]),
    ),
    around('image', 'Mutating', [hook('image', [only('pods')])], [post(`${core}/pods`, pod('a'))]),
    around('container', 'Mutating', [hook('container', [only('pods')])], [post(`${core}/pods`, pod('a'))]),
    around('time', 'Validating', [hook('hang', [maps], { timeoutSeconds: 1 })], [create]),
    around(
      'time, ignored',
      'Mutating',
      [hook('hang', [maps], { timeoutSeconds: 1, failurePolicy: 'Ignore' })],
      [create],
    ),
    around(
      'nobody listens',
      'Validating',
      [hook('', [maps], { clientConfig: { url: 'https://127.0.0.1:1/x' } })],
      [create],
    ),
    around('unknown authority', 'Validating', [hook('', [maps], { clientConfig: { url: '$HOOK/allow' } })], [create]),
    around(
      'no service',
      'Validating',
      [
        hook('', [maps], {
          clientConfig: { service: { namespace: '$NS', name: 'none', path: '/p' }, caBundle: '$CA' },
        }),
      ],
      [
        create,
        post(`${core}/services`, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'none' },
          spec: { ports: [{ port: 443 }] },
        }),
        { ...create, settle: true },
        post(`${core}/services`, {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'x' },
          spec: { ports: [{ port: 80 }] },
        }),
      ],
    ),
    around(
      'dry run',
      'Validating',
      [hook('allow', [maps], { sideEffects: 'NoneOnDryRun' })],
      [post(`${core}/configmaps?dryRun=All`, configMap('a'))],
    ),
    around(
      'what it is told: create, update, delete',
      'Validating',
      [hook('echo', [every])],
      [
        create,
        post(`${core}/configmaps?fieldManager=me&fieldValidation=Strict&dryRun=All`, configMap('b')),
        post(`${core}/pods`, pod('a')),
        post(`${core}/pods`, { ...pod(''), metadata: { generateName: 'probe-gen-' } }),
        post(`${core}/serviceaccounts/default/token`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { audiences: ['a'] },
        }),
        merge(`${core}/serviceaccounts/default`, { metadata: { labels: { a: 'b' } } }),
        remove(`${core}/serviceaccounts/default`),
        remove(`${core}/serviceaccounts/default`, {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          propagationPolicy: 'Background',
        }),
        remove(`${core}/serviceaccounts`),
        {
          m: 'PATCH',
          p: `${core}/configmaps/new?fieldManager=me&force=true`,
          b: json(configMap('new')),
          h: { 'content-type': 'application/apply-patch+yaml' },
        },
        post('/apis/apps/v1/namespaces/$NS/deployments', {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'd' },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: pod('x').spec },
          },
        }),
        merge('/api/v1/namespaces/$NS', { metadata: { labels: { x: 'y' } } }),
        { m: 'GET', p: `${core}/serviceaccounts/default` },
      ],
    ),
    around(
      'what it is told: subresources',
      'Validating',
      [hook('echo', [{ ...every, resources: ['pods/*', 'deployments/*'] }])],
      [
        post(`${core}/pods`, pod('a')),
        merge(`${core}/pods/a/status`, { status: { phase: 'Running' } }),
        post(`${core}/pods/a/binding`, {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name: 'a' },
          target: { kind: 'Node', name: 'n' },
        }),
        post(`${core}/pods/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }),
        merge(`${core}/pods/a/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } }),
        merge(`${core}/pods/a/resize`, {
          spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
        }),
        post('/apis/apps/v1/namespaces/$NS/deployments', {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'd' },
          spec: {
            selector: { matchLabels: { a: 'b' } },
            template: { metadata: { labels: { a: 'b' } }, spec: pod('x').spec },
          },
        }),
        merge('/apis/apps/v1/namespaces/$NS/deployments/d/scale', { spec: { replicas: 2 } }),
      ],
    ),
    ...(['Exact', 'Equivalent'] as const).map((matchPolicy) =>
      around(
        `other versions, ${matchPolicy}`,
        'Validating',
        [
          hook('echo', [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['*'] }], {
            matchPolicy,
          }),
        ],
        [
          post('/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers', {
            apiVersion: 'autoscaling/v2',
            kind: 'HorizontalPodAutoscaler',
            metadata: { name: 'h' },
            spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
          }),
        ],
      ),
    ),
    around(
      'selectors of objects',
      'Validating',
      [hook('deny', [maps], { objectSelector: { matchLabels: { guard: 'me' } } })],
      [
        create,
        post(`${core}/configmaps`, configMap('b', { labels: { guard: 'me' } })),
        merge(`${core}/configmaps/a`, { metadata: { labels: { guard: 'me' } } }),
        remove(`${core}/configmaps/a`),
      ],
    ),
    around(
      'scope',
      'Validating',
      [hook('deny', [{ ...every, scope: 'Cluster' }])],
      [create, merge('/api/v1/namespaces/$NS', { metadata: { labels: { x: 'y' } } })],
    ),
    around(
      'operations',
      'Validating',
      [hook('deny', [only('configmaps', { operations: ['UPDATE', 'DELETE'] })])],
      [
        create,
        merge(`${core}/configmaps/a`, { data: { b: '2' } }),
        remove(`${core}/configmaps/a`),
        remove(`${core}/configmaps`),
      ],
    ),
    around(
      'order and seeing each other',
      'Mutating',
      [
        hook('label?k=one', [maps], { name: 'one.example.com' }),
        hook('see', [maps]),
        hook('label?k=three', [maps], { name: 'three.example.com' }),
      ],
      [create],
    ),
    around(
      'reinvocation',
      'Mutating',
      [
        hook('count', [maps], { reinvocationPolicy: 'IfNeeded' }),
        hook('label?k=later', [maps], { name: 'later.example.com' }),
      ],
      [create],
    ),
    around(
      'no reinvocation',
      'Mutating',
      [
        hook('count', [maps], { reinvocationPolicy: 'Never' }),
        hook('label?k=later', [maps], { name: 'later.example.com' }),
      ],
      [create],
    ),
    around(
      'reinvocation of what nobody changed',
      'Mutating',
      [
        hook('label?k=earlier', [maps], { name: 'earlier.example.com' }),
        hook('count', [maps], { reinvocationPolicy: 'IfNeeded' }),
      ],
      [create],
    ),
    around(
      'a container added meets the other plugins again',
      'Mutating',
      [hook('container', [only('pods')])],
      [
        post(`${core}/limitranges`, {
          apiVersion: 'v1',
          kind: 'LimitRange',
          metadata: { name: 'l' },
          spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
        }),
        { ...post(`${core}/pods`, pod('a')), settle: true },
      ],
    ),
    {
      name: 'webhook configurations are not judged',
      steps: [
        configuration('Validating', '$NS-w', [
          hook('deny', [every], { namespaceSelector: {}, objectSelector: { matchLabels: { only: '$NS' } } }),
        ]),
        {
          ...post(`${group}/validatingwebhookconfigurations`, {
            apiVersion: 'admissionregistration.k8s.io/v1',
            kind: 'ValidatingWebhookConfiguration',
            metadata: { name: '$NS-v', labels: { only: '$NS' } },
          }),
          settle: true,
        },
        post(`${core}/configmaps`, configMap('b', { labels: { only: '$NS' } })),
        cleanup('Validating', '$NS-v'),
        cleanup('Validating', '$NS-w'),
      ],
    },
  ]
}
