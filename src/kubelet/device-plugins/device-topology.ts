/** On which NUMA nodes the devices of plugins are, and what hints follow from that. */
import { countOf, has, masksOf, type NumaMask, type TopologyHint } from '../topology-manager/topology-hints.ts'

/** As its plugin tells of it. */
export interface OfferedDevice {
  readonly ID: string
  readonly health: string
  readonly topology?: { readonly nodes?: readonly { readonly ID: number }[] } | null
}

type Devices = ReadonlyMap<string, OfferedDevice>

/** Undefined where its plugin tells of no place. */
export const toldNodesOf = (device: OfferedDevice | undefined): readonly number[] | undefined =>
  device?.topology ? (device.topology.nodes ?? []).map(({ ID }) => Number(ID)) : undefined

const nodesOfDevice = (device: OfferedDevice | undefined): readonly number[] => toldNodesOf(device) ?? []

interface Wanted {
  /** All of the resource, healthy or not. */
  readonly devices: Devices
  readonly numaNodes: readonly number[]
  readonly count: number
  /** What the container has already. */
  readonly had: readonly string[]
  readonly free: readonly string[]
  /** By init containers: they are taken first. */
  readonly left: readonly string[]
}

/** Undefined: the resource's devices tell of no nodes. */
export function deviceHints({
  devices,
  numaNodes,
  count,
  had,
  free,
  left,
}: Wanted): readonly TopologyHint[] | undefined {
  if (![...devices.values()].some((device) => nodesOfDevice(device).length > 0)) return undefined
  if (had.length > 0 && had.length !== count) return []
  const [available, must] = had.length > 0 ? [had, []] : [free, left]
  if (available.length + must.length < count) return []
  const isOn = (id: string, mask: NumaMask) => nodesOfDevice(devices.get(id)).some((node) => has(mask, node))
  const masks = masksOf(numaNodes)
  const sized = masks.filter((mask) => [...devices.keys()].filter((id) => isOn(id, mask)).length >= count)
  const least = Math.min(numaNodes.length, ...sized.map(countOf))
  const placed = must.filter((id) => nodesOfDevice(devices.get(id)).length > 0)
  return masks
    .filter((mask) => {
      if (!placed.every((id) => isOn(id, mask))) return false
      return placed.length + available.filter((id) => isOn(id, mask)).length >= count
    })
    .map((affinity) => ({ affinity, preferred: countOf(affinity) === least }))
}

/** Devices on the nodes, those of the node with the fewest first; without nodes to be near to there are none of these. */
export function byAffinity(
  { devices }: { readonly devices: Devices },
  free: readonly string[],
  affinity: NumaMask | undefined,
): { readonly aligned: readonly string[]; readonly others: readonly string[] } {
  if (affinity === undefined) return { aligned: [], others: free }
  const perNode = new Map<number, number>()
  for (const id of free)
    for (const node of nodesOfDevice(devices.get(id))) perNode.set(node, (perNode.get(node) ?? 0) + 1)
  const within = (id: string) => nodesOfDevice(devices.get(id)).filter((node) => has(affinity, node))
  const fewest = (id: string) => Math.min(...within(id).map((node) => (perNode.get(node) ?? 0) * 64 + node))
  const isPlaced = (id: string) => nodesOfDevice(devices.get(id)).length > 0
  const aligned = free.filter((id) => within(id).length > 0).sort((a, b) => fewest(a) - fewest(b))
  const elsewhere = free.filter((id) => within(id).length === 0)
  // Those that are on other nodes are taken before those that are on none.
  return { aligned, others: [...elsewhere.filter(isPlaced), ...elsewhere.filter((id) => !isPlaced(id))] }
}
