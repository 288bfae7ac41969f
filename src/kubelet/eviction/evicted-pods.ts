import type { Failure } from '../pod-status.ts'

/** Why pods have failed that this kubelet ended for the node's sake. */
export interface EvictedPods {
  /** Of several reasons the first counts. */
  add(uid: string, failure: Failure): void
  failure(uid: string): Failure | undefined
  forget(uid: string): void
}

export function createEvictedPods(): EvictedPods {
  const failures = new Map<string, Failure>()
  return {
    add(uid, failure) {
      if (!failures.has(uid)) failures.set(uid, failure)
    },
    failure: (uid) => failures.get(uid),
    forget: (uid) => void failures.delete(uid),
  }
}
