/** PodManager: the pods this node should have, as the API server last said. */
import { type Pod, uidOf } from './pod.ts'

export interface PodManager {
  get(uid: string): Pod | undefined
  list(): Iterable<Pod>
  set(pod: Pod): void
  delete(uid: string): void
}

/** `changed`: called with the uid of each pod that is set or deleted. */
export function createPodManager(changed: (uid: string) => void = () => {}): PodManager {
  const pods = new Map<string, Pod>()
  return {
    get: (uid) => pods.get(uid),
    list: () => pods.values(),
    set(pod) {
      pods.set(uidOf(pod), pod)
      changed(uidOf(pod))
    },
    delete(uid) {
      pods.delete(uid)
      changed(uid)
    },
  }
}
