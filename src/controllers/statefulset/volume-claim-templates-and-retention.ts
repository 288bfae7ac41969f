/**
 * The claims of a stateful pod: one for each template, named by set and ordinal, and whose end it shares: the set's, the
 * pod's when it is scaled away, or has no owner (KEP-1847, persistentVolumeClaimRetentionPolicy).
 */
import type { PersistentVolumeClaim, StatefulSet } from '../../api/generated/types.ts'
import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { controllerReference } from '../pods/pod.ts'

export const volumeClaimsResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }

const templatesOf = (set: StatefulSet): readonly KubeObject[] => set.spec?.volumeClaimTemplates ?? []

/** Of the pod of this name: claims by the volumes that they fill. */
export function claimNames(set: StatefulSet, pod: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    templatesOf(set).map(({ metadata }) => [metadata.name ?? '', `${metadata.name}-${pod}`] as const),
  )
}

/** As they are to be made. */
export function claimsOfReplica(set: StatefulSet, pod: string): readonly KubeObject[] {
  return templatesOf(set).map((template) => ({
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${template.metadata.name}-${pod}`,
      namespace: set.metadata.namespace ?? '',
      labels: { ...template.metadata.labels, ...set.spec?.selector.matchLabels },
    },
  }))
}

/** `inRange`: whether the pod's ordinal is among the replicas that the set wants. */
export interface ClaimUser {
  readonly pod: Pick<KubeObject, 'metadata'>
  readonly inRange: boolean
}

/**
 * The owner references that the policy asks for; undefined when the claim has them. A claim with another controller is
 * that one's.
 */
export function ownersFor(
  set: StatefulSet,
  claim: PersistentVolumeClaim,
  { pod, inRange }: ClaimUser,
): readonly OwnerReference[] | undefined {
  const policy = set.spec?.persistentVolumeClaimRetentionPolicy
  const owners = claim.metadata.ownerReferences ?? []
  const isSet = (owner: OwnerReference) => owner.uid === set.metadata.uid
  const isPod = (owner: OwnerReference) => owner.kind === 'Pod' && owner.name === pod.metadata.name
  if (owners.some((owner) => owner.controller === true && !isSet(owner) && !isPod(owner))) return undefined
  const diesWithPod = policy?.whenScaled === 'Delete' && !inRange
  const diesWithSet = policy?.whenDeleted === 'Delete' && !diesWithPod
  const wanted = [
    ...owners.filter((owner) => !isSet(owner) && !isPod(owner)),
    ...(diesWithSet ? [controllerReference(set)] : []),
    ...(diesWithPod ? [podReference(pod)] : []),
  ]
  const same =
    wanted.length === owners.length &&
    wanted.every((owner) => owners.some((old) => old.uid === owner.uid && old.controller === owner.controller))
  return same ? undefined : wanted
}

const podReference = ({ metadata }: Pick<KubeObject, 'metadata'>): OwnerReference =>
  controllerReference({ apiVersion: 'v1', kind: 'Pod', metadata })

/** It goes with a pod that had this name before: the new pod must not mount it. */
export function isStale(claim: PersistentVolumeClaim, pod: string): boolean {
  return (claim.metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'Pod' && name === pod)
}
