import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { prefilter, refusalOf } from './filters.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { leastHarm, preemptionCandidates } from './preemption.ts'
import { node, pod } from './test-objects.ts'

interface Present {
  readonly node: string
  readonly priority: number
  readonly cpu: number
  readonly app?: string
  readonly namespace?: string
  /** Seconds after others. */
  readonly started?: number
}

const budget = (app: string | undefined, allowed: number, more: Fields = {}): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b', namespace: 'default' },
  spec: { selector: app === undefined ? {} : { matchLabels: { app } } },
  status: { disruptionsAllowed: allowed, ...more },
})

/** Nodes of two CPUs; whom a pod of priority 10 takes the place of, as `node: victims`, the first to go first. */
function preempt(
  present: Readonly<Record<string, Present>>,
  { budgets = [], cpu = 2, spec = {} }: { budgets?: readonly KubeObject[]; cpu?: number; spec?: Fields } = {},
): string | undefined {
  const cluster = createCluster()
  for (const name of new Set(Object.values(present).map((one) => one.node))) cluster.setNode(node(name))
  for (const [name, { node: on, priority, cpu: used, app = name, namespace, started = 0 }] of Object.entries(present)) {
    const bare = pod(
      name,
      { priority },
      { labels: { app }, ...(namespace && { namespace }), requests: { cpu: String(used) } },
    )
    const startTime = new Date(Date.UTC(2026, 0, 1, 0, 0, started)).toISOString()
    cluster.setPod(podInfoOf({ ...bare, status: { startTime } }), on)
  }
  const before = [...cluster.nodes.values()].map((info) => [
    info.name,
    [...info.pods.keys()].sort(),
    new Map(info.requested),
  ])
  const info = podInfoOf(pod('high', { priority: 10, ...spec }, { requests: { cpu: String(cpu) } }))
  const state = prefilter(info, cluster, () => ({}))
  const refusing = cluster.ready().filter((one) => refusalOf(info, one, state) !== undefined)
  const chosen = leastHarm(preemptionCandidates(info, refusing, state, budgets))
  const after = [...cluster.nodes.values()].map((one) => [
    one.name,
    [...one.pods.keys()].sort(),
    new Map(one.requested),
  ])
  assert.deepEqual(after, before, 'trying changes nothing')
  return (
    chosen &&
    `${chosen.node.name}: ${chosen.victims
      .map(({ uid }) => uid)
      .sort()
      .join(' ')}`
  )
}

test('only pods of lower priority make room, and only where their end is enough', () => {
  assert.equal(preempt({ a: { node: 'n', priority: 9, cpu: 2 } }), 'n: a')
  assert.equal(preempt({ a: { node: 'n', priority: 10, cpu: 2 } }), undefined)
  assert.equal(preempt({ a: { node: 'n', priority: 11, cpu: 2 } }), undefined)
  assert.equal(preempt({ a: { node: 'n', priority: 1, cpu: 1 }, b: { node: 'n', priority: 10, cpu: 1 } }), undefined)
})

test('of each node where no end would help it is told why: nothing is there that may go, or what refuses the pod even then', () => {
  const cluster = createCluster()
  for (const name of ['bare', 'held']) cluster.setNode(node(name, { allocatable: { cpu: '2' } }))
  const put = (name: string, priority: number, on: string) =>
    cluster.setPod(podInfoOf(pod(name, { priority }, { requests: { cpu: '1' } })), on)
  put('a', 10, 'bare')
  put('b', 1, 'held')
  put('c', 10, 'held')
  const info = podInfoOf(pod('high', { priority: 10 }, { requests: { cpu: '2' } }))
  const state = prefilter(info, cluster, () => ({}))
  const why: string[] = []
  preemptionCandidates(
    info,
    cluster.ready(),
    state,
    [],
    () => 0,
    ({ reasons }) => void why.push(...reasons),
  )
  assert.deepEqual(why, ['No preemption victims found for incoming pod', 'Insufficient cpu'])
})

test('the fewest go, of the lowest priority, and of equal ones those that started last', () => {
  const three = (a: number, b: number, c: number) => ({
    a: { node: 'n', priority: a, cpu: 0.6 },
    b: { node: 'n', priority: b, cpu: 0.6 },
    c: { node: 'n', priority: c, cpu: 0.6 },
  })
  assert.equal(preempt(three(1, 2, 3), { cpu: 0.8 }), 'n: a')
  assert.equal(preempt(three(3, 2, 1), { cpu: 0.8 }), 'n: c')
  assert.equal(preempt(three(3, 1, 2), { cpu: 1.4 }), 'n: b c')
  const two = (a: number, b: number) => ({
    a: { node: 'n', priority: 1, cpu: 1, started: a },
    b: { node: 'n', priority: 1, cpu: 1, started: b },
  })
  assert.equal(preempt(two(0, 1), { cpu: 1 }), 'n: b')
  assert.equal(preempt(two(1, 0), { cpu: 1 }), 'n: a')
})

test('of several nodes the one whose most important victim matters least; then the least of all together; then the fewest', () => {
  assert.equal(preempt({ a: { node: 'n', priority: 2, cpu: 2 }, b: { node: 'm', priority: 1, cpu: 2 } }), 'm: b')
  const half = (on: string, priority: number) => ({ node: on, priority, cpu: 1 })
  assert.equal(preempt({ a: half('n', 2), b: half('n', 2), c: half('m', 2), d: half('m', 1) }), 'm: c d')
  assert.equal(preempt({ a: half('n', 2), b: half('n', 0), c: { node: 'm', priority: 2, cpu: 2 } }), 'm: c')
  assert.equal(preempt({ a: half('n', -5), b: half('n', -5), c: { node: 'm', priority: -5, cpu: 2 } }), 'm: c')
})

test('of pods that weigh nothing the fewest go', () => {
  const least = (on: string, cpu: number) => ({ node: on, priority: -(2 ** 31), cpu })
  assert.equal(preempt({ a: least('n', 1), b: least('n', 1), c: least('m', 2) }), 'm: c')
})

test('of nodes that are equal so far the one whose most important victims started last', () => {
  const two = (a: number, b: number) => ({
    a: { node: 'n', priority: 1, cpu: 2, started: a },
    b: { node: 'm', priority: 1, cpu: 2, started: b },
  })
  assert.equal(preempt(two(0, 1)), 'm: b')
  assert.equal(preempt(two(1, 0)), 'n: a')
})

test('a node whose victims a budget allows comes before one whose victims matter less', () => {
  const present = { a: { node: 'n', priority: 1, cpu: 2 }, b: { node: 'm', priority: 5, cpu: 2 } }
  assert.equal(preempt(present), 'n: a')
  assert.equal(preempt(present, { budgets: [budget('a', 0)] }), 'm: b')
  assert.equal(preempt(present, { budgets: [budget('a', 1)] }), 'n: a')
  assert.equal(preempt(present, { budgets: [budget('a', 0), budget('b', 0)] }), 'n: a', 'where all break one, some do')
})

test('on a node, pods of an exhausted budget are kept before more important ones', () => {
  const present = {
    guarded: { node: 'n', priority: 1, cpu: 1 },
    free: { node: 'n', priority: 5, cpu: 1 },
  }
  assert.equal(preempt(present, { cpu: 1 }), 'n: guarded')
  assert.equal(preempt(present, { cpu: 1, budgets: [budget('guarded', 0)] }), 'n: free')
})

test('a budget counts down with each pod it speaks of; none is broken by one that is being disrupted, or of another namespace', () => {
  const present = {
    a: { node: 'n', priority: 1, cpu: 1, app: 'x' },
    b: { node: 'n', priority: 1, cpu: 1, app: 'x' },
    c: { node: 'm', priority: 5, cpu: 2 },
  }
  assert.equal(preempt(present, { budgets: [budget('x', 2)] }), 'n: a b')
  assert.equal(preempt(present, { budgets: [budget('x', 1)] }), 'm: c')
  const disruptedPods = { a: '2026-01-01T00:00:00Z' }
  assert.equal(preempt(present, { budgets: [budget('x', 1, { disruptedPods })] }), 'n: a b')
  const elsewhere = { ...budget('x', 0), metadata: { name: 'b', namespace: 'other' } }
  assert.equal(preempt(present, { budgets: [elsewhere] }), 'n: a b')
})

test('a budget of all pods speaks of none here', () => {
  const present = {
    a: { node: 'n', priority: 1, cpu: 2 },
    b: { node: 'm', priority: 5, cpu: 2, namespace: 'other' },
  }
  assert.equal(preempt(present, { budgets: [budget('a', 0)] }), 'm: b')
  assert.equal(preempt(present, { budgets: [budget(undefined, 0)] }), 'n: a')
})

/** Whom `high`, of priority 10, takes the place of on node a of zone x; b of zone y takes no pods. */
function inZones(high: KubeObject, ...present: readonly KubeObject[]): readonly string[] | undefined {
  const cluster = createCluster()
  cluster.setNode(node('a', { labels: { zone: 'x' } }))
  cluster.setNode(node('b', { labels: { zone: 'y' }, spec: { unschedulable: true } }))
  for (const one of present) cluster.setPod(podInfoOf(one), 'a')
  const info = podInfoOf(high)
  const state = prefilter(info, cluster, () => ({}))
  const counted = () => JSON.stringify([...state.spreadCounts, ...state.affinityCounts].map((counts) => [...counts]))
  const before = counted()
  const refusing = cluster.ready().filter((one) => refusalOf(info, one, state)?.hard === false)
  const chosen = leastHarm(preemptionCandidates(info, refusing, state, []))
  assert.equal(counted(), before, 'trying changes nothing')
  return chosen?.victims.map(({ pod: { metadata } }) => metadata.name ?? '').sort()
}
const term = (app: string) => ({ topologyKey: 'zone', labelSelector: { matchLabels: { app } } })
const rule = (kind: string, app: string) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term(app)] } },
})
const labelled = (name: string, app: string, spec: Fields = {}, cpu = '100m') =>
  pod(name, { priority: 1, ...spec }, { labels: { app }, requests: { cpu } })

test('pods that make the skew too large give way, as many as that takes', () => {
  const spread = (maxSkew: number) => ({
    priority: 10,
    topologySpreadConstraints: [{ maxSkew, whenUnsatisfiable: 'DoNotSchedule', ...term('web') }],
  })
  const present = [labelled('q', 'web'), labelled('r', 'web', { priority: 2 }), labelled('s', 'other')]
  assert.deepEqual(inZones(labelled('high', 'web', spread(1)), ...present), ['q', 'r'])
  assert.deepEqual(inZones(labelled('high', 'web', spread(2)), ...present), ['q'])
})

test('a pod that wants no such pod beside it gives way', () => {
  const guard = labelled('guard', 'db', rule('podAntiAffinity', 'web'))
  assert.deepEqual(inZones(labelled('high', 'web', { priority: 10 }), guard, labelled('s', 'other')), ['guard'])
})

test('a pod that the other must have beside it does not give way', () => {
  const high = labelled('high', 'web', { priority: 10, ...rule('podAffinity', 'db') }, '1')
  const beside = (priority: number) => labelled('db', 'db', { priority }, '1')
  const other = labelled('other', 'x', { priority: 5 }, '1')
  assert.equal(inZones(high, beside(1), other), undefined)
  assert.deepEqual(inZones(high, beside(10), other), ['other'])
})
