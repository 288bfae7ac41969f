/** Which FlowSchema and priority level requests are judged by, told in the headers of their answers; and what warnings cost. */
import type { Case, Step } from '../recording.ts'
import { CM, configMap, POST } from './hostile-requests.ts'

const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1'
const API = 'flowcontrol.apiserver.k8s.io/v1'
const FLOW_HEADERS = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid']

const level = (name: string, spec: object) =>
  POST(`${FLOW}/prioritylevelconfigurations`, {
    apiVersion: API,
    kind: 'PriorityLevelConfiguration',
    metadata: { name },
    spec,
  })
const schema = (name: string, of: string, matchingPrecedence: number, rules: readonly object[]) =>
  POST(`${FLOW}/flowschemas`, {
    apiVersion: API,
    kind: 'FlowSchema',
    metadata: { name },
    spec: { priorityLevelConfiguration: { name: of }, matchingPrecedence, rules },
  })
const LIMITED = { type: 'Limited', limited: { nominalConcurrencyShares: 10, limitResponse: { type: 'Reject' } } }
const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const user = (name: string) => [{ kind: 'User', user: { name } }]
const as = (m: string, p: string, name: string, more: Readonly<Record<string, string>> = {}): Step => ({
  m,
  p,
  h: { 'impersonate-user': name, ...more },
})
const remove = (...names: readonly string[]): readonly Step[] => names.map((p) => ({ m: 'DELETE', p: `${FLOW}/${p}` }))

/** A real server's caches learn of new ones a moment later. */
const settled = (steps: readonly Step[]): readonly Step[] =>
  steps.map((step, i) => (i === 0 ? { ...step, settle: true } : step))

function flows(): readonly Case[] {
  const [PL, FS] = ['prioritylevelconfigurations/$NS', 'flowschemas/$NS']
  const of = (name: string, rules: readonly object[], asked: readonly Step[]): Case => ({
    name: `flow ${name}`,
    headers: FLOW_HEADERS,
    steps: [level('$NS', LIMITED), schema('$NS', '$NS', 200, rules), ...settled(asked), ...remove(FS, PL)],
  })
  const paths = ['/nope', '/nope/x', '/nopex', '/api', '/api/', '/api/v1', '/livez', '/livez/ping', '/livezz', '/x']
  return [
    of(
      'of a user, in all he asks',
      [{ subjects: user('u-$NS'), ...EVERYTHING }],
      [
        ...['GET', 'POST', 'HEAD', 'DELETE'].map((m) => as(m, '/api', 'u-$NS')),
        ...['GET', 'POST', 'DELETE'].map((m) => as(m, CM, 'u-$NS')),
        as('GET', `${CM}?watch=1&timeoutSeconds=1`, 'u-$NS'),
        as('GET', '/api/v1/namespaces/$NS/pods/x/log', 'u-$NS'),
        as('GET', '/api', 'u-$NS', { 'impersonate-group': 'system:masters' }),
        as('GET', '/livez', 'u-$NS'),
        as('GET', '/api', 'other-$NS'),
      ],
    ),
    of(
      'of paths',
      [
        {
          subjects: user('u-$NS'),
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/nope', '/api/*', '/x'] }],
        },
      ],
      [...paths.map((p) => as('GET', p, 'u-$NS')), as('POST', '/api', 'u-$NS'), as('HEAD', '/api', 'u-$NS')],
    ),
    of(
      'of one verb on one resource in one namespace',
      [
        {
          subjects: user('u-$NS'),
          resourceRules: [
            { verbs: ['get'], apiGroups: [''], resources: ['configmaps', 'pods/status'], namespaces: ['$NS'] },
          ],
        },
      ],
      [
        ...[`${CM}/x`, CM, '/api/v1/namespaces/other/configmaps/x', '/api/v1/namespaces/$NS/secrets/x'],
        ...['/api/v1/namespaces/$NS/pods/x/status', '/api/v1/namespaces/$NS/pods/x', '/api/v1/namespaces/$NS', '/api'],
        ...['/apis/apps/v1/namespaces/$NS/deployments/x', '/api/v1/configmaps'],
      ].map((p) => as('GET', p, 'u-$NS')),
    ),
    of(
      'of a group, and of service accounts',
      [
        { subjects: [{ kind: 'Group', group: { name: 'g-$NS' } }], ...EVERYTHING },
        { subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: '$NS', name: '*' } }], ...EVERYTHING },
        { subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'x', name: 'one-$NS' } }], ...EVERYTHING },
      ],
      [
        as('GET', '/api', 'u', { 'impersonate-group': 'g-$NS' }),
        as('GET', '/api', 'u', { 'impersonate-group': 'h-$NS' }),
        ...['system:serviceaccount:$NS:a', 'system:serviceaccount:x:one-$NS', 'system:serviceaccount:x:two'].map(
          (name) => as('GET', '/api', name),
        ),
      ],
    ),
    {
      name: 'flow with precedence, and without its level',
      headers: FLOW_HEADERS,
      steps: [
        level('$NS', LIMITED),
        schema('$NS-b', '$NS', 300, [{ subjects: user('u-$NS'), ...EVERYTHING }]),
        schema('$NS-a', '$NS', 300, [{ subjects: user('u-$NS'), ...EVERYTHING }]),
        schema('$NS-c', '$NS-nowhere', 250, [{ subjects: user('u-$NS'), ...EVERYTHING }]),
        ...settled([as('GET', '/api', 'u-$NS')]),
        ...remove('flowschemas/$NS-a'),
        ...settled([as('GET', '/api', 'u-$NS')]),
        ...remove('flowschemas/$NS-b', 'flowschemas/$NS-c', PL),
        ...settled([as('GET', '/api', 'u-$NS')]),
      ],
    },
    {
      name: 'flow of those that every cluster has',
      headers: FLOW_HEADERS,
      ns: false,
      steps: [
        ['/api/v1/nodes/x/status', 'system:node:x', 'system:nodes'],
        ['/api/v1/namespaces/default/pods/x/status', 'system:node:x', 'system:nodes'],
        ['/apis/coordination.k8s.io/v1/namespaces/x/leases/a', 'system:node:x', 'system:nodes'],
        ['/apis/coordination.k8s.io/v1/leases', 'system:kube-scheduler', ''],
        ['/apis/coordination.k8s.io/v1/namespaces/x/leases/a', 'system:kube-scheduler', ''],
        ['/apis/coordination.k8s.io/v1/namespaces/x/leases/a', 'system:kube-controller-manager', ''],
        ['/api/v1/namespaces/x/pods/y', 'system:kube-controller-manager', ''],
        ['/api/v1/namespaces/x/pods/y', 'system:serviceaccount:kube-system:a', ''],
        ['/api/v1/namespaces/x/pods/y', 'system:serviceaccount:b:a', ''],
        ['/readyz', 'somebody', ''],
        ['/api', 'somebody', ''],
      ].map(([p = '', name = '', group = '']) =>
        as('GET', p, name, group === '' ? {} : { 'impersonate-group': group }),
      ),
    },
  ]
}

/** Unknown fields, each of which is a warning. */
const warned = (count: number, length: number): Step =>
  POST(`${CM}?dryRun=All`, {
    ...configMap('w'),
    ...Object.fromEntries(
      Array.from({ length: count }, (_, i) => [`f${String(i).padStart(3, '0')}${'y'.repeat(length)}`, 1]),
    ),
  })

const SIZES: readonly (readonly [count: number, length: number])[] = [
  ...([
    [1, 10],
    [1, 1000],
    [1, 4076],
    [1, 4077],
    [1, 5000],
    [10, 50],
    [58, 50],
    [59, 50],
    [60, 50],
  ] as const),
  ...([
    [60, 150],
    [100, 10],
    [5, 900],
    [3, 2000],
    [120, 40],
  ] as const),
]

export function flowCases(): readonly Case[] {
  return [
    ...flows(),
    ...SIZES.map(
      ([count, length]): Case => ({ name: `warnings ${count} of ${length}`, steps: [warned(count, length)] }),
    ),
  ]
}
