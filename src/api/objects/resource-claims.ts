/** Rules about ResourceClaims that controllers, scheduler and kubelet share (API concept: dynamic resource allocation). */
import type { Pod, ResourceClaimConsumerReference, ResourceV1ResourceClaim } from '../generated/types.ts'

export type ResourceClaim = ResourceV1ResourceClaim

export const claimsResource = { group: 'resource.k8s.io', version: 'v1', resource: 'resourceclaims' }

/** Keeps an allocated claim from going. */
export const DELETE_PROTECTION = 'resource.kubernetes.io/delete-protection'

/** By this annotation a claim made of a template tells for which of its pod's claims it is. */
export const POD_CLAIM_NAME = 'resource.kubernetes.io/pod-claim-name'

/** So many pods may share a claim. */
export const MAX_RESERVED_FOR = 256

/** One of a pod's claims. `name` is undefined until it has been made, null where the pod needs none. */
export interface PodClaim {
  /** The pod's own name for it. */
  readonly podClaim: string
  readonly template: string | undefined
  readonly name: string | undefined | null
}

export function podClaims(pod: Pod): readonly PodClaim[] {
  return (pod.spec?.resourceClaims ?? []).map((claim) => {
    const { name: podClaim, resourceClaimTemplateName: template } = claim
    if (template === undefined) return { podClaim, template, name: claim.resourceClaimName }
    const statuses = pod.status?.resourceClaimStatuses ?? []
    const status = statuses.find(({ name }) => name === podClaim)
    return { podClaim, template, name: status === undefined ? undefined : (status.resourceClaimName ?? null) }
  })
}

/** Those of a pod that are there by name. */
export function claimNamesOf(pod: Pod): readonly string[] {
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  const named = podClaims(pod).flatMap(({ name }) => name ?? [])
  return extended === undefined ? named : [...named, extended]
}

/** Made for this pod. */
export function isMadeFor(claim: ResourceClaim, pod: Pod): boolean {
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner !== undefined && owner.uid === pod.metadata.uid
}

export const reservedFor = (claim: ResourceClaim): readonly ResourceClaimConsumerReference[] =>
  claim.status?.reservedFor ?? []

export const isReservedFor = (claim: ResourceClaim, pod: Pod): boolean =>
  reservedFor(claim).some(({ uid }) => uid === pod.metadata.uid)

/** A pod as a claim names it. */
export const consumerOf = ({ metadata: { name = '', uid = '' } }: Pod) => ({ name, resource: 'pods', uid })

export const withDeleteProtection = (claim: ResourceClaim): ResourceClaim => ({
  ...claim,
  metadata: { ...claim.metadata, finalizers: [...(claim.metadata.finalizers ?? []), DELETE_PROTECTION] },
})

export function withoutDeleteProtection(claim: ResourceClaim): ResourceClaim {
  const { finalizers = [], ...rest } = claim.metadata
  const others = finalizers.filter((finalizer) => finalizer !== DELETE_PROTECTION)
  return { ...claim, metadata: others.length === 0 ? rest : { ...rest, finalizers: others } }
}
