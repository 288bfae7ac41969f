/**
 * Which writes in a twin come of the deed. A cluster is never at rest: Jobs go on, rollouts elsewhere are under way. What has nothing to do
 * with the deed must not keep a rehearsal waiting, so each write is told apart by what led to it, by its object and by its owners.
 */
import type { OwnerReference } from '../../api/object.ts'
import type { Written } from '../timeline/steps.ts'
import type { StepCause } from '../timeline/timeline-types.ts'

/**
 * `of-the-deed`: by what led to it, or about what the deed touches. `by-time`: a Job or CronJob would have done it without the deed.
 * `elsewhere`: not known to come of the deed; a pod that the scheduler preempts for what the deed made is one too.
 */
export type Relation = 'of-the-deed' | 'by-time' | 'elsewhere'

export interface Relations {
  /** An object that the deed deletes or writes. */
  touch(uid: string): void
  isTouched(uid: string): boolean
  /** In the order of revisions. @returns whether it tells that the deed's consequences go on */
  add(step: Written, cause: StepCause): boolean
  /** Of the last write about it. */
  relationOf(uid: string): Relation | undefined
  /** After all that was written in a while: what came of an owner elsewhere in one while is no news in the next. */
  endWhile(): void
}

/** Components that end what belongs to a Job without being asked to. */
const WORKS_BY_TIME = new Set(['job-controller', 'cronjob-controller', 'ttl-after-finished-controller', 'kubelet'])
const IS_BY_TIME = new Set(['Job', 'CronJob'])

/** `ownersIn`: of an object of the source. */
export function createRelations(ownersIn: (uid: string) => readonly OwnerReference[] | undefined): Relations {
  const touched = new Set<string>()
  const relations = new Map<string, Relation>()
  const byStep = new Map<string, Relation>()
  const seenOwners = new Map<string, readonly OwnerReference[]>()
  const known = new Set<string>()
  const current = new Set<string>()

  /** The object's owners, and theirs, as far as they are known. */
  function ownersAbove(owners: readonly OwnerReference[]): readonly OwnerReference[] {
    const above = new Map<string, OwnerReference>()
    const open = [...owners]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (above.has(one.uid)) continue
      above.set(one.uid, one)
      open.push(...(seenOwners.get(one.uid) ?? ownersIn(one.uid) ?? []))
    }
    return [...above.values()]
  }

  function relationOf(step: Written, { step: led }: StepCause, above: readonly OwnerReference[]): Relation {
    const { uid } = step.object
    const ofCause = led === undefined ? undefined : byStep.get(led)
    if (ofCause !== undefined) return ofCause
    if (touched.has(uid)) return 'of-the-deed'
    const isByTime = IS_BY_TIME.has(step.object.kind) || above.some(({ kind }) => IS_BY_TIME.has(kind))
    if (isByTime && WORKS_BY_TIME.has(step.by.component)) return 'by-time'
    return step.by.component === 'user' || above.some((owner) => touched.has(owner.uid)) ? 'of-the-deed' : 'elsewhere'
  }

  return {
    touch: (uid) => void touched.add(uid),
    isTouched: (uid) => touched.has(uid),
    relationOf: (uid) => relations.get(uid),
    add(step, cause) {
      const { uid } = step.object
      const owners = step.after?.ownerReferences ?? step.before.ownerReferences ?? []
      if (owners.length > 0) seenOwners.set(uid, owners)
      const above = ownersAbove(owners)
      const relation = relationOf(step, cause, above)
      relations.set(uid, relation)
      byStep.set(step.id, relation)
      if (relation === 'by-time') return false
      if (relation === 'of-the-deed') {
        touched.add(uid)
        return true
      }
      for (const owner of above) current.add(owner.uid)
      return above.length === 0 || !above.some((owner) => known.has(owner.uid))
    },
    endWhile() {
      for (const uid of current) known.add(uid)
      current.clear()
    },
  }
}
