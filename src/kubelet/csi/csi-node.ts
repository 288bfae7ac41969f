/** What a node's CSI drivers come to in the API: its CSINode, and the annotation and labels of its Node. Pure functions. */
import type { CSINode, CSINodeDriver, Node } from '../../api/generated/types.ts'
import type { JsonObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'

export interface DriverInfo {
  readonly name: string
  /** By which the storage knows this node. */
  readonly nodeID: string
  /** 0: as many as there are. */
  readonly maxVolumes: number
  readonly topology: Readonly<Record<string, string>>
}

export const NODE_ID = 'csi.volume.kubernetes.io/nodeid'

/** Undefined: it says so already. */
export function withDriver(node: CSINode, { name, nodeID, maxVolumes, topology }: DriverInfo): CSINode | undefined {
  const keys = Object.keys(topology).sort()
  const own = {
    name,
    nodeID,
    topologyKeys: keys.length === 0 ? null : keys,
    ...(maxVolumes > 0 ? { allocatable: { count: Math.min(maxVolumes, 2 ** 31 - 1) } } : {}),
  } as CSINodeDriver
  const before = node.spec.drivers ?? []
  const known = before.find((driver) => driver.name === name)
  if (known !== undefined && sameJson(known, own)) return undefined
  return { ...node, spec: { ...node.spec, drivers: [...before.filter((driver) => driver.name !== name), own] } }
}

export function withoutDriver(node: CSINode, name: string): CSINode | undefined {
  const before = node.spec.drivers ?? []
  const drivers = before.filter((driver) => driver.name !== name)
  return drivers.length === before.length ? undefined : { ...node, spec: { ...node.spec, drivers } }
}

/** Undefined: the Node says so already. @throws Error where it stands elsewhere in the topology by its own labels */
export function nodePatch(node: Node, name: string, info: DriverInfo | undefined): JsonObject | undefined {
  const { annotations = {}, labels = {} } = node.metadata
  const { [name]: _, ...others } = JSON.parse(annotations[NODE_ID] ?? '{}') as Record<string, string>
  const ids = info === undefined ? others : { ...others, [name]: info.nodeID }
  const text = Object.keys(ids).length === 0 ? null : JSON.stringify(ids)
  const added = Object.entries(info?.topology ?? {}).filter(([key, value]) => labels[key] !== value)
  for (const [key] of added)
    if (labels[key] !== undefined)
      throw new Error(
        `detected topology value collision: driver reported ${JSON.stringify(key)}:${JSON.stringify(info?.topology[key])} but existing label is ${JSON.stringify(key)}:${JSON.stringify(labels[key])}`,
      )
  if ((annotations[NODE_ID] ?? null) === text && added.length === 0) return undefined
  return {
    metadata: {
      annotations: { [NODE_ID]: text },
      ...(added.length === 0 ? {} : { labels: Object.fromEntries(added) }),
    },
  }
}
