/** The owner graph: a node for each object observed, and for each owner that something refers to. */

import type { KubeObject, OwnerReference } from '../../api/object.ts'
import { hasFinalizer } from '../../api/objects/finalizers.ts'
import { sameOwnerReference } from '../../api/owner-references.ts'

/** What names an object: the coordinates that an owner reference gives, and a namespace ('' for cluster-scoped). */
export interface ObjectIdentity {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly namespace: string
}

export interface GraphNode {
  identity: ObjectIdentity
  readonly dependents: Set<GraphNode>
  owners: readonly OwnerReference[]
  /** Deletion has started and waits for dependents (finalizer foregroundDeletion was seen). One way. */
  deletingDependents: boolean
  /** deletionTimestamp was seen. One way. */
  beingDeleted: boolean
  /** Only known from references to it; not observed by an informer. */
  virtual: boolean
}

export type UidToNode = Map<string, GraphNode>

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'
export type GarbageFinalizer = typeof orphanFinalizer | typeof foregroundFinalizer

export const isBeingDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined
export const waitsForDependents = (object: KubeObject): boolean =>
  isBeingDeleted(object) && hasFinalizer(object, foregroundFinalizer)

const noOwners: readonly OwnerReference[] = []
export const ownersOf = (object: KubeObject): readonly OwnerReference[] => object.metadata.ownerReferences ?? noOwners

export function identityOf(object: KubeObject): ObjectIdentity {
  const { name = '', uid = '', namespace = '' } = object.metadata
  return { apiVersion: object.apiVersion, kind: object.kind, name, uid, namespace }
}

export function ownerIdentity(owner: OwnerReference, namespace: string): ObjectIdentity {
  return { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid, namespace }
}

export function identityText(identity: ObjectIdentity): string {
  const { apiVersion, kind, namespace, name, uid } = identity
  return `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
}

export function sameCoordinates(owner: OwnerReference | ObjectIdentity, identity: ObjectIdentity): boolean {
  return (
    owner.uid === identity.uid &&
    owner.name === identity.name &&
    owner.kind === identity.kind &&
    owner.apiVersion === identity.apiVersion
  )
}

export function sameIdentity(a: ObjectIdentity, b: ObjectIdentity): boolean {
  return a.namespace === b.namespace && sameCoordinates(a, b)
}

/** Dependents that its owner has to wait for: those whose reference to it says blockOwnerDeletion. */
export function blockingDependents(node: GraphNode): GraphNode[] {
  const blocking: GraphNode[] = []
  for (const dependent of node.dependents) {
    const blocks = dependent.owners.some(
      (owner) => owner.uid === node.identity.uid && owner.blockOwnerDeletion === true,
    )
    if (blocks) blocking.push(dependent)
  }
  return blocking
}

/**
 * Dependents whose reference means the object of this identity, and those whose reference has its uid but other
 * coordinates (or another namespace). One that has both kinds of references is in both.
 */
export function partitionDependents(
  dependents: Iterable<GraphNode>,
  identity: ObjectIdentity,
): { readonly matching: GraphNode[]; readonly nonmatching: GraphNode[] } {
  const matching: GraphNode[] = []
  const nonmatching: GraphNode[] = []
  for (const dependent of dependents) {
    if (identity.namespace !== '' && identity.namespace !== dependent.identity.namespace) {
      nonmatching.push(dependent)
      continue
    }
    const references = dependent.owners.filter((owner) => owner.uid === identity.uid)
    if (references.some((owner) => sameCoordinates(owner, identity))) matching.push(dependent)
    if (references.some((owner) => !sameCoordinates(owner, identity))) nonmatching.push(dependent)
  }
  return { matching, nonmatching }
}

/**
 * Another identity by which dependents refer to the uid, once `absent` is known not to exist: the next in a fixed order, so
 * that each candidate gets its turn.
 */
export function alternateIdentity(dependents: Iterable<GraphNode>, absent: ObjectIdentity): ObjectIdentity | undefined {
  const candidates = new Map<string, ObjectIdentity>()
  for (const dependent of dependents) {
    for (const owner of dependent.owners) {
      if (owner.uid !== absent.uid) continue
      const sameAsAbsent = sameCoordinates(owner, absent)
      if (sameAsAbsent && (absent.namespace === '' || absent.namespace === dependent.identity.namespace)) continue
      const candidate = ownerIdentity(owner, dependent.identity.namespace)
      candidates.set(orderText(candidate), candidate)
    }
  }
  const ordered = [...candidates.entries()].sort(([a], [b]) => (a < b ? -1 : 1))
  const after = ordered.find(([text]) => text > orderText(absent))
  return (after ?? ordered[0])?.[1]
}

function orderText({ namespace, apiVersion, kind, name }: ObjectIdentity): string {
  return [namespace, apiVersion, kind, name].join('\u0000')
}

export interface ReferenceChange {
  readonly old: OwnerReference
  readonly new: OwnerReference
}

export function diffReferences(old: readonly OwnerReference[], now: readonly OwnerReference[]) {
  const oldByUid = new Map(old.map((owner) => [owner.uid, owner]))
  const nowUids = new Set(now.map((owner) => owner.uid))
  const added: OwnerReference[] = []
  const changed: ReferenceChange[] = []
  for (const owner of now) {
    const before = oldByUid.get(owner.uid)
    if (before === undefined) added.push(owner)
    else if (!sameOwnerReference(before, owner)) changed.push({ old: before, new: owner })
  }
  const removed = old.filter((owner) => !nowUids.has(owner.uid))
  return { added, removed, changed }
}
