/** Whether a write would change anything: plain JSON compared, parts of one identity skipped. */
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'

function sameManagers(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  return a.every((entry, i) => {
    const other = b[i] as ManagedFieldsEntry
    if (entry === other) return true
    const { time: _a, ...left } = entry
    const { time: _b, ...right } = other
    return sameJson(left, right)
  })
}

/** Equal but for the times in managedFields and the resourceVersion, which storage sets. */
export function sameObject(a: KubeObject, b: KubeObject): boolean {
  if (a === b) return true
  for (const key of Object.keys({ ...a, ...b })) if (key !== 'metadata' && !sameJson(a[key], b[key])) return false
  const { managedFields: left = [], resourceVersion: _a, ...metadata } = a.metadata
  const { managedFields: right = [], resourceVersion: _b, ...other } = b.metadata
  return sameJson(metadata, other) && sameManagers(left, right)
}
