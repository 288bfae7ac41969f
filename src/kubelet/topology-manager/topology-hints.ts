/** Hints of topology (KEP-693): on which NUMA nodes together something could be given to a container, and whether that is as few as can be. */
import type { Container, Pod } from '../pod.ts'

/** NUMA nodes, each the bit of its number. */
export type NumaMask = number

export interface TopologyHint {
  /** Undefined: anywhere. */
  readonly affinity: NumaMask | undefined
  readonly preferred: boolean
}

/** By resource. Without an entry, or undefined: there is no preference; empty: it cannot be had. */
export type TopologyHints = ReadonlyMap<string, readonly TopologyHint[] | undefined>

/** What gives containers something that has a place on the machine. */
export interface HintProvider {
  hints(pod: Pod, container: Container): TopologyHints
  /** Of all that its containers ask for. */
  podHints(pod: Pod): TopologyHints
  /** On the given nodes, as far as they have enough. @throws Error why the pod cannot be admitted */
  allocate(pod: Pod, container: Container, affinity: NumaMask | undefined): void | Promise<void>
}

export const NO_HINTS: TopologyHints = new Map()

/** A pod is refused for this reason, in place of the usual one. */
export class AdmissionError extends Error {
  readonly reason: string
  constructor(reason: string, message: string) {
    super(message)
    this.name = 'AdmissionError'
    this.reason = reason
  }
}

export const maskOf = (nodes: Iterable<number>): NumaMask => [...nodes].reduce((mask, node) => mask | (1 << node), 0)
export const has = (mask: NumaMask, node: number): boolean => (mask & (1 << node)) !== 0

export function nodesOf(mask: NumaMask): readonly number[] {
  const nodes: number[] = []
  for (let node = 0; node < 31; node++) if (has(mask, node)) nodes.push(node)
  return nodes
}

export function countOf(mask: NumaMask): number {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}

/** All combinations of the nodes but none of them: smaller ones first. */
export function masksOf(nodes: readonly number[]): readonly NumaMask[] {
  let masks: NumaMask[] = [0]
  for (const node of nodes) masks = [...masks, ...masks.map((mask) => mask | (1 << node))]
  return masks.filter((mask) => mask !== 0).sort((a, b) => countOf(a) - countOf(b) || a - b)
}
