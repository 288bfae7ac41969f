/** How long a pod's tolerations let it stay on a node with NoExecute taints. */
import type { Fields, KubeObject } from '../../api/object.ts'

export function noExecuteTaints(node: KubeObject): readonly Fields[] {
  const taints: readonly Fields[] = node['spec']?.taints ?? []
  return taints.filter((taint) => taint['effect'] === 'NoExecute')
}

export function tolerates(toleration: Fields, taint: Fields): boolean {
  if (toleration['effect'] && toleration['effect'] !== taint['effect']) return false
  if (toleration['key'] && toleration['key'] !== taint['key']) return false
  switch (toleration['operator'] ?? 'Equal') {
    case 'Exists':
      return true
    case 'Equal':
      return (toleration['value'] ?? '') === (taint['value'] ?? '')
    default:
      return false
  }
}

/** Milliseconds; 0 when a taint is not tolerated at all, Infinity when all are for ever. */
export function toleratedMs(taints: readonly Fields[], tolerations: readonly Fields[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    const toleration = tolerations.find((candidate) => tolerates(candidate, taint))
    if (toleration === undefined) return 0
    const seconds: number | undefined = toleration['tolerationSeconds']
    if (seconds !== undefined) least = Math.min(least, Math.max(0, seconds) * 1000)
  }
  return least
}
