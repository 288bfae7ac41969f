/** What may become of an object from one revision to the next, whoever writes it. */
import type { KubeObject } from '../../../../src/api/object.ts'
import { describe, isMarked, type Law, type LawParts } from './laws.ts'

/** Finalizers with this end are the user's: only the user takes them off. */
export const USER_FINALIZER = 'example.com/held'

export interface ObjectLaw extends Law {
  /** The user takes the finalizer off this object now. */
  release(uid: string): void
}

const COLLECTORS_OWN = new Set(['orphan', 'foregroundDeletion'])

export function objectLaw({ runtime, truth, failed }: LawParts): ObjectLaw {
  const released = new Set<string>()

  function checkUpdate(before: KubeObject, after: KubeObject): void {
    const [old, now] = [before.metadata, after.metadata]
    const wrong = (what: string): void => failed(`${describe(after)}: ${what}`)
    if (old.uid !== now.uid) wrong('has another uid')
    if (old.creationTimestamp !== now.creationTimestamp) wrong('was created at another time')
    if ((now.generation ?? 0) < (old.generation ?? 0)) wrong('its generation goes back')
    if (old.deletionTimestamp !== undefined) {
      if (now.deletionTimestamp === undefined) wrong('is no longer being deleted')
      else if (now.deletionTimestamp !== old.deletionTimestamp) checkTime(before, after)
      if ((now.deletionGracePeriodSeconds ?? 0) > (old.deletionGracePeriodSeconds ?? 0))
        wrong('has more grace than before')
      const added = now.finalizers?.filter((one) => !old.finalizers?.includes(one) && !COLLECTORS_OWN.has(one)) ?? []
      if (added.length > 0) wrong(`gets finalizers while it is being deleted: ${added}`)
    }
    checkHeld(before, now.finalizers ?? [])
  }

  /** It moves only as far as a delete shortens the grace period, or to the moment of that delete where this is past. */
  function checkTime({ metadata: old }: KubeObject, after: KubeObject): void {
    const now = after.metadata
    const time = Date.parse(now.deletionTimestamp ?? '')
    const less = (old.deletionGracePeriodSeconds ?? 0) - (now.deletionGracePeriodSeconds ?? 0)
    if (time > Date.parse(old.deletionTimestamp ?? '') - less * 1000 && (less <= 0 || time > runtime.clock.now()))
      failed(
        `${describe(after)}: its deletionTimestamp moves from ${old.deletionTimestamp} to ${now.deletionTimestamp}`,
      )
  }

  function checkHeld(before: KubeObject, finalizers: readonly string[]): void {
    const { uid = '', finalizers: held = [] } = before.metadata
    if (held.includes(USER_FINALIZER) && !finalizers.includes(USER_FINALIZER) && !released.has(uid))
      failed(`${describe(before)} loses the finalizer that nobody took off`)
  }

  return {
    release: (uid) => released.add(uid),
    changed({ resource, before, after }) {
      if (before === undefined) {
        if (after !== undefined && isMarked(after)) failed(`${describe(after)} is born while being deleted`)
        return
      }
      if (after !== undefined) return checkUpdate(before, after)
      checkHeld(before, [])
      if (resource !== 'namespaces') return
      const content = truth.list().filter(({ metadata }) => metadata.namespace === before.metadata.name)
      if (content.length > 0) failed(`${describe(before)} goes before ${content.map(describe)}`)
    },
  }
}
