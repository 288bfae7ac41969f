/** Whether a write would change anything: plain JSON compared, parts of one identity skipped. */
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts'

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => sameJson(item, b[i]))
  }
  if (Array.isArray(b)) return false
  const left = a as { readonly [key: string]: unknown }
  const right = b as { readonly [key: string]: unknown }
  let present = 0
  for (const key in left) {
    if (left[key] === undefined) continue
    if (!Object.hasOwn(right, key) || !sameJson(left[key], right[key])) return false
    present++
  }
  for (const key in right) if (right[key] !== undefined) present--
  return present === 0
}

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
