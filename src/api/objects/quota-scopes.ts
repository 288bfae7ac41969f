/** Which objects a ResourceQuota's scopes speak of. */
import type { Affinity, PersistentVolumeClaim, Pod, PodSpec, ResourceQuota } from '../generated/types.ts'
import { qosClass } from './qos.ts'

interface Requirement {
  readonly scopeName: string
  readonly operator: string
  readonly values?: readonly string[]
}

export function inScope(quota: ResourceQuota, object: Pod | PersistentVolumeClaim, resource: string): boolean {
  const scopes: readonly string[] = quota.spec?.scopes ?? []
  const selected: readonly Requirement[] = quota.spec?.scopeSelector?.matchExpressions ?? []
  if (scopes.length === 0 && selected.length === 0) return true
  const requirements = [...selected, ...scopes.map((scopeName) => ({ scopeName, operator: 'Exists' }))]
  if (resource === 'pods')
    return requirements.every((requirement) => podMatches(requirement, (object as Pod).spec ?? {}))
  if (resource === 'persistentvolumeclaims')
    return requirements.every(
      (requirement) =>
        requirement.scopeName === 'VolumeAttributesClass' &&
        nameMatches(requirement, (object as PersistentVolumeClaim).spec?.volumeAttributesClassName ?? ''),
    )
  return false
}

function podMatches(requirement: Requirement, spec: Partial<PodSpec>): boolean {
  const hasDeadline = typeof spec.activeDeadlineSeconds === 'number' && spec.activeDeadlineSeconds >= 0
  switch (requirement.scopeName) {
    case 'Terminating':
      return hasDeadline
    case 'NotTerminating':
      return !hasDeadline
    case 'BestEffort':
      return qosClass(spec) === 'BestEffort'
    case 'NotBestEffort':
      return qosClass(spec) !== 'BestEffort'
    case 'PriorityClass':
      return nameMatches(requirement, spec.priorityClassName ?? '')
    case 'CrossNamespacePodAffinity':
      return reachesOtherNamespaces(spec.affinity)
    default:
      return false
  }
}

function nameMatches({ operator, values = [] }: Requirement, name: string): boolean {
  switch (operator) {
    case 'Exists':
      return name !== ''
    case 'DoesNotExist':
      return name === ''
    case 'In':
      return values.includes(name)
    case 'NotIn':
      return !values.includes(name)
    default:
      return false
  }
}

function reachesOtherNamespaces(affinity: Affinity | undefined): boolean {
  return (['podAffinity', 'podAntiAffinity'] as const).some((side) => {
    const required = affinity?.[side]?.requiredDuringSchedulingIgnoredDuringExecution ?? []
    const preferred = affinity?.[side]?.preferredDuringSchedulingIgnoredDuringExecution ?? []
    return [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)].some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
    )
  })
}
