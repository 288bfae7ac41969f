/**
 * What a write leaves in the journal of deletions (docs/timeline.md). Creates leave nothing, nor do updates that change neither
 * finalizers nor owners nor the mark; kinds that expire (Events) have none.
 */
import type { HeldObject, RecordText } from '../../api/journal-texts.ts'
import type { KubeObject } from '../../api/object.ts'
import { sameOwnerReferences } from '../../api/owner-references.ts'
import { sameJson } from '../../api/same.ts'
import type { WriteContext } from './registry.ts'
import type { DeleteOptions, Strategy } from './strategy.ts'

type Journalled = { readonly journal?: () => RecordText }

const NOTHING: Journalled = {}

/** Of an update; `after` is undefined where it removes the object. */
export function journalOfUpdate(context: WriteContext, before: KubeObject, after: KubeObject | undefined): Journalled {
  return after !== undefined && hasSameHolds(context.kindStrategy, before, after)
    ? NOTHING
    : journalled(context, before, undefined, after)
}

/** Of a delete. `between`: what it wrote before it removed the object. */
export function journalOfDelete(
  context: WriteContext,
  options: DeleteOptions,
  before: KubeObject,
  after: KubeObject | undefined,
  between?: KubeObject,
): Journalled {
  return journalled(context, before, between, after, options)
}

/** Made when it is written, with those of the same group. */
function journalled(
  context: WriteContext,
  before: KubeObject,
  between: KubeObject | undefined,
  after: KubeObject | undefined,
  options?: DeleteOptions,
): Journalled {
  return context.kindStrategy.timeToLiveSeconds === undefined
    ? { journal: () => recordOf(context, before, between, after, options) }
    : NOTHING
}

function recordOf(
  { endpoint, kindStrategy, namespace, name, nowMs, user, origin }: WriteContext,
  before: KubeObject,
  between: KubeObject | undefined,
  after: KubeObject | undefined,
  options: DeleteOptions | undefined,
): RecordText {
  const { verb, subresource, userAgent, fieldManager, auditId } = origin()
  return endpoint.journalTexts({
    time: nowMs,
    namespace,
    name,
    uid: before.metadata.uid ?? '',
    verb,
    subresource,
    user: user.name,
    userAgent,
    fieldManager,
    auditId,
    before: heldBy(kindStrategy, before),
    between: between && heldBy(kindStrategy, between),
    after: after && heldBy(kindStrategy, after),
    options: options && askedBy(options),
  })
}

function askedBy({ propagationPolicy, gracePeriodSeconds, orphanDependents, preconditions }: DeleteOptions) {
  return {
    propagationPolicy:
      propagationPolicy ?? (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background'),
    gracePeriodSeconds: gracePeriodSeconds === undefined ? undefined : Number(gracePeriodSeconds),
    preconditions,
  }
}

function hasSameHolds({ ownFinalizers }: Strategy, before: KubeObject, after: KubeObject): boolean {
  const { metadata: a } = before
  const { metadata: b } = after
  return (
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    sameJson(a.finalizers ?? [], b.finalizers ?? []) &&
    sameOwnerReferences(a.ownerReferences ?? [], b.ownerReferences ?? []) &&
    sameJson(ownFinalizers?.(before), ownFinalizers?.(after))
  )
}

const heldBy = ({ ownFinalizers }: Strategy, object: KubeObject): HeldObject => ({
  metadata: object.metadata,
  own: ownFinalizers?.(object),
})
