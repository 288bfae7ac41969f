/**
 * A journal of a cluster that keeps none, made of what was seen of it: the states of objects as watches told them, the audit log where
 * there is one, and Events. Which write made a change is read from the audit log: by the resourceVersion of its answer, else by what it
 * asked for and when. Without one the writer is inferred from what it did.
 */
import type { Holds } from '../../api/journal.ts'
import type { Json } from '../../api/object.ts'
import { asList, asObject } from '../../api/unchecked.ts'
import type { AuditedWrite } from './audit-log.ts'
import { type Guesses, guessWriter, noGuesses } from './guess-writer.ts'
import type { RecordedRecord, SeenState, TellingEvent } from './seen.ts'
import { changesBetween } from './steps.ts'
import type { TimelineChange } from './timeline-types.ts'
import { writerOf } from './writers.ts'

export interface Seen {
  /** In any order. */
  readonly states: readonly SeenState[]
  readonly audited: readonly AuditedWrite[]
  readonly events: readonly TellingEvent[]
}

export function recordsOf({ states, audited, events }: Seen): RecordedRecord[] {
  const known = new Map<string, Holds>()
  const log = createLog(audited)
  const guesses = noGuesses(events)
  const records: RecordedRecord[] = []
  const lastOf = new Map<string, RecordedRecord>()
  const ordered = [...states].sort((a, b) => a.revision - b.revision)
  for (const state of ordered) {
    const before = known.get(state.object.uid)
    if (state.type === 'DELETED') known.delete(state.object.uid)
    else known.set(state.object.uid, state.holds)
    // What was there before the watch began has no step before this one.
    if (before === undefined && state.type !== 'DELETED') continue
    const record = recordOf(state, before ?? state.holds, log, guesses)
    if (record === undefined) continue
    guesses.add(record)
    const last = lastOf.get(record.uid)
    if (last !== undefined && isOneRequest(last, record)) records[records.lastIndexOf(last)] = joined(last, record)
    else records.push(record)
    lastOf.set(record.uid, record)
  }
  // One that was joined has the later revision.
  return records.sort((a, b) => a.revision - b.revision)
}

function recordOf(state: SeenState, before: Holds, log: Log, guesses: Guesses): RecordedRecord | undefined {
  const after = state.type === 'DELETED' ? undefined : state.holds
  const changes = changesBetween(before, after)
  if (changes.length === 0) return undefined
  const found = log.take(state, before, changes)
  const shared = { ...state.object, revision: state.revision, before, ...(after === undefined ? {} : { after }) }
  if (found === undefined) {
    const by = guessWriter(guesses, state, changes, before)
    return {
      ...shared,
      time: state.time,
      verb: verbOf(changes),
      subresource: '',
      user: by.user,
      userAgent: by.userAgent,
      by,
    }
  }
  const { write, isSure } = found
  const { time, verb, subresource, user, userAgent, auditId, options } = write
  return {
    ...shared,
    time,
    verb,
    subresource,
    user,
    userAgent,
    auditId,
    ...(options === undefined ? {} : { options }),
    by: { ...writerOf(write), certainty: isSure ? 'known' : 'inferred' },
  }
}

const has = (changes: readonly TimelineChange[], ...types: readonly TimelineChange['type'][]) =>
  changes.some(({ type }) => types.includes(type))

const verbOf = (changes: readonly TimelineChange[]) =>
  has(changes, 'marked', 'grace-shortened') || isRemovalAlone(changes) ? 'delete' : 'update'

/** A delete whose grace period is over writes that first, and removes the object in the next revision. */
function isOneRequest(first: RecordedRecord, second: RecordedRecord): boolean {
  const { after } = first
  return (
    first.uid === second.uid &&
    second.after === undefined &&
    first.between === undefined &&
    first.verb !== 'update' &&
    after?.deletionTimestamp !== undefined &&
    (after.deletionGracePeriodSeconds ?? 0) === 0 &&
    (after.finalizers ?? []).length === 0
  )
}

function joined({ after, ...first }: RecordedRecord, { revision, time }: RecordedRecord): RecordedRecord {
  return { ...first, revision, time: Math.max(first.time, time), ...(after === undefined ? {} : { between: after }) }
}

interface Log {
  /** The write that made the change; each is taken once. */
  take(
    state: SeenState,
    before: Holds,
    changes: readonly TimelineChange[],
  ): { readonly write: AuditedWrite; readonly isSure: boolean } | undefined
}

/** How long after its write a change may be seen, and how far clocks may differ, in milliseconds. */
const FAR_MS = 10_000

function createLog(audited: readonly AuditedWrite[]): Log {
  const byObject = new Map<string, AuditedWrite[]>()
  const place = (group: string, resource: string, namespace: string, name: string) =>
    `${group}/${resource}/${namespace}/${name}`
  for (const write of audited) {
    const key = place(write.group, write.resource, write.namespace, write.name)
    const list = byObject.get(key)
    if (list === undefined) byObject.set(key, [write])
    else list.push(write)
  }
  const taken = new Set<AuditedWrite>()
  return {
    take(state, before, changes) {
      const { group, resource, namespace, name, uid } = state.object
      const own = [
        ...(byObject.get(place(group, resource, namespace, name)) ?? []),
        ...(byObject.get(place(group, resource, namespace, '')) ?? []),
      ]
      const free = own.filter(
        (write) => (!taken.has(write) || write.name === '') && (write.uid === undefined || write.uid === uid),
      )
      const exact = free.find(({ resourceVersion }) => resourceVersion === String(state.revision))
      if (exact !== undefined) {
        taken.add(exact)
        return { write: exact, isSure: true }
      }
      const possible = free.filter((write) => couldMake(write, before, changes) && isNear(write, state))
      // An update that asked for just what came of it is before those that only could have.
      const same = possible.filter((write) => asksFor(write, state))
      const likely = same.length > 0 ? same : possible
      const [first] = likely.sort((a, b) => Math.abs(a.time - state.time) - Math.abs(b.time - state.time))
      if (first === undefined) return undefined
      taken.add(first)
      // Which of several deletes of one writer it was is no matter: the collector asks twice where a pod has changed meanwhile.
      const isOfFirst = ({ name, user, userAgent }: AuditedWrite) =>
        name !== '' && user === first.user && userAgent === first.userAgent
      return { write: first, isSure: likely.every(isOfFirst) }
    },
  }
}

const isNear = (write: AuditedWrite, state: SeenState) => Math.abs(write.time - state.time) <= FAR_MS

function couldMake(write: AuditedWrite, before: Holds, changes: readonly TimelineChange[]): boolean {
  const { verb, subresource, asked } = write
  const isDelete = verb === 'delete' || verb === 'deletecollection' || (verb === 'create' && subresource === 'eviction')
  if (isDelete) return couldDelete(write, before, changes)
  if (verb !== 'update' && verb !== 'patch') return false
  if (has(changes, 'marked', 'grace-shortened') || isRemovalAlone(changes)) return false
  if (asked === undefined) return true
  if (verb === 'update') return isAskedFor(asked, changes)
  return asked.includes(has(changes, 'finalizer-removed', 'finalizer-added') ? '"finalizers"' : '"ownerReferences"')
}

/** Whether an update's object is held as the state is. */
function asksFor({ verb, asked }: AuditedWrite, { type, holds }: SeenState): boolean {
  if (verb !== 'update' || asked === undefined || type === 'DELETED') return false
  const { held, owners } = holdsAsked(asked)
  const { finalizers = [], ownerReferences = [] } = holds
  return (
    held.size === finalizers.length &&
    finalizers.every((finalizer) => held.has(finalizer)) &&
    owners.size === ownerReferences.length &&
    ownerReferences.every(({ uid }) => owners.has(uid))
  )
}

function holdsAsked(asked: string) {
  const { metadata, spec } = asObject(parsed(asked))
  const { finalizers, ownerReferences } = asObject(metadata)
  return {
    held: new Set<unknown>([...asList(finalizers), ...asList(asObject(spec)['finalizers'])]),
    owners: new Set<unknown>(asList(ownerReferences).map((owner) => asObject(owner)['uid'])),
  }
}

/** An update has the whole object: whether what was added is in it, and what was taken off is not. */
function isAskedFor(asked: string, changes: readonly TimelineChange[]): boolean {
  const { held, owners } = holdsAsked(asked)
  return changes.every((change) => {
    switch (change.type) {
      case 'finalizer-added':
        return held.has(change.finalizer)
      case 'finalizer-removed':
        return !held.has(change.finalizer)
      case 'owner-added':
      case 'owner-changed':
        return owners.has(change.owner.uid)
      case 'owner-removed':
        return !owners.has(change.owner.uid)
      default:
        return true
    }
  })
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

const isRemovalAlone = (changes: readonly TimelineChange[]) =>
  has(changes, 'removed') && !has(changes, 'finalizer-removed')

function couldDelete({ options }: AuditedWrite, before: Holds, changes: readonly TimelineChange[]): boolean {
  const asked = options?.gracePeriodSeconds
  const isForeign = changes.some(
    (change) =>
      change.type === 'finalizer-removed' && change.finalizer !== 'orphan' && change.finalizer !== 'foregroundDeletion',
  )
  if (isForeign || has(changes, 'owner-added', 'owner-removed', 'owner-changed')) return false
  // The period that it asked for is the object's now.
  const given = changes.find((change) => change.type === 'marked' || change.type === 'grace-shortened')
  if (given !== undefined && asked !== undefined) return (given.gracePeriodSeconds ?? 0) <= asked
  // A delete that asks for no shorter period changes nothing of a pod whose period runs.
  const running = before.deletionGracePeriodSeconds ?? 0
  return running === 0 || options === undefined || (asked ?? running) < running
}
