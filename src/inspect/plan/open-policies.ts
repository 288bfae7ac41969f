/**
 * Which policy the garbage collector deletes with may be chance. What loses its last owner is deleted in the foreground while an owner
 * is still there that waits for dependents, in the background once that owner is gone; and an owner does not wait for a dependent that
 * does not block it. So what that dependent owns goes before it or after it, and where it is held, with it or not at all.
 */
import type { OwnerReference } from '../../api/object.ts'
import type { Step } from '../timeline/timeline.ts'
import type { Going } from './plan.ts'

const COLLECTOR = 'generic-garbage-collector'
const FOREGROUND = 'foregroundDeletion'

export interface Rehearsed {
  readonly steps: readonly Step[]
  /** By uid, of what has any. */
  readonly owners: ReadonlyMap<string, readonly OwnerReference[]>
}

/** The same in the same order: what goes by the policy that chance gave to its owner is `either`, or its order is open. */
export function withOpenPolicies(goes: readonly Going[], rehearsed: Rehearsed): readonly Going[] {
  const open = openPolicies(rehearsed)
  if (open.size === 0) return goes
  const going = new Map(goes.map((one) => [one.object.uid, one]))
  const isSure = (uid: string) => going.get(uid)?.certainty === 'goes'
  /** Whether a step that led to it might not come. */
  const isPerhaps = ({ cause }: Going): boolean => {
    const seen = new Set<string>()
    for (let above = cause; above !== undefined && !seen.has(above); above = going.get(above)?.cause) {
      if (open.has(above) && !isSure(above)) return true
      seen.add(above)
    }
    return false
  }
  return goes.map((one) => {
    if (one.certainty === 'goes' && isPerhaps(one)) return { ...one, certainty: 'either' }
    return one.cause !== undefined && open.has(one.cause) ? { ...one, isOrderOpen: true } : one
  })
}

/** What the garbage collector deleted because of owners of which one waited for others than it. */
function openPolicies({ steps, owners }: Rehearsed): ReadonlySet<string> {
  const waiting = new Set<string>()
  const collected = new Set<string>()
  for (const { object, changes, by } of steps)
    for (const change of changes) {
      if (change.type === 'finalizer-added' && change.finalizer === FOREGROUND) waiting.add(object.uid)
      if (by.component === COLLECTOR && (change.type === 'marked' || change.type === 'removed'))
        collected.add(object.uid)
    }
  const isOpen = (uid: string) =>
    owners.get(uid)?.some((owner) => waiting.has(owner.uid) && owner.blockOwnerDeletion !== true) === true
  return new Set([...collected].filter(isOpen))
}
