/**
 * GraphBuilder: turns what the monitors see into the owner graph, and finds what has to be looked at: dependents of what
 * went, owners that may go on, references that cannot be right. It never asks the API server anything.
 */

import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import type { Logger } from '../../base/log.ts'
import type { EventRecorder } from '../../client/events.ts'
import type { WorkQueue } from '../../client/work-queue.ts'
import type { AbsentOwnerCache } from './absent-owner-cache.ts'
import {
  alternateIdentity,
  diffReferences,
  foregroundFinalizer,
  type GraphNode,
  identityOf,
  identityText,
  isBeingDeleted,
  type ObjectIdentity,
  orphanFinalizer,
  ownerIdentity,
  ownersOf,
  partitionDependents,
  type ReferenceChange,
  sameCoordinates,
  sameIdentity,
  type UidToNode,
  waitsForDependents,
} from './graph.ts'

export type GraphChange =
  | { readonly type: 'add'; readonly object: KubeObject }
  | { readonly type: 'update'; readonly old: KubeObject; readonly object: KubeObject }
  | { readonly type: 'delete'; readonly object: KubeObject }
  /** Not from an informer: the API server was asked and has no such object. */
  | { readonly type: 'virtualDelete'; readonly identity: ObjectIdentity }

export interface GraphBuilderParts {
  readonly uidToNode: UidToNode
  readonly attemptToDelete: WorkQueue<GraphNode>
  readonly attemptToOrphan: WorkQueue<GraphNode>
  readonly absentOwnerCache: AbsentOwnerCache
  readonly recorder: EventRecorder
  readonly log: Logger
}

/** Applies one change to the graph. Changes of one object must come in the order of its revisions. */
export function processGraphChange(parts: GraphBuilderParts, change: GraphChange): void {
  const { log } = parts
  if (log.level >= 5) logChange(log, change)
  if (change.type === 'virtualDelete') {
    processVirtualDelete(parts, change.identity)
    return
  }
  const existing = observe(parts, identityOf(change.object))
  if (change.type === 'delete') {
    if (existing === undefined) {
      log.info(4, "item doesn't exist in the graph, this shouldn't happen", { item: change.object.metadata.uid })
    } else {
      removeNode(parts, existing, identityOf(change.object))
    }
    return
  }
  const old = change.type === 'update' ? change.old : undefined
  const object = change.object
  if (existing === undefined) {
    const node: GraphNode = {
      identity: identityOf(object),
      dependents: new Set(),
      owners: ownersOf(object),
      deletingDependents: waitsForDependents(object),
      beingDeleted: isBeingDeleted(object),
      virtual: false,
    }
    parts.uidToNode.set(node.identity.uid, node)
    addDependentToOwners(parts, node, node.owners)
    processTransitions(parts, old, object, node)
    return
  }
  const owners = ownersOf(object)
  const { added, removed, changed } = diffReferences(existing.owners, owners)
  if (added.length > 0 || removed.length > 0 || changed.length > 0) {
    enqueueUnblockedOwners(parts, removed, changed)
    existing.owners = owners
    addDependentToOwners(parts, existing, added)
    removeDependentFromOwners(parts, existing, removed)
  }
  if (isBeingDeleted(object)) existing.beingDeleted = true
  processTransitions(parts, old, object, existing)
}

/** The node of what an informer just saw; a virtual one becomes real, under the identity seen. */
function observe(parts: GraphBuilderParts, seen: ObjectIdentity): GraphNode | undefined {
  const existing = parts.uidToNode.get(seen.uid)
  if (existing === undefined || !existing.virtual) return existing
  if (sameIdentity(existing.identity, seen)) {
    existing.virtual = false
    return existing
  }
  for (const dependent of partitionDependents(existing.dependents, seen).nonmatching) {
    if (seen.namespace !== '' && dependent.identity.namespace !== seen.namespace) {
      parts.log.info(2, 'item references an owner but does not match namespaces', {
        item: identityText(dependent.identity),
        owner: identityText(seen),
      })
      reportInvalidNamespace(parts, dependent, seen.uid)
    }
    parts.attemptToDelete.add(dependent)
  }
  // A worker may hold the virtual node in its hands: it keeps its identity, the graph gets another node.
  const real: GraphNode = { ...existing, identity: seen, virtual: false }
  parts.uidToNode.set(seen.uid, real)
  return real
}

function processTransitions(
  parts: GraphBuilderParts,
  old: KubeObject | undefined,
  object: KubeObject,
  node: GraphNode,
) {
  const starts = (finalizer: string) =>
    isBeingDeleted(object) &&
    hasFinalizer(object, finalizer) &&
    (old === undefined || !isBeingDeleted(old) || !hasFinalizer(old, finalizer))
  if (starts(orphanFinalizer)) {
    parts.log.info(5, 'add item to attemptToOrphan', { item: node.identity })
    parts.attemptToOrphan.add(node)
    return
  }
  if (starts(foregroundFinalizer)) {
    parts.log.info(2, "add item to attemptToDelete, because it's waiting for its dependents to be deleted", {
      item: node.identity,
    })
    node.deletingDependents = true
    for (const dependent of node.dependents) parts.attemptToDelete.add(dependent)
    parts.attemptToDelete.add(node)
  }
}

function addDependentToOwners(parts: GraphBuilderParts, node: GraphNode, owners: readonly OwnerReference[]) {
  let suspicious = false
  for (const owner of owners) {
    const known = parts.uidToNode.get(owner.uid)
    if (known === undefined) {
      const virtual: GraphNode = {
        identity: ownerIdentity(owner, node.identity.namespace),
        dependents: new Set([node]),
        owners: [],
        deletingDependents: false,
        beingDeleted: false,
        virtual: true,
      }
      parts.log.info(5, 'add virtual item', { item: virtual.identity })
      parts.uidToNode.set(owner.uid, virtual)
      parts.attemptToDelete.add(virtual)
      continue
    }
    known.dependents.add(node)
    if (!suspicious) suspicious = !plausible(parts, node, owner, known)
  }
  // Whether the reference is wrong is found out by asking the API server.
  if (suspicious) parts.attemptToDelete.add(node)
}

function plausible(parts: GraphBuilderParts, node: GraphNode, reference: OwnerReference, owner: GraphNode): boolean {
  const { namespace } = owner.identity
  const elsewhere = namespace !== node.identity.namespace
  if (namespace !== '' && elsewhere) {
    if (!owner.virtual) {
      parts.log.info(2, 'item references an owner but does not match namespaces', {
        item: identityText(node.identity),
        owner: identityText(owner.identity),
      })
      reportInvalidNamespace(parts, node, owner.identity.uid)
    }
    return false
  }
  if (!sameCoordinates(reference, owner.identity)) {
    if (!owner.virtual) {
      parts.log.info(2, 'item references an owner with coordinates that do not match the observed identity', {
        item: identityText(node.identity),
        owner: identityText(owner.identity),
      })
    }
    return false
  }
  // A virtual owner without namespace may be a namespaced one that a cluster-scoped dependent wrongly refers to.
  return !(namespace === '' && elsewhere && owner.virtual)
}

function removeDependentFromOwners(parts: GraphBuilderParts, node: GraphNode, owners: readonly OwnerReference[]) {
  for (const owner of owners) parts.uidToNode.get(owner.uid)?.dependents.delete(node)
}

/** An owner that waited for this dependent may now go on. */
function enqueueUnblockedOwners(
  parts: GraphBuilderParts,
  removed: readonly OwnerReference[],
  changed: readonly ReferenceChange[],
) {
  const enqueue = (uid: string) => {
    const node = parts.uidToNode.get(uid)
    if (node !== undefined) parts.attemptToDelete.add(node)
  }
  for (const owner of removed) if (owner.blockOwnerDeletion === true) enqueue(owner.uid)
  for (const change of changed) {
    if (change.old.blockOwnerDeletion === true && change.new.blockOwnerDeletion !== true) enqueue(change.new.uid)
  }
}

function removeNode(parts: GraphBuilderParts, node: GraphNode, identity: ObjectIdentity) {
  parts.uidToNode.delete(node.identity.uid)
  removeDependentFromOwners(parts, node, node.owners)
  if (node.dependents.size > 0) parts.absentOwnerCache.add(identity)
  for (const dependent of node.dependents) parts.attemptToDelete.add(dependent)
  for (const owner of node.owners) {
    const waiting = parts.uidToNode.get(owner.uid)
    if (waiting?.deletingDependents) parts.attemptToDelete.add(waiting)
  }
}

/** The API server has no object of this identity. What the graph knows under its uid may still be another one. */
function processVirtualDelete(parts: GraphBuilderParts, absent: ObjectIdentity) {
  const existing = parts.uidToNode.get(absent.uid)
  if (existing === undefined) return
  const { matching, nonmatching } = partitionDependents(existing.dependents, absent)
  if (existing.virtual ? nonmatching.length === 0 : sameIdentity(existing.identity, absent)) {
    removeNode(parts, existing, absent)
    return
  }
  if (matching.length > 0) {
    parts.absentOwnerCache.add(absent)
    for (const dependent of matching) parts.attemptToDelete.add(dependent)
  }
  if (!existing.virtual || !sameIdentity(existing.identity, absent)) return
  const identity = alternateIdentity(nonmatching, absent)
  if (identity === undefined) return
  const replacement: GraphNode = { ...existing, identity }
  parts.uidToNode.set(absent.uid, replacement)
  parts.attemptToDelete.addRateLimited(replacement)
}

function reportInvalidNamespace(parts: GraphBuilderParts, node: GraphNode, ownerUid: string) {
  const reference = node.owners.find((owner) => owner.uid === ownerUid)
  if (reference === undefined) return
  const { apiVersion, kind, name, uid, namespace } = node.identity
  const owner = identityText(ownerIdentity(reference, namespace))
  parts.recorder.event(
    { apiVersion, kind, metadata: { name, uid, namespace } },
    'Warning',
    'OwnerRefInvalidNamespace',
    `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
  )
}

function logChange(log: Logger, change: GraphChange) {
  const virtual = change.type === 'virtualDelete'
  const { apiVersion, kind, namespace, name, uid } = virtual ? change.identity : identityOf(change.object)
  log.info(5, 'GraphBuilder process object', {
    apiVersion,
    kind,
    object: namespace === '' ? name : `${namespace}/${name}`,
    uid,
    eventType: virtual ? 'delete' : change.type,
    virtual,
  })
}
