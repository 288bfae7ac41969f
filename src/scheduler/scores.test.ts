/** By how much Kubernetes' scheduler prefers one of two nodes, as its log tells the scores. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fields, KubeObject } from '../api/object.ts'
import { labelSelectorOf } from '../api/objects/label-selector.ts'
import { countedSelector } from './default-spread.ts'
import { prefilter } from './filters.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { defaultProfile } from './profile.ts'
import { bestNodes, totalScores } from './scores.ts'
import { node as anyNode, pod } from './test-objects.ts'

const node = (name: string, more: Record<string, Fields> = {}) =>
  anyNode(name, { ...more, allocatable: { memory: '4Gi', ...more['allocatable'] } })
const zone = (name: string, value: string) => node(name, { labels: { zone: value } })
const web = { app: 'web' }
/** A pod that asks for so much cpu and memory. */
const asking = (name: string, cpu: string, memory: string, labels: Fields = {}, spec: Fields = {}) =>
  pod(name, spec, { labels, requests: { cpu, memory } })
const term = (topologyKey = 'kubernetes.io/hostname', labels: Fields = web) => ({
  topologyKey,
  labelSelector: { matchLabels: labels },
})
const wished = (weight: number, podAffinityTerm: Fields) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }],
})
const near = (weight = 1) => ({ affinity: { podAffinity: wished(weight, term()) } })
const far = (weight = 1) => ({ affinity: { podAntiAffinity: wished(weight, term()) } })
const soft = (topologyKey?: string, more: Fields = {}) => ({
  topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', ...term(topologyKey), ...more }],
})
const inZones = (...wishes: readonly (readonly [number, string])[]) => ({
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: wishes.map(([weight, value]) => ({
        weight,
        preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] },
      })),
    },
  },
})
const tainted = (...keys: readonly string[]) => ({
  spec: { taints: keys.map((key) => ({ key, value: 'v', effect: 'PreferNoSchedule' })) },
})
/** Two zones; a third node, of the second one, is tainted, of another disk, and has the only pod. */
const besideTainted: Pick<Case, 'nodes' | 'present'> = {
  nodes: [
    node('a', { labels: { zone: 'x', disk: 'ssd' } }),
    node('b', { labels: { zone: 'y', disk: 'ssd' } }),
    node('c', {
      labels: { zone: 'y', disk: 'hdd' },
      spec: { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] },
    }),
  ],
  present: [['c', pod('x', {}, { labels: web })]],
}
const owned = (made: KubeObject): KubeObject => ({
  ...made,
  metadata: {
    ...made.metadata,
    labels: { of: 'r' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }],
  },
})

interface Case {
  readonly nodes?: readonly KubeObject[]
  readonly present?: readonly (readonly [node: string, pod: KubeObject])[]
  readonly pod?: KubeObject
  /** The score of the second node less that of the first. */
  readonly more: number
}
const two = [node('a'), node('b')]
const half = ['a', asking('x', '1', '2Gi')] as const
const quarter = ['a', asking('y', '500m', '1Gi')] as const

const cases: Readonly<Record<string, Case>> = {
  'two alike': { pod: asking('p', '100m', '100Mi'), more: 0 },
  'the emptier node': { present: [half], pod: asking('p', '100m', '200Mi'), more: 50 },
  'the larger node': {
    nodes: [node('a'), node('b', { allocatable: { cpu: '4', memory: '8Gi' } })],
    pod: asking('p', '1', '2Gi'),
    more: 25,
  },
  'balance is what the pod changes, not what is there': {
    present: [
      ['a', asking('x', '1', '1Mi')],
      ['b', asking('y', '550m', '1200Mi')],
    ],
    pod: asking('p', '100m', '200Mi'),
    more: -3,
  },
  'balance of a pod that asks for nothing is nobody’s': {
    present: [
      ['a', asking('x', '1', '1Mi')],
      ['b', asking('y', '600m', '1200Mi')],
    ],
    more: -5,
  },
  'the node that the pod balances': {
    present: [
      ['a', asking('x', '200m', '1600Mi')],
      ['b', asking('y', '800m', '409Mi')],
    ],
    pod: asking('p', '600m', '1Mi'),
    more: -15,
  },
  'what asks for nothing takes room': { present: [1, 2, 3].map((i) => ['a', pod(`x${i}`)] as const), more: 15 },
  'a taint that would rather not': {
    nodes: [node('a', tainted('k')), node('b')],
    present: [['b', asking('x', '1800m', '3600Mi')]],
    pod: asking('p', '100m', '100Mi'),
    more: 300 + 7 - 96,
  },
  'fewer taints': {
    nodes: [node('a', tainted('k', 'l', 'm')), node('b', tainted('k'))],
    present: [['b', asking('x', '1500m', '3000Mi')]],
    more: 201 + 20 - 95,
  },
  'a taint that is tolerated': {
    nodes: [node('a', tainted('k')), node('b')],
    present: [['b', asking('x', '1', '2Gi')]],
    pod: pod('p', { tolerations: [{ key: 'k', operator: 'Exists' }] }),
    more: -50,
  },
  'taints on all': { nodes: [node('a', tainted('k')), node('b', tainted('k'))], present: [half], more: 50 },
  'the heavier preference of nodes': {
    nodes: [zone('a', 'x'), zone('b', 'y')],
    present: [['b', asking('x', '500m', '1Gi')]],
    pod: pod('p', inZones([10, 'x'], [80, 'y'])),
    more: 200 - 24 + 70 - 95,
  },
  'preferences that add up': {
    nodes: [zone('a', 'x'), zone('b', 'y')],
    pod: pod('p', inZones([40, 'x'], [30, 'y'], [30, 'y'])),
    more: 200 - 132,
  },
  'near others': {
    present: [['b', asking('x', '500m', '1Gi', web)]],
    pod: pod('p', near()),
    more: 200 + 70 - 95,
  },
  'far from others': {
    present: [['b', asking('x', '10m', '10Mi', web)], quarter],
    pod: pod('p', far()),
    more: 94 - 200 - 70,
  },
  'others wish it near': {
    present: [['b', asking('x', '500m', '1Gi', {}, near())]],
    pod: pod('p', {}, { labels: web }),
    more: 200 + 70 - 95,
  },
  'others wish it far': {
    present: [['b', pod('x', far())], quarter],
    pod: pod('p', {}, { labels: web }),
    more: 90 - 200 - 70,
  },
  'others must have it near': {
    nodes: [zone('a', 'x'), zone('b', 'y')],
    present: [
      [
        'b',
        asking('x', '500m', '1Gi', web, {
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('zone')] } },
        }),
      ],
    ],
    pod: pod('p', {}, { labels: web }),
    more: 200 + 70 - 95,
  },
  'some near, others far': {
    nodes: [...two, node('c')],
    present: [
      ['b', pod('x', {}, { labels: web })],
      ['c', pod('y', {}, { labels: { app: 'db' } })],
    ],
    pod: pod('p', {
      affinity: {
        podAffinity: wished(10, term()),
        podAntiAffinity: wished(100, term(undefined, { app: 'db' })),
      },
    }),
    more: 200 + 90 - 180 - 95,
  },
  'a spread that is wished': {
    present: [['b', asking('x', '10m', '10Mi', web)], quarter],
    pod: pod('p', soft(), { labels: web }),
    more: 94 - 200 - 70,
  },
  'a spread over zones': {
    nodes: [zone('a', 'x'), zone('b', 'y'), zone('c', 'y')],
    present: [
      ['a', pod('x', {}, { labels: web })],
      ['b', pod('x2', {}, { labels: web })],
      ['a', pod('y', {}, { labels: web })],
    ],
    pod: pod('p', soft('zone'), { labels: web }),
    more: 200 + 90 - 66 - 85,
  },
  'a spread over a label that a node has not': {
    nodes: [zone('a', 'x'), node('b')],
    present: [['a', asking('x', '1', '2Gi', web)]],
    pod: pod('p', soft('zone'), { labels: web }),
    more: 95 - 200 - 45,
  },
  'a spread of a wide skew': {
    present: [
      ['b', asking('x', '10m', '10Mi', web)],
      ['b', asking('x2', '10m', '10Mi', web)],
      ['a', asking('y', '1', '2Gi', web)],
    ],
    pod: pod('p', soft(undefined, { maxSkew: 5 }), { labels: web }),
    more: 142 + 94 - 200 - 45,
  },
  'a spread over zones of tainted nodes too': {
    ...besideTainted,
    pod: pod('p', soft('zone'), { labels: web }),
    more: -200,
  },
  'a spread over zones that heeds taints': {
    ...besideTainted,
    pod: pod('p', soft('zone', { nodeTaintsPolicy: 'Honor' }), { labels: web }),
    more: 0,
  },
  'a spread over zones of the nodes that the pod selects': {
    ...besideTainted,
    pod: pod('p', { ...soft('zone'), nodeSelector: { disk: 'ssd' } }, { labels: web }),
    more: 0,
  },
  'a spread over zones that heeds no selector': {
    ...besideTainted,
    pod: pod(
      'p',
      { ...soft('zone', { nodeAffinityPolicy: 'Ignore' }), nodeSelector: { disk: 'ssd' } },
      { labels: web },
    ),
    more: -200,
  },
  'a controller’s pods spread': {
    present: [['b', owned(asking('x', '10m', '10Mi'))], quarter],
    pod: owned(pod('p')),
    more: 132 + 94 - 200 - 70,
  },
  'pods without a controller do not': {
    present: [['b', asking('x', '10m', '10Mi', web)], quarter],
    pod: pod('p', {}, { labels: web }),
    more: 94 - 70,
  },
}

for (const [what, { nodes = two, present = [], pod: wanted = pod('p'), more }] of Object.entries(cases))
  test(`scores: ${what}`, () => {
    const cluster = createCluster()
    for (const one of nodes) cluster.setNode(one)
    for (const [where, one] of present) cluster.setPod(podInfoOf(one), where)
    const all = cluster.ready()
    const info = podInfoOf(wanted)
    const owned = countedSelector(labelSelectorOf({ matchLabels: { of: 'r' } }), 'default')
    const together = () => (info.controller === '' ? undefined : owned)
    const state = prefilter(info, cluster, () => ({}), defaultProfile(), together)
    const [a = 0, b = 0] = totalScores(info, all, state)
    assert.equal(b - a, more)
    const best = bestNodes(info, all.slice(0, 2), state).map(({ name }) => name)
    if (nodes.length === 2) assert.deepEqual(best, more === 0 ? ['a', 'b'] : more > 0 ? ['b'] : ['a'])
  })
