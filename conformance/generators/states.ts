/**
 * What controllers write: a full status of every kind that has one, by each way a status is written, and how the object then
 * looks as a row and by its fields. Then the same statuses broken at random, as the mutated objects are.
 */
import type { Case, Step } from '../recording.ts'
import { DELETE, GET, PATCH, POST, PUT } from './hostile-requests.ts'
import { type CorpusEntry, mutate } from './mutations.ts'
import type { Chance } from './random.ts'
import { A, J, M, S } from './semantic-parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Any = any

const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const then = '2026-01-01T00:00:00Z'
const condition = (type: string, status = 'True', more: Any = {}) => ({
  type,
  status,
  lastTransitionTime: then,
  reason: 'Because',
  message: 'told',
  ...more,
})
const running = (name: string, more: Any = {}) => ({
  name,
  ready: true,
  restartCount: 2,
  image: 'i',
  imageID: 'sha256:0',
  containerID: 'cri://1',
  started: true,
  state: { running: { startedAt: then } },
  lastState: { terminated: { exitCode: 1, reason: 'Error', startedAt: then, finishedAt: then } },
  ...more,
})

/** By kind, statuses that controllers write. */
const STATES: Readonly<Record<string, readonly Any[]>> = {
  Pod: [
    {
      phase: 'Running',
      conditions: [condition('Ready'), condition('PodScheduled'), condition('ContainersReady', 'False')],
      hostIP: '10.1.1.1',
      hostIPs: [{ ip: '10.1.1.1' }],
      podIP: '10.2.2.2',
      podIPs: [{ ip: '10.2.2.2' }, { ip: 'fd00::2' }],
      startTime: then,
      containerStatuses: [running('c'), running('main', { ready: false })],
      qosClass: 'BestEffort',
      nominatedNodeName: 'n9',
    },
    {
      phase: 'Pending',
      reason: 'Waiting',
      message: 'm',
      conditions: [condition('PodScheduled', 'False', { reason: 'SchedulingGated' })],
    },
    {
      phase: 'Running',
      initContainerStatuses: [running('init', { state: { waiting: { reason: 'CrashLoopBackOff', message: 'm' } } })],
      containerStatuses: [
        running('c', { state: { waiting: { reason: 'PodInitializing' } }, lastState: {}, restartCount: 0 }),
      ],
    },
    {
      phase: 'Succeeded',
      containerStatuses: [running('c', { state: { terminated: { exitCode: 0, reason: 'Completed' } } })],
    },
    {
      phase: 'Failed',
      reason: 'Evicted',
      containerStatuses: [running('c', { state: { terminated: { exitCode: 137, signal: 9 } } })],
    },
  ],
  ReplicationController: [
    {
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 1,
      conditions: [condition('ReplicaFailure')],
    },
  ],
  ReplicaSet: [
    {
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      terminatingReplicas: 1,
      observedGeneration: 1,
      conditions: [condition('ReplicaFailure')],
    },
  ],
  Deployment: [
    {
      replicas: 3,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 1,
      unavailableReplicas: 2,
      observedGeneration: 1,
      collisionCount: 1,
      conditions: [condition('Available', 'False', { lastUpdateTime: then }), condition('Progressing')],
    },
  ],
  StatefulSet: [
    {
      replicas: 3,
      readyReplicas: 2,
      currentReplicas: 1,
      updatedReplicas: 2,
      availableReplicas: 1,
      currentRevision: 'a',
      updateRevision: 'b',
      observedGeneration: 1,
      collisionCount: 0,
      conditions: [condition('X')],
    },
  ],
  DaemonSet: [
    {
      currentNumberScheduled: 3,
      numberMisscheduled: 1,
      desiredNumberScheduled: 4,
      numberReady: 2,
      updatedNumberScheduled: 2,
      numberAvailable: 1,
      numberUnavailable: 3,
      observedGeneration: 1,
      collisionCount: 1,
      conditions: [condition('X')],
    },
  ],
  Job: [
    { active: 2, ready: 1, succeeded: 1, failed: 1, startTime: then, uncountedTerminatedPods: {} },
    {
      succeeded: 1,
      startTime: then,
      completionTime: '2026-01-01T00:01:30Z',
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
    {
      failed: 7,
      startTime: then,
      conditions: [condition('FailureTarget'), condition('Failed', 'True', { reason: 'BackoffLimitExceeded' })],
    },
    { conditions: [condition('Suspended')] },
  ],
  CronJob: [
    {
      active: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', namespace: '$NS', uid: 'u' }, { name: 'b' }],
      lastScheduleTime: then,
      lastSuccessfulTime: then,
    },
  ],
  HorizontalPodAutoscaler: [
    {
      currentReplicas: 2,
      desiredReplicas: 3,
      observedGeneration: 1,
      lastScaleTime: then,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '10m' } } },
        { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '5' } } },
        { type: 'External', external: { metric: { name: 'e' }, current: { value: '7' } } },
        {
          type: 'Object',
          object: { metric: { name: 'o' }, describedObject: { kind: 'K', name: 'n' }, current: { value: '9' } },
        },
        {
          type: 'ContainerResource',
          containerResource: { name: 'memory', container: 'c', current: { averageValue: '64Mi' } },
        },
      ],
      conditions: [condition('AbleToScale'), condition('ScalingActive', 'False')],
    },
  ],
  PersistentVolumeClaim: [
    {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '2Gi' },
      conditions: [condition('Resizing')],
      allocatedResources: { storage: '2Gi' },
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
      currentVolumeAttributesClassName: 'gold',
      modifyVolumeStatus: { targetVolumeAttributesClassName: 'g', status: 'Pending' },
    },
    { phase: 'Lost' },
  ],
  PersistentVolume: [
    { phase: 'Bound', message: 'm', reason: 'r', lastPhaseTransitionTime: then },
    { phase: 'Released' },
    { phase: 'Failed' },
  ],
  Node: [
    {
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
      allocatable: { cpu: '3900m', memory: '7Gi', pods: '110' },
      conditions: [
        condition('MemoryPressure', 'False', { lastHeartbeatTime: then }),
        condition('Ready', 'True', { lastHeartbeatTime: then }),
      ],
      addresses: [
        { type: 'InternalIP', address: '10.0.0.9' },
        { type: 'ExternalIP', address: '1.2.3.4' },
        { type: 'Hostname', address: 'h' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        machineID: 'm',
        systemUUID: 's',
        bootID: 'b',
        kernelVersion: '6.1',
        osImage: 'os',
        containerRuntimeVersion: 'cri://1',
        kubeletVersion: 'v1.37.1',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: [{ names: ['a', 'b'], sizeBytes: 5 }],
      volumesInUse: ['v'],
      volumesAttached: [{ name: 'v', devicePath: 'p' }],
      runtimeHandlers: [{ name: '', features: { userNamespaces: true } }],
      features: { supplementalGroupsPolicy: true },
      config: {},
    },
  ],
  Namespace: [{ phase: 'Terminating', conditions: [condition('NamespaceDeletionDiscoveryFailure', 'False')] }],
  Service: [
    {
      loadBalancer: {
        ingress: [
          { ip: '1.2.3.4', ports: [{ port: 80, protocol: 'TCP', error: 'a.b/E' }] },
          { hostname: 'h.example.com' },
          { ip: '5.6.7.8', ipMode: 'Proxy' },
        ],
      },
      conditions: [condition('X', 'True', { observedGeneration: 1 })],
    },
  ],
  Ingress: [
    {
      loadBalancer: {
        ingress: [{ ip: '1.2.3.4', ports: [{ port: 80, protocol: 'TCP' }] }, { hostname: 'h.example.com' }],
      },
    },
  ],
  ResourceQuota: [{ hard: { pods: '10', 'requests.cpu': '2' }, used: { pods: '3', 'requests.cpu': '500m' } }],
  PodDisruptionBudget: [
    {
      observedGeneration: 1,
      disruptedPods: { p: then },
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [condition('DisruptionAllowed')],
    },
  ],
  ServiceCIDR: [{ conditions: [condition('Ready')] }],
  FlowSchema: [{ conditions: [condition('Dangling')] }],
  PriorityLevelConfiguration: [{ conditions: [condition('X')] }],
  ValidatingAdmissionPolicy: [
    {
      observedGeneration: 1,
      typeChecking: { expressionWarnings: [{ fieldRef: 'spec.a', warning: 'w' }] },
      conditions: [condition('X')],
    },
  ],
  VolumeAttachment: [
    {
      attached: true,
      attachmentMetadata: { a: 'b' },
      attachError: { time: then, message: 'm', errorCode: 5 },
      detachError: { message: 'd' },
    },
  ],
  ResourceClaim: [
    {
      allocation: {
        devices: {
          results: [{ request: 'one', driver: 'd.example.com', pool: 'p', device: 'dev' }],
          config: [{ source: 'FromClaim', opaque: { driver: 'd.example.com', parameters: { a: 1 } } }],
        },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }],
        },
        allocationTimestamp: then,
      },
      reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }],
      devices: [
        {
          driver: 'd.example.com',
          pool: 'p',
          device: 'dev',
          conditions: [condition('Ready')],
          data: { a: 1 },
          networkData: { interfaceName: 'eth0', ips: ['10.0.0.1/24'], hardwareAddress: 'aa' },
        },
      ],
    },
  ],
  APIService: [{ conditions: [condition('Available')] }],
  CustomResourceDefinition: [
    {
      conditions: [condition('Established')],
      acceptedNames: { plural: 'widgets', kind: 'Widget' },
      storedVersions: ['v1'],
    },
  ],
  StorageVersionMigration: [{ conditions: [condition('Running')], resourceVersion: '5' }],
}

const SCALED = new Set(['ReplicationController', 'ReplicaSet', 'Deployment', 'StatefulSet'])

function story(entry: CorpusEntry, state: Any, number: number): Case {
  const { object, path } = entry
  const { apiVersion, kind } = object
  const { name } = object.metadata
  const at = `${path}/${name}`
  const owner = { apiVersion, kind, metadata: { name } }
  const [first, second] = [Object.keys(state)[0]!, Object.keys(state).at(-1)!]
  const steps: Step[] = [
    POST(path, object),
    PUT(`${at}/status`, { ...object, metadata: { ...object.metadata, labels: { s: '1' } }, status: state }),
    GET(at, TABLE),
    GET(`${at}/status`),
    PATCH(`${at}/status`, M, { metadata: { annotations: { a: 'b' } }, status: { [first]: null } }),
    PATCH(`${at}/status`, S, { status: { conditions: [condition('Extra')] } }),
    PATCH(`${at}/status`, S, { status: { [second]: state[second] } }),
    PATCH(`${at}/status`, J, [{ op: 'add', path: `/status/${first}`, value: state[first] }]),
    PATCH(`${at}/status?fieldManager=one`, A, { ...owner, status: state }),
    PATCH(`${at}/status?fieldManager=one&force=true`, A, { ...owner, status: state }),
    PATCH(`${at}/status?fieldManager=two`, A, { ...owner, status: { [first]: state[first] } }),
    PATCH(`${at}/status?fieldManager=one`, A, { ...owner, status: { [second]: state[second] } }),
    PATCH(`${at}?fieldManager=three`, A, { ...owner, metadata: { name, labels: { l: '1' } }, status: state }),
    ...(SCALED.has(kind)
      ? [
          GET(`${at}/scale`),
          PATCH(`${at}/scale?fieldManager=scaler`, A, {
            apiVersion: 'autoscaling/v1',
            kind: 'Scale',
            metadata: { name },
            spec: { replicas: 5 },
          }),
          PATCH(`${at}/scale`, M, { spec: { replicas: 4 }, status: { replicas: 9 } }),
          PATCH(`${at}/scale`, J, [{ op: 'replace', path: '/spec/replicas', value: 2 }]),
          PATCH(`${at}/scale`, M, { metadata: { resourceVersion: '1' }, spec: { replicas: 4 } }),
        ]
      : []),
    GET(path.includes('$NS') ? path : at, TABLE),
    GET(at),
    DELETE(`${at}?dryRun=All&propagationPolicy=Foreground`),
    DELETE(`${at}?propagationPolicy=Foreground&gracePeriodSeconds=0`),
    GET(at),
  ]
  return { name: `${kind} ${name}: state ${number}`, steps, serial: !path.includes('$NS') }
}

const usable = (corpus: readonly CorpusEntry[]) =>
  corpus.filter(({ object }) => Object.hasOwn(STATES, object.kind) && object.metadata.name)

/** Every state of the first object of its kind. */
export function states(corpus: readonly CorpusEntry[]): readonly Case[] {
  const firsts = new Map(
    usable(corpus)
      .toReversed()
      .map((entry) => [`${entry.object.apiVersion} ${entry.object.kind}`, entry]),
  )
  return [...firsts.values()].flatMap((entry) =>
    STATES[entry.object.kind]!.map((state, number) => story(entry, state, number)),
  )
}

/** Broken statuses, eight of one object a case. */
export function mutatedStates(corpus: readonly CorpusEntry[], rand: Chance, count: number): readonly Case[] {
  const list = usable(corpus)
  return Array.from({ length: count }, (_, number) => {
    const { object, path } = rand.pick(list)
    const at = `${path}/${object.metadata.name}`
    const broken = Array.from({ length: 8 }, () => mutate({ status: rand.pick(STATES[object.kind]!) }, rand, 1))
    return {
      name: `${object.kind} ${number}: ${broken[0]!.what}`,
      serial: !path.includes('$NS'),
      steps: [
        POST(path, object),
        ...broken.map(({ object: { status }, what }) =>
          rand.float() < 0.6
            ? PUT(`${at}/status?dryRun=All&x=${encodeURIComponent(what)}`, { ...object, status })
            : PATCH(`${at}/status?x=${encodeURIComponent(what)}`, M, { status }),
        ),
        GET(at, TABLE),
        DELETE(`${at}?gracePeriodSeconds=0`),
      ],
    }
  })
}
