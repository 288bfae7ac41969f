/**
 * What a write leaves in the journal of deletions (docs/timeline.md). Creates leave nothing, nor do updates that change neither
 * finalizers nor owners nor the mark; kinds that expire (Events) have none.
 */
import { clipped, encodeRecord, type Holds, holdsOf } from '../../api/journal.ts'
import type { KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import type { WriteContext } from './registry.ts'
import type { DeleteOptions, Strategy } from './strategy.ts'

type Journalled = { readonly journal?: Uint8Array }

const NOTHING: Journalled = {}

/** Of an update; `after` is undefined where it removes the object. */
export function journalOfUpdate(context: WriteContext, before: KubeObject, after: KubeObject | undefined): Journalled {
  return after !== undefined && hasSameHolds(context.kindStrategy, before, after)
    ? NOTHING
    : journalled(context, before, after, {})
}

/** Of a delete. `between`: what it wrote before it removed the object. */
export function journalOfDelete(
  context: WriteContext,
  options: DeleteOptions,
  before: KubeObject,
  after: KubeObject | undefined,
  between?: KubeObject,
): Journalled {
  const { propagationPolicy, gracePeriodSeconds, orphanDependents, preconditions } = options
  const policy =
    propagationPolicy ?? (orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background')
  const asked = {
    ...(policy === undefined ? {} : { propagationPolicy: clipped(policy) }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: Number(gracePeriodSeconds) }),
    ...(preconditions === undefined ? {} : { preconditions: { ...preconditions } }),
  }
  return journalled(context, before, after, {
    options: asked,
    ...(between === undefined ? {} : { between: heldBy(context.kindStrategy, between) }),
  })
}

function journalled(
  { row, kindStrategy, namespace, name, nowMs, user, origin }: WriteContext,
  before: KubeObject,
  after: KubeObject | undefined,
  more: object,
): Journalled {
  if (kindStrategy.timeToLiveSeconds !== undefined) return NOTHING
  const { verb, subresource, userAgent, fieldManager, auditId } = origin()
  return {
    journal: encodeRecord({
      time: nowMs,
      group: row.group,
      resource: row.resource,
      kind: row.kind,
      namespace,
      name,
      uid: before.metadata.uid ?? '',
      verb,
      subresource,
      user: clipped(user.name),
      userAgent: clipped(userAgent),
      ...(fieldManager === undefined ? {} : { fieldManager }),
      ...(auditId === undefined ? {} : { auditId: clipped(auditId) }),
      ...more,
      before: heldBy(kindStrategy, before),
      ...(after === undefined ? {} : { after: heldBy(kindStrategy, after) }),
    }),
  }
}

function hasSameHolds({ ownFinalizers }: Strategy, before: KubeObject, after: KubeObject): boolean {
  const { metadata: a } = before
  const { metadata: b } = after
  return (
    a.deletionTimestamp === b.deletionTimestamp &&
    a.deletionGracePeriodSeconds === b.deletionGracePeriodSeconds &&
    sameJson(a.finalizers ?? [], b.finalizers ?? []) &&
    sameJson(a.ownerReferences ?? [], b.ownerReferences ?? []) &&
    sameJson(ownFinalizers?.(before), ownFinalizers?.(after))
  )
}

const heldBy = ({ ownFinalizers }: Strategy, object: KubeObject): Holds =>
  holdsOf(object.metadata, ownFinalizers?.(object))
