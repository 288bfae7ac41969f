/** Which toleration says all that another says, and what several say together. */
import type { Toleration } from '../generated/types.ts'
import { sameJson } from '../same.ts'

/** Whether whatever `other` tolerates `toleration` tolerates too. */
function isSuperset(toleration: Toleration, other: Toleration): boolean {
  if (sameJson(toleration, other)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = toleration
  // An empty key that exists is every key, an empty effect every effect.
  if ((other.key ?? '') !== key && !(key === '' && operator === 'Exists')) return false
  if ((other.effect ?? '') !== effect && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (other.tolerationSeconds === undefined || other.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  return (operator === 'Equal' || operator === '') && other.operator === 'Equal' && (other.value ?? '') === value
}

/** Those of both, without what another of them says too. */
export function mergedTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [i, toleration] of all.entries()) {
    if (merged.some((kept) => isSuperset(kept, toleration))) continue
    // Of equal ones the first is kept.
    if (all.slice(i + 1).some((later) => !sameJson(later, toleration) && isSuperset(later, toleration))) continue
    merged.push(toleration)
  }
  return merged
}

export const areAllWithin = (tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean =>
  tolerations.every((toleration) => allowed.some((one) => isSuperset(one, toleration)))
