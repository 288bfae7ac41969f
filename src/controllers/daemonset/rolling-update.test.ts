import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../../api/object.ts'
import { podFor } from './eligible-nodes-and-tolerations.ts'
import { type DaemonSetPlanInput, planManage } from './pods-per-node.ts'
import { planRoll } from './rolling-update.ts'
import { daemonStatus } from './status.ts'

const setOf = (spec: Fields = {}, podSpec: Fields = {}): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd', uid: 'd' },
    spec: { template: { metadata: { labels: { app: 'd' } }, spec: podSpec }, ...spec },
  }) as never
const node = (name: string, taints: readonly Fields[] = []): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { on: name } }, spec: { taints } }) as never
const rolling = (rollingUpdate: Fields) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } })

let made = 0
type Look = 'ready' | 'pending' | 'going' | 'Failed' | 'Succeeded'
function podOn(name: string, look: Look = 'ready', hash = 'new', scheduled = true): KubeObject {
  const pod = podFor(setOf(), name, hash)
  const at = new Date(Date.parse('2026-01-01T00:00:00Z') + ++made * 1000).toISOString()
  const going = look === 'going' ? { deletionTimestamp: at } : {}
  const phase = { pending: 'Pending', Failed: 'Failed', Succeeded: 'Succeeded' }[look as string] ?? 'Running'
  const ready = look === 'ready' ? 'True' : 'False'
  return {
    ...pod,
    metadata: { ...pod.metadata, name: `${name}-${hash}-${made}`, creationTimestamp: at, ...going },
    spec: { ...pod['spec'], ...(scheduled ? { nodeName: name } : {}) },
    status: { phase, conditions: [{ type: 'Ready', status: ready, lastTransitionTime: at }] },
  } as unknown as KubeObject
}
const input = (set: KubeObject, nodes: readonly KubeObject[], pods: readonly KubeObject[]): DaemonSetPlanInput => ({
  set,
  nodes,
  pods,
  hash: 'new',
  nowMs: Date.parse('2026-01-02T00:00:00Z'),
})
const told = ({ create, remove }: { create: readonly string[]; remove: readonly KubeObject[] }) => [
  ...create,
  ...remove.map(({ metadata }) => `-${metadata.name?.replace(/-\d+$/, '')}`),
]
const manage = (...given: Parameters<typeof input>) => told(planManage(input(...given), () => true))
const roll = (...given: Parameters<typeof input>) => told(planRoll(input(...given)))

test('every node gets one; a node whose pod is still going waits for its end', () => {
  assert.deepEqual(manage(setOf(), [node('a'), node('b'), node('c')], [podOn('a'), podOn('b', 'going')]), ['c'])
  assert.deepEqual(manage(setOf(), [node('a')], [podOn('a', 'pending', 'new', false)]), [])
  assert.deepEqual(manage(setOf(), [node('a')], [podOn('a'), podOn('a', 'pending')]), ['-a-new'])
})

test('selectors choose nodes; what is on others goes', () => {
  const set = setOf({}, { nodeSelector: { on: 'a' } })
  assert.deepEqual(manage(set, [node('a'), node('b')], [podOn('b')]), ['a', '-b-new'])
})

test('taints keep pods off; only NoExecute drives them away; a daemon tolerates a node in trouble', () => {
  const no = (effect: string, key = 'x') => [{ key, effect }]
  assert.deepEqual(manage(setOf(), [node('a', no('NoSchedule')), node('b', no('PreferNoSchedule'))], []), ['b'])
  assert.deepEqual(manage(setOf(), [node('a', no('NoSchedule'))], [podOn('a')]), [])
  assert.deepEqual(manage(setOf(), [node('a', no('NoExecute'))], [podOn('a')]), ['-a-new'])
  const trouble = no('NoSchedule', 'node.kubernetes.io/unschedulable')
  assert.deepEqual(manage(setOf(), [node('a', trouble)], []), ['a'])
  assert.deepEqual(manage(setOf({}, { tolerations: [{ operator: 'Exists' }] }), [node('a', no('NoExecute'))], []), [
    'a',
  ])
})

test('pods that have ended are replaced, unless their node is let alone; pods for nodes that are gone go', () => {
  const ended = input(setOf(), [node('a')], [podOn('a', 'Failed')])
  assert.deepEqual(told(planManage(ended, () => true)), ['-a-new'])
  assert.deepEqual(told(planManage(ended, () => false)), [])
  assert.deepEqual(manage(setOf(), [], [podOn('z', 'pending', 'new', false), podOn('y')]), ['-z-new'])
})

test('an update deletes old pods, as many as may be unavailable; those that are already cost nothing', () => {
  const nodes = ['a', 'b', 'c', 'd'].map((name) => node(name))
  const old = (looks: Record<string, Look>) => Object.entries(looks).map(([name, look]) => podOn(name, look, 'old'))
  const all: Record<string, Look> = { a: 'ready', b: 'ready', c: 'ready', d: 'ready' }
  assert.deepEqual(roll(setOf(rolling({})), nodes, old(all)), ['-a-old'])
  assert.deepEqual(roll(setOf(rolling({ maxUnavailable: '50%' })), nodes, old(all)), ['-a-old', '-b-old'])
  assert.deepEqual(roll(setOf(rolling({})), nodes, old({ ...all, b: 'pending' })), ['-b-old', '-a-old'])
  assert.deepEqual(roll(setOf(rolling({})), nodes, [podOn('a', 'pending'), ...old({ b: 'ready' })]), [])
  assert.deepEqual(roll(setOf(rolling({})), nodes, [podOn('a', 'going'), ...old({ b: 'ready' })]), [])
})

test('a node without a pod is unavailable to an update, also while its last one has ended and is about to go', () => {
  const nodes = [node('a'), node('b')]
  const going = podOn('a', 'going', 'old') as KubeObject & { readonly status: Fields }
  const ending = { ...going, status: { ...going.status, phase: 'Succeeded' } }
  const old = podOn('b', 'ready', 'old')
  assert.deepEqual(roll(setOf(rolling({})), nodes, [ending, old]), [])
  assert.deepEqual(roll(setOf(rolling({})), nodes, [old]), [])
  assert.deepEqual(roll(setOf(rolling({ maxUnavailable: 2 })), nodes, [ending, old]), ['-b-old'])
})

test('with a surge new pods come first, and old ones go when the new one is there', () => {
  const set = setOf(rolling({ maxSurge: 1, maxUnavailable: 0 }))
  const nodes = ['a', 'b'].map((name) => node(name))
  assert.deepEqual(roll(set, nodes, [podOn('a', 'ready', 'old'), podOn('b', 'ready', 'old')]), ['a'])
  const surging = [podOn('a', 'ready', 'old'), podOn('a', 'pending'), podOn('b', 'ready', 'old')]
  assert.deepEqual(roll(set, nodes, surging), [])
  assert.deepEqual(manage(set, nodes, surging), [])
  const arrived = [podOn('a', 'ready', 'old'), podOn('a'), podOn('b', 'ready', 'old')]
  assert.deepEqual(manage(set, nodes, arrived), ['-a-old'])
  assert.deepEqual(roll(set, nodes, arrived), ['b', '-a-old'])
})

test('with a surge an old pod goes at once, ready or not, from a node where no new one may be made', () => {
  const set = setOf(rolling({ maxSurge: 1, maxUnavailable: 0 }))
  const taints = [{ key: 'x', effect: 'NoSchedule' }]
  const nodes = [node('a', taints), node('b', taints), node('c')]
  const pods = [podOn('a', 'ready', 'old'), podOn('b', 'pending', 'old'), podOn('c', 'ready', 'old')]
  assert.deepEqual(roll(set, nodes, pods), ['c', '-a-old', '-b-old'])
  assert.deepEqual(manage(set, nodes, pods), [])
})

test('the status tells of nodes: wanted, served, served without being wanted', () => {
  const set = setOf({}, { nodeSelector: { on: 'a' } })
  const pods = [podOn('a', 'ready', 'old'), podOn('b')]
  assert.deepEqual(daemonStatus(input(set, [node('a'), node('b')], pods), true), {
    currentNumberScheduled: 1,
    numberMisscheduled: 1,
    desiredNumberScheduled: 1,
    numberReady: 1,
    observedGeneration: 0,
    numberAvailable: 1,
  })
})
