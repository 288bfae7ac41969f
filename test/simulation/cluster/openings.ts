/** Some things meet by chance too seldom: what a story may begin with. */
import type { Fields, KubeObject } from '../../../src/api/object.ts'
import { STORAGE_CLASS } from './rest/volumes.ts'
import { type Dice, type Kind, kinds, make, podSpec } from './workload.ts'

export interface Opening {
  readonly first: readonly KubeObject[]
  /** Made when the others have had some time. */
  readonly later: readonly KubeObject[]
  /** Of the first of them, so many milliseconds from the beginning. */
  readonly changes?: readonly { readonly atMs: number; readonly spec: Fields }[]
}

const NAMESPACE = 'one'

export function openingOf(die: Dice): Opening {
  const which = die.below(9)
  if (which === 0) return { first: guarded(die), later: [] }
  if (which === 1) return crowded(die)
  if (which === 2) return { first: claiming(die), later: [] }
  if (which === 3) return rolling(die)
  return { first: [], later: [] }
}

const named = (kind: Kind, name: string, fields: Fields): KubeObject => {
  const { group, version } = kinds[kind]
  const namespaced = kind === 'PriorityClass' || kind === 'PersistentVolume' ? {} : { namespace: NAMESPACE }
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    ...fields,
    metadata: { name, ...namespaced, ...fields['metadata'] },
  }
}

/** A workload with a service and a budget of its own. */
function guarded(die: Dice): readonly KubeObject[] {
  const set = make(die, die.oneOf(['Deployment', 'ReplicaSet', 'StatefulSet'] as const), 'o100', NAMESPACE, [], '')
  const replicas = 2 + die.below(2)
  return [
    { ...set, spec: { ...set['spec'], replicas } },
    make(die, 'PodDisruptionBudget', 'o101', NAMESPACE, [], 'o100'),
    make(die, 'Service', 'o102', NAMESPACE, [], 'o100'),
  ]
}

/** Pods of which each takes more than half a node, then more important ones. */
function crowded(die: Dice): Opening {
  const big = (name: string, fields: Fields) => {
    const spec = podSpec(die)
    const { annotations } = make(die, 'Pod', name, NAMESPACE, [], '').metadata
    const [container] = spec['containers'] as readonly Fields[]
    const resources = { requests: { cpu: '20' } }
    return named('Pod', name, {
      metadata: { labels: { app: 'big' }, ...(annotations && { annotations }) },
      spec: { ...spec, ...fields, containers: [{ ...container, resources }] },
    })
  }
  return {
    first: [named('PriorityClass', 'o110', { value: 1000 }), big('o111', {}), big('o112', {})],
    later: [big('o113', { priorityClassName: 'o110' })],
  }
}

/** A deployment whose template changes when its pods have run for a while, and are slow to come and to go; some are paused. */
function rolling(die: Dice): Opening {
  const deployment = make(die, 'Deployment', 'o130', NAMESPACE, [], '')
  const { strategy } = deployment['spec']
  const template: Fields = {
    metadata: {
      labels: { app: 'o130' },
      annotations: {
        'sim.skiff.dev/start-delay': die.oneOf(['0s', '2s', '15s']),
        'sim.skiff.dev/stop-delay': die.oneOf(['0s', '10s']),
      },
    },
    spec: { containers: [{ name: 'c', image: 'i:1' }], automountServiceAccountToken: false },
  }
  const changed = { template: { spec: { containers: [{ name: 'c', image: 'i:9' }] } } }
  const recreates = die.chance(0.3) ? { type: 'Recreate' } : strategy
  return {
    first: [
      { ...deployment, spec: { ...deployment['spec'], strategy: recreates, replicas: 2 + die.below(3), template } },
    ],
    later: [],
    changes: [
      ...(die.chance(0.4) ? [{ atMs: 1000, spec: { paused: true } }] : []),
      { atMs: 22_000 + die.below(8000), spec: changed },
    ],
  }
}

/** A StatefulSet with claims, and some volumes. */
function claiming(die: Dice): readonly KubeObject[] {
  const set = make(die, 'StatefulSet', 'o120', NAMESPACE, [], '')
  const policies = ['Retain', 'Delete'] as const
  const spec: Fields = {
    ...set['spec'],
    replicas: 1 + die.below(3),
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: {
          storageClassName: STORAGE_CLASS,
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' } },
        },
      },
    ],
    persistentVolumeClaimRetentionPolicy: { whenDeleted: die.oneOf(policies), whenScaled: die.oneOf(policies) },
  }
  const volumes = ['o121', 'o122', 'o123'].map((name) => make(die, 'PersistentVolume', name, '', [], ''))
  return [...volumes, { ...set, spec }]
}
