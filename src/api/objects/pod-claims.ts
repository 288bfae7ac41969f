/** Which claims a pod uses. */
import type { PersistentVolumeClaim, Pod } from '../generated/types.ts'

/** The index of pods by the keys of their claims. */
export const claimIndex = 'persistentvolumeclaim'

/** Keys of the claims a pod names, those of its ephemeral volumes among them. */
export function claimsOf(pod: Pod): readonly string[] {
  const keys: string[] = []
  for (const volume of pod.spec!.volumes ?? []) {
    const name: string | undefined =
      volume.persistentVolumeClaim?.claimName ??
      (volume.ephemeral === undefined ? undefined : `${pod.metadata.name}-${volume.name}`)
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`)
  }
  return keys
}

/** Its kubelet has taken it down, or it was deleted by force: what keeps it is a finalizer. */
export const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && Number(metadata.deletionGracePeriodSeconds ?? 0) === 0

/** How a pod mounts a claim: by its name, or as one that was made for an ephemeral volume of it. Another's claim of such a name is not its own. */
export function mountsClaim(
  pod: Pod,
  { metadata }: Pick<PersistentVolumeClaim, 'metadata'>,
): 'by name' | 'as its own' | undefined {
  const volumes = pod.metadata.namespace === metadata.namespace ? (pod.spec?.volumes ?? []) : []
  if (volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === metadata.name)) return 'by name'
  const isOwner = metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === pod.metadata.uid)
  const isMade = volumes.some(
    ({ name, ephemeral }) => ephemeral !== undefined && `${pod.metadata.name}-${name}` === metadata.name,
  )
  return isOwner && isMade ? 'as its own' : undefined
}

/**
 * Whether a claim that is deleted has to stay for a pod (storage object in use protection): once the pod is on a node, and as long as it is
 * there. But what was made for the pod alone may go before it, when the pod is shut down: it may be what the pod waits for.
 */
export function keepsClaim(pod: Pod, claim: Pick<PersistentVolumeClaim, 'metadata'>): boolean {
  const how = (pod.spec?.nodeName ?? '') === '' ? undefined : mountsClaim(pod, claim)
  return how === 'by name' || (how === 'as its own' && !isShutDown(pod))
}
