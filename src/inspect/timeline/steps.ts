/** Steps out of the records of a journal: what each write changed. */
import type { Holds, KeptRecord } from '../../api/journal.ts'
import type { OwnerReference } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { formatMicroTime } from '../../base/clock.ts'
import type { ChangeWriter, TimelineChange, TimelineStep } from './timeline-types.ts'
import { writerOf } from './writers.ts'

/** A record of a journal; of one that was made from outside with its writer. */
export type ToldRecord = KeptRecord & { readonly by?: ChangeWriter }

/** A step before it is known what led to it. */
export interface Written extends Omit<TimelineStep, 'cause'> {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly before: Holds
  /** undefined: removed. */
  readonly after: Holds | undefined
  /** The second of one request. */
  readonly follows: boolean
}

/** In the order of their revisions. What a new list no longer has went at the list's revision, all of it: their ids have a number more. */
export function stepsOf(records: readonly ToldRecord[]): Written[] {
  const used = new Map<string, number>()
  return records.flatMap(stepsOfRecord).map((step) => {
    const times = used.get(step.id) ?? 0
    used.set(step.id, times + 1)
    return times === 0 ? step : { ...step, id: `${step.id}-${times + 1}` }
  })
}

function stepsOfRecord(record: ToldRecord): Written[] {
  const { before, between, after } = record
  if (between === undefined) return [written(record, `${record.revision}`, before, after, false)]
  return [
    written(record, `${record.revision}-marked`, before, between, false),
    written(record, `${record.revision}`, between, after, true),
  ]
}

function written(record: ToldRecord, id: string, before: Holds, after: Holds | undefined, follows: boolean): Written {
  const { group, resource, kind, namespace, name, uid, verb, subresource, auditId, options } = record
  return {
    id,
    revision: record.revision,
    time: formatMicroTime(record.time),
    at: record.time,
    object: { group, resource, kind, namespace, name, uid },
    changes: changesBetween(before, after),
    by: record.by ?? writerOf(record),
    request: {
      verb,
      subresource,
      ...(auditId === undefined ? {} : { auditId }),
      ...(options === undefined ? {} : { options }),
    },
    before,
    after,
    follows,
  }
}

export function changesBetween(before: Holds, after: Holds | undefined): TimelineChange[] {
  if (after === undefined) return [...finalizersBetween(before, undefined), { type: 'removed' }]
  return [...markBetween(before, after), ...finalizersBetween(before, after), ...ownersBetween(before, after)]
}

function markBetween(before: Holds, after: Holds): TimelineChange[] {
  const { deletionTimestamp, deletionGracePeriodSeconds: gracePeriodSeconds } = after
  if (deletionTimestamp === undefined) return []
  const isNew = before.deletionTimestamp === undefined
  if (
    !isNew &&
    gracePeriodSeconds === before.deletionGracePeriodSeconds &&
    deletionTimestamp === before.deletionTimestamp
  )
    return []
  return [{ type: isNew ? 'marked' : 'grace-shortened', deletionTimestamp, gracePeriodSeconds }]
}

/** What the update that removed an object took away last is what the object still had: it went with it. */
function finalizersBetween({ finalizers: had = [], ...before }: Holds, after: Holds | undefined): TimelineChange[] {
  if (after === undefined && before.deletionTimestamp === undefined) return []
  const has = after?.finalizers ?? []
  return [
    ...had
      .filter((name) => !has.includes(name))
      .map((finalizer) => ({ type: 'finalizer-removed', finalizer }) as const),
    ...has.filter((name) => !had.includes(name)).map((finalizer) => ({ type: 'finalizer-added', finalizer }) as const),
  ]
}

function ownersBetween({ ownerReferences: had = [] }: Holds, { ownerReferences: has = [] }: Holds): TimelineChange[] {
  const find = (among: readonly OwnerReference[], uid: string) => among.find((owner) => owner.uid === uid)
  const removed = had.filter(({ uid }) => find(has, uid) === undefined)
  const added = has.filter(({ uid }) => find(had, uid) === undefined)
  const changed = has.filter((owner) => {
    const before = find(had, owner.uid)
    return before !== undefined && !sameJson(before, owner)
  })
  return [
    ...removed.map((owner) => ({ type: 'owner-removed', owner }) as const),
    ...added.map((owner) => ({ type: 'owner-added', owner }) as const),
    ...changed.map((owner) => ({ type: 'owner-changed', owner }) as const),
  ]
}
