/**
 * Limits of single pods on the node's disk (API concept: local ephemeral storage): of an emptyDir, of the pod as a whole, of a container.
 * A pod that uses more is evicted, whether or not the node is short of anything.
 */
import { podLimits } from '../../api/objects/pod-requests.ts'
import { quantityValue } from '../../api/values/quantity.ts'
import { type Pod, specOf } from '../pod.ts'
import type { PodUse } from './observations.ts'

const STORAGE = 'ephemeral-storage'

/** Only of these it has to be known what they use. */
export function isLimitedOnDisk(pod: Pod): boolean {
  const spec = specOf(pod)
  return podLimits(spec)[STORAGE] !== undefined || (spec.volumes ?? []).some(({ emptyDir }) => limitOf(emptyDir) !== 0n)
}

/** Of a pod that uses more than it may. */
export interface Excess {
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit'
  /** In the kubelet's words. */
  readonly message: string
}

export function excessOnDisk(pod: Pod, { volumes, containers }: PodUse): Excess | undefined {
  const spec = specOf(pod)
  for (const { name, emptyDir } of spec.volumes ?? []) {
    const limit = limitOf(emptyDir)
    if (limit !== 0n && BigInt(volumes.get(name)?.bytes ?? 0) > limit)
      return {
        signal: 'emptydirfs.limit',
        message: `Usage of EmptyDir volume "${name}" exceeds the limit "${emptyDir?.sizeLimit}". `,
      }
  }
  const whole = podLimits(spec)[STORAGE]
  const sizes = [...volumes.values(), ...[...containers.values()].map(({ diskBytes: bytes }) => ({ bytes }))]
  const used = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  if (whole !== undefined && BigInt(used) > quantityValue(whole))
    return {
      signal: 'ephemeralpodfs.limit',
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${whole}. `,
    }
  for (const { name, resources } of spec.containers) {
    const limit = resources?.limits?.[STORAGE]
    if (limit !== undefined && BigInt(containers.get(name)?.diskBytes ?? 0) > quantityValue(limit))
      return {
        signal: 'ephemeralcontainerfs.limit',
        message: `Container ${name} exceeded its local ephemeral storage limit "${limit}". `,
      }
  }
  return undefined
}

/** In bytes; 0: none. One in memory is as large as that and takes no more. */
function limitOf(emptyDir: { readonly medium?: string; readonly sizeLimit?: string } | undefined): bigint {
  if (emptyDir?.sizeLimit === undefined || emptyDir.medium === 'Memory') return 0n
  return quantityValue(emptyDir.sizeLimit)
}
