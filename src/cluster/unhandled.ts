/**
 * Failures that nothing waits for, of a cluster that runs in another program's process: they are that cluster's, and no reason
 * to end the program. Work belongs to a cluster when it was begun by it (its async context); any other rejection is left to
 * the program's own listeners, or to Node's rule where it has none.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type Report = (error: unknown) => void

const reportOf = new AsyncLocalStorage<Report>()
let clusters = 0

export interface UnhandledScope {
  /** Runs what belongs to the cluster. */
  run<T>(task: () => T): T
  end(): void
}

/** Until it ends, `report` is given what fails in the scope. */
export function unhandledScope(report: Report): UnhandledScope {
  if (clusters++ === 0) process.on('unhandledRejection', onRejection)
  let isOpen = true
  return {
    run: (task) => reportOf.run(report, task),
    end() {
      if (!isOpen) return
      isOpen = false
      if (--clusters === 0) process.off('unhandledRejection', onRejection)
    },
  }
}

function onRejection(reason: unknown): void {
  const report = reportOf.getStore()
  if (report !== undefined) report(reason)
  // To listen is to answer for it: as if this listener were not there.
  else if (process.listenerCount('unhandledRejection') === 1) {
    throw reason instanceof Error ? reason : new Error(`unhandled rejection: ${String(reason)}`)
  }
}
