/** What several controllers need to know of a pod. */
import type { ObjectMeta, Pod, PodCondition, PodTemplateSpec } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'

export const podsResource = { group: '', version: 'v1', resource: 'pods' }

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)
}

export const isTerminated = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'

/** Neither finished nor being deleted: counts as a replica. */
export const isActive = (pod: Pod): boolean => !isTerminated(pod) && pod.metadata.deletionTimestamp === undefined

/** Being deleted, but not finished yet. */
export const isTerminating = (pod: Pod): boolean => !isTerminated(pod) && pod.metadata.deletionTimestamp !== undefined

export function podCondition(pod: Pod, type: string): PodCondition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)
}

export const isReady = (pod: Pod): boolean => podCondition(pod, 'Ready')?.status === 'True'

/** Index values for pods, replica sets, jobs by the controller they have (`uid`), or `orphan namespace`. */
export function ownerIndex(object: KubeObject): readonly string[] {
  const owner = controllerOf(object)
  return [owner === undefined ? orphanIndexValue(object.metadata.namespace ?? '') : owner.uid]
}
export const orphanIndexValue = (namespace: string): string => `orphan ${namespace}`
export const ownerIndexName = 'controller'

/** A pod of a workload's template, to be created in the workload's namespace. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubeObject): Pod {
  const { labels, annotations, finalizers }: ObjectMeta = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ownerReferences: [controllerReference(owner)],
      ...(finalizers ? { finalizers } : {}),
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  }
}

export function controllerReference(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name ?? '',
    uid: owner.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}
