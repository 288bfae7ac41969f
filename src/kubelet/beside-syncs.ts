/** Work for a pod that its syncs do not wait for: each piece once at a time, all of it over before what it works on is taken away. */
import { getOrInsertComputed } from '../base/get-or-insert.ts'

export interface BesideSyncs {
  /**
   * Begins what is so named. `signal` is aborted when the pod has ended. Resolves when it is over, however it came out; undefined: it is
   * under way from before.
   */
  begin(uid: string, name: string, task: (signal: AbortSignal) => Promise<void>): Promise<void> | undefined
  /** The pod has ended. Resolves when nothing goes on for it any more; undefined: nothing does. */
  end(uid: string): Promise<unknown> | undefined
}

interface WorkOfPod {
  readonly abort: AbortController
  readonly underWay: Map<string, Promise<void>>
}

export function createBesideSyncs(): BesideSyncs {
  const pods = new Map<string, WorkOfPod>()
  const create = (): WorkOfPod => ({ abort: new AbortController(), underWay: new Map() })
  return {
    begin(uid, name, task) {
      const { abort, underWay } = getOrInsertComputed(pods, uid, create)
      if (underWay.has(name)) return undefined
      const isOver = () => void underWay.delete(name)
      const work = Promise.resolve()
        .then(() => task(abort.signal))
        .then(isOver, isOver)
      underWay.set(name, work)
      return work
    },
    end(uid) {
      const work = pods.get(uid)
      pods.delete(uid)
      work?.abort.abort()
      return work === undefined || work.underWay.size === 0 ? undefined : Promise.all(work.underWay.values())
    },
  }
}
