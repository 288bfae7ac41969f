/** Defaults of what runs pods until further notice: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController. */
import type { ReplicationController, ReplicationControllerSpec } from '../generated/types.ts'
import type { Fields, SpecAndStatus } from '../object.ts'
import { TEMPLATE_GENERATION } from '../objects/annotated-fields.ts'
import { type Defaulter, missing, unset, whenAny } from './rule.ts'

const apps = (name: string) => `io.k8s.api.apps.v1.${name}`

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && typeof value === 'object' && Object.keys(value).length > 0

/**
 * The update strategy with its rolling update's numbers. Another strategy has none; where it has a rolling update all the
 * same, Kubernetes holds in it what is `absent` as zeros.
 */
function rolling(strategy: Fields | undefined, numbers: Fields, absent: Fields): Fields {
  const type = strategy?.['type'] || 'RollingUpdate'
  if (type !== 'RollingUpdate') {
    const { rollingUpdate: idle } = strategy as { readonly rollingUpdate?: Fields | null }
    const zeros = idle ? unset(idle, absent) : undefined
    return zeros ? { ...strategy, rollingUpdate: { ...idle, ...zeros } } : strategy!
  }
  const given: Fields = strategy?.['rollingUpdate'] ?? {}
  const added = unset(given, numbers)
  if (strategy?.['type'] && strategy['rollingUpdate'] && !added) return strategy
  return { ...strategy, type, rollingUpdate: added ? { ...given, ...added } : given }
}

/** Of StatefulSets a strategy that is named stands as it is: its numbers are filled in, not made. */
function statefulRolling(strategy: Fields | undefined): Fields {
  if (strategy?.['type'] && !strategy['rollingUpdate']) return strategy
  return rolling(strategy, { partition: 0, maxUnavailable: 1 }, { partition: 0 })
}

/** A rule for a kind whose defaults are all in its spec. */
function ofSpec(rule: (spec: Fields) => Fields | undefined): Defaulter {
  return (value: Partial<SpecAndStatus>) => {
    const spec = (value.spec ?? {}) as Fields
    const added = rule(spec)
    return added && { spec: { ...spec, ...added } }
  }
}

/** `strategy` only where the rule changed it. */
function withStrategy(added: Fields | undefined, field: string, spec: Fields, strategy: Fields): Fields | undefined {
  return strategy === spec[field] ? added : { ...added, [field]: strategy }
}

const NONE = { maxUnavailable: 0, maxSurge: 0 }

const deployment = ofSpec((spec) =>
  withStrategy(
    missing(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
    'strategy',
    spec,
    rolling(spec['strategy'], { maxUnavailable: '25%', maxSurge: '25%' }, NONE),
  ),
)

const daemonSetSpec = ofSpec((spec) =>
  withStrategy(
    missing(spec, { revisionHistoryLimit: 10 }),
    'updateStrategy',
    spec,
    rolling(spec['updateStrategy'], { maxUnavailable: 1, maxSurge: 0 }, NONE),
  ),
)

/** Every DaemonSet carries its template's generation, once a field, in an annotation: a manager that writes without it owns it too. */
const daemonSet: Defaulter = (value) => {
  const metadata: Fields = value['metadata'] ?? {}
  if (metadata['annotations']?.[TEMPLATE_GENERATION] !== undefined) return daemonSetSpec(value)
  const annotations = { ...metadata['annotations'], [TEMPLATE_GENERATION]: '0' }
  return { ...daemonSetSpec(value), metadata: { ...metadata, annotations } }
}

const statefulSet = ofSpec((spec) => {
  const retention: Fields = spec['persistentVolumeClaimRetentionPolicy'] ?? {}
  const retain = missing(retention, { whenDeleted: 'Retain', whenScaled: 'Retain' })
  const claims: readonly Fields[] | undefined = spec['volumeClaimTemplates']
  const added = {
    ...missing(spec, { podManagementPolicy: 'OrderedReady', replicas: 1, revisionHistoryLimit: 10 }),
    ...(retain ? { persistentVolumeClaimRetentionPolicy: { ...retention, ...retain } } : {}),
    ...(claims?.some((claim) => !claim['kind'] || !claim['apiVersion'])
      ? { volumeClaimTemplates: claims.map((claim) => ({ ...claim, kind: 'PersistentVolumeClaim', apiVersion: 'v1' })) }
      : {}),
  }
  return withStrategy(whenAny(added), 'updateStrategy', spec, statefulRolling(spec['updateStrategy']))
})

/** The template's labels stand in for missing ones of the object and for its missing selector. */
function replicationController(value: Partial<ReplicationController>): Fields | undefined {
  const spec: ReplicationControllerSpec = value.spec ?? {}
  const labels: Fields | undefined = spec.template?.metadata?.labels
  const added = {
    ...missing(spec, { replicas: 1 }),
    ...(isSet(labels) && !isSet(spec.selector) ? { selector: labels } : {}),
  }
  return whenAny({
    ...(isSet(added) ? { spec: { ...spec, ...added } } : {}),
    ...labelsFromTemplate(value, labels),
  })
}

export function labelsFromTemplate(value: Fields, labels: Fields | undefined): Fields {
  const metadata: Fields = value['metadata'] ?? {}
  return isSet(labels) && !isSet(metadata['labels']) ? { metadata: { ...metadata, labels } } : {}
}

export const workloadDefaults: Readonly<Record<string, Defaulter>> = {
  [apps('Deployment')]: deployment,
  [apps('DaemonSet')]: daemonSet,
  [apps('StatefulSet')]: statefulSet,
  [apps('ReplicaSet')]: ofSpec((spec) => missing(spec, { replicas: 1 })),
  'io.k8s.api.core.v1.ReplicationController': replicationController,
}
