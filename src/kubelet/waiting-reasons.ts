/** The reason cache: why each container could last not be started, until it is. */
import type { StartFailure } from './pod-status.ts'

export interface StartFailures {
  get(uid: string, container: string): StartFailure | undefined
  set(uid: string, container: string, failure: StartFailure): void
  delete(uid: string, container: string): void
  forget(uid: string): void
}

export function createStartFailures(): StartFailures {
  const failures = new Map<string, Map<string, StartFailure>>()
  return {
    get: (uid, container) => failures.get(uid)?.get(container),
    set(uid, container, failure) {
      let own = failures.get(uid)
      if (own === undefined) {
        own = new Map()
        failures.set(uid, own)
      }
      own.set(container, failure)
    },
    delete(uid, container) {
      failures.get(uid)?.delete(container)
    },
    forget(uid) {
      failures.delete(uid)
    },
  }
}
