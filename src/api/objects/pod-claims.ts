/** Which claims a pod uses. */
import type { Fields, KubeObject } from '../object.ts'

/** The index of pods by the keys of their claims. */
export const claimIndex = 'persistentvolumeclaim'

/** Keys of the claims a pod names, those of its ephemeral volumes among them. */
export function claimsOf(pod: KubeObject): readonly string[] {
  const keys: string[] = []
  for (const volume of (pod['spec'].volumes ?? []) as readonly Fields[]) {
    const name: string | undefined =
      volume['persistentVolumeClaim']?.claimName ??
      (volume['ephemeral'] === undefined ? undefined : `${pod.metadata.name}-${volume['name']}`)
    if (name !== undefined) keys.push(`${pod.metadata.namespace}/${name}`)
  }
  return keys
}
