/** What the workers do with one item: look at it and its owners live, then delete it, patch it, or leave it alone. */

import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { isNotFound } from '../../api/status.ts'
import type { Logger } from '../../base/log.ts'
import type { WorkQueue } from '../../client/work-queue.ts'
import type { AbsentOwnerCache } from './absent-owner-cache.ts'
import {
  blockingDependents,
  foregroundFinalizer,
  type GraphNode,
  type ObjectIdentity,
  orphanFinalizer,
  ownerIdentity,
  ownersOf,
  waitsForDependents,
} from './graph.ts'
import type { DeletePolicy, GarbageOperations } from './operations.ts'

export interface AttemptParts {
  readonly operations: GarbageOperations
  readonly absentOwnerCache: AbsentOwnerCache
  readonly attemptToDelete: WorkQueue<GraphNode>
  readonly log: Logger
  /** Tells the graph builder that the API server has no such object. */
  enqueueVirtualDelete(identity: ObjectIdentity): void
}

/**
 * `done`: nothing more to do for now. `absent`: the object does not exist, the graph will hear of it. `neverValid`: a
 * cluster-scoped object names a namespaced owner, which no retry mends.
 */
export type AttemptResult = 'done' | 'absent' | 'neverValid'

/** @throws whatever makes the item worth another try */
export async function attemptToDeleteItem(parts: AttemptParts, item: GraphNode): Promise<AttemptResult> {
  const { operations, log } = parts
  log.info(2, 'Processing item', { item: item.identity, virtual: item.virtual })
  // Deletion is one way: what has begun to go needs nothing more from here, unless it waits for its dependents.
  if (item.beingDeleted && !item.deletingDependents) {
    log.info(5, 'processing item returned at once, because its DeletionTimestamp is non-nil', { item: item.identity })
    return 'done'
  }
  if (
    item.identity.namespace === '' &&
    operations.resourceOf(item.identity.apiVersion, item.identity.kind).namespaced
  ) {
    // Only a cluster-scoped dependent tells of an owner so. That says nothing about the object that has this uid.
    return 'neverValid'
  }
  let latest: KubeObject
  try {
    latest = await operations.getObject(item.identity)
  } catch (error) {
    if (!isNotFound(error)) throw error
    log.info(5, 'item not found, generating a virtual delete event', { item: item.identity })
    parts.enqueueVirtualDelete(item.identity)
    return 'absent'
  }
  if (latest.metadata.uid !== item.identity.uid) {
    log.info(5, "UID doesn't match, item not found, generating a virtual delete event", { item: item.identity })
    parts.enqueueVirtualDelete(item.identity)
    return 'absent'
  }
  if (item.deletingDependents) {
    await processDeletingDependents(parts, item)
    return 'done'
  }
  const references = ownersOf(latest)
  if (references.length === 0) {
    log.info(2, "item doesn't have an owner, continue on next item", { item: item.identity })
    return 'done'
  }
  const classes = await classifyReferences(parts, item, references)
  if (classes === undefined) return 'neverValid'
  const { solid, dangling, waitingForDependentsDeletion } = classes
  log.info(5, "classify item's references", {
    item: item.identity,
    solid,
    dangling,
    waitingForDependentsDeletion,
  })
  if (solid.length > 0) {
    log.info(2, 'item has at least one existing owner, will not garbage collect', { item: item.identity, owner: solid })
    // A waiting owner must be let go too, or it would wait for an item that stays.
    const gone = [...dangling, ...waitingForDependentsDeletion].map((owner) => owner.uid)
    if (gone.length === 0) return 'done'
    log.info(2, 'remove dangling references and waiting references for item', {
      item: item.identity,
      dangling,
      waitingForDependentsDeletion,
    })
    await operations.deleteOwnerReferences(item, gone)
    return 'done'
  }
  if (waitingForDependentsDeletion.length > 0 && item.dependents.size > 0) {
    for (const dependent of item.dependents) {
      if (!dependent.deletingDependents) continue
      log.info(
        2,
        'processing item, some of its owners and its dependent have FinalizerDeletingDependents, to prevent potential cycle, its ownerReferences are going to be modified to be non-blocking, then the item is going to be deleted with Foreground',
        { item: item.identity, dependent: dependent.identity },
      )
      await operations.unblockOwnerReferences(item)
      break
    }
    log.info(
      2,
      'at least one owner of item has FinalizerDeletingDependents, and the item itself has dependents, so it is going to be deleted in Foreground',
      { item: item.identity },
    )
    await operations.deleteObject(item.identity, latest, 'Foreground')
    return 'done'
  }
  const policy = policyByFinalizers(latest)
  log.info(2, 'Deleting item', { item: item.identity, propagationPolicy: policy })
  await operations.deleteObject(item.identity, latest, policy)
  return 'done'
}

/** What an earlier DELETE asked for is honoured. */
function policyByFinalizers(latest: KubeObject): DeletePolicy {
  if (hasFinalizer(latest, orphanFinalizer)) return 'Orphan'
  if (hasFinalizer(latest, foregroundFinalizer)) return 'Foreground'
  return 'Background'
}

async function processDeletingDependents(parts: AttemptParts, item: GraphNode): Promise<void> {
  const blocking = blockingDependents(item)
  if (blocking.length === 0) {
    parts.log.info(2, 'remove DeleteDependents finalizer for item', { item: item.identity })
    return parts.operations.removeFinalizer(item.identity, foregroundFinalizer)
  }
  for (const dependent of blocking) {
    if (dependent.deletingDependents) continue
    parts.log.info(2, 'adding dependent to attemptToDelete, because its owner is deletingDependents', {
      item: item.identity,
      dependent: dependent.identity,
    })
    parts.attemptToDelete.add(dependent)
  }
}

/** undefined when a reference can never be valid. */
async function classifyReferences(parts: AttemptParts, item: GraphNode, references: readonly OwnerReference[]) {
  const solid: OwnerReference[] = []
  const dangling: OwnerReference[] = []
  const waitingForDependentsDeletion: OwnerReference[] = []
  for (const reference of references) {
    const owner = await lookUpOwner(parts, item, reference)
    if (owner === 'neverValid') return undefined
    if (owner === 'absent') dangling.push(reference)
    else if (waitsForDependents(owner)) waitingForDependentsDeletion.push(reference)
    else solid.push(reference)
  }
  return { solid, dangling, waitingForDependentsDeletion }
}

async function lookUpOwner(
  parts: AttemptParts,
  item: GraphNode,
  reference: OwnerReference,
): Promise<KubeObject | 'absent' | 'neverValid'> {
  const { absentOwnerCache, operations, log } = parts
  const { namespace } = item.identity
  if (
    absentOwnerCache.has(ownerIdentity(reference, '')) ||
    (namespace !== '' && absentOwnerCache.has(ownerIdentity(reference, namespace)))
  ) {
    log.info(5, "according to the absentOwnerCache, item's owner does not exist", {
      item: item.identity,
      owner: reference,
    })
    return 'absent'
  }
  const resource = operations.resourceOf(reference.apiVersion, reference.kind)
  if (namespace === '' && resource.namespaced) {
    log.info(2, 'cluster-scoped item refers to a namespaced owner', { item: item.identity, owner: reference })
    return 'neverValid'
  }
  const identity = ownerIdentity(reference, resource.namespaced ? namespace : '')
  let owner: KubeObject
  try {
    owner = await operations.getOwner(reference, resource, namespace)
  } catch (error) {
    if (!isNotFound(error)) throw error
    absentOwnerCache.add(identity)
    log.info(5, "item's owner is not found", { item: item.identity, owner: reference })
    return 'absent'
  }
  if (owner.metadata.uid !== reference.uid) {
    absentOwnerCache.add(identity)
    log.info(5, "item's owner is not found, UID mismatch", { item: item.identity, owner: reference })
    return 'absent'
  }
  return owner
}
