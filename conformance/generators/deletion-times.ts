/**
 * Questions about times that stand in a relation: a deletion to its request and its grace period, above all where an object
 * is deleted again; what marks, evicts, collects and ends, and when managers and conditions are said to have written.
 */
import type { Step } from '../recording.ts'
import { type Any, apply, merge, post, put, remove } from './definitions.ts'

/** A step, asked so many whole seconds after the one before. */
export interface TimedStep extends Step {
  readonly after?: number
}

export interface TimedCase {
  readonly name: string
  readonly steps: readonly TimedStep[]
  /** Whose watch events tell the story: a collection's path, and a name in it. */
  readonly watched: string
}

const core = '/api/v1/namespaces/$NS'
const PODS = `${core}/pods`
const ONE = `${PODS}/o`
const GAP = 2

const later = (step: Step, after = GAP): TimedStep => ({ ...step, after })
const options = (grace: number | undefined, more: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
  ...more,
})
const deleted = (grace?: number, more?: Any): Step => remove(ONE, options(grace, more))
const collected = (grace?: number, more?: Any): Step => remove(PODS, options(grace, more))
const evicted = (grace?: number): Step =>
  post(`${ONE}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'o' },
    deleteOptions: options(grace),
  })
const pod = (metadata: Any, spec: Any): Step =>
  post(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'o', ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })
const phase = (is: string): Step => merge(`${ONE}/status`, { status: { phase: is } })
const released = (path: string): Step => merge(path, { metadata: { finalizers: null } })
const held = { finalizers: ['example.com/f'] }
const bound = { nodeName: 'nowhere' }

const STATES: Readonly<Record<string, (metadata: Any, spec?: Any) => readonly Step[]>> = {
  running: (metadata, spec = {}) => [pod(metadata, { ...bound, ...spec }), phase('Running')],
  bound: (metadata, spec = {}) => [pod(metadata, { ...bound, ...spec })],
  unscheduled: (metadata, spec = {}) => [pod(metadata, spec)],
  finished: (metadata, spec = {}) => [pod(metadata, { ...bound, ...spec }), phase('Succeeded')],
}
const FIRST = [undefined, 0, 1, 5, 60]
const SECOND = [undefined, 0, 1, 3, 5, 60]
const said = (grace: number | undefined): string => (grace === undefined ? 'none' : String(grace))

/** Every pair of grace periods, for every state of a pod. */
const pairs: readonly TimedCase[] = Object.entries(STATES).flatMap(([state, made]) =>
  [{}, held].flatMap((metadata) =>
    FIRST.flatMap((one) =>
      SECOND.map((two) => ({
        name: `${state}${metadata === held ? ', held' : ''}: grace ${said(one)}, then ${said(two)}`,
        watched: PODS,
        steps: [
          ...made(metadata),
          later(deleted(one), 1),
          later(deleted(two)),
          ...(metadata === held ? [later(released(ONE), 1)] : []),
        ],
      })),
    ),
  ),
)

const WAYS: Readonly<Record<string, (grace?: number) => Step>> = {
  deleted,
  collected: (grace) => collected(grace),
  evicted,
}
/** The same by other ways than DELETE. */
const ways: readonly TimedCase[] = Object.entries(WAYS).flatMap(([first, begin]) =>
  Object.entries(WAYS).flatMap(([second, again]) =>
    first === 'deleted' && second === 'deleted'
      ? []
      : [
          [undefined, 0],
          [60, 3],
          [60, undefined],
          [5, 60],
        ].map(([one, two]) => ({
          name: `${first} with ${said(one)}, ${second} with ${said(two)}`,
          watched: PODS,
          steps: [...STATES['running']!({}), later(begin(one), 1), later(again(two))],
        })),
  ),
)

const cm = (name = 'o', metadata: Any = {}, data: Any = {}): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
})
const CMS = `${core}/configmaps`
const CM = `${CMS}/o`
const DEPLOYMENTS = '/apis/apps/v1/namespaces/$NS/deployments'
const DEPLOYMENT = `${DEPLOYMENTS}/o`
const deployment: Any = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'o' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}
const BUDGETS = '/apis/policy/v1/namespaces/$NS/poddisruptionbudgets'

const stories: readonly TimedCase[] = [
  {
    name: 'a period of its own',
    watched: PODS,
    steps: [
      ...STATES['running']!({}, { terminationGracePeriodSeconds: 7 }),
      later(deleted()),
      later(deleted(10)),
      later(deleted(4)),
      later(deleted(2)),
      later(deleted(0)),
    ],
  },
  {
    name: 'three deletes, the second longer',
    watched: PODS,
    steps: [
      ...STATES['running']!(held),
      deleted(10),
      later(deleted(20)),
      later(deleted(5)),
      later(deleted(0)),
      later(released(ONE)),
    ],
  },
  {
    name: 'the period is over and nothing ended the pod',
    watched: PODS,
    steps: [...STATES['running']!({}), deleted(1), later(deleted(1), 3), later(deleted()), later(deleted(0))],
  },
  {
    name: 'changed while it is going',
    watched: PODS,
    steps: [
      ...STATES['running']!(held),
      later(deleted(60)),
      later(merge(ONE, { metadata: { labels: { a: 'b' } } })),
      later(merge(ONE, { metadata: { deletionGracePeriodSeconds: 5, deletionTimestamp: '2026-01-01T00:00:00Z' } })),
      later(phase('Succeeded')),
      later(deleted(0)),
      later(released(ONE)),
    ],
  },
  {
    name: 'swapping propagation while it is going',
    watched: PODS,
    steps: [
      ...STATES['running']!({}),
      later(deleted(60, { propagationPolicy: 'Foreground' })),
      later(deleted(60, { propagationPolicy: 'Orphan' })),
      later(deleted(30, { propagationPolicy: 'Background' })),
      later(deleted(0)),
    ],
  },
  {
    name: 'a dry run, then for real',
    watched: PODS,
    steps: [...STATES['running']!({}), later(deleted(60)), later(deleted(3, { dryRun: ['All'] })), later(deleted(3))],
  },
  {
    name: 'an object without a grace period, held',
    watched: CMS,
    steps: [
      post(CMS, cm('o', held)),
      later(remove(CM)),
      later(remove(CM, options(0))),
      later(remove(CM, options(9))),
      later(released(CM)),
    ],
  },
  {
    name: 'an object without a grace period, deleted with one',
    watched: CMS,
    steps: [post(CMS, cm('o', held)), later(remove(CM, options(30))), later(remove(CM)), later(released(CM))],
  },
  {
    name: 'collected with a period, held',
    watched: CMS,
    steps: [post(CMS, cm('o', held)), later(remove(CMS, options(30))), later(remove(CMS)), later(released(CM))],
  },
  {
    name: 'foreground, then orphan, then background',
    watched: DEPLOYMENTS,
    steps: [
      post(DEPLOYMENTS, deployment),
      later(remove(DEPLOYMENT, options(undefined, { propagationPolicy: 'Foreground' }))),
      later(remove(DEPLOYMENT, options(undefined, { propagationPolicy: 'Orphan' }))),
      later(remove(DEPLOYMENT, options(undefined, { propagationPolicy: 'Foreground', gracePeriodSeconds: 9 }))),
      later(remove(DEPLOYMENT, options(undefined, { propagationPolicy: 'Background' }))),
    ],
  },
  {
    name: 'finalizers gone by PUT',
    watched: CMS,
    steps: [post(CMS, cm('o', held)), later(remove(CM)), later(put(CM, cm('o', { annotations: { a: 'b' } })))],
  },
  {
    name: 'a budget that notes evictions',
    watched: BUDGETS,
    steps: [
      post(BUDGETS, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'o' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
      }),
      merge(`${BUDGETS}/o/status`, {
        status: { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1 },
      }),
      ...STATES['running']!({ labels: { app: 'a' } }),
      later(evicted()),
    ],
  },
  {
    name: 'an evicted pod tells when',
    watched: PODS,
    steps: [...STATES['running']!({}), later(evicted(), 3)],
  },
  {
    name: 'managers and when they wrote',
    watched: CMS,
    steps: [
      post(`${CMS}?fieldManager=a`, cm('o', {}, { k: '1' })),
      later(merge(`${CM}?fieldManager=a`, {})),
      later(merge(`${CM}?fieldManager=a`, { data: { k: '1' } })),
      later(merge(`${CM}?fieldManager=a`, { data: { k: '2' } })),
      later(merge(`${CM}?fieldManager=b`, { data: { l: '1' } })),
      later(merge(`${CM}?fieldManager=b`, { data: { k: '3' } })),
      later(put(`${CM}?fieldManager=a`, cm('o', {}, { k: '3', l: '1' }))),
      later(put(`${CM}?fieldManager=a`, cm('o', {}, { k: '4', l: '1' }))),
    ],
  },
  {
    name: 'appliers and when they wrote',
    watched: CMS,
    steps: [
      apply(`${CM}?fieldManager=a`, cm('o', {}, { k: '1' })),
      later(apply(`${CM}?fieldManager=a`, cm('o', {}, { k: '1' }))),
      later(apply(`${CM}?fieldManager=b`, cm('o', {}, { k: '1' }))),
      later(apply(`${CM}?fieldManager=b&force=true`, cm('o', {}, { k: '2' }))),
      later(apply(`${CM}?fieldManager=a&force=true`, cm('o', {}, { k: '2', l: '3' }))),
      later(apply(`${CM}?fieldManager=a`, cm('o', {}, { k: '2', l: '3' }))),
    ],
  },
  {
    name: 'statuses and when they were written',
    watched: DEPLOYMENTS,
    steps: [
      post(DEPLOYMENTS, deployment),
      later(merge(`${DEPLOYMENT}/status`, { status: { replicas: 1 } })),
      later(merge(`${DEPLOYMENT}/status`, { status: { replicas: 1 } })),
      later(merge(`${DEPLOYMENT}/scale`, { spec: { replicas: 2 } })),
      later(merge(DEPLOYMENT, { spec: { replicas: 3 } })),
    ],
  },
  {
    name: 'a creation time of its own',
    watched: CMS,
    steps: [
      post(CMS, cm('o', { creationTimestamp: '2020-01-01T00:00:00Z', deletionTimestamp: '2020-01-01T00:00:00Z' })),
      later(put(CM, cm('o', { creationTimestamp: '2020-01-01T00:00:00Z' }, { a: 'b' }))),
      later(merge(CM, { metadata: { creationTimestamp: null } })),
      later(merge(CM, { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' }, data: { a: 'c' } })),
    ],
  },
]

export const timedCases = (): readonly TimedCase[] => [...pairs, ...ways, ...stories]
