/**
 * The journal of deletions: what an API server of skiff keeps of the ends of objects (docs/timeline.md). A record is made of each write
 * that marks an object, shortens its grace period, changes its finalizers or owner references, or removes it.
 */
import type { JsonObject, ObjectMeta, OwnerReference } from './object.ts'

/** What of an object decides about its end. What it has none of is left out. */
export interface Holds {
  readonly deletionTimestamp?: string
  /** One that a number cannot hold is the nearest that it can. */
  readonly deletionGracePeriodSeconds?: number
  /** Of a namespace those of its spec too. */
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

export interface JournalRecord {
  /** By the cluster's clock, in milliseconds since the epoch. */
  readonly time: number
  readonly group: string
  readonly resource: string
  readonly kind: string
  /** '' where the kind has none. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Of the request, as RBAC names it; its subresource, or ''. */
  readonly verb: string
  readonly subresource: string
  /** The user that the request acted as. */
  readonly user: string
  readonly userAgent: string
  /** Of updates and patches. */
  readonly fieldManager?: string
  /** Where the request has one: in the audit log it has the same. */
  readonly auditId?: string
  /** Of deletes: what was asked for. */
  readonly options?: DeletionAsked
  readonly before: Holds
  /** One request marked it, or shortened its grace period, and removed it: how it stood in between. */
  readonly between?: Holds
  /** Absent: the write removed it. */
  readonly after?: Holds
}

export interface DeletionAsked {
  readonly propagationPolicy?: string
  readonly gracePeriodSeconds?: number
  readonly preconditions?: JsonObject
}

/** A record as it is served, with the revision of its write (of the removal, where that was two). */
export interface KeptRecord extends JournalRecord {
  readonly revision: number
}

/** What /skiff.dev/journal answers. */
export interface Journal {
  readonly apiVersion: 'timeline.skiff.dev/v1'
  readonly kind: 'Journal'
  /** The store's when it was read. */
  readonly revision: number
  /** In the order of their revisions. */
  readonly records: readonly KeptRecord[]
}

export const JOURNAL_VERSION = { apiVersion: 'timeline.skiff.dev/v1', kind: 'Journal' } as const

/** In the part of a record that others share: its preconditions are the object's uid, which stands in its own part. */
export const OWN_UID = 'asksForUid'

/**
 * A record's text is JSON of what others may have in common with it, and then on lines of their own its time, name, uid and audit id (or
 * these as a JSON array). Those that were written before 2026-11-27 are one JSON object, without a line's end.
 *
 * undefined: it is no record of this version.
 */
export function decodeRecord(value: string, revision: number): KeptRecord | undefined {
  try {
    const end = value.indexOf('\n')
    const record =
      end < 0 ? (JSON.parse(value) as JournalRecord) : decodeParts(value.slice(0, end), value.slice(end + 1))
    return typeof record.time === 'number' && typeof record.before === 'object' ? { ...record, revision } : undefined
  } catch {
    return undefined
  }
}

type SharedPart = Omit<JournalRecord, 'time' | 'name' | 'uid' | 'auditId'> & { readonly [OWN_UID]?: boolean }

function decodeParts(shared: string, own: string): JournalRecord {
  const { [OWN_UID]: asksForUid, ...record } = JSON.parse(shared) as SharedPart
  const fields = own.startsWith('[') ? (JSON.parse(own) as unknown[]) : own.split('\n')
  const [time, name = '', uid = '', auditId] = fields.map(String)
  return {
    ...record,
    time: Number(time),
    name,
    uid,
    ...(auditId === undefined ? {} : { auditId }),
    ...(asksForUid === true ? { options: { ...record.options, preconditions: { uid } } } : {}),
  }
}

/** Of what clients may make as long as they like so much is kept. */
const LONGEST_LIST = 32
const LONGEST_TEXT = 512

export const clipped = (text: string): string => (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text)

function clippedOwner(owner: OwnerReference): OwnerReference {
  const { apiVersion, kind, name, uid } = owner
  if (apiVersion.length + kind.length + name.length + uid.length <= LONGEST_TEXT) return owner
  return { ...owner, apiVersion: clipped(apiVersion), kind: clipped(kind), name: clipped(name), uid: clipped(uid) }
}

/** @param own finalizers that are none of its metadata's */
export function holdsOf(
  { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [], ownerReferences = [] }: ObjectMeta,
  own: readonly string[] = [],
): Holds {
  const all = own.length === 0 ? finalizers : [...own, ...finalizers]
  return {
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined
      ? {}
      : { deletionGracePeriodSeconds: Number(deletionGracePeriodSeconds) }),
    ...(all.length === 0 ? {} : { finalizers: all.slice(0, LONGEST_LIST).map(clipped) }),
    ...(ownerReferences.length === 0
      ? {}
      : { ownerReferences: ownerReferences.slice(0, LONGEST_LIST).map(clippedOwner) }),
  }
}
