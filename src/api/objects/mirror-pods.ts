/** Mirror pods: what the API shows of a node's static pods (API concept: static pods). */
import type { KubeObject } from '../object.ts'

/** A mirror's says which version of the static pod it shows. */
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror'

export const isMirrorPod = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.annotations?.[CONFIG_MIRROR] !== undefined
