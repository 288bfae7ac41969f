/** What was found of nodes, each as long as nothing of it changes: what is looked up hundreds of times for a pod, so by slots and not in a Map. */
import type { NodeInfo } from './node-info.ts'

export interface NodeMemory<T> {
  /** Undefined when nothing was found yet, or the node has changed since. */
  get(node: NodeInfo): T | undefined
  set(node: NodeInfo, value: T): void
}

export function createNodeMemory<T>(): NodeMemory<T> {
  const nodes: (NodeInfo | undefined)[] = []
  const generations: number[] = []
  const values: (T | undefined)[] = []
  return {
    get(node) {
      const { slot } = node
      return nodes[slot] === node && generations[slot] === node.generation ? values[slot] : undefined
    },
    set(node, value) {
      const { slot } = node
      // Without holes, which would make them slow.
      while (nodes.length <= slot) {
        nodes.push(undefined)
        generations.push(0)
        values.push(value)
      }
      nodes[slot] = node
      generations[slot] = node.generation
      values[slot] = value
    },
  }
}
