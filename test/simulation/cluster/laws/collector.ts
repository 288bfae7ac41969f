/**
 * What the garbage collector promises: it never collects what a solid owner owns, no foreground owner goes before its
 * blocking dependents, and an orphaning owner goes only when nobody names it any more. It can only keep its word about what
 * it has been told: a dependent counts when the collector knew of it before it knew of its owner's end.
 */
import type { KubeObject, OwnerReference } from '../../../../src/api/object.ts'
import { StatusError } from '../../../../src/api/status.ts'
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
  /** What the clock would show if nothing had been late: of what waits, another informer's news may be handled first. */
  const clockNow = () => runtime.clock.now() - runtime.earlyMs
  /** Owners that once waited for their dependents: they are not solid, whatever becomes of them. */
  const waited = new Set<string>()
  /** What would be wrong with a request when it came. */
  const wrongs = new WeakMap<Passing, readonly string[]>()

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

  function wrongDelete({ body }: Passing, target: KubeObject): readonly string[] {
    const { uid, resourceVersion } = body['preconditions'] ?? {}
    // Refused by its preconditions it decides nothing.
    if (uid !== target.metadata.uid) return []
    if (resourceVersion !== undefined && resourceVersion !== target.metadata.resourceVersion) return []
    const owners = target.metadata.ownerReferences ?? []
    if (owners.length === 0) return [`${describe(target)} is collected, and never had an owner`]
    return owners
      .filter((owner) => isSolid(target, owner))
      .map((owner) => `${describe(target)} is collected although ${owner.kind} ${owner.name} owns it`)
  }

  function wrongLetGo({ body, life }: Passing, target: KubeObject): readonly string[] {
    const wrong: string[] = []
    const { uid = '', finalizers = [], resourceVersion } = target.metadata
    if (body['metadata'].resourceVersion !== resourceVersion) return wrong
    const kept: readonly string[] = body['metadata'].finalizers ?? []
    const { references, ends } = knowledgeOf(life)
    for (const finalizer of [FOREGROUND, ORPHAN]) {
      if (!finalizers.includes(finalizer) || kept.includes(finalizer)) continue
      const end = ends.get(`${uid} ${finalizer}`)
      if (end === undefined) {
        wrong.push(`${describe(target)} is let go before the collector knows that it goes`)
        continue
      }
      for (const dependent of truth.dependentsOf(uid)) {
        const told = references.get(dependent.metadata.uid ?? '')?.get(uid)
        if (told === undefined || told.since >= end || (finalizer === FOREGROUND && !told.blocking)) continue
        wrong.push(`${describe(target)} goes (${finalizer}) before its dependent ${describe(dependent)}`)
      }
    }
    return wrong
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
      if (passing.method === 'DELETE') wrongs.set(passing, wrongDelete(passing, target))
      if (passing.method === 'PATCH' && 'finalizers' in (passing.body['metadata'] ?? {}))
        wrongs.set(passing, wrongLetGo(passing, target))
    },
    done(passing, response) {
      // What is refused, as by its preconditions, has decided nothing.
      if (response instanceof StatusError) return
      for (const wrong of wrongs.get(passing) ?? []) failed(wrong)
    },
    delivered(life, object, type) {
      if (!life.isController) return
      const { references, ends } = knowledgeOf(life)
      const now = type === 'first list' ? 0 : clockNow()
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
