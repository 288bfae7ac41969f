/**
 * Gives each Node the range of its pods' addresses (spec.podCIDR), a piece of the cluster's (API concept: node IPAM, the range allocator).
 * The controller manager starts it where it is told the cluster's range: elsewhere the pods' network is its own affair.
 */
import type { Node } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { nodeRanges } from './node-ranges.ts'

export interface NodeIpamOptions {
  readonly clusterCidr: string
  /** Default 24. */
  readonly nodeCidrMaskSize?: number
  /** Ranges that no node is given, where they are within the cluster's: that of Services, that of the nodes' own addresses. */
  readonly reserved?: readonly string[]
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const WORKERS = 30

/** @throws Error for ranges that do not fit */
export function createNodeIpamController(
  context: ControllerContext,
  { clusterCidr, nodeCidrMaskSize = 24, reserved = [] }: NodeIpamOptions,
): Controller {
  const { runtime, client, informers, signal, concurrentSyncs = WORKERS } = context
  const nodes = informers.informer<Node>(NODES)
  const queue = createWorkQueue<string>(runtime, 'cidrallocator')
  const recorder = createEventRecorder(runtime, client, { component: 'cidrAllocator' })
  const ranges = nodeRanges(clusterCidr, nodeCidrMaskSize)
  for (const range of reserved) ranges.occupy(range)
  /** Given, and not seen on the Node yet. */
  const given = new Map<string, string>()

  async function sync(name: string): Promise<void> {
    const node = nodes.store.get(name)
    if (node === undefined) return letGo(name)
    if (rangesOf(node).length > 0) return
    const range = given.get(name) ?? ranges.next()
    if (range === undefined) {
      const subject = { kind: 'Node', apiVersion: 'v1', metadata: { name, uid: node.metadata.uid ?? '' } }
      recorder.event(subject, 'Normal', 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`)
      throw new Error(`no range is left in ${clusterCidr} for node ${name}`)
    }
    given.set(name, range)
    try {
      await client.resource<Node>(NODES).patch(name, 'strategic', { spec: { podCIDR: range, podCIDRs: [range] } })
    } catch (error) {
      if (!isNotFound(error)) throw error
      letGo(name)
    }
  }

  function letGo(name: string): void {
    const range = given.get(name)
    if (range !== undefined) ranges.release(range)
    given.delete(name)
  }

  function seen(node: Node): void {
    const { name = '' } = node.metadata
    const there = rangesOf(node)
    for (const range of there) ranges.occupy(range)
    if (there.length === 0) queue.add(name)
    // A kubelet or an administrator has said it before.
    else if (!there.includes(given.get(name) ?? '')) letGo(name)
    else given.delete(name)
  }

  return {
    name: 'node-controller',
    async start() {
      nodes.addHandlers({
        added: seen,
        updated: (_, node) => seen(node),
        deleted(node) {
          for (const range of rangesOf(node)) if (!reserved.includes(range)) ranges.release(range)
          queue.add(node.metadata.name ?? '')
          for (const other of nodes.store.list()) if (rangesOf(other).length === 0) queue.add(other.metadata.name ?? '')
        },
      })
      // What nodes have already is known before the first one is given any.
      await nodes.whenSynced(signal)
      runWorkers(runtime, queue, concurrentSyncs, sync, signal)
    },
  }
}

const rangesOf = ({ spec }: Node): readonly string[] => spec?.podCIDRs ?? (spec?.podCIDR ? [spec.podCIDR] : [])
