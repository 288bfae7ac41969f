/**
 * Records of the journal as text. A cascade deletes many objects of one kind for one user, which had the same owner: what their records
 * have in common is made once, and is the same text in each.
 */
import { clipped, type DeletionAsked, holdsOf, type JournalRecord, OWN_UID } from './journal.ts'
import type { ObjectMeta } from './object.ts'
import { sameOwnerReferences } from './owner-references.ts'
import { sameJson } from './same.ts'

/** What holds an object: its metadata, and finalizers that are none of its metadata's. */
export interface HeldObject {
  readonly metadata: ObjectMeta
  readonly own?: readonly string[] | undefined
}

export interface JournalWrite
  extends Pick<JournalRecord, 'time' | 'namespace' | 'name' | 'uid' | 'verb' | 'subresource' | 'user' | 'userAgent'> {
  readonly fieldManager?: string | undefined
  readonly auditId?: string | undefined
  readonly options?: { readonly [Key in keyof DeletionAsked]: DeletionAsked[Key] | undefined } | undefined
  readonly before: HeldObject
  readonly between?: HeldObject | undefined
  readonly after?: HeldObject | undefined
}

/** A record, as decodeRecord reads it: `shared`, which the next one has too if it is alike, and `own`. */
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
    const { namespace, verb, subresource, user, userAgent, fieldManager, options } = write
    const heldBefore = before(write.before)
    const heldBetween = write.between === undefined ? '' : between(write.between)
    const heldAfter = write.after === undefined ? '' : after(write.after)
    const preconditions = preconditionsOf(write)
    if (
      last !== undefined &&
      last.namespace === namespace &&
      last.verb === verb &&
      last.subresource === subresource &&
      last.user === user &&
      last.userAgent === userAgent &&
      last.fieldManager === fieldManager &&
      last.isDelete === (options !== undefined) &&
      last.propagationPolicy === options?.propagationPolicy &&
      last.gracePeriodSeconds === options?.gracePeriodSeconds &&
      last.preconditions === preconditions &&
      last.before === heldBefore &&
      last.between === heldBetween &&
      last.after === heldAfter
    )
      return last.text
    const holds = { before: heldBefore, between: heldBetween, after: heldAfter }
    const request = { verb, subresource, user: clipped(user), userAgent: clipped(userAgent), fieldManager }
    const texts = [
      JSON.stringify({ group, resource, kind, namespace, ...request }).slice(0, -1),
      ...Object.entries(holds).flatMap(([name, held]) => (held === '' ? [] : [`"${name}":${held}`])),
      ...(options === undefined ? [] : [`"options":${optionsText(write)}`]),
      ...(preconditions === OWN_UID ? [`"${OWN_UID}":true`] : []),
    ]
    const { propagationPolicy, gracePeriodSeconds } = options ?? {}
    const text = `${texts.join(',')}}`
    last = {
      ...{ namespace, verb, subresource, user, userAgent, fieldManager, ...holds, text },
      ...{ isDelete: options !== undefined, propagationPolicy, gracePeriodSeconds, preconditions },
    }
    return text
  }

  return (write) => ({ shared: sharedOf(write), own: ownText(write) })
}

interface Shared extends Pick<JournalRecord, 'namespace' | 'verb' | 'subresource' | 'user' | 'userAgent'> {
  readonly fieldManager: string | undefined
  readonly isDelete: boolean
  readonly propagationPolicy: string | undefined
  readonly gracePeriodSeconds: number | undefined
  /** See preconditionsOf. */
  readonly preconditions: string
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
  sameOwnerReferences(a.ownerReferences, b.ownerReferences)

/** As JSON, OWN_UID where they ask for the object's own uid and nothing else, '' where there are none. */
function preconditionsOf({ uid, options }: JournalWrite): string {
  const preconditions = options?.preconditions
  if (preconditions === undefined) return ''
  let isOwnUid = false
  for (const field in preconditions) {
    if (preconditions[field] === undefined) continue
    isOwnUid = field === 'uid' && preconditions[field] === uid
    if (!isOwnUid) break
  }
  return isOwnUid ? OWN_UID : JSON.stringify(preconditions)
}

function optionsText(write: JournalWrite): string {
  const { propagationPolicy, gracePeriodSeconds, preconditions } = write.options ?? {}
  const asked = preconditionsOf(write) === OWN_UID ? undefined : preconditions
  const policy = propagationPolicy === undefined ? undefined : clipped(propagationPolicy)
  return JSON.stringify({ propagationPolicy: policy, gracePeriodSeconds, preconditions: asked })
}

/** Nothing that can be taken for two lines, or is changed by UTF-8. */
const isLine = (text: string): boolean => !text.includes('\n') && text.isWellFormed()

function ownText({ time, name, uid, auditId }: JournalWrite): string {
  if (auditId === undefined)
    return isLine(name) && isLine(uid) ? `\n${time}\n${name}\n${uid}` : `\n${JSON.stringify([time, name, uid])}`
  const id = clipped(auditId)
  return isLine(name) && isLine(uid) && isLine(id)
    ? `\n${time}\n${name}\n${uid}\n${id}`
    : `\n${JSON.stringify([time, name, uid, id])}`
}
