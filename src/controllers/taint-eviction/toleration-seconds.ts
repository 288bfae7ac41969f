/** How long a pod's tolerations let it stay on a node with NoExecute taints. */
import type { Node, Taint, Toleration } from '../../api/generated/types.ts'
import { durationMs, type Int64, minInt64 } from '../../api/objects/integers.ts'
import { toleratesTaint } from '../../api/objects/taints.ts'

export function noExecuteTaints(node: Node): readonly Taint[] {
  const taints = node.spec?.taints ?? []
  return taints.filter((taint) => taint.effect === 'NoExecute')
}

/** Seconds may be more than a double tells exactly. */
type LongToleration = Omit<Toleration, 'tolerationSeconds'> & { readonly tolerationSeconds?: Int64 }

/**
 * Milliseconds; 0 when a taint is not tolerated at all, Infinity when all are for ever. So are they where the least time is
 * one that a Go program takes for negative.
 */
export function toleratedMs(taints: readonly Taint[], tolerations: readonly LongToleration[]): number {
  let least: Int64 | undefined
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => toleratesTaint(candidate, taint))
    if (toleration === undefined) return 0
    const seconds: Int64 | undefined = toleration.tolerationSeconds
    if (seconds !== undefined) least = least === undefined ? seconds : minInt64(least, seconds)
  }
  if (least === undefined) return Number.POSITIVE_INFINITY
  if (least <= 0) return 0
  const ms = durationMs(least)
  return ms < 0 ? Number.POSITIVE_INFINITY : ms
}
