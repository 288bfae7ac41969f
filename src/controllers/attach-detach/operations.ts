/** The operations under way, one at a time of a volume and a node; one that failed is tried again after half a second, doubling, at most two minutes. */
import type { Runtime } from '../../base/runtime.ts'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 122_000

export interface Operations {
  isPending(uniqueName: string, nodeName: string): boolean
  /** On any node. */
  isAnyPending(uniqueName: string): boolean
  /** Milliseconds until it may be tried again. */
  waitOf(uniqueName: string, nodeName: string): number
  /** `task` handles its own failure, then rejects with it. `ended` is called in any case. */
  start(uniqueName: string, nodeName: string, task: () => Promise<void>, ended: () => void): void
}

interface Operation {
  isPending: boolean
  failures: number
  retryAt: number
}

export function createOperations({ clock }: Runtime): Operations {
  const operations = new Map<string, Map<string, Operation>>()
  const get = (uniqueName: string, nodeName: string) => operations.get(uniqueName)?.get(nodeName)

  return {
    isPending: (uniqueName, nodeName) => get(uniqueName, nodeName)?.isPending === true,
    isAnyPending: (uniqueName) => [...(operations.get(uniqueName)?.values() ?? [])].some(({ isPending }) => isPending),
    waitOf: (uniqueName, nodeName) => Math.max(0, (get(uniqueName, nodeName)?.retryAt ?? 0) - clock.monotonic()),
    start(uniqueName, nodeName, task, ended) {
      const nodes = operations.get(uniqueName) ?? new Map<string, Operation>()
      operations.set(uniqueName, nodes)
      const operation = nodes.get(nodeName) ?? { isPending: true, failures: 0, retryAt: 0 }
      nodes.set(nodeName, operation)
      operation.isPending = true
      task()
        .then(
          () => {
            nodes.delete(nodeName)
            if (nodes.size === 0 && operations.get(uniqueName) === nodes) operations.delete(uniqueName)
          },
          () => {
            const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** operation.failures++)
            operation.isPending = false
            operation.retryAt = clock.monotonic() + wait
          },
        )
        .then(ended)
    },
  }
}
