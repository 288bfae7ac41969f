/** The actual state of the world: which volumes are attached to which nodes, as far as that is known. */
import { getOrInsertComputed } from '../../base/get-or-insert.ts'

export interface Attachment {
  /** Uncertain: it may be attached, and is detached before it is forgotten. */
  state: 'attached' | 'uncertain'
  /** By the kubelet's word; taken for true until it has said something. */
  isMounted: boolean
  /** Since when it is not wanted. */
  detachSinceMs: number | undefined
  /** Told in Node.status.volumesAttached. */
  isReported: boolean
  devicePath: string
}

export interface ActualState {
  /** By node. */
  nodesOf(uniqueName: string): ReadonlyMap<string, Attachment>
  get(uniqueName: string, nodeName: string): Attachment | undefined
  attached(uniqueName: string, nodeName: string, devicePath: string): void
  /** One that is known to be attached stays so. */
  uncertain(uniqueName: string, nodeName: string): void
  detached(uniqueName: string, nodeName: string): void
  /** The names of that node's volumes that this changes. */
  mounted(nodeName: string, inUse: ReadonlySet<string>): readonly string[]
  /** Everything on that node. */
  on(nodeName: string): ReadonlyMap<string, Attachment>
}

const NONE: ReadonlyMap<string, Attachment> = new Map()

export function createActualState(): ActualState {
  const byVolume = new Map<string, Map<string, Attachment>>()
  const byNode = new Map<string, Map<string, Attachment>>()

  function entry(uniqueName: string, nodeName: string): Attachment {
    const nodes = getOrInsertComputed(byVolume, uniqueName, () => new Map<string, Attachment>())
    return getOrInsertComputed(nodes, nodeName, () => {
      const fresh: Attachment = {
        state: 'uncertain',
        isMounted: true,
        detachSinceMs: undefined,
        isReported: false,
        devicePath: '',
      }
      getOrInsertComputed(byNode, nodeName, () => new Map<string, Attachment>()).set(uniqueName, fresh)
      return fresh
    })
  }
  const forget = (map: Map<string, Map<string, Attachment>>, outer: string, inner: string) => {
    map.get(outer)?.delete(inner)
    if (map.get(outer)?.size === 0) map.delete(outer)
  }

  return {
    nodesOf: (uniqueName) => byVolume.get(uniqueName) ?? NONE,
    get: (uniqueName, nodeName) => byVolume.get(uniqueName)?.get(nodeName),
    attached(uniqueName, nodeName, devicePath) {
      const attachment = entry(uniqueName, nodeName)
      attachment.state = 'attached'
      attachment.isReported = true
      attachment.devicePath = devicePath
    },
    uncertain(uniqueName, nodeName) {
      entry(uniqueName, nodeName)
    },
    detached(uniqueName, nodeName) {
      forget(byVolume, uniqueName, nodeName)
      forget(byNode, nodeName, uniqueName)
    },
    mounted(nodeName, inUse) {
      const changed: string[] = []
      for (const [uniqueName, attachment] of byNode.get(nodeName) ?? NONE) {
        const isMounted = inUse.has(uniqueName)
        if (attachment.isMounted !== isMounted) changed.push(uniqueName)
        attachment.isMounted = isMounted
      }
      return changed
    },
    on: (nodeName) => byNode.get(nodeName) ?? NONE,
  }
}
