/** Node.status.volumesAttached: what is attached to a node, told to its kubelet. A volume is taken off the list before it is detached. */
import type { Node } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { Informer } from '../../client/informer.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { ActualState } from './actual-state.ts'

/** What becomes attached within this time is told at once. */
const GATHER_MS = 100

export interface NodeReports {
  /** The node's list has changed, and is written soon. */
  changed(nodeName: string): void
  /** The node's list is changed and written, after those changes that came before. Rejects when that fails. */
  write(nodeName: string, change: () => void): Promise<void>
  run(signal: AbortSignal): void
}

export function createNodeReports(
  runtime: Runtime,
  client: Client,
  nodes: Informer<Node>,
  actual: ActualState,
): NodeReports {
  const queue = createWorkQueue<string>(runtime, 'attachdetach_node_status')
  const dirty = new Set<string>()
  const writing = new Map<string, Promise<void>>()

  async function write(nodeName: string, change?: () => void): Promise<void> {
    // One after the other, so that an older list never overwrites a newer one.
    const before = writing.get(nodeName) ?? Promise.resolve()
    const now = before
      .catch(() => undefined)
      .then(() => {
        change?.()
        return patch(nodeName)
      })
    writing.set(nodeName, now)
    try {
      await now
    } finally {
      if (writing.get(nodeName) === now) writing.delete(nodeName)
    }
  }

  async function patch(nodeName: string): Promise<void> {
    if (!dirty.delete(nodeName) || nodes.store.get(nodeName) === undefined) return
    const volumesAttached = [...actual.on(nodeName)]
      .filter(([, { isReported }]) => isReported)
      .map(([name, { devicePath }]) => ({ devicePath, name }))
    const status = { volumesAttached: volumesAttached.length === 0 ? null : volumesAttached }
    try {
      await client
        .resource<Node>({ group: '', version: 'v1', resource: 'nodes' })
        .patch(nodeName, 'strategic', { status }, { subresource: 'status' })
    } catch (error) {
      if (isNotFound(error)) return
      dirty.add(nodeName)
      throw error
    }
  }

  return {
    changed(nodeName) {
      dirty.add(nodeName)
      queue.addAfter(nodeName, GATHER_MS)
    },
    write: (nodeName, change) =>
      write(nodeName, () => {
        change()
        dirty.add(nodeName)
      }),
    run(signal) {
      runWorkers(runtime, queue, 1, (nodeName) => write(nodeName), signal)
    },
  }
}
