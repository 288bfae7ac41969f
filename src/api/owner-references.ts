/** Whether owner references say the same (API concept: owners and dependents). */
import type { OwnerReference } from './object.ts'

export function sameOwnerReferences(
  a: readonly OwnerReference[] | undefined,
  b: readonly OwnerReference[] | undefined,
): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || a.length !== b.length) return false
  for (let at = 0; at < a.length; at++)
    if (!sameOwnerReference(a[at] as OwnerReference, b[at] as OwnerReference)) return false
  return true
}

export const sameOwnerReference = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid &&
  a.name === b.name &&
  a.kind === b.kind &&
  a.apiVersion === b.apiVersion &&
  a.controller === b.controller &&
  a.blockOwnerDeletion === b.blockOwnerDeletion
