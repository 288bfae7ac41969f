/** What the page shows of an object: metadata that decides about its end, and how pods and nodes do. Nothing of any other contents. */
import type { ContainerStatus, Namespace, Node, Pod } from '../api/generated/types.ts'
import type { KubeObject } from '../api/object.ts'
import type { NamedResource } from '../client/aggregated-discovery.ts'
import { natureOf } from '../inspect/twin/twin.ts'
import type { Health, SceneObject } from './protocol.ts'

type Condition = Pick<SceneObject, 'state' | 'health'>

/** Of which the whole object is read, not its metadata alone. */
export const isReadWhole = ({ group, resource }: Pick<NamedResource, 'group' | 'resource'>): boolean =>
  group === '' && (resource === 'pods' || resource === 'nodes' || resource === 'namespaces')

export function sceneObject(resource: NamedResource, object: KubeObject): SceneObject {
  const { metadata } = object
  const { name = '', namespace = '', uid = '', creationTimestamp = '', deletionTimestamp } = metadata
  const {
    group,
    version,
    resource: plural,
    kind,
    shortNames: [short],
  } = resource
  return {
    group,
    version,
    resource: plural,
    kind,
    ...(short === undefined ? {} : { short }),
    namespace,
    name,
    uid,
    created: creationTimestamp,
    ...(deletionTimestamp === undefined ? {} : { deleted: deletionTimestamp }),
    ...(metadata.deletionGracePeriodSeconds === undefined ? {} : { graceSeconds: metadata.deletionGracePeriodSeconds }),
    finalizers: [...ownFinalizers(resource, object), ...(metadata.finalizers ?? [])],
    owners: (metadata.ownerReferences ?? []).map((owner) => ({
      uid: owner.uid,
      kind: owner.kind,
      name: owner.name,
      controller: owner.controller === true,
      blocks: owner.blockOwnerDeletion === true,
    })),
    ...conditionOf(resource, object),
  }
}

function ownFinalizers(resource: NamedResource, object: KubeObject): readonly string[] {
  if (resource.group !== '' || resource.resource !== 'namespaces') return []
  const { spec }: Namespace = object
  return spec?.finalizers ?? []
}

function conditionOf({ group, resource }: NamedResource, object: KubeObject): Partial<SceneObject> {
  if (group !== '') return {}
  if (resource === 'pods') return { ...podCondition(object), ...placeOf(object) }
  if (resource === 'nodes') return { ...nodeCondition(object), nature: natureOf(object) }
  return {}
}

function placeOf({ spec }: Pod): Partial<SceneObject> {
  return spec?.nodeName ? { node: spec.nodeName } : {}
}

const wordOf = ({ state }: ContainerStatus): string | undefined =>
  state?.waiting?.reason ?? (state?.terminated === undefined ? undefined : (state.terminated.reason ?? 'Terminated'))

/** The words of kubectl's columns STATUS and READY. */
function podCondition({ metadata, spec, status }: Pod): Condition {
  const { phase = 'Unknown', containerStatuses = [], initContainerStatuses = [], reason } = status ?? {}
  const all = spec?.containers.length ?? 0
  const ready = containerStatuses.filter((one) => one.ready).length
  const initial = initContainerStatuses.map(wordOf).find((word) => word !== undefined && word !== 'Completed')
  const own = containerStatuses.map(wordOf).find((word) => word !== undefined)
  const word = reason ?? (initial === undefined ? (own ?? phase) : `Init:${initial}`)
  const shown = metadata.deletionTimestamp === undefined || phase === 'Succeeded' || phase === 'Failed'
  return {
    state: `${shown ? word : 'Terminating'} ${ready}/${all}`,
    health: podHealth(phase, word, ready === all),
  }
}

function podHealth(phase: string, word: string, isReady: boolean): Health {
  if (phase === 'Succeeded' || (phase === 'Running' && isReady)) return 'well'
  return phase === 'Failed' || /Error|BackOff|OOMKilled|Evicted|Invalid/.test(word) ? 'failing' : 'waiting'
}

function nodeCondition({ spec, status }: Node): Condition {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status
  const word = ready === 'True' ? 'Ready' : ready === 'Unknown' ? 'silent' : 'NotReady'
  const cordoned = spec?.unschedulable === true
  return {
    state: cordoned ? `${word}, cordoned` : word,
    health: ready !== 'True' ? 'failing' : cordoned ? 'waiting' : 'well',
  }
}
