/**
 * What the garbage collector promises: it never collects what a solid owner owns, no foreground owner goes before its
 * blocking dependents, and an orphaning owner goes only when nobody names it any more. It can only keep its word about what
 * it has been told: a dependent counts when the collector knew of it before it knew of its owner's end.
 */
import type { KubeObject, OwnerReference } from '../../../../src/api/object.ts'
import type { Life, Passing } from '../wire.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector'
const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

/** When the life of a controller manager was first told of references and of ends, by uid; 0: before it did anything. */
interface Knowledge {
  /** By dependent, by owner. */
  readonly references: Map<string, ReadonlyMap<string, Told>>
  /** By object and finalizer. */
  readonly ends: Map<string, number>
}

interface Told {
  readonly since: number
  readonly blocking: boolean
}

export function collectorLaw({ runtime, truth, failed }: LawParts): Law {
  const known = new WeakMap<Life, Knowledge>()
  /** Owners that once waited for their dependents: they are not solid, whatever becomes of them. */
  const waited = new Set<string>()

  function knowledgeOf(life: Life): Knowledge {
    let knowledge = known.get(life)
    if (knowledge === undefined) {
      knowledge = { references: new Map(), ends: new Map() }
      known.set(life, knowledge)
    }
    return knowledge
  }

  function isSolid(object: KubeObject, owner: OwnerReference): boolean {
    const found = truth.ofUid(owner.uid)
    if (found === undefined || found.kind !== owner.kind || found.metadata.name !== owner.name) return false
    const sees = found.metadata.namespace === undefined || found.metadata.namespace === object.metadata.namespace
    return sees && !waited.has(owner.uid)
  }

  function checkDelete({ body }: Passing, target: KubeObject): void {
    const { uid, resourceVersion } = body['preconditions'] ?? {}
    // Refused by its preconditions it decides nothing.
    if (uid !== target.metadata.uid) return
    if (resourceVersion !== undefined && resourceVersion !== target.metadata.resourceVersion) return
    const owners = target.metadata.ownerReferences ?? []
    if (owners.length === 0) failed(`${describe(target)} is collected, and never had an owner`)
    for (const owner of owners)
      if (isSolid(target, owner))
        failed(`${describe(target)} is collected although ${owner.kind} ${owner.name} owns it`)
  }

  function checkLetGo({ body, life }: Passing, target: KubeObject): void {
    const { uid = '', finalizers = [], resourceVersion } = target.metadata
    if (body['metadata'].resourceVersion !== resourceVersion) return
    const kept: readonly string[] = body['metadata'].finalizers ?? []
    const { references, ends } = knowledgeOf(life)
    for (const finalizer of [FOREGROUND, ORPHAN]) {
      if (!finalizers.includes(finalizer) || kept.includes(finalizer)) continue
      const end = ends.get(`${uid} ${finalizer}`)
      if (end === undefined) {
        failed(`${describe(target)} is let go before the collector knows that it goes`)
        continue
      }
      for (const dependent of truth.dependentsOf(uid)) {
        const told = references.get(dependent.metadata.uid ?? '')?.get(uid)
        if (told === undefined || told.since >= end || (finalizer === FOREGROUND && !told.blocking)) continue
        failed(`${describe(target)} goes (${finalizer}) before its dependent ${describe(dependent)}`)
      }
    }
  }

  return {
    changed({ after }) {
      if (after !== undefined && isMarked(after) && after.metadata.finalizers?.includes(FOREGROUND))
        waited.add(after.metadata.uid ?? '')
    },
    arrives(passing) {
      if (passing.user !== COLLECTOR) return
      const target = truth.find(passing.place)
      if (target === undefined) return
      if (passing.method === 'DELETE') checkDelete(passing, target)
      if (passing.method === 'PATCH' && 'finalizers' in (passing.body['metadata'] ?? {})) checkLetGo(passing, target)
    },
    delivered(life, object, type) {
      if (!life.isController) return
      const { references, ends } = knowledgeOf(life)
      const now = type === 'first list' ? 0 : runtime.clock.now()
      const { uid = '', ownerReferences = [], finalizers = [] } = object.metadata
      const before = references.get(uid)
      const told = ({ uid: owner, blockOwnerDeletion }: OwnerReference): Told => {
        const blocking = blockOwnerDeletion === true
        const known = before?.get(owner)
        return known?.blocking === blocking ? known : { since: now, blocking }
      }
      references.set(uid, new Map(ownerReferences.map((owner) => [owner.uid, told(owner)])))
      if (!isMarked(object)) return
      for (const finalizer of finalizers) {
        const id = `${uid} ${finalizer}`
        if (!ends.has(id)) ends.set(id, type === 'first list' ? 1 : now)
      }
    },
  }
}
