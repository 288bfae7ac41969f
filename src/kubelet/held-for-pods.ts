/** What the parts of a kubelet hold for pods, by their uids: a part is added where it is made, and lets go of a pod with all others. */
interface Holder {
  /** The pod's object, its worker and its containers are gone. */
  forget(uid: string): void
}

export interface HeldForPods {
  /** Gives the part back. */
  add<T extends Holder>(part: T): T
  forget(uid: string): void
}

export function createHeldForPods(): HeldForPods {
  const parts: Holder[] = []
  return {
    add(part) {
      parts.push(part)
      return part
    },
    forget(uid) {
      for (const part of parts) part.forget(uid)
    },
  }
}
