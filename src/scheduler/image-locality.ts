/**
 * Images that nodes have already (plugin ImageLocality): the more of a pod's images by size, the better, and the more nodes have an
 * image the more it counts, so that one node does not draw all pods.
 */
import type { Container, Node, Pod } from '../api/generated/types.ts'
import type { NodeInfo } from './node-info.ts'

const MB = 1024 * 1024
const LEAST_BYTES = 23 * MB
const MOST_BYTES_EACH = 1000 * MB

/** Which nodes have which images. */
export interface ImageIndex {
  set(node: Node): void
  remove(nodeName: string): void
  /** Undefined: no node has told of any. */
  scorer(pod: Pod, nodeCount: number): ((node: NodeInfo) => number) | undefined
}

export function createImageIndex(): ImageIndex {
  /** Bytes by name, of each node. */
  const byNode = new Map<string, ReadonlyMap<string, number>>()
  /** How many nodes have it. */
  const holders = new Map<string, number>()

  const count = (images: ReadonlyMap<string, number> | undefined, by: 1 | -1) => {
    for (const name of images?.keys() ?? []) {
      const now = (holders.get(name) ?? 0) + by
      if (now === 0) holders.delete(name)
      else holders.set(name, now)
    }
  }
  const remove = (nodeName: string) => {
    count(byNode.get(nodeName), -1)
    byNode.delete(nodeName)
  }

  return {
    set(node) {
      const images = node.status?.images ?? []
      const nodeName = node.metadata.name ?? ''
      if (images.length === 0 && !byNode.has(nodeName)) return
      remove(nodeName)
      if (images.length === 0) return
      const sizes = new Map(
        images.flatMap(({ names = [], sizeBytes = 0 }) => names.map((name) => [name, Number(sizeBytes)])),
      )
      byNode.set(nodeName, sizes)
      count(sizes, 1)
    },
    remove,
    scorer(pod, nodeCount) {
      if (byNode.size === 0) return undefined
      const wanted = imagesOf(pod)
      return ({ name }) => {
        const sizes = byNode.get(name)
        if (sizes === undefined) return 0
        let bytes = 0
        for (const image of wanted) {
          const size = sizes.get(image)
          if (size !== undefined) bytes += Math.trunc((size * (holders.get(image) ?? 0)) / nodeCount)
        }
        return scoreOf(bytes, wanted.length)
      }
    },
  }
}

function scoreOf(bytes: number, images: number): number {
  const most = MOST_BYTES_EACH * images
  const within = Math.max(LEAST_BYTES, Math.min(bytes, most))
  return Math.trunc((100 * (within - LEAST_BYTES)) / (most - LEAST_BYTES))
}

function imagesOf({ spec }: Pod): readonly string[] {
  const named = (list: readonly Container[] | undefined) => (list ?? []).map(({ image = '' }) => withTag(image))
  const volumes = (spec?.volumes ?? []).flatMap(({ image }) =>
    image === undefined ? [] : [withTag(image.reference ?? '')],
  )
  return [...named(spec?.initContainers), ...named(spec?.containers), ...volumes]
}

const withTag = (image: string): string => (image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`)
