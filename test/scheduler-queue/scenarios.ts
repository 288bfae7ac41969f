/**
 * A pod that each plugin refuses, then changes that help it and changes that do not; backoff, gates, preemption, the flush. Played to a
 * real scheduler and to ours.
 */
import type { Fields } from '../../src/api/object.ts'
import { claim, device, deviceClass, devices, slice } from '../devices/forms.ts'
import { change, make, remove, type Scenario, step, wait } from '../devices/scenario.ts'

const node = (name: string, labels: Fields = {}, { spec, allocatable = {} }: Record<string, Fields> = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
  ...(spec && { spec }),
  status: {
    allocatable: { cpu: '2', memory: '1Gi', pods: '10', ...allocatable },
    capacity: { cpu: '2', memory: '1Gi', pods: '10', ...allocatable },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
})

const pod = (
  name: string,
  spec: Fields = {},
  { requests, limits, labels, ports }: Record<string, unknown> = {},
): Fields => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(labels ? { labels } : {}) },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i',
        ...(requests ? { resources: { requests, ...(limits ? { limits } : {}) } } : {}),
        ...(ports ? { ports } : {}),
      },
    ],
    ...spec,
  },
})
/** It has that node from the beginning. */
const present = (name: string, nodeName: string, given: Record<string, unknown> = {}, spec: Fields = {}): Fields =>
  pod(name, { nodeName, ...spec }, given)

const RESTARTS_ALL = 'RestartAllContainersOnContainerExits'
/** A pod that asks for what only some nodes declare. */
const restartsAll: Fields = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a' },
  spec: {
    restartPolicy: 'Never',
    containers: [
      {
        name: 'c',
        image: 'i',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
      },
    ],
  },
}

const urgent: Fields = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'queue-high' },
  value: 100,
}

const quick = (scenario: Scenario): Scenario => scenario.map(({ acts, ms = 1000 }) => ({ acts, ms }))
const label = (name: string, labels: Fields) => step(change('nodes', name, { metadata: { labels } }))
const allocatable = (name: string, amounts: Fields) =>
  step(change('nodes', name, { status: { allocatable: amounts } }, 'status'))
const podLabel = (name: string, labels: Fields) => step(change('pods', name, { metadata: { labels } }))
const gone = (...names: readonly string[]) => step(...names.map((name) => remove('pods', name)))
const cpu = (amount: string) => ({ requests: { cpu: amount } })
const noEffect = label('n', { irrelevant: 'yes' })
const hostPort = (port: number) => ({ ports: [{ containerPort: 80, hostPort: port }] })
const taint = (key: string, effect = 'NoSchedule') => ({ key, effect })
const zones = 'topology.kubernetes.io/zone'

const storageClass = (name: string, more: Fields = {}): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
})
const pvc = (name: string, spec: Fields = {}, status?: Fields): Fields => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name,
    ...(spec['volumeName'] ? { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } : {}),
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: '',
    resources: { requests: { storage: '1Gi' } },
    ...spec,
  },
  ...(status && { status }),
})
const bound = (name: string, volumeName: string, spec: Fields = {}) =>
  pvc(name, { volumeName, ...spec }, { phase: 'Bound' })
const volume = (name: string, spec: Fields = {}, labels: Fields = {}): Fields => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, labels },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    csi: { driver: 'd.example.com', volumeHandle: name },
    ...spec,
  },
})
const withClaims = (...names: readonly string[]) => ({
  volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
})
const csiNode = (name: string, count: number): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name },
  spec: { drivers: [{ name: 'd.example.com', nodeID: name, allocatable: { count } }] },
})
const affinityTo = (labels: Fields, kind = 'podAffinity', more: Fields = {}): Fields => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels }, ...more },
      ],
    },
  },
})
const spread = (topologyKey: string): Fields => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
    },
  ],
})
const app = { labels: { app: 'a' } }
const usesClaim = (name: string) => ({
  resourceClaims: [{ name: 'c', resourceClaimName: name }],
})

const all: Readonly<Record<string, Scenario>> = {
  'no-nodes': [wait(500, make(pod('a'))), wait(1700, make(storageClass('s1'))), wait(6000, make(node('n')))],

  'node-unschedulable': [
    make(node('n', {}, { spec: { unschedulable: true } }), present('other', 'n')),
    make(pod('a')),
    noEffect,
    gone('other'),
    allocatable('n', { cpu: '3' }),
    step(change('nodes', 'n', { spec: { unschedulable: null } })),
  ],
  'node-unschedulable-tolerated': [
    make(node('n', {}, { spec: { unschedulable: true } })),
    make(pod('a')),
    podLabel('a', { x: 'y' }),
    step(change('pods', 'a', { spec: { tolerations: [{ key: 'irrelevant', operator: 'Exists' }] } })),
    step(
      change('pods', 'a', {
        spec: {
          tolerations: [
            { key: 'irrelevant', operator: 'Exists' },
            { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' },
          ],
        },
      }),
    ),
  ],
  'node-unschedulable-another': [
    make(node('n', {}, { spec: { unschedulable: true } })),
    make(pod('a')),
    make(node('m', {}, { spec: { unschedulable: true } })),
    make(node('o')),
  ],
  taints: [
    make(node('n', {}, { spec: { taints: [taint('t')] } }), present('other', 'n')),
    make(pod('a')),
    noEffect,
    gone('other'),
    step(change('nodes', 'n', { spec: { taints: [taint('t'), taint('u')] } })),
    step(change('nodes', 'n', { spec: { taints: [taint('t')] } })),
    allocatable('n', { cpu: '3' }),
    step(change('nodes', 'n', { spec: { taints: [taint('t', 'PreferNoSchedule')] } })),
  ],
  'taints-tolerated': [
    make(node('n', {}, { spec: { taints: [taint('t')] } })),
    make(pod('a')),
    step(change('pods', 'a', { spec: { tolerations: [{ key: 'u', operator: 'Exists' }] } })),
    step(
      change('pods', 'a', {
        spec: {
          tolerations: [
            { key: 'u', operator: 'Exists' },
            { key: 't', operator: 'Exists' },
          ],
        },
      }),
    ),
  ],
  'taints-of-another-node': [
    make(node('n', {}, { spec: { taints: [taint('t')] } })),
    make(pod('a')),
    make(node('m', {}, { spec: { taints: [taint('u')] } })),
    make(node('o')),
  ],
  'node-affinity': [
    make(node('n'), present('other', 'n')),
    make(pod('a', { nodeSelector: { disk: 'ssd' } })),
    noEffect,
    gone('other'),
    allocatable('n', { cpu: '3' }),
    step(change('nodes', 'n', { spec: { taints: [taint('t')] } })),
    step(change('nodes', 'n', { spec: { taints: null } })),
    label('n', { disk: 'hdd' }),
    label('n', { disk: 'ssd' }),
  ],
  'node-affinity-another': [
    make(node('n')),
    make(pod('a', { nodeSelector: { disk: 'ssd' } })),
    make(node('m', { disk: 'hdd' })),
    make(node('o', { disk: 'ssd' })),
  ],
  'host-ports': [
    make(node('n'), present('with', 'n', hostPort(8080)), present('without', 'n'), present('other', 'n', hostPort(81))),
    make(pod('a', {}, hostPort(8080))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    gone('without'),
    gone('other'),
    gone('with'),
  ],
  'host-ports-another': [
    make(node('n'), present('with', 'n', hostPort(8080))),
    make(pod('a', {}, hostPort(8080))),
    make(node('m', {}, { spec: { unschedulable: true } })),
    make(node('o')),
  ],
  resources: [
    make(node('n'), present('big', 'n', cpu('1500m')), present('memory', 'n', { requests: { memory: '1Mi' } })),
    make(pod('a', {}, cpu('1'))),
    noEffect,
    gone('memory'),
    allocatable('n', { cpu: '2100m' }),
    allocatable('n', { memory: '2Gi' }),
    step(change('nodes', 'n', { spec: { taints: [taint('t')] } })),
    step(change('nodes', 'n', { spec: { taints: null } })),
    gone('big'),
  ],
  'resources-another': [
    make(node('n'), present('big', 'n', cpu('1500m'))),
    make(pod('a', {}, cpu('1'))),
    make(node('m', {}, { allocatable: { cpu: '500m' } })),
    allocatable('m', { cpu: '700m' }),
    allocatable('m', { cpu: '1' }),
  ],
  'resources-two-pods-go': [
    make(node('n'), present('b', 'n', cpu('800m')), present('c', 'n', cpu('800m')), present('d', 'n', cpu('400m'))),
    make(pod('a', {}, cpu('1'))),
    gone('d'),
    gone('c'),
  ],
  'resources-elsewhere': [
    make(node('n'), node('m'), present('b', 'n', cpu('2')), present('c', 'm', cpu('2'))),
    make(pod('a', {}, cpu('2'))),
    make(pod('x', {}, cpu('2')), pod('y', { nodeSelector: { disk: 'ssd' } }, cpu('1'))),
    gone('b'),
    gone('c'),
  ],
  'resources-by-resize': [
    make(node('n'), present('big', 'n', cpu('1500m'))),
    make(pod('a', {}, cpu('1'))),
    step(
      change(
        'pods',
        'big',
        { spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1400m' } } }] } },
        'resize',
      ),
    ),
    step(
      change(
        'pods',
        'a',
        { spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }] } },
        'resize',
      ),
    ),
  ],
  'too-many-pods': [
    make(node('n', {}, { allocatable: { pods: '1' } }), present('other', 'n')),
    make(pod('a')),
    noEffect,
    allocatable('n', { cpu: '3' }),
    gone('other'),
  ],
  'a-pod-ends': [
    make(node('n'), present('b', 'n', cpu('2'))),
    make(pod('a', {}, cpu('1'))),
    step(change('pods', 'b', { status: { phase: 'Running' } }, 'status')),
    step(change('pods', 'b', { status: { phase: 'Succeeded' } }, 'status')),
  ],
  'a-pod-goes-slowly': [
    make(node('n'), present('b', 'n', cpu('2'))),
    make(pod('a', {}, cpu('1'))),
    step({ remove: 'pods', name: 'b', gracefully: true }),
    gone('b'),
  ],
  'one-node-each': [
    make(node('n'), node('m', { disk: 'ssd' }), present('big', 'm', cpu('2'))),
    make(pod('a', { nodeSelector: { disk: 'ssd' } }, cpu('1'))),
    noEffect,
    step(change('nodes', 'n', { spec: { unschedulable: true } })),
    label('n', { disk: 'ssd' }),
    step(change('nodes', 'n', { spec: { unschedulable: null } })),
  ],
  'volume-restrictions': [
    make(
      node('n'),
      storageClass('s2'),
      volume('pv-rwop', { accessModes: ['ReadWriteOncePod'] }),
      bound('one', 'pv-rwop', { accessModes: ['ReadWriteOncePod'] }),
      present('with', 'n', {}, withClaims('one')),
      present('other', 'n'),
    ),
    make(pod('a', withClaims('one'))),
    noEffect,
    gone('other'),
    make(pvc('unrelated')),
    gone('with'),
  ],
  disks: [
    make(
      node('n'),
      present('with', 'n', {}, { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'p' } }] }),
      present('other', 'n', {}, { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'q' } }] }),
    ),
    make(pod('a', { volumes: [{ name: 'd', gcePersistentDisk: { pdName: 'p' } }] })),
    noEffect,
    gone('other'),
    gone('with'),
  ],
  'volume-limits': [
    make(node('n'), csiNode('n', 1), volume('pv-1'), volume('pv-2'), bound('one', 'pv-1'), bound('two', 'pv-2')),
    make(present('with', 'n', {}, withClaims('one')), present('without', 'n')),
    make(pod('a', withClaims('two'))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    gone('without'),
    make(pvc('unrelated')),
    gone('with'),
  ],
  'volume-limits-raised': [
    make(node('n'), csiNode('n', 1), volume('pv-1'), volume('pv-2'), bound('one', 'pv-1'), bound('two', 'pv-2')),
    make(present('with', 'n', {}, withClaims('one'))),
    make(pod('a', withClaims('two'))),
    step(change('csinodes', 'n', { metadata: { labels: { x: 'y' } } })),
    step(
      change('csinodes', 'n', {
        spec: { drivers: [{ name: 'd.example.com', nodeID: 'n', allocatable: { count: 2 } }] },
      }),
    ),
  ],
  'claim-missing': [
    make(node('n')),
    make(pod('a', withClaims('one'))),
    noEffect,
    make(pvc('another')),
    make(volume('pv-3')),
    make(storageClass('s3')),
    make(bound('one', 'pv-3')),
  ],
  'claim-unbound': [
    make(node('n'), pvc('one'), pvc('another')),
    make(pod('a', withClaims('one'))),
    noEffect,
    step(change('persistentvolumeclaims', 'another', { metadata: { labels: { x: 'y' } } })),
    step(change('persistentvolumeclaims', 'one', { metadata: { labels: { x: 'y' } } })),
    make(volume('pv-4')),
    step(
      change('persistentvolumeclaims', 'one', {
        metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
        spec: { volumeName: 'pv-4' },
      }),
      change('persistentvolumeclaims', 'one', { status: { phase: 'Bound' } }, 'status'),
    ),
  ],
  'claim-waits': [
    make(node('n'), storageClass('s5'), pvc('one', { storageClassName: 's5' })),
    make(pod('a', withClaims('one'))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    make(storageClass('s6')),
    make({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: 'e.example.com' }, spec: {} }),
    make(csiNode('n', 5)),
    make(volume('pv-5', { storageClassName: 'other', claimRef: { namespace: 'x', name: 'y' } })),
    make(volume('pv-6', { storageClassName: 's5' })),
  ],
  'volume-elsewhere': [
    make(
      node('n'),
      volume('pv-7', {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }] },
        },
      }),
      bound('one', 'pv-7'),
    ),
    make(pod('a', withClaims('one'))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    step(change('nodes', 'n', { spec: { taints: [taint('t')] } })),
    step(change('nodes', 'n', { spec: { taints: null } })),
    label('n', { disk: 'ssd' }),
  ],
  'volume-zone': [
    make(node('n', { [zones]: 'z1' }), volume('pv-8', {}, { [zones]: 'z2' }), bound('one', 'pv-8'), pvc('other')),
    make(pod('a', withClaims('one'))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    step(change('persistentvolumes', 'pv-8', { metadata: { labels: { x: 'y' } } })),
    step(change('persistentvolumeclaims', 'other', { metadata: { labels: { x: 'y' } } })),
    make(storageClass('s8')),
    make(node('m', { [zones]: 'z3' })),
    step(change('persistentvolumes', 'pv-8', { metadata: { labels: { [zones]: 'z1' } } })),
  ],
  'topology-spread': [
    make(node('n', { [zones]: 'z1' }), node('m'), present('one', 'n', app), present('other', 'n')),
    make(pod('b', { ...spread(zones), nodeSelector: { disk: 'ssd' } }, app), pod('a', spread('rack'), app)),
    noEffect,
    gone('other'),
    gone('one'),
    allocatable('n', { cpu: '3' }),
    label('m', { rack: 'r1' }),
  ],
  'topology-spread-uneven': [
    make(node('n', { rack: 'r1' }), node('m', { rack: 'r2' }, { spec: { unschedulable: true } })),
    make(present('one', 'n', app), present('other', 'n')),
    make(pod('a', spread('rack'), app)),
    noEffect,
    gone('other'),
    make(present('unlabelled', 'm')),
    make(present('two', 'm', app)),
  ],
  'topology-spread-a-pod-goes': [
    make(node('n', { rack: 'r1' }), node('m', { rack: 'r2' }, { spec: { unschedulable: true } })),
    make(present('one', 'n', app), present('labelled', 'n', { labels: { app: 'b' } })),
    make(pod('a', spread('rack'), app)),
    podLabel('labelled', { x: 'y' }),
    gone('labelled'),
    gone('one'),
  ],
  'topology-spread-labels': [
    make(node('n', { rack: 'r1' }), node('m', { rack: 'r2' }, { spec: { unschedulable: true } })),
    make(present('one', 'n', app)),
    make(pod('a', spread('rack'), app)),
    podLabel('one', { x: 'y' }),
    podLabel('a', { x: 'y' }),
    podLabel('one', { app: 'b' }),
  ],
  'topology-spread-nodes': [
    make(node('n', { rack: 'r1' }), node('m', { rack: 'r2' }, { spec: { unschedulable: true } })),
    make(present('one', 'n', app)),
    make(pod('a', spread('rack'), app)),
    make(node('o')),
    step(remove('nodes', 'o')),
    label('n', { x: 'y' }),
    step(remove('nodes', 'm')),
  ],
  'pod-affinity': [
    make(node('n'), present('other', 'n'), present('some', 'n', { labels: { x: 'y' } })),
    make(pod('a', affinityTo({ app: 'a' }))),
    noEffect,
    gone('other'),
    make(present('unrelated', 'n', { labels: { app: 'b' } })),
    podLabel('some', { x: 'z' }),
    allocatable('n', { cpu: '3' }),
    make(present('wanted', 'n', app)),
  ],
  'pod-affinity-labels': [
    make(node('n'), present('some', 'n', { labels: { x: 'y' } })),
    make(pod('a', affinityTo({ app: 'a' }))),
    podLabel('some', { app: 'b' }),
    podLabel('some', { app: 'a' }),
  ],
  'pod-affinity-itself': [
    make(node('n'), present('some', 'n', { labels: { x: 'y' } })),
    make(pod('a', affinityTo({ app: 'a' }))),
    podLabel('a', { x: 'y' }),
    podLabel('a', { app: 'a' }),
  ],
  'pod-affinity-nodes': [
    make(node('n'), node('m', { rack: 'r' }), present('some', 'n', app)),
    make(pod('a', affinityTo({ app: 'a' }, 'podAffinity', { topologyKey: 'rack' }))),
    make(node('o')),
    make(node('p', { rack: 'q' })),
    label('n', { disk: 'ssd' }),
    label('n', { rack: 'r' }),
  ],
  'pod-affinity-missing-node': [
    make(node('n', { rack: 'r' }), node('m', { rack: 'r' }), present('some', 'n', app)),
    make(pod('a', affinityTo({ app: 'a' }, 'podAntiAffinity', { topologyKey: 'rack' }))),
    make(node('o', { rack: 'r' }, { spec: { unschedulable: true } })),
    make(node('p', {}, { spec: { unschedulable: true } })),
    label('m', { disk: 'ssd' }),
    label('m', { rack: 'q' }),
  ],
  'pod-anti-affinity': [
    make(node('n'), present('same', 'n', app), present('other', 'n', { labels: { app: 'b' } })),
    make(pod('a', affinityTo({ app: 'a' }, 'podAntiAffinity'))),
    noEffect,
    allocatable('n', { cpu: '3' }),
    gone('other'),
    podLabel('same', { x: 'y' }),
    gone('same'),
  ],
  'pod-anti-affinity-labels': [
    make(node('n'), present('same', 'n', app)),
    make(pod('a', affinityTo({ app: 'a' }, 'podAntiAffinity'))),
    podLabel('same', { app: 'b' }),
  ],
  'anti-affinity-of-others': [
    make(node('n'), present('averse', 'n', {}, affinityTo({ app: 'a' }, 'podAntiAffinity')), present('other', 'n')),
    make(pod('a', {}, app)),
    noEffect,
    gone('other'),
    podLabel('a', { x: 'y' }),
    gone('averse'),
  ],
  'anti-affinity-of-others-relabelled': [
    make(node('n'), present('averse', 'n', {}, affinityTo({ app: 'a' }, 'podAntiAffinity'))),
    make(pod('a', {}, app)),
    podLabel('a', { app: 'b' }),
  ],
  claims: [
    make(node('n'), deviceClass()),
    make(pod('a', usesClaim('c'))),
    noEffect,
    make(claim('another')),
    make(claim('c')),
    allocatable('n', { cpu: '3' }),
    noEffect,
    make(claim('third')),
    make(slice('sl', 'n', [])),
    step(
      change('resourceslices', 'sl', {
        spec: {
          devices: devices('d1'),
          pool: { name: 'n', generation: 2, resourceSliceCount: 1 },
        },
      }),
    ),
  ],
  'claims-in-use': [
    make(node('n'), deviceClass(), slice('sl', 'n', [device('d2')]), claim('c'), claim('d')),
    make(pod('first', usesClaim('c'))),
    make(pod('a', usesClaim('d'))),
    gone('first'),
    step(change('resourceclaims', 'c', { status: { reservedFor: null } }, 'status')),
    step(change('resourceclaims', 'c', { status: { allocation: null } }, 'status')),
  ],
  'class-missing': [
    make(node('n'), slice('sl', 'n', [device('d3')]), claim('c')),
    make(pod('a', usesClaim('c'))),
    noEffect,
    step(change('nodes', 'n', { spec: { taints: [taint('t')] } })),
    step(change('nodes', 'n', { spec: { taints: null } })),
    make(node('m', {}, { spec: { unschedulable: true } })),
    make(deviceClass('another')),
    make(deviceClass()),
  ],
  'extended-resource-class-comes': [
    make(node('n')),
    make(pod('a', {}, { requests: { 'example.com/gpu': '1', cpu: '1' }, limits: { 'example.com/gpu': '1' } })),
    make(slice('sl', 'n', [device('d6')])),
    make(deviceClass('another')),
    make(deviceClass('gpu', { extendedResourceName: 'example.com/gpu' })),
  ],
  'extended-resource-node-comes': [
    make(node('n', {}, { allocatable: { cpu: '500m' } })),
    make(deviceClass('gpu', { extendedResourceName: 'example.com/gpu' }), slice('sl', 'm', [device('d7')])),
    make(pod('a', {}, { requests: { 'example.com/gpu': '1', cpu: '1' }, limits: { 'example.com/gpu': '1' } })),
    make(node('m')),
  ],
  'declared-features': [
    make(node('n'), present('other', 'n')),
    make(restartsAll),
    noEffect,
    gone('other'),
    allocatable('n', { cpu: '3' }),
    step(change('nodes', 'n', { status: { declaredFeatures: ['Other'] } }, 'status')),
    step(change('nodes', 'n', { status: { declaredFeatures: ['Other', RESTARTS_ALL] } }, 'status')),
  ],
  'declared-features-another': [
    make(node('n')),
    make(restartsAll),
    make(node('m')),
    step(change('nodes', 'm', { status: { declaredFeatures: [RESTARTS_ALL] } }, 'status')),
  ],
  gates: [
    make(node('n'), present('other', 'n')),
    make(pod('a', { schedulingGates: [{ name: 'g' }, { name: 'h' }] })),
    noEffect,
    gone('other'),
    make(node('m')),
    podLabel('a', { x: 'y' }),
    step(change('pods', 'a', { spec: { schedulingGates: [{ name: 'h' }] } })),
    step(change('pods', 'a', { spec: { schedulingGates: null } })),
  ],
  'gates-then-refused': [
    make(node('n')),
    make(pod('a', { schedulingGates: [{ name: 'g' }], nodeSelector: { disk: 'ssd' } })),
    step(change('pods', 'a', { spec: { schedulingGates: null } })),
    label('n', { disk: 'ssd' }),
  ],
  'gated-one-goes': [
    make(node('n')),
    make(pod('a', { schedulingGates: [{ name: 'g' }] }), pod('b', { nodeSelector: { disk: 'ssd' } })),
    gone('a'),
    gone('b'),
  ],
  backoff: [
    make(node('n'), present('big', 'n', cpu('1500m'))),
    make(pod('a', {}, cpu('1'))),
    wait(300, allocatable('n', { cpu: '2100m' })),
    wait(300, allocatable('n', { cpu: '2200m' })),
    wait(300, allocatable('n', { cpu: '2300m' })),
    wait(300, allocatable('n', { cpu: '2400m' })),
    wait(300, allocatable('n', { cpu: '3' })),
  ],
  preemption: [
    make(node('n'), present('low', 'n', cpu('2')), urgent),
    make(pod('a', { priorityClassName: 'queue-high' }, cpu('1'))),
    noEffect,
    gone('low'),
  ],
  'preempting-one-goes': [
    make(node('n'), present('low', 'n', cpu('2')), urgent),
    make(pod('a', { priorityClassName: 'queue-high' }, cpu('2'))),
    make(pod('b', {}, cpu('1'))),
    gone('a'),
  ],
  'preemption-waits': [
    make(
      urgent,
      node('n'),
      present('low', 'n', cpu('2')),
      present('unrelated', 'n', { requests: { memory: '1Mi' } }, { priorityClassName: 'queue-high' }),
    ),
    make(pod('a', { priorityClassName: 'queue-high' }, cpu('1'))),
    allocatable('n', { memory: '2Gi' }),
    allocatable('n', { cpu: '2100m' }),
    gone('unrelated'),
    gone('low'),
  ],
}

/** A second is enough for what follows: only a scheduler that has no nodes makes a pod wait for its backoff. */
export const scenarios: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(all).map(([name, scenario]) => [name, quick(scenario)]),
)

/** It takes longer than five minutes. */
export const slowScenarios: Readonly<Record<string, Scenario>> = {
  flush: [
    make(node('n')),
    make(pod('a', { nodeSelector: { disk: 'ssd' } })),
    wait(290_000),
    wait(60_000),
    noEffect,
    label('n', { disk: 'ssd' }),
  ],
}
