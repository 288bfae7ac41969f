import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../api/generated/types.ts'
import type { Fields, KubeObject } from '../api/object.ts'
import { prefilter, refusalOf } from './filters.ts'
import { createCluster } from './node-info.ts'
import { podInfoOf } from './pod-info.ts'
import { node, pod } from './test-objects.ts'

const ZONE = 'zone'
interface Case {
  readonly pod: KubeObject
  readonly nodes?: readonly KubeObject[]
  /** Pods that are there, by the node they are on. */
  readonly present?: readonly (readonly [node: string, pod: KubeObject])[]
  /** Why the first node is refused, and whether evicting pods cannot help; undefined: it is not. */
  readonly refused?: readonly [reasons: readonly string[], hard: boolean]
}

const taint = (effect: string) => ({ spec: { taints: [{ key: 'k', value: 'v', effect }] } })
const tolerating = (toleration: Fields) => pod('p', { tolerations: [toleration] })
const web = { labels: { app: 'web' } }
const term = (topologyKey = ZONE, more: Fields = {}) => ({
  topologyKey,
  labelSelector: { matchLabels: { app: 'web' } },
  ...more,
})
const required = (kind: string, ...terms: readonly Fields[]) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const spread = (more: Fields = {}) => ({
  topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', ...term(), ...more }],
})
const zones = [node('a', { labels: { zone: 'x' } }), node('b', { labels: { zone: 'y' } })]
const taintedZone = [node('a', { labels: { zone: 'x' } }), node('b', { labels: { zone: 'y' }, ...taint('NoSchedule') })]
const restarting = (kind: string, action = 'RestartAllContainers') =>
  pod('p', { [kind]: [{ name: 'r', restartPolicyRules: [{ action }] }] })
const declaring = (...declaredFeatures: readonly string[]) => {
  const made = node('a')
  return { ...made, status: { ...(made as Node).status, declaredFeatures } }
}
const FEATURES = ["node(s) didn't match Pod's required features"]
const PORTS = "node(s) didn't have free ports for the requested pod ports"
const AFFINITY = "node(s) didn't match pod affinity rules"
const ANTI = "node(s) didn't match pod anti-affinity rules"
const SPREAD = "node(s) didn't match pod topology spread constraints"
const UNTOLERATED = ['node(s) had untolerated taint(s)']
const SELECTOR = "node(s) didn't match Pod's node affinity/selector"
const port = (hostPort: number, more: Fields = {}) =>
  pod('p', {}, { ports: [{ containerPort: 80, hostPort, ...more }] })

const cases: Readonly<Record<string, Case>> = {
  'nothing against it': { pod: pod('p') },
  'a cordoned node': {
    pod: pod('p'),
    nodes: [node('a', { spec: { unschedulable: true } })],
    refused: [['node(s) were unschedulable'], true],
  },
  'a cordoned node, tolerated': {
    pod: tolerating({ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }),
    nodes: [node('a', { spec: { unschedulable: true } })],
  },
  'another node is named': {
    pod: pod('p', { nodeName: 'b' }),
    refused: [["node(s) didn't match the requested node name"], true],
  },
  'a taint': { pod: pod('p'), nodes: [node('a', taint('NoSchedule'))], refused: [UNTOLERATED, true] },
  'a taint that also evicts': { pod: pod('p'), nodes: [node('a', taint('NoExecute'))], refused: [UNTOLERATED, true] },
  'a taint that only prefers': { pod: pod('p'), nodes: [node('a', taint('PreferNoSchedule'))] },
  'a taint, tolerated': { pod: tolerating({ key: 'k', value: 'v' }), nodes: [node('a', taint('NoSchedule'))] },
  'a taint of another value': {
    pod: tolerating({ key: 'k', value: 'w' }),
    nodes: [node('a', taint('NoSchedule'))],
    refused: [UNTOLERATED, true],
  },
  'a node selector': { pod: pod('p', { nodeSelector: { zone: 'y' } }), nodes: zones, refused: [[SELECTOR], true] },
  'a host port that is taken': {
    pod: port(80),
    present: [['a', pod('q', {}, { ports: [{ hostPort: 80 }] })]],
    refused: [[PORTS], false],
  },
  'a host port of another protocol': {
    pod: port(80, { protocol: 'UDP' }),
    present: [['a', pod('q', {}, { ports: [{ hostPort: 80 }] })]],
  },
  'a host port at another address': {
    pod: port(80, { hostIP: '10.0.0.1' }),
    present: [['a', pod('q', {}, { ports: [{ hostPort: 80, hostIP: '10.0.0.2' }] })]],
  },
  'a host port at any address beside one': {
    pod: port(80),
    present: [['a', pod('q', {}, { ports: [{ hostPort: 80, hostIP: '10.0.0.2' }] })]],
    refused: [[PORTS], false],
  },
  'a host port at :: beside one at an address of IPv4': {
    pod: port(80, { hostIP: '::' }),
    present: [['a', pod('q', {}, { ports: [{ hostPort: 80, hostIP: '10.0.0.2' }] })]],
  },
  'just enough of everything': { pod: pod('p', {}, { requests: { cpu: '2', memory: '1Gi' } }) },
  'room that others have': {
    pod: pod('p', {}, { requests: { cpu: '1500m', memory: '1Gi' } }),
    present: [['a', pod('q', {}, { requests: { cpu: '501m', memory: '1' } })]],
    refused: [['Insufficient cpu', 'Insufficient memory'], false],
  },
  'more than the node has': {
    pod: pod('p', {}, { requests: { cpu: '2001m' } }),
    refused: [['Insufficient cpu'], true],
  },
  'a resource that the node has not': {
    pod: pod('p', {}, { requests: { 'x.org/gpu': '1' } }),
    refused: [['Insufficient x.org/gpu'], true],
  },
  'as many pods as may be': {
    pod: pod('p'),
    nodes: [node('a', { allocatable: { pods: '1' } })],
    present: [['a', pod('q')]],
    refused: [['Too many pods'], false],
  },
  'affinity to nobody': { pod: pod('p', required('podAffinity', term())), nodes: zones, refused: [[AFFINITY], true] },
  'affinity to its own kind, the first': { pod: pod('p', required('podAffinity', term()), web), nodes: zones },
  'affinity to its own kind, elsewhere': {
    pod: pod('p', required('podAffinity', term()), web),
    nodes: zones,
    present: [['b', pod('q', {}, web)]],
    refused: [[AFFINITY], true],
  },
  'affinity in the same zone': {
    pod: pod('p', required('podAffinity', term())),
    nodes: [...zones, node('c', { labels: { zone: 'x' } })],
    present: [['c', pod('q', {}, web)]],
  },
  'affinity to another namespace': {
    pod: pod('p', required('podAffinity', term())),
    nodes: zones,
    present: [['a', pod('q', {}, { ...web, namespace: 'other' })]],
    refused: [[AFFINITY], true],
  },
  'anti-affinity in the same zone': {
    pod: pod('p', required('podAntiAffinity', term())),
    nodes: [...zones, node('c', { labels: { zone: 'x' } })],
    present: [['c', pod('q', {}, web)]],
    refused: [[ANTI], false],
  },
  'anti-affinity in another zone': {
    pod: pod('p', required('podAntiAffinity', term())),
    nodes: zones,
    present: [['b', pod('q', {}, web)]],
  },
  'anti-affinity of who is there': {
    pod: pod('p', {}, web),
    nodes: zones,
    present: [['a', pod('q', required('podAntiAffinity', term()))]],
    refused: [["node(s) didn't satisfy existing pods anti-affinity rules"], false],
  },
  'a skew that stays': { pod: pod('p', spread(), web), nodes: zones },
  'a skew too large': {
    pod: pod('p', spread(), web),
    nodes: zones,
    present: [['a', pod('q', {}, web)]],
    refused: [[SPREAD], false],
  },
  'a skew that may be': {
    pod: pod('p', spread({ maxSkew: 2 }), web),
    nodes: zones,
    present: [['a', pod('q', {}, web)]],
  },
  'too few domains': {
    pod: pod('p', spread({ minDomains: 3 }), web),
    nodes: zones,
    present: [
      ['a', pod('q', {}, web)],
      ['b', pod('r', {}, web)],
    ],
    refused: [[SPREAD], false],
  },
  'no such domain': {
    pod: pod('p', spread({ topologyKey: 'rack' }), web),
    nodes: zones,
    refused: [[`${SPREAD} (missing required label)`], true],
  },
  'an empty domain that the pod may not go to': {
    pod: pod('p', { ...spread(), nodeSelector: { zone: 'x' } }, web),
    nodes: zones,
    present: [['a', pod('q', {}, web)]],
  },
  'an empty domain that counts though the pod may not go to it': {
    pod: pod('p', { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { zone: 'x' } }, web),
    nodes: zones,
    present: [['a', pod('q', {}, web)]],
    refused: [[SPREAD], false],
  },
  'an empty domain of a tainted node': {
    pod: pod('p', spread(), web),
    nodes: taintedZone,
    present: [['a', pod('q', {}, web)]],
    refused: [[SPREAD], false],
  },
  'an empty domain of a tainted node that does not count': {
    pod: pod('p', spread({ nodeTaintsPolicy: 'Honor' }), web),
    nodes: taintedZone,
    present: [['a', pod('q', {}, web)]],
  },
  'an empty domain of a tainted node that counts, tolerated': {
    pod: pod('p', { ...spread({ nodeTaintsPolicy: 'Honor' }), tolerations: [{ operator: 'Exists' }] }, web),
    nodes: taintedZone,
    present: [['a', pod('q', {}, web)]],
    refused: [[SPREAD], false],
  },
  'an empty domain that lacks the label of another constraint': {
    pod: pod(
      'p',
      {
        topologySpreadConstraints: [
          ...spread().topologySpreadConstraints,
          ...spread({ topologyKey: 'rack', maxSkew: 5 }).topologySpreadConstraints,
        ],
      },
      web,
    ),
    nodes: [node('a', { labels: { zone: 'x', rack: '1' } }), node('b', { labels: { zone: 'y' } })],
    present: [['a', pod('q', {}, web)]],
  },
  'pods of another revision, by matchLabelKeys': {
    pod: pod('p', spread({ matchLabelKeys: ['rev'] }), { labels: { app: 'web', rev: '2' } }),
    nodes: zones,
    present: [['a', pod('q', {}, { labels: { app: 'web', rev: '1' } })]],
  },
  'pods of its own revision, by matchLabelKeys': {
    pod: pod('p', spread({ matchLabelKeys: ['rev'] }), { labels: { app: 'web', rev: '2' } }),
    nodes: zones,
    present: [['a', pod('q', {}, { labels: { app: 'web', rev: '2' } })]],
    refused: [[SPREAD], false],
  },
  'a feature that the node does not declare': { pod: restarting('containers'), refused: [FEATURES, true] },
  'a feature that the node does not declare, of an init container': {
    pod: restarting('initContainers'),
    nodes: [declaring('Other')],
    refused: [FEATURES, true],
  },
  'a feature that the node declares': {
    pod: restarting('containers'),
    nodes: [declaring('Other', 'RestartAllContainersOnContainerExits')],
  },
  'rules of restart that every kubelet knows': { pod: restarting('containers', 'Restart') },
  'a spread that is only wished': {
    pod: pod('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), web),
    nodes: zones,
    present: [['a', pod('q', {}, web)]],
  },
}

for (const [what, { pod: wanted, nodes = [node('a')], present = [], refused }] of Object.entries(cases))
  test(`${refused === undefined ? 'a node does' : 'a node is refused'}: ${what}`, () => {
    const cluster = createCluster()
    for (const one of nodes) cluster.setNode(one)
    for (const [where, one] of present) cluster.setPod(podInfoOf(one), where)
    const info = podInfoOf(wanted)
    const first = cluster.nodes.get(nodes[0]?.metadata.name ?? '')
    assert.ok(first)
    const refusal = refusalOf(
      info,
      first,
      prefilter(info, cluster, () => ({})),
    )
    assert.deepEqual(refusal && [refusal.reasons, refusal.hard], refused)
  })

test('pods that need a feature are not taken for others, and a node that declares one more has changed', () => {
  assert.notEqual(podInfoOf(restarting('containers')).shape, podInfoOf(restarting('containers', 'Restart')).shape)
  const cluster = createCluster()
  cluster.setNode(declaring())
  const before = cluster.nodes.get('a')?.generation
  cluster.setNode(declaring('RestartAllContainersOnContainerExits'))
  assert.notEqual(cluster.nodes.get('a')?.generation, before)
})
