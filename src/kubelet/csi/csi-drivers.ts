/**
 * CSI drivers of this node: each registers by a socket in the folder of plugins (API concept: CSI plugin registration), and goes with it. What
 * they are called and can do stands in the CSINode, and in the Node's annotation and labels.
 */
import { existsSync, type FSWatcher, mkdirSync, readdirSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { CSINode, Node } from '../../api/generated/types.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../api/status.ts'
import type { Timer } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
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
  readonly connection: Connection
  readonly capabilities: ReadonlySet<Capability>
}

export interface CsiDrivers {
  /** Undefined: none of that name has registered. */
  get(name: string): Driver | undefined
  /** Until the signal is aborted. */
  run(signal: AbortSignal): void
}

export interface CsiDriversOptions {
  readonly runtime: Runtime
  readonly client: Client
  readonly nodeName: string
  /** Where drivers put the sockets by which they register. */
  readonly registry: string
}

const LOOK_MS = 10_000
const SETTLE_MS = 100
const MOST_TRIES = 5
const CSI_NODES = { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes' }
const NODES = { group: '', version: 'v1', resource: 'nodes' }

interface PluginInfo {
  readonly type: string
  readonly name: string
  readonly endpoint: string
  readonly supported_versions: readonly string[]
}

export function createCsiDrivers(options: CsiDriversOptions): CsiDrivers {
  const { runtime, client, nodeName, registry } = options
  const { clock, log } = runtime
  const csiNodes = client.resource<CSINode>(CSI_NODES)
  const drivers = new Map<string, Driver>()
  /** By socket: when it was made, and the driver that registered by it. */
  const sockets = new Map<string, { readonly made: number; readonly name: string }>()
  let working = false

  async function register(socket: string, made: number): Promise<void> {
    const registration = connect(clock, `unix://${socket}`, 'registration')
    try {
      const plugin = await registration.call<PluginInfo>('GetInfo', {})
      let failure: unknown
      try {
        await add(plugin)
        // From now on it goes with its socket, whether or not it hears of it.
        sockets.set(socket, { made, name: plugin.name })
      } catch (error) {
        failure = error
      }
      const error = failure === undefined ? '' : messageOf(failure)
      await registration.call('NotifyRegistrationStatus', { plugin_registered: failure === undefined, error })
      if (failure !== undefined) throw failure
    } finally {
      registration.close()
    }
  }

  async function add({ type, name, endpoint, supported_versions: versions }: PluginInfo): Promise<void> {
    if (type !== 'CSIPlugin') throw new Error(`plugins of type ${JSON.stringify(type)} are not supported by this node`)
    if (!versions.some((version) => /^v?1\./.test(version)))
      throw new Error(`CSI driver ${name} supports none of the versions of this node: ${versions.join(', ')}`)
    const connection = connect(clock, `unix://${endpoint}`, 'csi')
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
      await tellNode(name, info)
      await change((before) => withDriver(before, info))
      drivers.get(name)?.connection.close()
      const can = new Set(capabilities.flatMap(({ rpc }) => (rpc === null ? [] : [rpc.type])))
      drivers.set(name, { info, connection, capabilities: can })
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async function remove(name: string): Promise<void> {
    drivers.get(name)?.connection.close()
    drivers.delete(name)
    await tellNode(name, undefined)
    await change((before) => withoutDriver(before, name))
  }

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

  async function look(): Promise<void> {
    const found = new Map<string, number>()
    for (const name of list(registry)) {
      const stat = statSync(join(registry, name), { throwIfNoEntry: false })
      if (stat?.isSocket() === true) found.set(join(registry, name), stat.ctimeMs)
    }
    for (const [socket, { made, name }] of sockets) {
      if (found.get(socket) === made) continue
      sockets.delete(socket)
      if (!found.has(socket)) await remove(name)
    }
    for (const [socket, made] of found) {
      if (sockets.has(socket)) continue
      try {
        await register(socket, made)
      } catch (error) {
        // It is asked again.
        log.info(0, 'A plugin could not be registered', { socket, err: messageOf(error) })
      }
    }
  }

  return {
    get: (name) => drivers.get(name),
    run(signal) {
      let watcher: FSWatcher | undefined
      let timer: Timer | undefined
      const after = (ms: number) => {
        timer?.cancel()
        timer = runtime.machineClock.setTimer(ms, 'plugins are looked for', turn, { everyMs: LOOK_MS, goesOn: true })
      }
      const turn = () => {
        timer = undefined
        if (signal.aborted) return
        if (working) return after(SETTLE_MS)
        working = true
        look()
          .catch((error: unknown) => log.info(0, 'Plugins could not be looked for', { err: messageOf(error) }))
          .finally(() => {
            working = false
            if (!signal.aborted && timer === undefined) after(LOOK_MS)
          })
      }
      mkdirSync(registry, { recursive: true, mode: 0o750 })
      try {
        watcher = watch(registry, { persistent: false }, () => after(SETTLE_MS))
        watcher.on('error', () => watcher?.close())
      } catch {
        // It is looked at every so often.
      }
      signal.addEventListener(
        'abort',
        () => {
          watcher?.close()
          timer?.cancel()
          for (const { connection } of drivers.values()) connection.close()
        },
        { once: true },
      )
      turn()
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

const list = (directory: string): readonly string[] => (existsSync(directory) ? readdirSync(directory) : [])
