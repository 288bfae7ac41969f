/** Objects for a scheduler, and what is done to them, in few words. */
import type { Fields } from '../../src/api/object.ts'
import { change, remove, type Scenario, step } from '../devices/scenario.ts'

export const node = (
  name: string,
  labels: Fields = {},
  { spec, allocatable = {} }: Record<string, Fields> = {},
): Fields => ({
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

export const pod = (
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
export const present = (
  name: string,
  nodeName: string,
  given: Record<string, unknown> = {},
  spec: Fields = {},
): Fields => pod(name, { nodeName, ...spec }, given)

export const RESTARTS_ALL = 'RestartAllContainersOnContainerExits'
/** A pod that asks for what only some nodes declare. */
export const restartsAll: Fields = {
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

export const urgent: Fields = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'queue-high' },
  value: 100,
}

export const quick = (scenario: Scenario): Scenario => scenario.map(({ acts, ms = 1000 }) => ({ acts, ms }))
export const label = (name: string, labels: Fields) => step(change('nodes', name, { metadata: { labels } }))
export const allocatable = (name: string, amounts: Fields) =>
  step(change('nodes', name, { status: { allocatable: amounts } }, 'status'))
export const podLabel = (name: string, labels: Fields) => step(change('pods', name, { metadata: { labels } }))
export const gone = (...names: readonly string[]) => step(...names.map((name) => remove('pods', name)))
export const cpu = (amount: string) => ({ requests: { cpu: amount } })
export const noEffect = label('n', { irrelevant: 'yes' })
export const hostPort = (port: number) => ({ ports: [{ containerPort: 80, hostPort: port }] })
export const taint = (key: string, effect = 'NoSchedule') => ({ key, effect })
export const zones = 'topology.kubernetes.io/zone'

export const storageClass = (name: string, more: Fields = {}): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...more,
})
export const pvc = (name: string, spec: Fields = {}, status?: Fields): Fields => ({
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
export const bound = (name: string, volumeName: string, spec: Fields = {}) =>
  pvc(name, { volumeName, ...spec }, { phase: 'Bound' })
export const volume = (name: string, spec: Fields = {}, labels: Fields = {}): Fields => ({
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
export const withClaims = (...names: readonly string[]) => ({
  volumes: names.map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
})
export const csiNode = (name: string, count: number): Fields => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSINode',
  metadata: { name },
  spec: { drivers: [{ name: 'd.example.com', nodeID: name, allocatable: { count } }] },
})
export const affinityTo = (labels: Fields, kind = 'podAffinity', more: Fields = {}): Fields => ({
  affinity: {
    [kind]: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: labels }, ...more },
      ],
    },
  },
})
export const spread = (topologyKey: string): Fields => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'a' } },
    },
  ],
})
export const app = { labels: { app: 'a' } }
export const usesClaim = (name: string) => ({
  resourceClaims: [{ name: 'c', resourceClaimName: name }],
})
