/** Which devices there are for a node: the newest generation of each pool's slices, in the order in which they are offered. */
import type { Counter, Device, Node, ResourceSlice, ResourceSliceSpec } from '../../api/generated/types.ts'
import { nodeTermMatches } from '../../api/objects/node-affinity.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

type Where = Pick<Device, 'nodeName' | 'nodeSelector' | 'allNodes'>

export interface PoolDevice {
  /** `driver/pool/name`. */
  readonly id: string
  readonly driver: string
  readonly pool: string
  readonly name: string
  readonly device: Device
  /** Where it can be used: the nodeName, nodeSelector or allNodes of the device or its slice. */
  readonly where: Where
}

export interface Pool {
  /** `driver/pool`. */
  readonly id: string
  readonly name: string
  /** Slices are missing yet: what there is may be about to change. */
  readonly isIncomplete: boolean
  /** Two devices have one name. */
  readonly isInvalid: boolean
  /** Those that the node can use. */
  readonly devices: readonly PoolDevice[]
  /** Those that share something with these, by name, whichever nodes can use them. */
  readonly all: ReadonlyMap<string, PoolDevice>
  /** What devices of the pool share, by counter set. */
  readonly counters: ReadonlyMap<string, Readonly<Record<string, Counter>>>
}

interface Collected {
  readonly id: string
  readonly name: string
  generation: number
  wanted: number
  slices: ResourceSlice[]
}

/** Slices as pools, whichever nodes can use them: worked out once for all nodes. */
interface Pools {
  forNode(node: Node): readonly Pool[]
}

export function poolsOf(slices: readonly ResourceSlice[]): Pools {
  const collected = new Map<string, Collected>()
  for (const slice of slices) {
    const { driver, pool: of } = slice.spec
    const { name = '', generation = 0, resourceSliceCount: wanted = 1 } = of
    const id = `${driver}/${name}`
    const pool = getOrInsertComputed(collected, id, () => ({ id, name, generation, wanted, slices: [] }))
    if (generation < pool.generation) continue
    if (generation > pool.generation) Object.assign(pool, { generation, wanted, slices: [] })
    pool.slices.push(slice)
  }
  const sorted = [...collected.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  /** Those that one node alone can use, by its name. */
  const local = new Map<string, WholePool[]>()
  const shared: WholePool[] = []
  for (const pool of sorted.map(wholeOf)) {
    const only = onlyNode(pool)
    if (only === undefined) shared.push(pool)
    else getOrInsertComputed(local, only, () => []).push(pool)
  }
  return {
    forNode(node) {
      const own = local.get(node.metadata.name ?? '') ?? []
      const ofOthers = shared.flatMap((pool): readonly WholePool[] => {
        const devices = pool.devices.filter(({ where }) => isWithin(where, node))
        return devices.length === 0 ? [] : [{ ...pool, devices }]
      })
      return [...own, ...ofOthers].sort(
        (a, b) => Number(bindsLater(a)) - Number(bindsLater(b)) || (a.id < b.id ? -1 : Number(a.id > b.id)),
      )
    },
  }
}

type WholePool = Pool & { readonly slices: readonly ResourceSlice[] }

function onlyNode({ slices }: WholePool): string | undefined {
  const names = new Set(slices.map(({ spec }) => spec.nodeName))
  const [name] = names
  return names.size === 1 && name ? name : undefined
}

/** Devices that are to be made ready first come last. */
const bindsLater = ({ devices }: Pool): boolean =>
  devices.some(({ device }) => (device.bindingConditions ?? []).length > 0)

function wholeOf({ id, name, wanted, slices }: Collected): WholePool {
  const all = new Map<string, PoolDevice>()
  const devices: PoolDevice[] = []
  const counters = new Map<string, Readonly<Record<string, Counter>>>()
  let isInvalid = false
  const inOrder = slices.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  for (const slice of inOrder) {
    const spec: ResourceSliceSpec = slice.spec
    for (const set of spec.sharedCounters ?? []) counters.set(set.name, set.counters ?? {})
    for (const device of spec.devices ?? []) {
      const one: PoolDevice = {
        id: `${id}/${device.name}`,
        driver: spec.driver,
        pool: name,
        name: device.name,
        device,
        where: spec.perDeviceNodeSelection ? device : spec,
      }
      if (all.has(one.name)) isInvalid = true
      all.set(one.name, one)
      devices.push(one)
    }
  }
  return { id, name, isIncomplete: slices.length !== wanted, isInvalid, devices, all, counters, slices: inOrder }
}

function isWithin({ nodeName, allNodes, nodeSelector }: Where, node: Node): boolean {
  if (nodeName) return nodeName === node.metadata.name
  if (allNodes) return true
  return (nodeSelector?.nodeSelectorTerms ?? []).some((term) => nodeTermMatches(term, node))
}
