/**
 * Nominations: pods for which others have been told to go, each with the node where it will find room. Until they are bound, pods of no
 * higher priority see them there already, so that what was made free for one is not taken by another.
 */
import { type ClusterNodes, type NodeInfo, putOn, takeOff } from './node-info.ts'
import type { PodInfo } from './pod-info.ts'

export interface Nominations {
  set(info: PodInfo, nodeName: string): void
  remove(key: string): void
  nodeOf(key: string): string | undefined
  /** Those of lower priority than `info` that are nominated for a node. */
  below(info: PodInfo, nodeName: string): readonly PodInfo[]
  /** Looks with the nominated pods that `info` may not push aside on their nodes; `touched`: those nodes. */
  seenBy<T>(info: PodInfo, look: (touched: ReadonlySet<NodeInfo>) => T): T
}

export function createNominations(cluster: Pick<ClusterNodes, 'nodes'>): Nominations {
  const nominated = new Map<string, { readonly info: PodInfo; readonly nodeName: string }>()
  return {
    set: (info, nodeName) => void nominated.set(info.key, { info, nodeName }),
    remove: (key) => void nominated.delete(key),
    nodeOf: (key) => nominated.get(key)?.nodeName,
    below: ({ key, priority }, nodeName) =>
      [...nominated.values()]
        .filter((one) => one.nodeName === nodeName && one.info.priority < priority && one.info.key !== key)
        .map((one) => one.info),
    seenBy(info, look) {
      const added: (readonly [NodeInfo, PodInfo])[] = []
      for (const { info: other, nodeName } of nominated.values()) {
        const node = cluster.nodes.get(nodeName)
        if (node === undefined || other.key === info.key || other.priority < info.priority) continue
        if (!node.pods.has(other.key)) added.push([node, other])
      }
      for (const [node, other] of added) putOn(node, other)
      try {
        return look(new Set(added.map(([node]) => node)))
      } finally {
        for (const [node, other] of added) takeOff(node, other)
      }
    },
  }
}
