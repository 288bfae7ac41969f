/**
 * Sequences of what users do to the workloads of one namespace, made from seeds. After each deed it is waited until nothing changes any
 * more, so that what follows does not depend on how fast a cluster is.
 */
import type { Fields } from '../../../src/api/object.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { dep, kjob, live, pdb, pod, quota, rs, sts, svc } from '../objects.ts'
import type { Scene, Seen, Story } from '../story.ts'

const DEEDS = 10
const SETTLED_MS = 1500
const LOOK_MS = 250
const PATIENCE_MS = 12_000
const STAYS = 'x.y/stay'
const WORKLOADS = ['deployments', 'replicasets', 'statefulsets', 'jobs', 'replicationcontrollers'] as const
const WATCHED = ['pods', 'services', 'persistentvolumeclaims', ...WORKLOADS]

/** Until nothing has changed for a while. */
async function settle(s: Scene): Promise<void> {
  let before = ''
  for (let waited = 0, still = 0; waited < PATIENCE_MS && still < SETTLED_MS; waited += LOOK_MS) {
    const lists = await Promise.all(WATCHED.map((resource) => s.list(resource)))
    const seen = lists.flatMap((list) => list.map(({ metadata }) => metadata.resourceVersion)).join()
    still = seen === before ? still + LOOK_MS : 0
    before = seen
    await s.pause(LOOK_MS)
  }
}

interface Dice {
  /** From 0 to below `end`. */
  below(end: number): number
  one<T>(of: readonly T[]): T
}

function diceOf(seed: number): Dice {
  const { float } = seededRandom(seed)
  const below = (end: number) => Math.floor(float() * end)
  return { below, one: (of) => of[below(of.length)] as (typeof of)[number] }
}

type Found = readonly [resource: string, object: Seen]
type Deed = (s: Scene, dice: Dice) => Promise<unknown>

async function workloads(s: Scene, of: readonly string[] = WORKLOADS): Promise<readonly Found[]> {
  const lists = await Promise.all(of.map((resource) => s.list(resource)))
  return lists
    .flatMap((list, i) => list.map((one): Found => [of[i] as string, one]))
    .filter(([, one]) => live(one) && one.metadata.ownerReferences === undefined)
    .toSorted(([, a], [, b]) => (nameOf(a) < nameOf(b) ? -1 : 1))
}
const nameOf = ({ metadata }: Seen): string => metadata.name

/** Pods differ by what they belong to and are; which of equal ones is taken tells nothing. */
async function pods(s: Scene): Promise<readonly Seen[]> {
  const text = ({ metadata, spec, status }: Seen) =>
    [
      metadata.labels?.['app'],
      metadata.labels?.['role'],
      metadata.ownerReferences?.[0]?.kind,
      metadata.ownerReferences?.[0]?.name,
      spec.containers[0].image,
      metadata.labels?.['apps.kubernetes.io/pod-index'],
      status.phase,
      metadata.finalizers,
      metadata.creationTimestamp,
    ].join()
  return [...(await s.list('pods'))].filter(live).toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
}

const change = async (s: Scene, dice: Dice, of: readonly string[], body: (one: Seen, resource: string) => Fields) => {
  const found = await workloads(s, of)
  if (found.length === 0) return
  const [resource, one] = dice.one(found)
  await s.patch(resource, nameOf(one), body(one, resource))
}
const onPod = async (s: Scene, dice: Dice, act: (pod: Seen) => Promise<unknown>) => {
  const found = await pods(s)
  if (found.length > 0) await act(dice.one(found))
}

const APPS = ['a', 'b']
const made =
  (kind: (dice: Dice, app: string) => readonly [string, Fields]): Deed =>
  (s, dice) => {
    const [resource, object] = kind(dice, dice.one(APPS))
    return s.create(resource, {
      ...object,
      metadata: { ...object['metadata'], name: `${object['metadata'].name}${dice.below(3)}` },
    })
  }
const rc = (name: string, replicas: number) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: { replicas, selector: { app: name }, template: rs(name).spec['template'] },
})

const DEEDS_BY_NAME: Readonly<Record<string, Deed>> = {
  deployment: made((dice, app) => [
    'deployments',
    dep(app, {
      replicas: dice.below(4),
      strategy: dice.one<Fields>([
        {},
        { type: 'Recreate' },
        { rollingUpdate: { maxSurge: dice.one([0, 1, '50%', '100%']), maxUnavailable: dice.one([1, '25%', '60%']) } },
      ]),
      ...dice.one<Fields>([{}, {}, { revisionHistoryLimit: dice.below(2) }, { minReadySeconds: 1 }]),
    }),
  ]),
  replicaset: made((dice, app) => ['replicasets', rs(app, { replicas: dice.below(4) })]),
  controller: made((dice, app) => ['replicationcontrollers', rc(app, dice.below(3))]),
  set: made((dice, app) => [
    'statefulsets',
    sts(app, {
      replicas: 1 + dice.below(3),
      podManagementPolicy: dice.one(['OrderedReady', 'Parallel']),
      ...dice.one<Fields>([
        {},
        { ordinals: { start: 2 } },
        { updateStrategy: { type: 'OnDelete' } },
        { updateStrategy: { rollingUpdate: { partition: 1 } } },
        { revisionHistoryLimit: 0 },
      ]),
    }),
  ]),
  job: made((dice, app) => [
    'jobs',
    kjob(`j${app}`, {
      completions: 1 + dice.below(4),
      parallelism: 1 + dice.below(2),
      completionMode: dice.one(['Indexed', 'NonIndexed']),
      suspend: dice.below(3) === 0,
      ...dice.one<Fields>([{}, { ttlSecondsAfterFinished: 1 }, { backoffLimit: 0 }]),
    }),
  ]),
  service: (s, dice) => s.create('services', svc(dice.one(APPS), dice.one<Fields>([{}, { clusterIP: 'None' }]))),
  budget: (s, dice) => {
    const app = dice.one(APPS)
    const spec = dice.one<Fields>([{ minAvailable: 1 }, { maxUnavailable: '50%' }])
    return s.create('poddisruptionbudgets', pdb(app, { ...spec, selector: { matchLabels: { app } } }))
  },
  quota: (s, dice) =>
    s.create('resourcequotas', quota('q', { pods: String(4 + dice.below(4)), 'count/jobs.batch': '1' })),
  'quota lifted': (s) => s.del('resourcequotas', 'q'),
  'bare pod': (s, dice) => s.create('pods', pod(`p${dice.below(3)}`, {}, { labels: { app: dice.one(APPS) } })),
  scale: (s, dice) =>
    change(s, dice, ['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'], () => ({
      spec: { replicas: dice.below(6) },
    })),
  image: (s, dice) =>
    change(s, dice, ['deployments', 'statefulsets', 'deployments', 'replicasets'], () => ({
      spec: { template: { spec: { containers: [{ name: 'c', image: `i:${1 + dice.below(3)}` }] } } },
    })),
  'template label': (s, dice) =>
    change(s, dice, ['deployments', 'statefulsets'], () => ({
      spec: { template: { metadata: { labels: { role: dice.one(['x', 'y']) } } } },
    })),
  pause: (s, dice) => change(s, dice, ['deployments'], ({ spec }) => ({ spec: { paused: spec.paused ? null : true } })),
  undo: async (s, dice) => {
    const found = await workloads(s, ['deployments'])
    if (found.length === 0) return
    const [, one] = dice.one(found)
    const revision = Number(one.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0)
    const old = [...(await s.list('replicasets'))].find(
      ({ metadata }) =>
        metadata.ownerReferences?.[0]?.uid === one.metadata.uid &&
        Number(metadata.annotations['deployment.kubernetes.io/revision']) === revision - 1,
    )
    if (old === undefined) return
    const { 'pod-template-hash': _, ...labels } = old.spec.template.metadata.labels
    await s.patch('deployments', nameOf(one), { spec: { template: { ...old.spec.template, metadata: { labels } } } })
  },
  restart: (s, dice) =>
    change(s, dice, ['deployments', 'statefulsets'], () => ({
      spec: { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': String(dice.below(9)) } } } },
    })),
  strategy: (s, dice) =>
    change(s, dice, ['deployments'], () => ({
      spec: dice.one<Fields>([
        { strategy: { type: 'Recreate', rollingUpdate: null } },
        { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: '100%' } } },
        { revisionHistoryLimit: 0 },
      ]),
    })),
  partition: (s, dice) =>
    change(s, dice, ['statefulsets'], () => ({
      spec: dice.one<Fields>([
        { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: dice.below(3) } } },
        { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
        { ordinals: { start: dice.below(3) } },
      ]),
    })),
  suspend: (s, dice) => change(s, dice, ['jobs'], ({ spec }) => ({ spec: { suspend: !spec.suspend } })),
  parallelism: (s, dice) => change(s, dice, ['jobs'], () => ({ spec: { parallelism: dice.below(4) } })),
  delete: async (s, dice) => {
    const found = await workloads(s)
    if (found.length === 0) return
    const [resource, one] = dice.one(found)
    await s.del(resource, nameOf(one), { propagationPolicy: dice.one(['Background', 'Foreground', 'Orphan'] as const) })
  },
  'delete pod': (s, dice) => onPod(s, dice, (one) => s.del('pods', nameOf(one))),
  'force pod': (s, dice) => onPod(s, dice, (one) => s.del('pods', nameOf(one), { gracePeriodSeconds: 0 })),
  'pod relabelled': (s, dice) =>
    onPod(s, dice, (one) => s.patch('pods', nameOf(one), { metadata: { labels: { app: dice.one(['a', 'b', 'c']) } } })),
  'pod disowned': (s, dice) =>
    onPod(s, dice, (one) => s.patch('pods', nameOf(one), { metadata: { ownerReferences: null } })),
  'pod held': (s, dice) => onPod(s, dice, (one) => s.patch('pods', nameOf(one), { metadata: { finalizers: [STAYS] } })),
  'pods let go': async (s) => {
    for (const one of await s.list('pods'))
      if (one.metadata.finalizers?.includes(STAYS))
        await s.patch('pods', nameOf(one), {
          metadata: { finalizers: one.metadata.finalizers.filter((name) => name !== STAYS) },
        })
  },
  'pod failed': (s, dice) =>
    onPod(s, dice, (one) => s.status('pods', nameOf(one), { phase: dice.one(['Failed', 'Succeeded']) })),
  'pod unready': (s, dice) =>
    onPod(s, dice, (one) =>
      s.status('pods', nameOf(one), { conditions: [{ type: 'Ready', status: dice.one(['False', 'True']) }] }),
    ),
  evict: (s, dice) =>
    onPod(s, dice, (one) =>
      s.raw('POST', `/api/v1/namespaces/${s.ns}/pods/${nameOf(one)}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: nameOf(one), namespace: s.ns },
      }),
    ),
  'replicaset relabelled': async (s, dice) => {
    const all = [...(await s.list('replicasets'))].filter(live)
    if (all.length === 0) return
    const one = dice.one(all.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)))
    await s.patch('replicasets', nameOf(one), { metadata: { labels: { app: dice.one(APPS) } } })
  },
  'replicaset disowned': async (s, dice) => {
    const owned = [...(await s.list('replicasets'))].filter(
      (one) => live(one) && one.metadata.ownerReferences !== undefined,
    )
    if (owned.length === 0) return
    const one = dice.one(owned.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)))
    await s.patch('replicasets', nameOf(one), { metadata: { ownerReferences: null } })
  },
  'workload held': async (s, dice) => {
    const found = await workloads(s)
    if (found.length === 0) return
    const [resource, one] = dice.one(found)
    const finalizers = one.metadata.finalizers?.includes(STAYS) ? null : [STAYS]
    await s.patch(resource, nameOf(one), { metadata: { finalizers } })
  },
  'selector overlaps': (s, dice) =>
    s.create('replicasets', {
      ...rs('wide', { replicas: dice.below(3), selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }),
      spec: {
        replicas: dice.below(3),
        selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
        template: rs(dice.one(APPS)).spec['template'],
      },
    }),
}

/** With these a sequence begins. */
const MAKERS = ['deployment', 'replicaset', 'set', 'job', 'deployment', 'controller', 'set']

export function sequence(seed: number, deeds = DEEDS): Story {
  return {
    async act(s) {
      const dice = diceOf(seed)
      for (let done = 0; done < deeds; done++) {
        const name = done < 2 ? dice.one(MAKERS) : dice.one(Object.keys(DEEDS_BY_NAME))
        // What is not to be had is refused, and told.
        const answer = await (DEEDS_BY_NAME[name] as Deed)(s, dice).then(
          () => 'done',
          (error) => (error instanceof Error ? error.message : String(error)),
        )
        s.note(`${name}: ${answer}`)
        await settle(s)
      }
    },
    clean: (s) => letAllGo(s),
    restMs: 60_000,
  }
}

async function letAllGo(s: Scene): Promise<void> {
  for (const resource of WORKLOADS)
    for (const { metadata } of await s.list(resource))
      if (metadata.finalizers !== undefined)
        await s.patch(resource, metadata.name, { metadata: { finalizers: null } }).catch(() => {})
}

const SEEDS = 30

export const sequencesStories: Readonly<Record<string, Story>> = Object.fromEntries(
  Array.from({ length: SEEDS }, (_, i) => [`sequence-${i + 1}`, sequence(i + 1)]),
)
