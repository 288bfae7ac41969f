/** What a real node tells of its machine, and the range of addresses that it waits for where the cluster gives it. */
import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, release as kernelRelease, totalmem } from 'node:os'
import type { Node } from '../../api/generated/types.ts'
import { isAlreadyExists } from '../../api/status.ts'
import { formatQuantity } from '../../api/values/quantity.ts'
import { sleep } from '../../base/clock.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { Client } from '../../client/client.ts'
import { hugePagesName } from '../memory-manager/machine-memory.ts'
import { type NodeDescription, nodeObject, runtimeVersionOf } from '../node-status.ts'
import type { MachineIds } from './machine.ts'
import type { FoundRuntime } from './machine-requirements.ts'
import { hugePagesOf, type MachineTopology } from './machine-topology.ts'

export function capacityOf(directory: string): Readonly<Record<string, string>> {
  const { blocks, bsize } = statfsSync(directory)
  return {
    cpu: String(availableParallelism()),
    'ephemeral-storage': String(blocks * bsize),
    memory: `${Math.floor(totalmem() / 1024)}Ki`,
    pods: '110',
    ...hugePages(),
  }
}

/** Of each size that the kernel knows, those that were put aside until now. */
function hugePages(): Readonly<Record<string, string>> {
  const amounts = hugePagesOf('/sys/kernel/mm/hugepages').map(({ sizeKiB, count }) => {
    const nanos = BigInt(sizeKiB) * 1024n * BigInt(count) * 1_000_000_000n
    return [hugePagesName(sizeKiB), formatQuantity({ nanos, format: 'BinarySI' })] as const
  })
  return Object.fromEntries(amounts)
}

export const realMachine = ({ machineId }: MachineIds) => ({
  kernelVersion: kernelRelease(),
  osImage: osImage(),
  systemUuid: machineId,
})

/** As /metrics/cadvisor tells of it. */
export const measuredMachine = (ids: MachineIds, topology: Pick<MachineTopology, 'cpus'>) => ({
  ...ids,
  sockets: new Set([...topology.cpus.places.values()].map(({ socket }) => socket)).size,
  physicalCores: new Set([...topology.cpus.places.values()].map(({ core }) => core)).size,
  swapBytes: swapBytes(),
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  systemUuid: ids.machineId,
  kernelVersion: kernelRelease(),
  osVersion: osImage(),
})

const swapBytes = () => Number(/^SwapTotal:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * 1024

function osImage(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'Linux'
  } catch {
    return 'Linux'
  }
}

/** What a container runtime says of itself. */
export interface RuntimeCondition {
  readonly type: string
  readonly status: boolean
  readonly message: string
}

/** Why no pods can run. Runtimes tell more than that, of what they will not have for ever. */
export const unready = (conditions: readonly RuntimeCondition[]): RuntimeCondition | undefined =>
  conditions.find(({ type, status }) => (type === 'RuntimeReady' || type === 'NetworkReady') && !status)

const NODES = { group: '', version: 'v1', resource: 'nodes' }
const KUBELET_PORT = 10250
const LOOK_AGAIN_MS = 100
const PATIENCE_MS = 60_000

export interface WaitingNode {
  readonly runtime: Runtime
  /** Speaks as the node. */
  readonly client: Client
  readonly nodeName: string
  /** One of each family that Services have. */
  readonly nodeIPs: readonly string[]
  readonly found: FoundRuntime
  readonly ids: MachineIds
  /** On the file system where its pods will have their volumes. */
  readonly directory: string
  readonly signal: AbortSignal
}

/**
 * The node's spec.podCIDRs. Where there is no Node of that name it is registered, not ready as long as pods can have no network.
 * @throws Error when none is given
 */
export async function awaitPodRanges(options: WaitingNode): Promise<readonly string[]> {
  const { runtime, client, nodeName, signal } = options
  const { clock } = runtime
  const nodes = client.resource<Node>(NODES)
  try {
    await nodes.create(nodeObject(withoutNetwork(options), clock.now()))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  for (const from = clock.monotonic(); ; await sleep(clock, LOOK_AGAIN_MS, signal)) {
    const { spec } = await nodes.get(nodeName)
    if (spec?.podCIDRs !== undefined && spec.podCIDRs.length > 0) return spec.podCIDRs
    if (clock.monotonic() - from > PATIENCE_MS)
      throw new Error(
        `node ${nodeName} was given no range for its pods (spec.podCIDR): a controller manager with --allocate-node-cidrs gives it`,
      )
  }
}

function withoutNetwork({ nodeName, nodeIPs, found, ids, directory }: WaitingNode): NodeDescription {
  const problem = 'container runtime network not ready: the node has no range for its pods yet'
  return {
    ...ids,
    name: nodeName,
    ips: nodeIPs,
    capacity: capacityOf(directory),
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    kubeletVersion: 'v1.37.1',
    runtimeVersion: runtimeVersionOf(found.name, found.version),
    real: { ...realMachine(ids), port: KUBELET_PORT, images: [], problem },
  }
}
