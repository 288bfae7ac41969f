/** Random objects of the kinds that S1 to S8 are about, with all that makes their end interesting. */
import type { Fields, KubeObject, OwnerReference } from '../../../src/api/object.ts'
import type { Random } from '../../../src/base/random.ts'
import type { GroupVersionResource } from '../../../src/client/client.ts'
import { USER_FINALIZER } from './laws/objects.ts'
import { STORAGE_CLASS } from './rest/volumes.ts'

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const apps = (resource: string): GroupVersionResource => ({ group: 'apps', version: 'v1', resource })

/** By kind. */
export const kinds = {
  Deployment: apps('deployments'),
  ReplicaSet: apps('replicasets'),
  ReplicationController: core('replicationcontrollers'),
  Pod: core('pods'),
  Service: core('services'),
  ConfigMap: core('configmaps'),
  Secret: core('secrets'),
  PersistentVolumeClaim: core('persistentvolumeclaims'),
  PersistentVolume: core('persistentvolumes'),
  StatefulSet: apps('statefulsets'),
  DaemonSet: apps('daemonsets'),
  Job: { group: 'batch', version: 'v1', resource: 'jobs' },
  CronJob: { group: 'batch', version: 'v1', resource: 'cronjobs' },
  ResourceQuota: core('resourcequotas'),
  PodDisruptionBudget: { group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' },
  PriorityClass: { group: 'scheduling.k8s.io', version: 'v1', resource: 'priorityclasses' },
  Namespace: core('namespaces'),
  Node: core('nodes'),
} as const
export type Kind = keyof typeof kinds
export const isKind = (kind: string): kind is Kind => kind in kinds
export const clusterScoped: ReadonlySet<string> = new Set(['PriorityClass', 'PersistentVolume', 'Namespace', 'Node'])

export interface Dice {
  chance(share: number): boolean
  oneOf<T>(items: readonly T[]): T
  /** 0 up to, but not, `limit`. */
  below(limit: number): number
}

export function dice(random: Random): Dice {
  const below = (limit: number) => Math.floor(random.float() * limit)
  return { below, chance: (share) => random.float() < share, oneOf: (items) => items[below(items.length)] as never }
}

/** `SIM/name` annotations that change how a pod lives and dies. It always comes to rest. */
function temper({ chance, oneOf }: Dice): Fields {
  const annotations: Record<string, string> = {}
  // The init container always ends.
  annotations['n.sim.skiff.dev/exit-after'] = oneOf(['0s', '2s'])
  annotations['n.sim.skiff.dev/exit-code'] = '0'
  annotations['n.sim.skiff.dev/exit-times'] = '1000'
  const ask = (name: string, value: string) => {
    annotations[`sim.skiff.dev/${name}`] = value
  }
  const stubbornness = oneOf(['none', 'none', 'ignores', 'slow'])
  if (stubbornness === 'ignores') ask('ignore-sigterm', 'true')
  if (stubbornness === 'slow') ask('stop-delay', oneOf(['500ms', '3s', '40s']))
  if (chance(0.15)) ask('start-delay', oneOf(['1s', '15s']))
  if (chance(0.1)) ask('sandbox-delay', '4s')
  if (chance(0.1)) ask('pull-delay', '6s')
  if (chance(0.1)) {
    ask('exit-after', oneOf(['1s', '10s']))
    ask('exit-code', oneOf(['0', '1']))
    ask('exit-times', '1')
  }
  if (chance(0.05)) ask('never-ready', 'true')
  if (chance(0.1)) ask('pre-stop-duration', oneOf(['2s', '20s']))
  if (chance(0.05)) ask('pre-stop', 'failure')
  return annotations
}

export function podSpec(die: Dice): Fields {
  const { chance, oneOf } = die
  const hook = chance(0.5) ? { sleep: { seconds: oneOf([1, 8, 45]) } } : { exec: { command: ['x'] } }
  const container = {
    name: 'c',
    image: oneOf(['i:1', 'i:2']),
    ...(chance(0.25) ? { lifecycle: { preStop: hook } } : {}),
    ...(chance(0.15) ? { readinessProbe: { exec: { command: ['x'] }, periodSeconds: 5 } } : {}),
  }
  const sidecar = { name: 's', image: 'i:1', restartPolicy: 'Always' }
  return {
    containers: chance(0.15) ? [container, { name: 'd', image: 'i:1' }] : [container],
    ...(chance(0.15)
      ? { initContainers: [sidecar] }
      : chance(0.1)
        ? { initContainers: [{ name: 'n', image: 'i:1' }] }
        : {}),
    terminationGracePeriodSeconds: oneOf([0, 1, 5, 30, 30, 60]),
    ...(chance(0.8) ? { automountServiceAccountToken: false } : {}),
  }
}

const template = (die: Dice, app: string): Fields => ({
  metadata: {
    labels: { app },
    annotations: temper(die),
    ...(die.chance(0.08) ? { finalizers: [USER_FINALIZER] } : {}),
  },
  spec: podSpec(die),
})

/** Its pods end; `exitCode`: how. */
function jobTemplate(die: Dice, exitCode = '0'): Fields {
  const { containers } = podSpec(die)
  const annotations = {
    ...temper(die),
    'sim.skiff.dev/exit-after': die.oneOf(['1s', '20s']),
    'sim.skiff.dev/exit-code': exitCode,
    'sim.skiff.dev/exit-times': '1000',
  }
  return {
    metadata: { annotations },
    spec: {
      restartPolicy: exitCode === '1' && die.chance(0.3) ? 'OnFailure' : 'Never',
      containers,
      automountServiceAccountToken: false,
    },
  }
}

const rolling = ({ oneOf }: Dice): Fields => ({
  type: 'RollingUpdate',
  rollingUpdate: oneOf([
    { maxSurge: 1, maxUnavailable: 0 },
    { maxSurge: 0, maxUnavailable: 1 },
    { maxSurge: '25%', maxUnavailable: '25%' },
    { maxSurge: '50%', maxUnavailable: 1 },
    { maxSurge: 2, maxUnavailable: 2 },
  ]),
})

/** An object of this kind; `about`: the label of pods that it is for, if it is for any. */
export function make(
  die: Dice,
  kind: Kind,
  name: string,
  namespace: string,
  owners: readonly OwnerReference[],
  about: string,
): KubeObject {
  const { chance, oneOf, below } = die
  const api = kinds[kind]
  const app = oneOf(['x', 'y', name])
  const metadata = {
    name,
    ...(clusterScoped.has(kind) ? {} : { namespace }),
    labels: { app },
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
    ...(chance(0.12) && kind !== 'Namespace' ? { finalizers: [USER_FINALIZER] } : {}),
  }
  const object = (fields: Fields): KubeObject => ({
    apiVersion: api.group === '' ? api.version : `${api.group}/${api.version}`,
    kind,
    metadata,
    ...fields,
  })
  switch (kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      const strategy =
        kind === 'ReplicaSet'
          ? {}
          : {
              ...(chance(0.2) ? { strategy: { type: 'Recreate' } } : { strategy: rolling(die) }),
              ...(chance(0.3) ? { revisionHistoryLimit: below(2) } : {}),
            }
      const selector = { matchLabels: { app: name } }
      return object({ spec: { replicas: below(4), selector, template: template(die, name), ...strategy } })
    }
    case 'StatefulSet':
      return object({
        spec: {
          replicas: below(4),
          serviceName: 's',
          selector: { matchLabels: { app: name } },
          template: template(die, name),
          ...(chance(0.25) ? { podManagementPolicy: 'Parallel' } : {}),
        },
      })
    case 'DaemonSet':
      return object({ spec: { selector: { matchLabels: { app: name } }, template: template(die, name) } })
    case 'ReplicationController':
      return object({ spec: { replicas: below(3), template: template(die, name) } })
    case 'Pod': {
      const volumes = chance(0.3) ? { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'pvc' } }] } : {}
      const bound = 'volumes' in volumes ? { nodeName: 'node-1' } : {}
      const annotations = temper(die)
      return object({ metadata: { ...metadata, annotations }, spec: { ...podSpec(die), ...volumes, ...bound } })
    }
    case 'Job': {
      const ttl = chance(0.4) ? { ttlSecondsAfterFinished: below(20) } : {}
      const size = { completions: 1 + below(3), parallelism: 1 + below(3), backoffLimit: below(3) }
      return object({ spec: { ...size, template: jobTemplate(die, chance(0.3) ? '1' : '0'), ...ttl } })
    }
    case 'CronJob':
      return object({
        spec: {
          schedule: '* * * * *',
          concurrencyPolicy: oneOf(['Allow', 'Forbid', 'Replace']),
          successfulJobsHistoryLimit: below(2),
          jobTemplate: { spec: { template: jobTemplate(die) } },
        },
      })
    case 'ResourceQuota':
      return object({ spec: { hard: { pods: String(2 + below(6)) } } })
    case 'Service':
      return object({ spec: { selector: { app: about }, ports: [{ port: 80 }] } })
    case 'PersistentVolumeClaim':
      return object({
        metadata: { ...metadata, name: 'pvc' },
        spec: {
          ...(chance(0.5) ? { storageClassName: '', volumeName: 'nope' } : { storageClassName: STORAGE_CLASS }),
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      })
    case 'PersistentVolume':
      return object({
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: '/tmp' },
          storageClassName: STORAGE_CLASS,
        },
      })
    case 'PodDisruptionBudget':
      return object({
        spec: {
          selector: { matchLabels: { app: about } },
          ...oneOf([{ maxUnavailable: 1 }, { minAvailable: 1 }, { minAvailable: 0 }, { minAvailable: '50%' }]),
          ...(chance(0.2) ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}),
        },
      })
    case 'PriorityClass':
      return object({ value: 1 })
    default:
      return object({})
  }
}

/** Mostly right references to some of these; sometimes to a uid that never was. */
export function ownersAmong(
  die: Dice,
  random: Random,
  all: readonly KubeObject[],
  most: number,
): readonly OwnerReference[] {
  const owners = new Map<string, OwnerReference>()
  for (let links = die.below(most + 1); links > 0 && all.length > 0; links--) {
    const { apiVersion, kind, metadata } = die.oneOf(all)
    const uid = die.chance(0.1) ? random.uuid() : (metadata.uid ?? '')
    const blocks = die.chance(0.6) ? { blockOwnerDeletion: true } : {}
    owners.set(uid, { apiVersion, kind, name: metadata.name ?? '', uid, ...blocks })
  }
  return [...owners.values()]
}
