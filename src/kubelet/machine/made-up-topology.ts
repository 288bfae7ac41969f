/** Machines of other shapes than the one that tests run on. */
import { type CpuPlace, cpuTopology } from '../cpu-manager/cpu-topology.ts'
import type { MachineTopology } from './machine-topology.ts'

export interface MachineShape {
  readonly sockets: number
  readonly nodesPerSocket: number
  readonly coresPerNode: number
  readonly threads: number
  /** 0: a node has one cache of the last level. */
  readonly coresPerCache?: number
  /** Bytes, of each node. */
  readonly memory?: number
  /** Pages of 2 MiB, of each node. */
  readonly hugePages?: number
}

/** CPUs are counted as on many machines: the first thread of each core, then the second of each. */
export function madeUpTopology(shape: MachineShape): MachineTopology {
  const { sockets, nodesPerSocket, coresPerNode, threads, coresPerCache = 0, memory = 2 ** 34, hugePages = 0 } = shape
  const nodes = sockets * nodesPerSocket
  const cores = nodes * coresPerNode
  const places = new Map<number, CpuPlace>()
  for (let core = 0; core < cores; core++)
    for (let thread = 0; thread < threads; thread++) {
      const numaNode = Math.floor(core / coresPerNode)
      const socket = Math.floor(numaNode / nodesPerSocket)
      const uncoreCache = coresPerCache === 0 ? socket : Math.floor(core / coresPerCache)
      places.set(core + thread * cores, { core, socket, numaNode, uncoreCache })
    }
  const all = Array.from({ length: nodes }, (_, id) => id)
  const socketOf = (node: number) => Math.floor(node / nodesPerSocket)
  return {
    cpus: cpuTopology(places),
    numaNodes: all.map((id) => ({
      id,
      memory,
      hugePages: [
        { sizeKiB: 2048, count: hugePages },
        { sizeKiB: 1024 * 1024, count: 0 },
      ],
      distances: all.map((other) => (other === id ? 10 : socketOf(other) === socketOf(id) ? 12 : 32)),
    })),
  }
}
