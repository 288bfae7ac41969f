/**
 * CSI drivers of this node, which register as plugins of type CSIPlugin. What they are called and can do stands in the CSINode, and in the Node's
 * annotation and labels.
 */

import type { CSINode, Node } from '../../api/generated/types.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import { oneByOne } from '../../base/one-by-one.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import type { Plugin, PluginHandler } from '../plugins/plugin-registry.ts'
import { type Connection, connect } from '../runtimes/cri/connection.ts'
import { type DriverInfo, nodePatch, withDriver, withoutDriver } from './csi-node.ts'

export type Capability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'VOLUME_MOUNT_GROUP'
  | 'SINGLE_NODE_MULTI_WRITER'

export interface Driver {
  readonly info: DriverInfo
  /** The path of its socket. */
  readonly endpoint: string
  readonly connection: Connection
  readonly capabilities: ReadonlySet<Capability>
}

export interface CsiDrivers extends PluginHandler {
  /** Undefined: none of that name has registered. */
  get(name: string): Driver | undefined
}

export interface CsiDriversOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
}

const MOST_TRIES = 5
const CSI_NODES = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }

export function createCsiDrivers(options: CsiDriversOptions): CsiDrivers {
  const { runtime, client, nodeName } = options
  const csiNodes = client.resource<CSINode>(CSI_NODES)
  const drivers = new Map<string, Driver>()

  async function add({ name, endpoint, versions }: Plugin): Promise<void> {
    if (!versions.some((version) => /^v?1\./.test(version)))
      throw new Error(`CSI driver ${name} supports none of the versions of this node: ${versions.join(', ')}`)
    const connection = connect(runtime.clock, `unix://${endpoint}`, 'csi')
    try {
      const told = await connection.call<{
        node_id: string
        max_volumes_per_node: number
        accessible_topology: { segments: Readonly<Record<string, string>> } | null
      }>('NodeGetInfo', {})
      const { capabilities } = await connection.call<{
        capabilities: readonly { readonly rpc: { readonly type: Capability } | null }[]
      }>('NodeGetCapabilities', {})
      const info: DriverInfo = {
        name,
        nodeID: told.node_id,
        maxVolumes: told.max_volumes_per_node,
        topology: told.accessible_topology?.segments ?? {},
      }
      await inOrder(async () => {
        await tellNode(name, info)
        await change((before) => withDriver(before, info))
      })
      drivers.get(name)?.connection.close()
      const can = new Set(capabilities.flatMap(({ rpc }) => (rpc === null ? [] : [rpc.type])))
      drivers.set(name, { info, endpoint, connection, capabilities: can })
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async function remove({ name, endpoint }: Plugin): Promise<void> {
    // A newer one has taken its place.
    if (drivers.get(name)?.endpoint !== endpoint) return
    drivers.get(name)?.connection.close()
    drivers.delete(name)
    await inOrder(async () => {
      await tellNode(name, undefined)
      await change((before) => withoutDriver(before, name))
    })
  }

  /** What is told of all drivers stands in one annotation: one after the other changes it. */
  const inOrder = oneByOne()

  async function tellNode(name: string, info: DriverInfo | undefined): Promise<void> {
    const node = await client.resource<Node>(NODES).get(nodeName)
    const patch = nodePatch(node, name, info)
    if (patch !== undefined) await client.resource<Node>(NODES).patch(nodeName, 'strategic', patch)
  }

  /** @throws Error when it cannot be told */
  async function change(next: (before: CSINode) => CSINode | undefined): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        const before = await csiNodes.get(nodeName).catch((error: unknown) => {
          if (!isNotFound(error)) throw error
          return undefined
        })
        const node = await client.resource<Node>(NODES).get(nodeName)
        const after = next(before ?? emptyCsiNode(node))
        if (after === undefined) return
        await (before === undefined ? csiNodes.create(after) : csiNodes.update(after))
        return
      } catch (error) {
        if (tries === MOST_TRIES || !(isConflict(error) || isAlreadyExists(error))) throw error
      }
  }

  return {
    get: (name) => drivers.get(name),
    add,
    remove,
    close() {
      for (const { connection } of drivers.values()) connection.close()
    },
  }
}

const emptyCsiNode = ({ metadata }: Node): CSINode => ({
  kind: 'CSINode',
  apiVersion: 'storage.k8s.io/v1',
  metadata: {
    name: metadata.name ?? '',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: metadata.name ?? '', uid: metadata.uid ?? '' }],
  },
  spec: { drivers: [] },
})
