/**
 * On which NUMA nodes a container's memory could be. Nodes from which memory is given together give none to others alone, and a node that gives
 * some alone gives none together with others.
 */
import { countOf, masksOf, type NumaMask, nodesOf, type TopologyHint } from '../topology-manager/topology-hints.ts'
import { sumOf } from './machine-memory.ts'
import type { MachineMemory } from './memory-state.ts'

/** Bytes, by resource. */
export type WantedMemory = ReadonlyMap<string, number>

/** `reusable`: of what the pod's init containers leave on just these nodes, in bytes. By resource; all have the same. */
export function memoryHints(
  machine: MachineMemory,
  wanted: WantedMemory,
  reusable: (nodes: NumaMask, type: string) => number,
): ReadonlyMap<string, readonly TopologyHint[]> {
  const isEnough = (mask: NumaMask, what: 'free' | 'allocatable', more: (type: string) => number) =>
    [...wanted].every(([type, size]) => sumOf(machine, nodesOf(mask), type, what) + more(type) >= size)
  const masks = masksOf([...machine.keys()]).filter((mask) => isEnough(mask, 'allocatable', () => 0))
  const least = Math.min(machine.size, ...masks.map(countOf))
  const hints = masks
    .filter((mask) => mayGive(machine, nodesOf(mask)) && isEnough(mask, 'free', (type) => reusable(mask, type)))
    .map((affinity) => ({ affinity, preferred: countOf(affinity) === least }))
  // Where there is none the manager has no preference, and says what is lacking when it is to give.
  return new Map(hints.length === 0 ? [] : [...wanted.keys()].map((type) => [type, hints]))
}

/** Together, or the one alone. */
export function mayGive(machine: MachineMemory, nodes: readonly number[]): boolean {
  if (nodes.length === 1) return (machine.get(nodes[0] ?? -1)?.cells.length ?? 0) <= 1
  return nodes.every((node) => {
    const { numberOfAssignments = 0, cells = [] } = machine.get(node) ?? {}
    if (numberOfAssignments === 0) return true
    return cells.length === nodes.length && cells.every((cell) => nodes.includes(cell))
  })
}

/** The preferred one of the fewest and lowest nodes, else any of the fewest. */
export function bestHint(hints: readonly TopologyHint[]): TopologyHint | undefined {
  let best: TopologyHint | undefined
  for (const hint of hints) {
    if (best === undefined || (hint.preferred && !best.preferred)) best = hint
    else if (hint.preferred === best.preferred && isNarrower(hint, best)) best = hint
  }
  return best
}

function isNarrower({ affinity: one = 0 }: TopologyHint, { affinity: other = 0 }: TopologyHint): boolean {
  const [own, others] = [countOf(one), countOf(other)]
  return own === others ? one < other : own < others
}
