/** Which claims a pod uses. */
import type { Pod } from '../generated/types.ts'

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
