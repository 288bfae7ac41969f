/**
 * The score of plugin VolumeBinding (KEP-4049): how much of the volumes that are there for a pod's claims, or of the capacity that is told of
 * where one is made, the claims ask for, on the shape that the profile says. Whole numbers, 0 to 100.
 */
import { nanosOf } from '../api/values/quantity.ts'
import type { NodeInfo } from './node-info.ts'
import type { UtilizationShape } from './profile.ts'
import { onShape } from './resource-scores.ts'
import type { VolumePlan } from './volume-binding-and-first-consumer.ts'

interface Use {
  requested: bigint
  capacity: bigint
}

function volumeScore({ bindings, provisions, capacities }: VolumePlan, shape: UtilizationShape): number {
  const byClass = new Map<string, Use>()
  const useOf = (storageClass: string | undefined): Use => {
    const use = byClass.get(storageClass ?? '') ?? { requested: 0n, capacity: 0n }
    byClass.set(storageClass ?? '', use)
    return use
  }
  for (const { volume, claim } of bindings) {
    const use = useOf(volume.spec?.storageClassName)
    use.requested += bytes(claim.spec?.resources?.requests?.['storage'])
    use.capacity += bytes(volume.spec?.capacity?.['storage'])
  }
  // What is to be made counts where nothing is there; it all comes out of the one capacity of its class.
  for (const claim of bindings.length > 0 ? [] : provisions) {
    const capacity = capacities?.get(claim.spec?.storageClassName ?? '')
    if (capacity === undefined) continue
    const use = useOf(claim.spec?.storageClassName)
    use.requested += bytes(claim.spec?.resources?.requests?.['storage'])
    use.capacity = bytes(capacity)
  }
  if (byClass.size === 0) return 0
  let total = 0
  for (const { requested, capacity } of byClass.values())
    total += onShape(shape, capacity === 0n || requested > capacity ? FULL : Number((requested * 100n) / capacity))
  return Math.round(total / byClass.size)
}

/** The same for a node, from what is to be done there. */
export const scoreOfVolumes =
  (volumesOn: (node: NodeInfo) => VolumePlan | readonly string[], shape: UtilizationShape) =>
  (node: NodeInfo): number => {
    const plan = volumesOn(node)
    return 'length' in plan ? 0 : volumeScore(plan, shape)
  }

const FULL = 100
const NANOS = 1_000_000_000n

/** Whole bytes, rounded up. */
const bytes = (quantity: string | undefined): bigint => (nanosOf(quantity ?? '0') + NANOS - 1n) / NANOS
