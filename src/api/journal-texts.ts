/**
 * Records of the journal as text. A cascade deletes many objects of one kind for one user, which had the same owner: what their records
 * have in common is made once, and is the same text in each.
 */
import { clipped, type DeletionAsked, holdsOf, type JournalRecord } from './journal.ts'
import type { ObjectMeta, OwnerReference } from './object.ts'
import { sameJson } from './same.ts'

/** What holds an object: its metadata, and finalizers that are none of its metadata's. */
export interface HeldObject {
  readonly metadata: ObjectMeta
  readonly own?: readonly string[] | undefined
}

export interface JournalWrite
  extends Omit<JournalRecord, 'group' | 'resource' | 'kind' | 'before' | 'between' | 'after'> {
  readonly before: HeldObject
  readonly between?: HeldObject | undefined
  readonly after?: HeldObject | undefined
}

/** The JSON of a record: `shared`, which the next one has too if it is alike, and `own`. */
export interface RecordText {
  readonly shared: string
  readonly own: string
}

export type JournalTexts = (write: JournalWrite) => RecordText

/** Of one resource. */
export function createJournalTexts({
  group,
  resource,
  kind,
}: Pick<JournalRecord, 'group' | 'resource' | 'kind'>): JournalTexts {
  const [before, between, after] = [rememberedHolds(), rememberedHolds(), rememberedHolds()]
  let last: Shared | undefined

  function sharedOf(write: JournalWrite): string {
    const { namespace, verb, subresource, user, userAgent, fieldManager } = write
    const heldBefore = before(write.before)
    const heldBetween = write.between === undefined ? '' : between(write.between)
    const heldAfter = write.after === undefined ? '' : after(write.after)
    if (
      last !== undefined &&
      last.namespace === namespace &&
      last.verb === verb &&
      last.subresource === subresource &&
      last.user === user &&
      last.userAgent === userAgent &&
      last.fieldManager === fieldManager &&
      last.before === heldBefore &&
      last.between === heldBetween &&
      last.after === heldAfter
    )
      return last.text
    const holds = { before: heldBefore, between: heldBetween, after: heldAfter }
    const request = { verb, subresource, user: clipped(user), userAgent: clipped(userAgent), fieldManager }
    const text = [
      JSON.stringify({ group, resource, kind, namespace, ...request }).slice(0, -1),
      ...Object.entries(holds).flatMap(([name, held]) => (held === '' ? [] : [`"${name}":${held}`])),
    ].join(',')
    last = { namespace, verb, subresource, user, userAgent, fieldManager, ...holds, text }
    return text
  }

  return (write) => {
    const { time, name, uid, auditId, options } = write
    const audit = auditId === undefined ? '' : `,"auditId":${quoted(clipped(auditId))}`
    const asked = options === undefined ? '' : `,"options":${optionsText(options)}`
    return {
      shared: sharedOf(write),
      own: `,"time":${time},"name":${quoted(name)},"uid":${quoted(uid)}${audit}${asked}}`,
    }
  }
}

interface Shared extends Pick<JournalRecord, 'namespace' | 'verb' | 'subresource' | 'user' | 'userAgent'> {
  readonly fieldManager: string | undefined
  /** As JSON; '' where there is none. */
  readonly before: string
  readonly between: string
  readonly after: string
  readonly text: string
}

/** What holds an object, as JSON: the very text of the object before, where that is held by the same. */
function rememberedHolds(): (held: HeldObject) => string {
  let last: (HeldObject & { readonly text: string }) | undefined
  return ({ metadata, own }) => {
    if (last !== undefined && sameHolds(last.metadata, metadata) && sameJson(last.own, own)) return last.text
    last = { metadata, own, text: JSON.stringify(holdsOf(metadata, own)) }
    return last.text
  }
}

const sameHolds = (a: ObjectMeta, b: ObjectMeta): boolean =>
  a.deletionTimestamp === b.deletionTimestamp &&
  a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
  sameJson(a.finalizers, b.finalizers) &&
  sameOwners(a.ownerReferences, b.ownerReferences)

/** As sameJson says, at less cost. */
function sameOwners(a: readonly OwnerReference[] | undefined, b: readonly OwnerReference[] | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (!sameOwner(a[at] as OwnerReference, b[at] as OwnerReference)) return false
  return true
}

const sameOwner = (a: OwnerReference, b: OwnerReference): boolean =>
  a.uid === b.uid &&
  a.name === b.name &&
  a.kind === b.kind &&
  a.apiVersion === b.apiVersion &&
  a.controller === b.controller &&
  a.blockOwnerDeletion === b.blockOwnerDeletion

function optionsText({ propagationPolicy, gracePeriodSeconds, preconditions }: DeletionAsked): string {
  let fields = ''
  if (propagationPolicy !== undefined) fields += `,"propagationPolicy":${quoted(clipped(propagationPolicy))}`
  if (gracePeriodSeconds !== undefined) fields += `,"gracePeriodSeconds":${JSON.stringify(gracePeriodSeconds)}`
  if (preconditions !== undefined) fields += `,"preconditions":${JSON.stringify(preconditions)}`
  return `{${fields.slice(1)}}`
}

/** What JSON writes as it is. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))
