/**
 * What the fields of a KubeSchedulerConfiguration do: pods that tell the difference, played to a real scheduler with the file and to ours.
 * No two nodes are as good as one another, so that each decision is the only one.
 */
import type { Fields } from '../../src/api/object.ts'
import { claim, device, deviceClass, slice } from '../devices/forms.ts'
import { change, make, type Scenario, type Step, step, wait } from '../devices/scenario.ts'
import {
  affinityTo,
  allocatable,
  bound,
  cpu,
  csiNode,
  gone,
  hostPort,
  node,
  pod,
  present,
  pvc,
  RESTARTS_ALL,
  restartsAll,
  spread,
  storageClass,
  taint,
  urgent,
  usesClaim,
  volume,
  withClaims,
  zones,
} from '../scheduler-queue/forms.ts'
import { extenderScenarios } from './extender-scenarios.ts'
import type { StubRules } from './stub-extender.ts'

export interface ProfileScenario {
  /** The fields of the file. */
  readonly config: Fields
  readonly steps: Scenario
  /** How its extenders answer. */
  readonly rules?: StubRules
}

const GPU = 'example.com/gpu'
const named = (...names: readonly string[]) => names.map((name) => ({ name }))
const only = (profile: Fields, more: Fields = {}): Fields => ({
  ...more,
  profiles: [{ schedulerName: 'default-scheduler', ...profile }],
})
const at = (point: string, set: Fields) => only({ plugins: { [point]: set } })
const without = (...plugins: readonly string[]) => at('multiPoint', { disabled: named(...plugins) })
const args = (name: string, given: Fields, profile: Fields = {}) =>
  only({ pluginConfig: [{ name, args: given }], ...profile })
/** These alone score. */
const scoredBy = (...enabled: readonly (readonly [name: string, weight: number])[]): Fields => ({
  plugins: { score: { disabled: named('*'), enabled: enabled.map(([name, weight]) => ({ name, weight })) } },
})
const steps = (...all: readonly Step[]): Scenario => all.map(({ acts, ms = 1000 }) => ({ acts, ms }))

const on = (schedulerName: string, name: string, spec: Fields = {}, given: Record<string, unknown> = {}) =>
  pod(name, { schedulerName, ...spec }, given)
const sized = (name: string, cpus: string, memory: string, more: Fields = {}, labels: Fields = {}) =>
  node(name, labels, { allocatable: { cpu: cpus, memory, ...more } })
const asks = (requests: Fields) => ({
  requests,
  limits: Object.fromEntries(Object.entries(requests).filter(([name]) => name.includes('/'))),
})
const prefersNode = (key: string, value: string, weight: number) => ({
  preference: { matchExpressions: [{ key, operator: 'In', values: [value] }] },
  weight,
})
const needsNode = (key: string, value: string): Fields => ({
  requiredDuringSchedulingIgnoredDuringExecution: {
    nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }],
  },
})
const nearPod = (labels: Fields, weight: number, kind = 'podAffinity') => ({
  affinity: {
    [kind]: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight, podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels } } },
      ],
    },
  },
})
const service = (name: string, selector: Fields): Fields => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector, ports: [{ port: 80 }] },
})
const nth = (i: number) => `n${String(i).padStart(3, '0')}`
const image = (name: string, mebibytes: number) => ({ names: [name], sizeBytes: mebibytes * 2 ** 20 })
const cordoned = (name: string, more: Fields = {}) => node(name, {}, { spec: { unschedulable: true, ...more } })
const ratio = (resources: readonly Fields[], ...shape: readonly (readonly [utilization: number, score: number])[]) => ({
  scoringStrategy: {
    type: 'RequestedToCapacityRatio',
    resources,
    requestedToCapacityRatio: { shape: shape.map(([utilization, score]) => ({ utilization, score })) },
  },
})
const strategy = (type: string, ...resources: readonly (readonly [name: string, weight: number])[]) => ({
  scoringStrategy: { type, resources: resources.map(([name, weight]) => ({ name, weight })) },
})
const fit = (given: Fields, more: Fields = scoredBy(['NodeResourcesFit', 1])) => args('NodeResourcesFit', given, more)
/** Three nodes, in use by 25, 50 and 80 percent of the processor, and by 70, 40 and 10 of the memory. */
const threeUsed = make(
  ...[
    ['a', '1', '7Gi'],
    ['b', '2', '4Gi'],
    ['c', '3200m', '1Gi'],
  ].flatMap(([name = '', cpus = '', memory = '']) => [
    sized(name, '4', '10Gi'),
    present(`on-${name}`, name, { requests: { cpu: cpus, memory } }),
  ]),
)
const small = pod('p', {}, { requests: { cpu: '100m', memory: '100Mi' } })
const list = (...defaultConstraints: readonly Fields[]) => ({ defaultingType: 'List', defaultConstraints })
const spreadBy = (topologyKey: string, maxSkew: number, whenUnsatisfiable: string) => ({
  topologyKey,
  maxSkew,
  whenUnsatisfiable,
})
const web = (name: string) => pod(name, {}, { labels: { app: 'web' } })
const inZone = (name: string, zone: string, cpus = '2') => sized(name, cpus, '1Gi', {}, { [zones]: zone })

/** What a plugin alone says, and that it is not said without it. */
const switchedOff: Readonly<Record<string, Scenario>> = {
  NodeUnschedulable: steps(make(cordoned('n')), make(pod('p'))),
  TaintToleration: steps(make(node('n', {}, { spec: { taints: [taint('t')] } })), make(pod('p'))),
  NodeAffinity: steps(make(node('n')), make(pod('p', { nodeSelector: { disk: 'ssd' } }))),
  NodePorts: steps(make(node('n'), pod('first', { nodeName: 'n' }, hostPort(80))), make(pod('p', {}, hostPort(80)))),
  NodeResourcesFit: steps(make(node('n')), make(pod('p', {}, cpu('3')), pod('q', {}, cpu('1')))),
  VolumeRestrictions: steps(
    make(node('n'), volume('v', { accessModes: ['ReadWriteOncePod'] })),
    make(bound('c', 'v', { accessModes: ['ReadWriteOncePod'] }), pod('first', { nodeName: 'n', ...withClaims('c') })),
    make(pod('p', withClaims('c'))),
    make(pod('q', withClaims('missing'))),
  ),
  NodeVolumeLimits: steps(
    make(node('n'), csiNode('n', 1), volume('v'), volume('w'), bound('c', 'v'), bound('d', 'w')),
    make(present('first', 'n', {}, withClaims('c'))),
    make(pod('p', withClaims('d'))),
  ),
  VolumeBinding: steps(
    make(
      node('n', { disk: 'hdd' }),
      storageClass('wait'),
      pvc('waits', { storageClassName: 'wait' }),
      pvc('immediate'),
    ),
    make(
      volume('v', {
        nodeAffinity: {
          required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }] },
        },
      }),
      bound('far', 'v'),
    ),
    make(pod('p', withClaims('waits'))),
    make(pod('q', withClaims('immediate'))),
    make(pod('r', withClaims('far'))),
    make(pod('s', withClaims('missing'))),
    make(storageClass('now', { volumeBindingMode: 'Immediate' }), pvc('of-now', { storageClassName: 'now' })),
    make(pvc('of-none', { storageClassName: 'none' }), pod('t', withClaims('of-now')), pod('u', withClaims('of-none'))),
  ),
  VolumeZone: steps(
    make(inZone('n', 'here'), volume('v', {}, { [zones]: 'there' }), bound('c', 'v')),
    make(pod('p', withClaims('c'))),
  ),
  PodTopologySpread: steps(
    make(inZone('n', 'a'), cordoned('m'), present('first', 'n', { labels: { app: 'a' } })),
    make(inZone('o', 'b', '10m')),
    make(pod('p', spread(zones), { labels: { app: 'a' }, ...cpu('1') })),
  ),
  InterPodAffinity: steps(make(node('n')), make(pod('p', affinityTo({ app: 'none' })))),
  DynamicResources: steps(
    make(node('n'), deviceClass(), claim('c')),
    make(pod('p', usesClaim('c')), pod('q', usesClaim('missing'))),
    make(slice('sl', 'n', [device('d201')])),
  ),
  NodeDeclaredFeatures: steps(
    make(node('n')),
    make(restartsAll),
    step(change('nodes', 'n', { status: { declaredFeatures: [RESTARTS_ALL] } }, 'status')),
  ),
  SchedulingGates: steps(make(node('n')), make(pod('p', { schedulingGates: [{ name: 'g' }] }))),
  DefaultPreemption: steps(
    make(urgent, node('n'), present('low', 'n', cpu('2'))),
    make(pod('p', { priorityClassName: 'queue-high' }, cpu('1'))),
  ),
}

/** A volume that is there for one node alone. */
const local = (name: string, nodeName: string, storage: string): Fields => {
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }
  const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } }
  const made = volume(name, { storageClassName: 'wait', capacity: { storage }, nodeAffinity })
  return { ...made, status: { phase: 'Available' } }
}
const capacityOf = (name: string, zone: string, capacity: string): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIStorageCapacity',
  metadata: { name },
  storageClassName: 'made',
  nodeTopology: { matchLabels: { [zones]: zone } },
  capacity,
})
const asksFor = (name: string, storageClassName: string, storage: string) =>
  pvc(name, { storageClassName, resources: { requests: { storage } } })
const scoredByVolumes = scoredBy(['VolumeBinding', 1])
const localVolumes = steps(
  make(...['a', 'b', 'c'].map((name) => node(name)), storageClass('wait')),
  make(
    local('on-a', 'a', '10Gi'),
    local('on-b', 'b', '20Gi'),
    local('on-c', 'c', '6Gi'),
    asksFor('claim', 'wait', '5Gi'),
  ),
  make(pod('p', withClaims('claim'))),
)
const madeVolumes = steps(
  make(
    inZone('a', 'a'),
    inZone('b', 'b'),
    inZone('c', 'c'),
    storageClass('made', { provisioner: 'd.example.com' }),
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: 'd.example.com' },
      spec: { storageCapacity: true },
    },
    capacityOf('at-a', 'a', '10Gi'),
    capacityOf('at-b', 'b', '20Gi'),
    capacityOf('at-c', 'c', '6Gi'),
  ),
  make(asksFor('claim', 'made', '5Gi'), asksFor('other', 'made', '1Gi')),
  make(pod('p', withClaims('claim'))),
  make(pod('q', withClaims('other'))),
)
const volumeShape = (...shape: readonly (readonly [utilization: number, score: number])[]) =>
  args('VolumeBinding', { shape: shape.map(([utilization, score]) => ({ utilization, score })) }, scoredByVolumes)

const scoring: Readonly<Record<string, ProfileScenario>> = {
  'volumes-there': { config: only(scoredByVolumes), steps: localVolumes },
  'volumes-to-be-made': { config: only(scoredByVolumes), steps: madeVolumes },
  'volumes-there-by-shape': { config: volumeShape([0, 0], [100, 10]), steps: localVolumes },
  'volumes-to-be-made-by-shape': { config: volumeShape([0, 0], [60, 10], [100, 0]), steps: madeVolumes },
  'volumes-and-weights': {
    config: {
      profiles: [
        { schedulerName: 'volumes', ...scoredBy(['VolumeBinding', 9], ['NodeResourcesFit', 1]) },
        { schedulerName: 'room', ...scoredBy(['VolumeBinding', 1], ['NodeResourcesFit', 9]) },
      ],
    },
    steps: steps(
      make(sized('a', '2', '2Gi'), sized('b', '3', '1Gi'), sized('c', '16', '16Gi'), storageClass('wait')),
      make(
        ...['a', 'b', 'c'].map((name) => local(`on-${name}`, name, { a: '10Gi', b: '20Gi', c: '6Gi' }[name] ?? '')),
        asksFor('first', 'wait', '5Gi'),
        asksFor('second', 'wait', '5Gi'),
      ),
      make(on('volumes', 'p', withClaims('first'), cpu('1'))),
      make(on('room', 'q', withClaims('second'), cpu('1'))),
    ),
  },
  'fit-least-allocated': { config: fit(strategy('LeastAllocated', ['cpu', 1])), steps: steps(threeUsed, make(small)) },
  'fit-least-allocated-weights': {
    config: fit(strategy('LeastAllocated', ['cpu', 1], ['memory', 5])),
    steps: steps(threeUsed, make(small)),
  },
  'fit-most-allocated': { config: fit(strategy('MostAllocated', ['cpu', 1])), steps: steps(threeUsed, make(small)) },
  'fit-most-allocated-weights': {
    config: fit(strategy('MostAllocated', ['cpu', 1], ['memory', 5])),
    steps: steps(threeUsed, make(small)),
  },
  'fit-ratio-peak': {
    config: fit(ratio([{ name: 'cpu', weight: 1 }], [0, 0], [55, 10], [100, 0])),
    steps: steps(threeUsed, make(small)),
  },
  'fit-ratio-falling': {
    config: fit(ratio([{ name: 'cpu', weight: 3 }, { name: 'memory' }], [20, 10], [80, 2])),
    steps: steps(threeUsed, make(small)),
  },
  'fit-ratio-from-the-middle': {
    config: fit(ratio([{ name: 'memory', weight: 7 }], [40, 1], [95, 9])),
    steps: steps(threeUsed, make(small), make(pod('big', {}, { requests: { cpu: '100m', memory: '2Gi' } }))),
  },
  'fit-ratio-extended': {
    config: fit(
      ratio(
        [
          { name: GPU, weight: 5 },
          { name: 'cpu', weight: 1 },
        ],
        [0, 0],
        [100, 10],
      ),
    ),
    steps: steps(
      make(
        sized('a', '4', '8Gi', { [GPU]: '8' }),
        sized('b', '4', '8Gi', { [GPU]: '4' }),
        sized('c', '4', '8Gi', { [GPU]: '2' }),
        sized('d', '1', '8Gi'),
      ),
      make(pod('p', {}, asks({ [GPU]: '1', cpu: '100m' }))),
      make(pod('q', {}, asks({ [GPU]: '2', cpu: '100m' }))),
      make(pod('r', {}, asks({ cpu: '500m' }))),
    ),
  },
  'fit-ignored': {
    config: fit({ ignoredResources: [GPU], ignoredResourceGroups: ['group.example.org'] }),
    steps: steps(
      make(sized('n', '4', '8Gi')),
      make(
        pod('p', {}, asks({ [GPU]: '3' })),
        pod('q', {}, asks({ 'group.example.org/any': '1' })),
        pod('r', {}, asks({ 'example.com/other': '1' })),
        pod('s', {}, asks({ 'example.com/other': '1', [GPU]: '1', cpu: '9' })),
      ),
    ),
  },
  'balanced-resources': {
    config: args(
      'NodeResourcesBalancedAllocation',
      { resources: [{ name: 'cpu' }, { name: GPU }] },
      scoredBy(['NodeResourcesBalancedAllocation', 1]),
    ),
    steps: steps(
      make(
        sized('a', '4', '8Gi', { [GPU]: '8' }),
        sized('b', '4', '8Gi', { [GPU]: '2' }),
        present('on-a', 'a', asks({ cpu: '2' })),
        present('on-b', 'b', asks({ cpu: '2' })),
      ),
      make(pod('p', {}, asks({ cpu: '100m', [GPU]: '1' }))),
      make(pod('q', {}, asks({ cpu: '1500m', [GPU]: '1' }))),
    ),
  },
  'weights-decide': {
    config: {
      profiles: [
        { schedulerName: 'label', ...scoredBy(['NodeAffinity', 10], ['NodeResourcesFit', 1]) },
        { schedulerName: 'room', ...scoredBy(['NodeAffinity', 1], ['NodeResourcesFit', 10]) },
        { schedulerName: 'image', ...scoredBy(['ImageLocality', 100], ['NodeResourcesFit', 1]) },
        { schedulerName: 'no-image', ...scoredBy(['ImageLocality', 0], ['NodeResourcesFit', 100]) },
      ],
    },
    steps: steps(
      make(sized('small', '1', '1Gi', {}, { disk: 'ssd' }), sized('large', '8', '8Gi')),
      step(change('nodes', 'small', { status: { images: [image('i', 900)] } }, 'status')),
      make(
        ...['label', 'room', 'image', 'no-image'].map((profile) =>
          on(
            profile,
            profile,
            {
              affinity: {
                nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefersNode('disk', 'ssd', 1)] },
              },
            },
            { requests: { cpu: '200m', memory: '200Mi' } },
          ),
        ),
      ),
    ),
  },
  'taints-weight': {
    config: {
      profiles: [
        { schedulerName: 'clean', ...scoredBy(['TaintToleration', 5], ['NodeResourcesFit', 1]) },
        { schedulerName: 'room', ...scoredBy(['TaintToleration', 1], ['NodeResourcesFit', 50]) },
      ],
    },
    steps: steps(
      make(
        node(
          'large',
          {},
          { spec: { taints: [taint('t', 'PreferNoSchedule')] }, allocatable: { cpu: '8', memory: '8Gi' } },
        ),
        sized('small', '1', '1Gi'),
      ),
      make(on('clean', 'c', {}, cpu('200m')), on('room', 'r', {}, cpu('200m'))),
    ),
  },
  'hard-affinity-weight': {
    config: {
      profiles: [
        ['zero', 0],
        ['one', 1],
        ['hundred', 100],
      ].map(([schedulerName, hardPodAffinityWeight]) => ({
        schedulerName,
        pluginConfig: [{ name: 'InterPodAffinity', args: { hardPodAffinityWeight } }],
        ...scoredBy(['InterPodAffinity', 2], ['NodeResourcesFit', 1]),
      })),
    },
    steps: steps(
      make(
        sized('small', '1', '1Gi'),
        sized('middle', '2', '2Gi'),
        sized('large', '8', '8Gi'),
        present('needs', 'small', { labels: { app: 'a' } }, affinityTo({ app: 'a' })),
        present('wishes', 'middle', {}, nearPod({ app: 'a' }, 50)),
      ),
      ...['zero', 'one', 'hundred'].map((profile) =>
        make(on(profile, profile, {}, { labels: { app: 'a' }, ...cpu('100m') })),
      ),
    ),
  },
  'ignored-wishes-of-others': {
    config: {
      profiles: [false, true].map((ignorePreferredTermsOfExistingPods) => ({
        schedulerName: ignorePreferredTermsOfExistingPods ? 'deaf' : 'hears',
        pluginConfig: [{ name: 'InterPodAffinity', args: { ignorePreferredTermsOfExistingPods } }],
        ...scoredBy(['InterPodAffinity', 2], ['NodeResourcesFit', 1]),
      })),
    },
    steps: steps(
      make(
        sized('small', '1', '1Gi'),
        sized('middle', '4', '4Gi'),
        sized('large', '8', '8Gi'),
        present('wishes', 'small', {}, nearPod({ app: 'a' }, 50)),
        present('needs', 'middle', { labels: { app: 'a' } }, affinityTo({ app: 'a' })),
      ),
      ...['hears', 'deaf'].map((profile) => make(on(profile, profile, {}, { labels: { app: 'a' }, ...cpu('100m') }))),
      ...['hears', 'deaf'].map((profile) =>
        make(on(profile, `${profile}-too`, nearPod({ app: 'a' }, 1), { labels: { app: 'a' }, ...cpu('100m') })),
      ),
    ),
  },
  'added-affinity-required': {
    config: args('NodeAffinity', { addedAffinity: needsNode('pool', 'x') }),
    steps: steps(
      make(sized('large', '8', '8Gi'), sized('small', '1', '1Gi', {}, { pool: 'x' })),
      make(
        pod('p', {}, cpu('100m')),
        pod('q', { nodeSelector: { disk: 'ssd' } }),
        pod('r', { affinity: { nodeAffinity: needsNode('disk', 'ssd') } }),
        pod('s', {}, cpu('2')),
      ),
      step(change('nodes', 'large', { metadata: { labels: { pool: 'x' } } })),
    ),
  },
  'added-affinity-preferred': {
    config: args(
      'NodeAffinity',
      { addedAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefersNode('pool', 'x', 5)] } },
      scoredBy(['NodeAffinity', 3], ['NodeResourcesFit', 1]),
    ),
    steps: steps(
      make(
        sized('large', '8', '8Gi'),
        sized('small', '1', '1Gi', {}, { pool: 'x' }),
        sized('middle', '4', '4Gi', {}, { pool: 'y' }),
      ),
      make(pod('p', {}, cpu('100m'))),
      make(
        pod(
          'q',
          {
            affinity: {
              nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [prefersNode('pool', 'y', 6)] },
            },
          },
          cpu('100m'),
        ),
      ),
    ),
  },
  'default-constraints-hard': {
    config: args('PodTopologySpread', list(spreadBy(zones, 1, 'DoNotSchedule'))),
    steps: steps(
      make(inZone('large', 'a', '8'), inZone('small', 'b', '1'), service('web', { app: 'web' })),
      make(web('p')),
      make(web('q')),
      make(web('r')),
      make(pod('alone', {}, cpu('4'))),
      make(pod('s', {}, { labels: { app: 'web' }, ...cpu('3') })),
    ),
  },
  'default-constraints-soft': {
    config: args(
      'PodTopologySpread',
      list(spreadBy(zones, 1, 'ScheduleAnyway'), spreadBy('kubernetes.io/hostname', 2, 'ScheduleAnyway')),
      scoredBy(['PodTopologySpread', 5], ['NodeResourcesFit', 1]),
    ),
    steps: steps(
      make(
        inZone('large', 'a', '8'),
        inZone('middle', 'a', '4'),
        inZone('small', 'b', '1'),
        sized('nowhere', '16', '16Gi'),
        service('web', { app: 'web' }),
      ),
      ...['p', 'q', 'r', 's'].map((name) => make(pod(name, {}, { labels: { app: 'web' }, ...cpu('100m') }))),
    ),
  },
  'default-constraints-none': {
    config: args('PodTopologySpread', list(), scoredBy(['PodTopologySpread', 50], ['NodeResourcesFit', 1])),
    steps: steps(
      make(inZone('large', 'a', '8'), inZone('small', 'b', '1'), service('web', { app: 'web' })),
      make(pod('p', {}, { labels: { app: 'web' }, ...cpu('100m') })),
      make(pod('q', {}, { labels: { app: 'web' }, ...cpu('100m') })),
    ),
  },
}

const points: Readonly<Record<string, ProfileScenario>> = {
  'profiles-by-name': {
    config: {
      profiles: [
        { schedulerName: 'default-scheduler' },
        {
          schedulerName: 'blind',
          plugins: { multiPoint: { disabled: named('NodeUnschedulable', 'TaintToleration') } },
        },
      ],
    },
    steps: steps(
      make(cordoned('n', { taints: [taint('t')] })),
      make(pod('usual'), on('blind', 'taken'), on('other', 'not-ours')),
    ),
  },
  'one-profile-of-another-name': {
    config: { profiles: [{ schedulerName: 'mine' }] },
    steps: steps(
      make(node('n')),
      make(pod('not-ours'), on('mine', 'taken'), on('mine', 'refused', { nodeSelector: { a: 'b' } })),
    ),
  },
  'few-plugins': {
    config: at('multiPoint', {
      disabled: named('*'),
      enabled: named('PrioritySort', 'DefaultBinder', 'NodeResourcesFit'),
    }),
    steps: steps(
      make(cordoned('n', { taints: [taint('t')] })),
      make(urgent),
      make(
        pod('p', { nodeSelector: { a: 'b' } }, cpu('1500m')),
        pod('q', { schedulingGates: [{ name: 'g' }] }, cpu('100m')),
      ),
      wait(2300, make(pod('r', { priorityClassName: 'queue-high' }, cpu('1')))),
    ),
  },
  'no-filters': {
    config: at('filter', { disabled: named('*') }),
    steps: steps(make(cordoned('n', { taints: [taint('t')] })), make(pod('p', { nodeSelector: { a: 'b' } }, cpu('9')))),
  },
  'filters-in-another-order': {
    config: at('filter', { enabled: named('NodeResourcesFit', 'NodeAffinity') }),
    steps: steps(
      make(cordoned('n', { taints: [taint('t')] }), node('m', {}, { spec: { taints: [taint('t')] } })),
      make(pod('p', { nodeSelector: { a: 'b' } }, cpu('9'))),
      make(pod('q', { nodeSelector: { a: 'b' } }, cpu('1'))),
      make(pod('r', {}, cpu('1'))),
    ),
  },
  'no-preemption': {
    config: at('postFilter', { disabled: named('DefaultPreemption') }),
    steps: switchedOff['DefaultPreemption'] as Scenario,
  },
  'no-post-filter': {
    config: at('postFilter', { disabled: named('*') }),
    steps: [
      ...(switchedOff['DefaultPreemption'] as Scenario),
      ...steps(make(node('m', { disk: 'hdd' })), make(pod('q', { nodeSelector: { disk: 'ssd' } }))),
    ],
  },
  'filter-off-at-its-point': {
    config: at('filter', { disabled: named('NodeResourcesFit', 'TaintToleration') }),
    steps: steps(make(node('n', {}, { spec: { taints: [taint('t')] } })), make(pod('p', {}, cpu('9')))),
  },
  percentage: {
    config: {
      parallelism: 1,
      profiles: [
        { schedulerName: 'all', percentageOfNodesToScore: 100, ...scoredBy(['NodeAffinity', 1]) },
        { schedulerName: 'some', percentageOfNodesToScore: 1, ...scoredBy(['NodeAffinity', 1]) },
        { schedulerName: 'usual', ...scoredBy(['NodeAffinity', 1]) },
      ],
      percentageOfNodesToScore: 80,
    },
    // Each pod would rather have the first node that is not looked at, and else the last one that is.
    steps: [
      wait(8000, make(...Array.from({ length: 130 }, (_, i) => node(nth(i))))),
      ...steps(
        ...(
          [
            ['some', 99, 100],
            ['some', 69, 70],
            ['usual', 43, 44],
            ['all', 3, 40],
            ['some', 13, 14],
            ['usual', 117, 118],
          ] as const
        ).map(([profile, last, next], i) =>
          make(
            on(profile, `p${i}`, {
              affinity: {
                nodeAffinity: {
                  preferredDuringSchedulingIgnoredDuringExecution: [
                    prefersNode('kubernetes.io/hostname', nth(last), 10),
                    prefersNode('kubernetes.io/hostname', nth(next), 20),
                  ],
                },
              },
            }),
          ),
        ),
      ),
    ],
  },
  backoffs: {
    config: only({}, { podInitialBackoffSeconds: 3, podMaxBackoffSeconds: 4 }),
    steps: [
      wait(2000, make(node('n'), present('big', 'n', cpu('1500m')))),
      wait(500, make(pod('p', {}, cpu('1')))),
      wait(500, allocatable('n', { cpu: '2100m' })),
      wait(6500, allocatable('n', { cpu: '2200m' })),
      wait(500, allocatable('n', { cpu: '2300m' })),
      wait(5000, allocatable('n', { cpu: '3' })),
    ],
  },
  'backoffs-without-nodes': {
    config: only({}, { podInitialBackoffSeconds: 4, podMaxBackoffSeconds: 5 }),
    steps: [wait(500, make(pod('p'))), wait(1500, make(storageClass('s1'))), wait(1000, make(node('n'))), wait(5000)],
  },
  'binding-of-volumes-times-out': {
    config: args('VolumeBinding', { bindTimeoutSeconds: 3 }),
    steps: [
      wait(
        2000,
        make(node('n'), storageClass('made', { provisioner: 'p.example.com' }), pvc('c', { storageClassName: 'made' })),
      ),
      wait(1500, make(pod('p', withClaims('c')))),
      wait(2500),
    ],
  },
  'volumes-of-no-time': {
    config: args('VolumeBinding', { bindTimeoutSeconds: 0 }),
    steps: [
      wait(
        2000,
        make(node('n'), storageClass('made', { provisioner: 'p.example.com' }), pvc('c', { storageClassName: 'made' })),
      ),
      wait(300, make(pod('p', withClaims('c')))),
    ],
  },
  'devices-bind-in-time': {
    config: args('DynamicResources', { bindingTimeout: '6s' }),
    steps: [
      wait(
        2000,
        make(
          node('n'),
          deviceClass(),
          claim('c'),
          slice('sl', 'n', [
            device(
              'd1',
              {},
              {
                bindsToNode: true,
                bindingConditions: ['example.com/ready'],
                bindingFailureConditions: ['example.com/failed'],
              },
            ),
          ]),
        ),
      ),
      wait(1500, make(pod('p', usesClaim('c')))),
      wait(8500),
    ],
  },
  'preemption-candidates': {
    config: args('DefaultPreemption', { minCandidateNodesPercentage: 100, minCandidateNodesAbsolute: 0 }),
    steps: steps(
      make(
        urgent,
        ...['a', 'b', 'c'].map((name) => node(name)),
        present('low-a', 'a', cpu('2')),
        present('low-b1', 'b', cpu('1')),
        present('low-b2', 'b', cpu('1')),
        present('low-c', 'c', cpu('2'), { priority: undefined }),
        present('low-c2', 'c', { requests: { memory: '900Mi' } }),
      ),
      make(pod('p', { priorityClassName: 'queue-high' }, { requests: { cpu: '1500m', memory: '800Mi' } })),
      gone('p'),
    ),
  },
}

const switches = Object.fromEntries(
  Object.entries(switchedOff).flatMap(([plugin, steps]) => [
    [`without-${plugin}`, { config: without(plugin), steps }],
    [`with-${plugin}`, { config: only({}), steps }],
  ]),
)

/** Pods that name their nodes by a field, which one plugin asks before it asks nodes. */
const byName = (...names: readonly string[]): Fields => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: names }] }],
      },
    },
  },
})

/** Plugins that are off where nodes are asked, and on before and behind it. */
const offAtFilter = Object.fromEntries(
  [
    ...['NodeUnschedulable', 'TaintToleration', 'NodeAffinity', 'NodePorts', 'NodeResourcesFit', 'VolumeRestrictions'],
    ...['NodeVolumeLimits', 'VolumeBinding', 'VolumeZone', 'PodTopologySpread', 'InterPodAffinity'],
    'NodeDeclaredFeatures',
  ].map((plugin) => [
    `filter-without-${plugin}`,
    { config: at('filter', { disabled: named(plugin) }), steps: switchedOff[plugin] as Scenario },
  ]),
)

const namedNodes = {
  'filter-without-NodeAffinity-by-name': {
    config: at('filter', { disabled: named('NodeAffinity') }),
    steps: steps(
      make(node('n', {}, { spec: { taints: [taint('t')] } }), node('m')),
      make(pod('p', byName('n')), pod('q', byName('m')), pod('r', byName('none'))),
    ),
  },
}

export const scenarios: Readonly<Record<string, ProfileScenario>> = {
  ...points,
  ...scoring,
  ...switches,
  ...offAtFilter,
  ...namedNodes,
  ...extenderScenarios,
}
