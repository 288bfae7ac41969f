/**
 * What the kernel tells of a machine's NUMA nodes: their CPUs, memory, huge pages and distances, as cAdvisor reads it. A kernel that knows no
 * NUMA nodes has one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { parseCpuSet } from '../cpu-manager/cpu-set.ts'
import { type CpuPlace, type CpuTopology, cpuTopology } from '../cpu-manager/cpu-topology.ts'

export interface NumaNode {
  readonly id: number
  /** Bytes. */
  readonly memory: number
  readonly hugePages: readonly { readonly sizeKiB: number; readonly count: number }[]
  /** To each of the nodes, itself too, in the order of their numbers. */
  readonly distances: readonly number[]
}

export interface MachineTopology {
  readonly cpus: CpuTopology
  readonly numaNodes: readonly NumaNode[]
}

interface Core {
  readonly socket: number
  readonly threads: number[]
}

/** `root`: where the system's devices are told of. */
export function machineTopology(root = '/sys/devices/system'): MachineTopology {
  const folders = numbered(join(root, 'node'), 'node')
  const nodes = folders.length > 0 ? folders : [{ number: 0, path: join(root, 'cpu') }]
  const places = new Map<number, CpuPlace>()
  for (const { number: numaNode, path } of nodes) {
    const cores = coresOf(root, path)
    const threads = cores.reduce((sum, core) => sum + core.threads.length, 0)
    for (const { socket, threads: own } of cores) {
      const core = Math.min(...own)
      const uncoreCache = uncoreCacheOf(root, core, threads) ?? socket
      for (const cpu of own) places.set(cpu, { core, socket, numaNode, uncoreCache })
    }
  }
  const numaNodes = folders.length > 0 ? folders.map(numaNodeOf) : [wholeMachine()]
  return { cpus: cpuTopology(places), numaNodes }
}

function coresOf(root: string, node: string): readonly Core[] {
  const cores = new Map<string, Core>()
  for (const { number: cpu } of numbered(node, 'cpu')) {
    const own = join(root, 'cpu', `cpu${cpu}`)
    if (read(join(own, 'online')) === '0') continue
    const [id, socket] = ['core_id', 'physical_package_id'].map((file) => Number(read(join(own, 'topology', file))))
    if (id === undefined || socket === undefined || Number.isNaN(id)) continue
    const key = `${socket}/${id}`
    const core = cores.get(key) ?? { socket, threads: [] }
    core.threads.push(cpu)
    cores.set(key, core)
  }
  return [...cores.values()]
}

/** Of the last level's cache, where other CPUs of the node have another one. */
function uncoreCacheOf(root: string, cpu: number, cpusOfNode: number): number | undefined {
  for (const { path } of numbered(join(root, 'cpu', `cpu${cpu}`, 'cache'), 'index')) {
    const [level, id, shared] = ['level', 'id', 'shared_cpu_list'].map((file) => read(join(path, file)))
    if (Number(level) <= 2 || id === undefined || shared === undefined) continue
    if (parseCpuSet(shared).length !== cpusOfNode) return Number(id)
  }
  return undefined
}

function numaNodeOf({ number: id, path }: Numbered): NumaNode {
  const total = /MemTotal:\s+(\d+) kB/.exec(read(join(path, 'meminfo')) ?? '')?.[1]
  return {
    id,
    memory: Number(total ?? 0) * 1024,
    hugePages: hugePagesOf(join(path, 'hugepages')),
    distances: (read(join(path, 'distance')) ?? '').split(/\s+/).map(Number),
  }
}

const wholeMachine = (): NumaNode => ({
  id: 0,
  memory: totalmem(),
  hugePages: hugePagesOf('/sys/kernel/mm/hugepages'),
  distances: [10],
})

export function hugePagesOf(folder: string): NumaNode['hugePages'] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .flatMap((name) => {
      const size = /^hugepages-(\d+)kB$/.exec(name)?.[1]
      const count = Number(read(join(folder, name, 'nr_hugepages')) ?? 0)
      return size === undefined ? [] : [{ sizeKiB: Number(size), count }]
    })
    .sort((a, b) => a.sizeKiB - b.sizeKiB)
}

interface Numbered {
  readonly number: number
  readonly path: string
}

/** `node0`, `node1`, … of a folder. */
function numbered(folder: string, prefix: string): readonly Numbered[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => ({ number: Number(name.slice(prefix.length)), path: join(folder, name) }))
    .sort((a, b) => a.number - b.number)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
