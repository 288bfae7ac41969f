/**
 * The static policy of the CPU manager (KEP-3570): containers that ask for whole CPUs in Guaranteed pods have these for themselves; all others
 * share what is left, the reserved CPUs with it unless these are kept strictly.
 */

import { type PatientWrite, startManager } from '../checkpoint-file.ts'
import { type Container, initContainersOf, isSidecar, type Pod, specOf, uidOf } from '../pod.ts'
import {
  AdmissionError,
  countOf,
  type HintProvider,
  has,
  masksOf,
  NO_HINTS,
  type NumaMask,
  nodesOf,
  type TopologyHint,
  type TopologyHints,
} from '../topology-manager/topology-hints.ts'
import type { CpuEntries, CpuState, CpuStateFile } from './cpu-manager-state.ts'
import { type CpuSet, cpuDifference, cpuIntersection, cpuSetText, cpuUnion, isSubset, sameSet } from './cpu-set.ts'
import type { CpuTopology } from './cpu-topology.ts'
import { takeDistributed } from './distributed-cpus.ts'
import { exclusiveCpus, highestSum } from './exclusive-cpus.ts'
import { takePacked } from './packed-cpus.ts'
import type { CpuPolicyOptions } from './policy-options.ts'

export interface StaticPolicy extends HintProvider {
  /** What the containers that have none for themselves run on. */
  readonly shared: CpuSet
  readonly entries: CpuEntries
  /** What may be given to containers for themselves, now or after others have ended. */
  readonly allocatable: CpuSet
  allocate(pod: Pod, container: Container, affinity: NumaMask | undefined): void
  forget(uid: string): void
}

export interface StaticPolicyOptions {
  readonly topology: CpuTopology
  readonly options: CpuPolicyOptions
  /** Kept for the system: how many CPUs, or which. */
  readonly reserved: { readonly cpus: CpuSet } | { readonly count: number }
  readonly file: CpuStateFile
  readonly patientWrite: PatientWrite
}

const CPU = 'cpu'

/** @throws Error where the options do not fit the machine, or the file tells of another one */
export function createStaticPolicy(given: StaticPolicyOptions): StaticPolicy {
  const { topology, options, reserved: wanted, file, patientWrite } = given
  const incompatible = (one: string, other: string) =>
    new Error(
      `failed to run Kubelet: new static policy error: static policy options ${one} and ${other} can not be used at the same time`,
    )
  const reservedCpus = 'cpus' in wanted ? wanted.cpus : []
  if (!isSubset(reservedCpus, topology.cpus))
    throw new Error(
      `failed to run Kubelet: reserved-cpus: ${cpuSetText(reservedCpus)} is not a subset of online-cpus: ${cpuSetText(topology.cpus)}`,
    )
  if (options.distributesOverNuma && options.distributesOverCores)
    throw incompatible('distribute-cpus-across-numa', 'distribute-cpus-across-cores')
  if (options.prefersUncoreCache && options.distributesOverCores)
    throw incompatible('prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores')
  if (options.prefersUncoreCache && options.distributesOverNuma)
    throw incompatible('prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa')
  if (options.alignsBySocket && topology.sockets.length > topology.numaNodes.length)
    throw new Error(
      'Align by socket is not compatible with hardware where number of sockets are more than number of NUMA',
    )
  const { cpusPerCore } = topology
  const reserved = 'cpus' in wanted ? wanted.cpus : take(topology.cpus, wanted.count)
  /** Their siblings too: what is left of these cores is no whole core. */
  const reservedCores = topology.cpusIn(
    'core',
    reserved.map((cpu) => topology.idOf('core', cpu)),
  )
  let state = startManager('cpu', () => checked(file.read() ?? firstState()))
  file.write(state)
  /** Of init containers, by the pod's uid: while plugins are asked for one pod others are restored. */
  const reusable = new Map<string, CpuSet>()

  function firstState(): CpuState {
    return {
      shared: options.strictReservation ? cpuDifference(topology.cpus, reserved) : topology.cpus,
      entries: new Map(),
    }
  }

  function checked(kept: CpuState): CpuState {
    const { shared, entries } = kept
    if (options.strictReservation && cpuIntersection(reserved, shared).length > 0)
      throw new Error(
        `some of strictly reserved cpus: ${JSON.stringify(cpuSetText(cpuIntersection(reserved, shared)))} are present in defaultCpuSet: ${JSON.stringify(cpuSetText(shared))}`,
      )
    if (!options.strictReservation && !isSubset(reserved, shared))
      throw new Error(
        `not all reserved cpus: ${JSON.stringify(cpuSetText(reserved))} are present in defaultCpuSet: ${JSON.stringify(cpuSetText(shared))}`,
      )
    let all = shared
    for (const [uid, containers] of entries)
      for (const [name, cpus] of containers) {
        if (cpuIntersection(cpus, shared).length > 0)
          throw new Error(
            `pod: ${uid}, container: ${name} cpuset: ${JSON.stringify(cpuSetText(cpus))} overlaps with default cpuset ${JSON.stringify(cpuSetText(shared))}`,
          )
        all = cpuUnion(all, cpus)
      }
    const known = options.strictReservation ? cpuUnion(all, reserved) : all
    if (!sameSet(known, topology.cpus))
      throw new Error(
        `current set of available CPUs ${JSON.stringify(cpuSetText(topology.cpus))} doesn't match with CPUs in state ${JSON.stringify(cpuSetText(all))}`,
      )
    return kept
  }

  function take(available: CpuSet, count: number): CpuSet {
    const packing = {
      spreadsOverCores: options.distributesOverCores,
      prefersUncoreCache: options.prefersUncoreCache,
    }
    if (!options.distributesOverNuma) return takePacked(topology, available, count, packing)
    return takeDistributed(topology, available, count, options.fullPhysicalCpusOnly ? cpusPerCore : 1, packing)
  }

  function keep(next: CpuState): void {
    state = next
    file.write(state)
  }

  const givenTo = (uid: string, container: string) => state.entries.get(uid)?.get(container)
  const availableCpus = () => cpuDifference(state.shared, reserved)
  const reusableOf = (uid: string): CpuSet => reusable.get(uid) ?? []

  /** What an init container that ends before the others has is theirs too. */
  function remember(pod: Pod, container: Container, cpus: CpuSet): void {
    const uid = uidOf(pod)
    const leaves = initContainersOf(pod).some(({ name }) => name === container.name) && !isSidecar(container)
    const before = reusableOf(uid)
    reusable.set(uid, leaves ? cpuUnion(before, cpus) : cpuDifference(before, cpus))
  }

  function alignedTo(affinity: NumaMask, available: CpuSet): CpuSet {
    if (!options.alignsBySocket) return cpuIntersection(available, topology.cpusIn('numaNode', nodesOf(affinity)))
    const sockets = topology.cpusIn('numaNode', nodesOf(affinity)).map((cpu) => topology.idOf('socket', cpu))
    return cpuIntersection(available, topology.cpusIn('socket', sockets))
  }

  function checkCores(uid: string, count: number): void {
    if (count % cpusPerCore !== 0)
      throw new AdmissionError(
        'SMTAlignmentError',
        `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${cpusPerCore}`,
      )
    const free = cpuDifference(state.shared, reservedCores).length + reusableOf(uid).length
    if (count > free)
      throw new AdmissionError(
        'SMTAlignmentError',
        `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${free}, requested CPUs = ${count}, CPUs per core = ${cpusPerCore}`,
      )
  }

  function hintsFor(available: CpuSet, mustHave: CpuSet, count: number): readonly TopologyHint[] {
    const numaOf = (cpu: number) => topology.idOf('numaNode', cpu)
    const within = (cpus: CpuSet, mask: NumaMask) => cpus.filter((cpu) => has(mask, numaOf(cpu))).length
    const masks = masksOf(topology.numaNodes)
    const least = Math.min(
      topology.numaNodes.length,
      ...masks.filter((mask) => within(topology.cpus, mask) >= count).map(countOf),
    )
    return masks
      .filter((mask) => {
        const kept = within(mustHave, mask)
        return kept === mustHave.length && kept + within(available, mask) >= count
      })
      .map((affinity) => ({
        affinity,
        preferred: options.alignsBySocket ? isAlignedToSockets(affinity, least) : countOf(affinity) === least,
      }))
  }

  /** Of as few sockets as the fewest NUMA nodes that have enough are of. */
  function isAlignedToSockets(affinity: NumaMask, leastNodes: number): boolean {
    const nodesPerSocket = topology.numaNodes.length / topology.sockets.length
    const sockets = new Set(topology.cpusIn('numaNode', nodesOf(affinity)).map((cpu) => topology.idOf('socket', cpu)))
    return sockets.size === Math.max(1, Math.ceil(leastNodes / nodesPerSocket))
  }

  function hintsOf(uid: string, count: number, given: CpuSet): TopologyHints {
    if (count === 0) return NO_HINTS
    if (given.length === 0) return new Map([[CPU, hintsFor(availableCpus(), reusableOf(uid), count)]])
    return new Map([[CPU, given.length === count ? hintsFor(given, [], count) : []]])
  }

  return {
    get shared() {
      return state.shared
    },
    get entries() {
      return state.entries
    },
    allocatable: cpuDifference(topology.cpus, reserved),
    hints: (pod, container) =>
      hintsOf(uidOf(pod), exclusiveCpus(pod, container), givenTo(uidOf(pod), container.name) ?? []),
    podHints(pod) {
      const all = [...initContainersOf(pod), ...specOf(pod).containers]
      const given = cpuUnion(...all.map(({ name }) => givenTo(uidOf(pod), name) ?? []))
      return hintsOf(
        uidOf(pod),
        highestSum(pod, (container) => exclusiveCpus(pod, container)),
        given,
      )
    },
    allocate(pod, container, affinity) {
      const uid = uidOf(pod)
      const count = exclusiveCpus(pod, container)
      if (count === 0) return
      const before = givenTo(uid, container.name)
      if (before !== undefined) return remember(pod, container, before)
      if (options.fullPhysicalCpusOnly) checkCores(uid, count)
      const available = cpuUnion(availableCpus(), reusableOf(uid))
      const aligned = affinity === undefined ? [] : alignedTo(affinity, available)
      const near = take(aligned, Math.min(aligned.length, count))
      const cpus = cpuUnion(near, take(cpuDifference(available, near), count - near.length))
      const own = new Map([...(state.entries.get(uid) ?? []), [container.name, cpus] as const])
      keep({ shared: cpuDifference(state.shared, cpus), entries: new Map([...state.entries, [uid, own]]) })
      remember(pod, container, cpus)
    },
    forget(uid) {
      reusable.delete(uid)
      const own = state.entries.get(uid)
      if (own === undefined) return
      const entries = new Map(state.entries)
      entries.delete(uid)
      state = { shared: cpuUnion(state.shared, ...own.values()), entries }
      patientWrite('the state of the CPU manager', () => file.write(state))
    },
  }
}
