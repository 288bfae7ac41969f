/**
 * What the garbage collector does with a dependent may be chance. An owner that is deleted in the foreground does not wait for a dependent
 * that does not block it (or, in a cycle, no longer does). Looked at while that owner still waits for others, the dependent is deleted in
 * the foreground; once the owner is gone, in the background; and where the owner is held by another finalizer, and waits no more, it is an
 * owner like any other: the dependent lives on.
 */
import type { OwnerReference } from '../../api/object.ts'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import type { Going } from './plan.ts'

const COLLECTOR = 'generic-garbage-collector'
const FOREGROUND = 'foregroundDeletion'

export interface Rehearsed {
  readonly steps: readonly TimelineStep[]
  /** By uid, of what has any. */
  readonly owners: ReadonlyMap<string, readonly OwnerReference[]>
}

/** What was collected because of owners that did not wait for it, with these, by uid. */
export type OpenPolicies = ReadonlyMap<string, ReadonlySet<string>>

export function openPolicies({ steps, owners }: Rehearsed): OpenPolicies {
  const waiting = waitingIn(steps)
  const collected = new Set<string>()
  const loosened = new Map<string, string[]>()
  for (const { object, changes, by } of steps)
    for (const change of changes) {
      if (change.type === 'owner-changed' && change.owner.blockOwnerDeletion !== true)
        loosened.set(object.uid, [...(loosened.get(object.uid) ?? []), change.owner.uid])
      if (by.component === COLLECTOR && (change.type === 'marked' || change.type === 'removed'))
        collected.add(object.uid)
    }
  const looseOf = (uid: string) => [
    ...(owners.get(uid) ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion !== true).map((one) => one.uid),
    ...(loosened.get(uid) ?? []),
  ]
  return new Map(
    [...collected].flatMap((uid) => {
      const loose = looseOf(uid).filter((owner) => waiting.has(owner))
      return loose.length === 0 ? [] : [[uid, new Set(loose)] as const]
    }),
  )
}

/** Of what may as well live on: an owner of it that does not wait for it may stay. */
export function sparedPerhaps(open: OpenPolicies, goes: readonly Going[]): ReadonlySet<string> {
  const sure = sureOf(goes)
  return new Set([...open].flatMap(([uid, owners]) => ([...owners].every((owner) => sure.has(owner)) ? [] : [uid])))
}

/** Of what loses an owner that does not wait for it, and may as well keep it: an owner that waits for no more is one like any other. */
export function keptPerhaps({ steps, owners }: Rehearsed, goes: readonly Going[]): ReadonlySet<string> {
  const sure = sureOf(goes)
  const waitsNoMore = new Set(
    steps.flatMap(({ object, changes }) =>
      changes.some((change) => change.type === 'finalizer-removed' && change.finalizer === FOREGROUND)
        ? [object.uid]
        : [],
    ),
  )
  return new Set(
    steps.flatMap(({ object, changes, by }) =>
      by.component === COLLECTOR &&
      changes.some(
        (change) =>
          change.type === 'owner-removed' &&
          waitsNoMore.has(change.owner.uid) &&
          !sure.has(change.owner.uid) &&
          owners.get(object.uid)?.find(({ uid }) => uid === change.owner.uid)?.blockOwnerDeletion !== true,
      )
        ? [object.uid]
        : [],
    ),
  )
}

const waitingIn = (steps: readonly TimelineStep[]): ReadonlySet<string> =>
  new Set(
    steps.flatMap(({ object, changes }) =>
      changes.some((change) => change.type === 'finalizer-added' && change.finalizer === FOREGROUND)
        ? [object.uid]
        : [],
    ),
  )

const sureOf = (goes: readonly Going[]) =>
  new Set(goes.filter(({ certainty }) => certainty === 'goes').map(({ object }) => object.uid))

/** The same in the same order: what goes by what chance decided is `either`, or its order is open. */
export function withOpenPolicies(goes: readonly Going[], open: OpenPolicies): readonly Going[] {
  if (open.size === 0) return goes
  const going = new Map(goes.map((one) => [one.object.uid, one]))
  const sure = sureOf(goes)
  const spared = sparedPerhaps(open, goes)
  /** Whether a step that led to it might not come, or it is spared itself. */
  const isPerhaps = ({ object, cause }: Going): boolean => {
    if (spared.has(object.uid)) return true
    const seen = new Set<string>()
    for (let above = cause; above !== undefined && !seen.has(above); above = going.get(above)?.cause) {
      if (spared.has(above) || (open.has(above) && !sure.has(above))) return true
      seen.add(above)
    }
    return false
  }
  return goes.map((one) => {
    const { object, cause } = one
    if (one.certainty === 'goes' && isPerhaps(one)) return { ...one, certainty: 'either' }
    const isOpen = cause !== undefined && (open.has(cause) || open.get(object.uid)?.has(cause) === true)
    return isOpen ? { ...one, isOrderOpen: true } : one
  })
}
