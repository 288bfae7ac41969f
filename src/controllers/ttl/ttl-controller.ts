/**
 * Tells each node by an annotation how long its kubelet may keep Secrets and ConfigMaps: the more nodes ask, the longer. The
 * controller manager starts it.
 */
import type { Node } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'

const nodesResource = { group: '', version: 'v1', resource: 'nodes' }
const annotation = 'node.alpha.kubernetes.io/ttl'

/** They overlap, so that a cluster on the edge does not go to and fro. */
const steps: readonly { readonly from: number; readonly to: number; readonly seconds: number }[] = [
  { from: 0, to: 100, seconds: 0 },
  { from: 90, to: 500, seconds: 15 },
  { from: 450, to: 1000, seconds: 30 },
  { from: 900, to: 2000, seconds: 60 },
  { from: 1800, to: 10_000, seconds: 300 },
  { from: 9000, to: Number.POSITIVE_INFINITY, seconds: 600 },
]

/** The step for so many nodes, coming from that one. */
export function stepFor(nodes: number, from: number): number {
  let step = from
  while (nodes > (steps[step]?.to ?? Number.POSITIVE_INFINITY)) step++
  while (step > 0 && nodes < (steps[step]?.from ?? 0)) step--
  return step
}

export function createTtlController(context: ControllerContext): Controller {
  const { runtime, client, informers, signal } = context
  const nodes = informers.informer<Node>(nodesResource)
  const queue = createWorkQueue<string>(runtime, 'ttlcontroller')
  let step = 0

  function counted(): void {
    const next = stepFor(nodes.store.size, step)
    if (next === step) return
    step = next
    for (const { metadata } of nodes.store.list()) queue.add(metadata.name ?? '')
  }

  async function sync(name: string): Promise<void> {
    const seconds = String(steps[step]?.seconds ?? 0)
    const node = nodes.store.get(name)
    if (node === undefined || node.metadata.annotations?.[annotation] === seconds) return
    const body = { metadata: { annotations: { [annotation]: seconds } } }
    await client
      .resource<Node>(nodesResource)
      .patch(name, 'strategic', body)
      .catch((error) => {
        if (!isNotFound(error)) throw error
      })
  }

  return {
    name: 'ttl-controller',
    async start() {
      const enqueue = (node: Node) => {
        counted()
        queue.add(node.metadata.name ?? '')
      }
      nodes.addHandlers({ added: enqueue, updated: (_, node) => queue.add(node.metadata.name ?? ''), deleted: counted })
      await nodes.whenSynced(signal)
      runWorkers(runtime, queue, 1, sync, signal)
    },
  }
}
