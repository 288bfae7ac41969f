/**
 * Gives each Node the ranges of its pods' addresses (spec.podCIDRs), a piece of each of the cluster's (API concept: node IPAM, the range
 * allocator). The controller manager starts it where it is told the cluster's ranges: elsewhere the pods' network is its own affair.
 */
import type { Node } from '../../api/generated/types.ts'
import { isNotFound } from '../../api/status.ts'
import { createEventRecorder } from '../../client/events.ts'
import { createWorkQueue, runWorkers } from '../../client/work-queue.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { nodeRanges } from './node-ranges.ts'

export interface ClusterRange {
  readonly cidr: string
  /** How long a node's prefix is. */
  readonly nodeMaskSize: number
}

export interface NodeIpamOptions {
  /** One, or one of each family. */
  readonly clusterRanges: readonly ClusterRange[]
  /** Ranges that no node is given, where they are within the cluster's: those of Services, that of the nodes' own addresses. */
  readonly reserved?: readonly string[]
}

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const WORKERS = 30

/** @throws Error for ranges that do not fit */
export function createNodeIpamController(
  context: ControllerContext,
  { clusterRanges, reserved = [] }: NodeIpamOptions,
): Controller {
  const { runtime, client, informers, signal, concurrentSyncs = WORKERS } = context
  const nodes = informers.informer<Node>(NODES)
  const queue = createWorkQueue<string>(runtime, 'cidrallocator')
  const recorder = createEventRecorder(runtime, client, { component: 'cidrAllocator' })
  const pools = clusterRanges.map(({ cidr, nodeMaskSize }) => nodeRanges(cidr, nodeMaskSize))
  /** `holder`: the name of a node; none for what no node is given. */
  const occupy = (range: string, holder = '') => {
    for (const pool of pools) pool.occupy(range, holder)
  }
  const release = (range: string, holder: string) => {
    for (const pool of pools) pool.release(range, holder)
  }
  for (const range of reserved) occupy(range)
  /** Given, and not seen on the Node yet. */
  const given = new Map<string, readonly string[]>()

  /** A piece of each; undefined, and none is taken, where one has none left. */
  function next(name: string): readonly string[] | undefined {
    const taken = pools.map((pool) => pool.next(name))
    const whole = taken.flatMap((range) => range ?? [])
    if (whole.length === pools.length) return whole
    for (const range of whole) release(range, name)
    return undefined
  }

  async function sync(name: string): Promise<void> {
    const node = nodes.store.get(name)
    if (node === undefined) return letGo(name)
    if (rangesOf(node).length > 0) return
    const ranges = given.get(name) ?? next(name)
    if (ranges === undefined) {
      const subject = { kind: 'Node', apiVersion: 'v1', metadata: { name, uid: node.metadata.uid ?? '' } }
      recorder.event(subject, 'Normal', 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`)
      throw new Error(`no range is left in ${clusterRanges.map(({ cidr }) => cidr).join()} for node ${name}`)
    }
    given.set(name, ranges)
    try {
      await client.resource<Node>(NODES).patch(name, 'strategic', { spec: { podCIDR: ranges[0], podCIDRs: ranges } })
    } catch (error) {
      if (!isNotFound(error)) throw error
      letGo(name)
    }
  }

  function letGo(name: string): void {
    for (const range of given.get(name) ?? []) release(range, name)
    given.delete(name)
  }

  function seen(node: Node): void {
    const { name = '' } = node.metadata
    const there = rangesOf(node)
    for (const range of there) occupy(range, name)
    if (there.length === 0) queue.add(name)
    else {
      // A kubelet or an administrator may have said others before.
      for (const range of given.get(name) ?? []) if (!there.includes(range)) release(range, name)
      given.delete(name)
    }
  }

  return {
    name: 'node-controller',
    async start() {
      nodes.addHandlers({
        added: seen,
        updated: (_, node) => seen(node),
        deleted(node) {
          const { name: gone = '' } = node.metadata
          for (const range of rangesOf(node)) release(range, gone)
          queue.add(gone)
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
