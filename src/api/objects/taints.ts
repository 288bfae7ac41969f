/** Taints and tolerations (API concept): what keeps a pod off a node, and what lets it on. Takes Taint and Toleration objects. */
import type { Taint, Toleration } from '../generated/types.ts'

export function toleratesTaint(toleration: Omit<Toleration, 'tolerationSeconds'>, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  switch (toleration.operator || 'Equal') {
    case 'Exists':
      return true
    case 'Equal':
      return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '')
    case 'Gt':
    case 'Lt': {
      const [limit, actual] = [toleration.value ?? '', taint.value ?? '']
      if (!/^-?\d+$/.test(limit) || !/^-?\d+$/.test(actual)) return false
      return toleration.operator === 'Gt' ? BigInt(actual) > BigInt(limit) : BigInt(actual) < BigInt(limit)
    }
    default:
      return false
  }
}
