/** Evictions: what budgets allow them, in each state of pod and budget; what they are told and what they leave behind. */
import type { Case, Step } from '../recording.ts'
import { type Any, get, merge, post, put, remove } from './definitions.ts'
import { foreign } from './semantic-parts.ts'

const PODS = '/api/v1/namespaces/$NS/pods'
const BUDGETS = '/apis/policy/v1/namespaces/$NS/poddisruptionbudgets'
/** Managers are told by time, those of one second by name: this one comes before the server's own either way. */
const MANAGER = '?fieldManager=a'
const labels = { app: 'a' }

const pod = (name: string, metadata: Any = {}): Step =>
  post(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels, ...metadata },
    spec: { nodeName: 'nowhere', containers: [{ name: 'c', image: 'i' }] },
  })
const status = (name: string, value: Any): Step => merge(`${PODS}/${name}/status`, { status: value })
const ready = (is: string) => [{ type: 'Ready', status: is }]
const STATES: Readonly<Record<string, Any>> = {
  ready: { phase: 'Running', conditions: ready('True') },
  unready: { phase: 'Running', conditions: ready('False') },
  'of unknown readiness': { phase: 'Running', conditions: ready('Unknown') },
  'without conditions': { phase: 'Running' },
  'pending and ready': { phase: 'Pending', conditions: ready('True') },
  pending: { phase: 'Pending' },
  succeeded: { phase: 'Succeeded' },
  failed: { phase: 'Failed' },
}
const budget = (name: string, spec: Any = {}, metadata: Any = {}): Step =>
  post(`${BUDGETS}${MANAGER}`, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, ...metadata },
    spec: { minAvailable: 1, selector: { matchLabels: labels }, ...spec },
  })
/** disruptionsAllowed of expectedPods, of which so many are healthy and so many must be. */
const allowing = (allowed: number, healthy: number, desired: number, more: Any = {}): Any => ({
  disruptionsAllowed: allowed,
  currentHealthy: healthy,
  desiredHealthy: desired,
  expectedPods: Math.max(healthy, desired),
  observedGeneration: 1,
  ...more,
})
const judged = (name: string, value: Any): Step => merge(`${BUDGETS}/${name}/status${MANAGER}`, { status: value })
const evict = (name: string, deleteOptions?: Any, query = '', more: Any = {}): Step =>
  post(`${PODS}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...(deleteOptions === undefined ? {} : { deleteOptions }),
    ...more,
  })
/** A real server reads budgets from a cache: what was written before must have reached it. */
const soon = (step: Step): Step => ({ ...step, settle: true })
const see = (name: string): readonly Step[] => [get(`${PODS}/${name}`), get(`${BUDGETS}/b`)]

const budgets: Readonly<Record<string, Any>> = {
  'that allows one': allowing(1, 2, 1),
  'that is exhausted': allowing(0, 1, 1),
  'that is exhausted, with too few healthy': allowing(0, 1, 2),
  'that wants none and has none': allowing(0, 0, 0),
  'that wants none and allows none': allowing(0, 1, 0),
}
const policies = [undefined, 'IfHealthyBudget', 'AlwaysAllow']

const matrix: readonly (readonly [string, readonly Step[]])[] = Object.entries(budgets).flatMap(([which, value]) =>
  policies.flatMap((policy) =>
    Object.entries(STATES).map(
      ([state, podStatus]) =>
        [
          `a pod ${state}, a budget ${which}, ${policy ?? 'no policy'}`,
          [
            budget('b', policy === undefined ? {} : { unhealthyPodEvictionPolicy: policy }),
            judged('b', value),
            pod('p'),
            status('p', podStatus),
            soon(evict('p')),
            ...see('p'),
          ],
        ] as const,
    ),
  ),
)

const running = (name = 'p', metadata: Any = {}): readonly Step[] => [
  pod(name, metadata),
  status(name, STATES['ready']),
]
const one = (value: Any = allowing(1, 2, 1), spec: Any = {}, metadata: Any = {}): readonly Step[] => [
  budget('b', spec, metadata),
  judged('b', value),
]

const stories: readonly (readonly [string, readonly Step[]])[] = [
  [
    'one disruption, two pods',
    [...one(), ...running('p'), ...running('q'), soon(evict('p')), evict('q'), ...see('q'), get(`${PODS}/p`)],
  ],
  ['the same pod twice', [...one(allowing(2, 3, 1)), ...running(), soon(evict('p')), evict('p'), ...see('p')]],
  ['a budget nobody has judged', [budget('b'), ...running(), soon(evict('p')), ...see('p')]],
  [
    'a budget changed since it was judged',
    [...one(), merge(`${BUDGETS}/b`, { spec: { minAvailable: 2 } }), ...running(), soon(evict('p')), ...see('p')],
  ],
  [
    'a budget judged ahead of its time',
    [...one(allowing(1, 2, 1, { observedGeneration: 9 })), ...running(), soon(evict('p')), ...see('p')],
  ],
  [
    'a budget with too few, unready',
    [...one(allowing(0, 1, 2)), pod('p'), status('p', STATES['unready']), soon(evict('p')), ...see('p')],
  ],
  [
    'several budgets',
    [
      ...one(),
      budget('c'),
      judged('c', allowing(1, 2, 1)),
      ...running(),
      soon(evict('p')),
      evict('p', { dryRun: ['All'] }),
      ...see('p'),
    ],
  ],
  [
    'several budgets, a finished pod',
    [...one(), budget('c'), pod('p'), status('p', STATES['failed']), soon(evict('p')), ...see('p')],
  ],
  [
    'several budgets, an unready pod that may always go',
    [
      ...one(allowing(0, 1, 1), { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
      budget('c', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
      pod('p'),
      status('p', STATES['unready']),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  [
    'a budget of everything',
    [...one(allowing(0, 1, 1), { selector: {} }), ...running('p', { labels: {} }), soon(evict('p')), ...see('p')],
  ],
  ['a budget of nothing', [...one(allowing(0, 1, 1), { selector: null }), ...running(), soon(evict('p')), ...see('p')]],
  [
    'a budget of others',
    [
      ...one(allowing(0, 1, 1), { selector: { matchLabels: { app: 'z' } } }),
      ...running(),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  [
    'dry runs',
    [
      ...one(),
      ...running(),
      soon(evict('p', undefined, '?dryRun=All')),
      evict('p', { dryRun: ['All'] }),
      ...see('p'),
      evict('p'),
      ...see('p'),
    ],
  ],
  [
    'dry runs at an exhausted budget',
    [
      ...one(allowing(0, 1, 1)),
      ...running(),
      soon(evict('p', undefined, '?dryRun=All')),
      evict('p', { dryRun: ['All'] }),
      ...see('p'),
    ],
  ],
  [
    'preconditions',
    [
      ...one(allowing(5, 6, 1)),
      pod('p'),
      status('p', STATES['ready']),
      soon(evict('p', { preconditions: { uid: foreign } })),
      get(`${BUDGETS}/b`),
      evict('p', { preconditions: { resourceVersion: '1' } }),
      get(`${BUDGETS}/b`),
      evict('p', { preconditions: { resourceVersion: '{{3.metadata.resourceVersion}}' } }),
      ...see('p'),
    ],
  ],
  [
    'preconditions without a budget',
    [
      pod('p'),
      status('p', STATES['ready']),
      soon(evict('p', { preconditions: { uid: foreign } })),
      evict('p', { preconditions: { resourceVersion: '1' } }),
      get(`${PODS}/p`),
      evict('p', { preconditions: { uid: '{{0.metadata.uid}}' } }),
      get(`${PODS}/p`),
    ],
  ],
  [
    'preconditions of a finished pod',
    [
      pod('p'),
      status('p', STATES['succeeded']),
      soon(evict('p', { preconditions: { uid: foreign } })),
      evict('p', { preconditions: { resourceVersion: '1' } }),
      get(`${PODS}/p`),
      evict('p', { preconditions: { resourceVersion: '{{1.metadata.resourceVersion}}' } }),
      get(`${PODS}/p`),
    ],
  ],
  ['grace 0', [...one(), ...running(), soon(evict('p', { gracePeriodSeconds: 0 })), ...see('p')]],
  ['grace 7', [...one(), ...running(), soon(evict('p', { gracePeriodSeconds: 7 })), ...see('p')]],
  [
    'a pod with a finalizer',
    [
      ...one(),
      ...running('p', { finalizers: ['example.com/f'] }),
      soon(evict('p', { gracePeriodSeconds: 0 })),
      ...see('p'),
      evict('p'),
      ...see('p'),
    ],
  ],
  [
    'a pod that is going',
    [
      ...one(allowing(0, 1, 1)),
      ...running(),
      remove(`${PODS}/p`),
      soon(evict('p')),
      ...see('p'),
      evict('p', { gracePeriodSeconds: 1 }),
      ...see('p'),
    ],
  ],
  [
    'a pod that is going, the budget allowing one',
    [...one(), ...running(), remove(`${PODS}/p`), soon(evict('p', { gracePeriodSeconds: 5 })), ...see('p')],
  ],
  [
    'a budget that is going',
    [
      ...one(allowing(0, 1, 1), {}, { finalizers: ['example.com/f'] }),
      remove(`${BUDGETS}/b`),
      ...running(),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  [
    'a pod that is marked to be disrupted already',
    [
      ...one(),
      pod('p'),
      status('p', {
        phase: 'Running',
        conditions: [...ready('True'), { type: 'DisruptionTarget', status: 'True', reason: 'Other', message: 'other' }],
      }),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  [
    'a negative allowance',
    [
      budget('b'),
      judged('b', allowing(-1, 1, 2)),
      put(`${BUDGETS}/b/status`, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        status: allowing(-1, 1, 2),
      }),
      ...running(),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  [
    'an unscheduled pod',
    [
      ...one(allowing(0, 1, 1)),
      post(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p', labels },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
      soon(evict('p')),
      ...see('p'),
    ],
  ],
  ['another propagation', [...one(), ...running(), soon(evict('p', { propagationPolicy: 'Foreground' })), ...see('p')]],
  [
    'bodies',
    [
      ...one(allowing(0, 1, 1)),
      ...running(),
      soon(post(`${PODS}/p/eviction`, {})),
      post(`${PODS}/p/eviction`, { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } }),
      post(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } }),
      post(`${PODS}/p/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'p', namespace: 'default' },
      }),
      evict('p', { gracePeriodSeconds: -1 }),
      evict('p', { propagationPolicy: 'Bogus' }),
      evict('p', { dryRun: ['Some'] }),
      evict('nope'),
    ],
  ],
]

export const evictionCases = (): readonly Case[] =>
  [...matrix, ...stories].map(([name, steps]) => ({ name, steps, headers: ['retry-after'] }))
