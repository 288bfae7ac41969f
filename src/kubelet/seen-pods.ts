/**
 * The annotations by which a kubelet notes where it has a pod from, and since when. Containers find them among those of their pod, agents on the
 * machine too; the API server is never told. Static pods have them from their files.
 */
import { type Clock, formatMicroTime } from '../base/clock.ts'
import { type Pod, uidOf } from './pod.ts'
import { CONFIG_SEEN, CONFIG_SOURCE } from './static-pods/static-pod.ts'

export interface SeenPods {
  noted(pod: Pod): Pod
  forget(uid: string): void
}

export function createSeenPods(clock: Pick<Clock, 'now'>): SeenPods {
  const since = new Map<string, string>()
  return {
    noted(pod) {
      const uid = uidOf(pod)
      const seen = since.get(uid) ?? formatMicroTime(clock.now())
      since.set(uid, seen)
      const annotations = { ...pod.metadata.annotations, [CONFIG_SEEN]: seen, [CONFIG_SOURCE]: 'api' }
      return { ...pod, metadata: { ...pod.metadata, annotations } }
    },
    forget: (uid) => void since.delete(uid),
  }
}
