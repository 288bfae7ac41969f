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
  /**
   * In the order of revisions. @returns whether it tells that the deed's consequences go on; that is open of what goes on under an owner
   * elsewhere for more than one while
   */
  add(step: Written, cause: StepCause): boolean
  /** The owners of what was open in this while, of each write. */
  readonly open: readonly (readonly string[])[]
  /** Of the last write about it. */
  relationOf(uid: string): Relation | undefined
  /** After all that was written in a while: what comes of an owner elsewhere is news in one while, and open in the next. */
  endWhile(): void
}

/** The owners of objects, and theirs, as far as they are known. */
export interface OwnersAbove {
  of(uid: string, owners: readonly OwnerReference[] | undefined): readonly OwnerReference[]
}

/** `ownersIn`: of an object of the source. */
export function createOwnersAbove(ownersIn: (uid: string) => readonly OwnerReference[] | undefined): OwnersAbove {
  const seen = new Map<string, readonly OwnerReference[]>()
  return {
    of(uid, owners = []) {
      if (owners.length > 0) seen.set(uid, owners)
      const above = new Map<string, OwnerReference>()
      const open = [...owners]
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        if (above.has(one.uid)) continue
        above.set(one.uid, one)
        open.push(...(seen.get(one.uid) ?? ownersIn(one.uid) ?? []))
      }
      return [...above.values()]
    },
  }
}

/** Components that end what belongs to a Job without being asked to. */
const WORKS_BY_TIME = new Set(['job-controller', 'cronjob-controller', 'ttl-after-finished-controller', 'kubelet'])
const IS_BY_TIME = new Set(['Job', 'CronJob'])

export function createRelations(ownersAbove: OwnersAbove): Relations {
  const touched = new Set<string>()
  const relations = new Map<string, Relation>()
  const byStep = new Map<string, Relation>()
  const known = new Set<string>()
  const current = new Set<string>()
  let open: (readonly string[])[] = []

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
    get open() {
      return open
    },
    add(step, cause) {
      const { uid } = step.object
      const above = ownersAbove.of(uid, step.after?.ownerReferences ?? step.before.ownerReferences)
      const relation = relationOf(step, cause, above)
      relations.set(uid, relation)
      byStep.set(step.id, relation)
      if (relation === 'by-time') return false
      if (relation === 'of-the-deed') {
        touched.add(uid)
        return true
      }
      for (const owner of above) current.add(owner.uid)
      if (!above.some((owner) => known.has(owner.uid))) return true
      open.push(above.map((owner) => owner.uid))
      return false
    },
    endWhile() {
      for (const uid of current) known.add(uid)
      current.clear()
      open = []
    },
  }
}
