/**
 * The memory manager (KEP-1769): on which NUMA nodes the memory and huge pages of containers of Guaranteed pods are. It is one of the topology
 * manager's providers, and completes what the runtime is asked for when a container begins.
 */
import { qosClass } from '../../api/objects/qos.ts'
import { type PatientWrite, startManager } from '../checkpoint-file.ts'
import { hasPodLevelResources, highestSum } from '../cpu-manager/exclusive-cpus.ts'
import type { NumaNode } from '../machine/machine-topology.ts'
import { type Container, initContainersOf, isSidecar, type Pod, specOf, uidOf } from '../pod.ts'
import {
  type HintProvider,
  maskOf,
  NO_HINTS,
  type NumaMask,
  nodesOf,
  type TopologyHint,
  type TopologyHints,
} from '../topology-manager/topology-hints.ts'
import {
  emptyMachine,
  memoryIn,
  type ReservedMemory,
  sameMachine,
  sumOf,
  withBlock,
  withoutBlock,
} from './machine-memory.ts'
import { bestHint, mayGive, memoryHints, type WantedMemory } from './memory-hints.ts'
import { type MachineMemory, type MemoryBlock, type MemoryState, memoryStateFile } from './memory-state.ts'
import { checkReserved } from './reserved-memory.ts'

export interface MemoryManager extends HintProvider {
  /** What the container has been given; empty where it may have memory of any node. */
  blocksOf(podUid: string, container: string): readonly MemoryBlock[]
  /** What could be given of the machine's memory, in bytes: by NUMA node and resource. */
  readonly allocatable: readonly MemoryBlock[]
  /** As the runtime is told; undefined: nothing. */
  memsOf(podUid: string, container: string): string | undefined
  /** The pod has ended. */
  forget(uid: string): void
  /** What pods that are no longer known have is free. */
  forgetUnknown(isKnown: (uid: string) => boolean): void
}

export interface MemoryManagerSettings {
  readonly policy: 'None' | 'Static'
  /** reservedMemory */
  readonly reserved: ReservedMemory
}

/**
 * `withheld`: what pods are not given of the node's memory, by resource: all that is reserved has to be as much. `file`: memory_manager_state.
 *
 * @throws Error in a kubelet's words where the settings do not fit the machine or what is kept of it
 */
export function createMemoryManager(
  { policy, reserved }: MemoryManagerSettings,
  withheld: Readonly<Record<string, string>>,
  nodes: readonly NumaNode[],
  file: string,
  patientWrite: PatientWrite,
): MemoryManager {
  const kept = memoryStateFile(file, policy)
  if (policy === 'None') {
    if (startManager('memory', kept.read) === undefined) kept.write({ machine: new Map(), entries: new Map() })
    return noneManager
  }
  checkReserved(reserved, withheld, nodes)
  const empty = emptyMachine(nodes, reserved)
  let state = startManager('memory', () => checked(empty, kept.read() ?? { machine: empty, entries: new Map() }))
  kept.write(state)
  /** Of init containers, by the pod's uid, then by nodes and resource, in bytes: while plugins are asked for one pod others are restored. */
  const reusable = new Map<string, ReadonlyMap<string, number>>()

  const keyOf = (nodesWithIt: NumaMask, type: string) => `${nodesWithIt}/${type}`
  const leftBy = (uid: string, mask: NumaMask, type: string) => reusable.get(uid)?.get(keyOf(mask, type)) ?? 0
  const blocksOf = (uid: string, container: string) => state.entries.get(uid)?.get(container) ?? []

  function keep(next: MemoryState): void {
    state = next
    kept.write(state)
  }

  function remember(pod: Pod, container: Container, blocks: readonly MemoryBlock[]): void {
    const uid = uidOf(pod)
    const sizes = new Map(reusable.get(uid))
    for (const { numaAffinity, type, size } of blocks) {
      const key = keyOf(maskOf(numaAffinity), type)
      const before = sizes.get(key) ?? 0
      sizes.set(key, leaves(pod, container) ? Math.max(before, size) : Math.max(0, before - size))
    }
    reusable.set(uid, sizes)
  }

  const hintsOf = (uid: string, wanted: WantedMemory, machine: MachineMemory = state.machine) =>
    memoryHints(machine, wanted, (mask, type) => leftBy(uid, mask, type))

  /** @throws Error */
  function nodesFor(uid: string, wanted: WantedMemory, affinity: NumaMask | undefined): NumaMask {
    const anywhere = () => bestHint(hintsOf(uid, wanted).get('memory') ?? [])
    if (affinity === undefined) {
      const found = anywhere()
      if (found === undefined)
        throw new Error(
          '[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available',
        )
      if (!found.preferred) throw new Error('[memorymanager] failed to find the default preferred hint')
      return found.affinity ?? 0
    }
    return affinity
  }

  return {
    blocksOf,
    get allocatable() {
      return [...empty].flatMap(([node, { memoryMap }]) =>
        Object.entries(memoryMap)
          .filter(([, { allocatable }]) => allocatable > 0)
          .map(([type, { allocatable }]) => ({ numaAffinity: [node], type, size: allocatable })),
      )
    },
    memsOf(uid, container) {
      const own = [...new Set(blocksOf(uid, container).flatMap(({ numaAffinity }) => numaAffinity))]
      return own.length === 0 ? undefined : own.sort((a, b) => a - b).join(',')
    },
    hints(pod, container) {
      if (!isPinned(pod)) return NO_HINTS
      return (
        givenHints(blocksOf(uidOf(pod), container.name), wantedBy(container)) ??
        hintsOf(uidOf(pod), wantedBy(container))
      )
    },
    podHints(pod) {
      if (!isPinned(pod)) return NO_HINTS
      const wanted = wantedByPod(pod)
      const [first] = [...initContainersOf(pod), ...specOf(pod).containers].map(({ name }) =>
        blocksOf(uidOf(pod), name),
      )
      return givenHints(first ?? [], wanted) ?? hintsOf(uidOf(pod), wanted)
    },
    allocate(pod, container, affinity) {
      if (!isPinned(pod)) return
      const uid = uidOf(pod)
      const before = blocksOf(uid, container.name)
      if (before.length > 0) return remember(pod, container, before)
      const wanted = wantedBy(container)
      const mask = extended(uid, wanted, nodesFor(uid, wanted, affinity))
      const numaAffinity = nodesOf(mask)
      if (!mayGive(state.machine, numaAffinity))
        throw new Error('[memorymanager] preferred hint violates NUMA node allocation')
      let machine = state.machine
      const blocks = [...wanted].map(([type, size]): MemoryBlock => {
        const block = { numaAffinity, type, size }
        machine = withBlock(machine, block, Math.max(0, size - leftBy(uid, mask, type)))
        return block
      })
      remember(pod, container, blocks)
      const own = new Map([...(state.entries.get(uid) ?? []), [container.name, blocks] as const])
      keep({ machine, entries: new Map([...state.entries, [uid, withoutReused(pod, container, own, blocks)]]) })
    },
    forget,
    forgetUnknown(isKnown) {
      for (const uid of [...state.entries.keys()]) if (!isKnown(uid)) forget(uid)
    },
  }

  function forget(uid: string): void {
    reusable.delete(uid)
    const own = state.entries.get(uid)
    if (own === undefined) return
    const entries = new Map(state.entries)
    entries.delete(uid)
    state = { machine: [...own.values()].flat().reduce(withoutBlock, state.machine), entries }
    patientWrite('the state of the memory manager', () => kept.write(state))
  }

  /** With further nodes where these do not have enough. @throws Error */
  function extended(uid: string, wanted: WantedMemory, mask: NumaMask): NumaMask {
    const has = ([type, size]: readonly [string, number]) =>
      sumOf(state.machine, nodesOf(mask), type, 'free') + leftBy(uid, mask, type) >= size
    if ([...wanted].every(has)) return mask
    const wider = (hintsOf(uid, wanted).get('memory') ?? []).filter(({ affinity = 0 }) => (affinity & mask) === mask)
    const found = bestHint(wider)
    if (found === undefined)
      throw new Error('[memorymanager] failed to find NUMA nodes to extend the current topology hint')
    if (!found.preferred) throw new Error('[memorymanager] failed to find the extended preferred hint')
    return found.affinity ?? 0
  }
}

/** An init container that ends before the others. */
const leaves = (pod: Pod, container: Container): boolean =>
  !isSidecar(container) && initContainersOf(pod).some(({ name }) => name === container.name)

const isPinned = (pod: Pod): boolean => qosClass(specOf(pod)) === 'Guaranteed' && !hasPodLevelResources(pod)

const wantedBy = ({ resources }: Container): WantedMemory => memoryIn(resources?.requests ?? resources?.limits ?? {})

function wantedByPod(pod: Pod): WantedMemory {
  const all = [...initContainersOf(pod), ...specOf(pod).containers]
  const types = new Set(all.flatMap((container) => [...wantedBy(container).keys()]))
  return new Map([...types].map((type) => [type, highestSum(pod, (one) => wantedBy(one).get(type) ?? 0)]))
}

/** Of what the container has already; undefined: nothing. */
function givenHints(blocks: readonly MemoryBlock[], wanted: WantedMemory): TopologyHints | undefined {
  if (blocks.length === 0) return undefined
  if (blocks.length !== wanted.size) return NO_HINTS
  return new Map(
    blocks.map(({ type, numaAffinity }): [string, readonly TopologyHint[]] => [
      type,
      [{ affinity: maskOf(numaAffinity), preferred: true }],
    ]),
  )
}

/** What the container takes over from init containers before it is no longer counted as theirs. */
function withoutReused(
  pod: Pod,
  container: Container,
  own: ReadonlyMap<string, readonly MemoryBlock[]>,
  blocks: readonly MemoryBlock[],
): ReadonlyMap<string, readonly MemoryBlock[]> {
  const left = new Map(own)
  for (const { numaAffinity, type, size } of blocks) {
    let open = size
    for (const init of initContainersOf(pod)) {
      if (init.name === container.name) break
      if (isSidecar(init)) continue
      const changed = (left.get(init.name) ?? []).map((block) => {
        if (block.type !== type || maskOf(block.numaAffinity) !== maskOf(numaAffinity)) return block
        const taken = Math.min(open, block.size)
        open -= taken
        return { ...block, size: block.size - taken }
      })
      if (changed.length > 0) left.set(init.name, changed)
    }
  }
  return left
}

/** @throws Error where it is of another machine, or was changed */
function checked(empty: MachineMemory, kept: MemoryState): MemoryState {
  if (!sameMachine(expectedMachine(empty, kept), kept.machine))
    throw new Error('[memorymanager] the expected machine state is different from the real one')
  return kept
}

/** What is free once all that is told of is given out. */
function expectedMachine(empty: MachineMemory, { entries }: MemoryState): MachineMemory {
  return [...entries.values()]
    .flatMap((containers) => [...containers.values()].flat())
    .reduce((machine, block) => withBlock(machine, block, block.size), empty)
}

const noneManager: MemoryManager = {
  hints: () => NO_HINTS,
  podHints: () => NO_HINTS,
  allocate() {},
  blocksOf: () => [],
  allocatable: [],
  memsOf: () => undefined,
  forget() {},
  forgetUnknown() {},
}
