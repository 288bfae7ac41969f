/** What was found of nodes, each as long as nothing of it changes: what is looked up hundreds of times for a pod, so by slots and not in a Map. */
import type { NodeInfo } from './node-info.ts'

export interface NodeMemory<T> {
  /** Undefined when nothing was found yet, or the node has changed since. */
  get(node: NodeInfo): T | undefined
  set(node: NodeInfo, value: T): void
}

export function createNodeMemory<T>(): NodeMemory<T> {
  /** Not the nodes themselves, which would be held here after they are gone. */
  const serials: number[] = []
  const generations: number[] = []
  const values: (T | undefined)[] = []
  return {
    get(node) {
      const { slot } = node
      return serials[slot] === node.serial && generations[slot] === node.generation ? values[slot] : undefined
    },
    set(node, value) {
      const { slot } = node
      // Without holes, which would make them slow.
      while (serials.length <= slot) {
        serials.push(-1)
        generations.push(0)
        values.push(undefined)
      }
      serials[slot] = node.serial
      generations[slot] = node.generation
      values[slot] = value
    },
  }
}
