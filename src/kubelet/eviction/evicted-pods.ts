/** Why pods have failed that this kubelet evicted. */
export interface EvictedPods {
  add(uid: string, message: string): void
  failure(uid: string): { readonly reason: string; readonly message: string; readonly isDisruption: true } | undefined
  forget(uid: string): void
}

export function createEvictedPods(): EvictedPods {
  const messages = new Map<string, string>()
  return {
    add(uid, message) {
      if (!messages.has(uid)) messages.set(uid, message)
    },
    failure(uid) {
      const message = messages.get(uid)
      return message === undefined ? undefined : { reason: 'Evicted', message, isDisruption: true }
    },
    forget: (uid) => void messages.delete(uid),
  }
}
