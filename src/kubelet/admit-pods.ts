/**
 * The node takes pods or refuses them: its managers give their containers CPUs, memory and devices or say why not, the rules of admission are
 * asked, with what it has left; a critical pod may have others end for it first.
 */
import type { Node } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { isCritical } from './eviction/ranking.ts'
import type { Machine } from './machine/machine.ts'
import { isTerminalPhase, type Pod, uidOf } from './pod.ts'
import {
  type AdmissionRefusal,
  type Allocations,
  admissionRefusal,
  appArmorRefusal,
  groupsPolicyRefusal,
  systemRefusal,
} from './pod-admission.ts'
import type { PodManager } from './pod-manager.ts'
import type { PodResizes } from './pod-resize.ts'
import type { Failure } from './pod-status.ts'
import { createPreemption } from './preemption.ts'
import { sysctlRefusal } from './sysctls.ts'
import { createGivenInTurn } from './topology-manager/given-in-turn.ts'

export interface PodAdmission {
  /** The pod is new on the node: it begins, now or later, or is refused. */
  add(pod: Pod): void
  /** The pod is neither begun nor refused yet: others end for it, or plugins are asked for devices. */
  isPending(uid: string): boolean
  /** What the pod had of the node is free for others, which may have waited for it. */
  release(uid: string): void
  /** The pod is not to begin any more, and has nothing of the node. */
  forget(uid: string): void
}

export interface PodAdmissionOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly pods: Pick<PodManager, 'get' | 'list'>
  readonly isStatic: (uid: string) => boolean
  readonly node: () => Node
  readonly allocatable: Readonly<Record<string, string>>
  readonly allocations: Allocations
  readonly resizes: Pick<PodResizes, 'accept' | 'waiting'>
  readonly machine: Pick<Machine, 'managers' | 'devicePlugins' | 'hasAppArmor' | 'knowsStrictGroups'> | undefined
  readonly allowedUnsafeSysctls: readonly string[] | undefined
  /** What refuses any pod, or one of its class, as long as the node is in some state. */
  readonly stateRefusal: (pod: Pod) => AdmissionRefusal | undefined
  readonly start: (pod: Pod) => void
  /** A waiting pod may be resized now. */
  readonly sync: (pod: Pod) => void
  readonly refused: (pod: Pod, refusal: AdmissionRefusal) => void
  /** Ends a pod for a critical one. */
  readonly preempt: (pod: Pod, failure: Failure, lack: string) => void
  readonly hasEnded: (uid: string) => boolean
}

export function createPodAdmission(options: PodAdmissionOptions): PodAdmission {
  const { clock, signal, pods, isStatic, allocatable, allocations, resizes, machine, start, hasEnded } = options
  const managers = machine?.managers

  const inTurn = createGivenInTurn({
    managers,
    pod(uid) {
      const pod = pods.get(uid)
      return pod && resizes.accept(pod)
    },
    signal,
    given: checkRoom,
    reject,
  })
  const preemption = createPreemption({
    clock,
    signal,
    candidates: () => [...pods.list()].filter((pod) => allocations.has(uidOf(pod))),
    isStatic,
    // What the others have is the pod's from now on.
    reserve: (pod) => allocations.add(resizes.accept(pod)),
    end: options.preempt,
    hasEnded,
    begin(uid) {
      const pod = pods.get(uid)
      if (pod !== undefined) admit(pod)
    },
  })

  function add(pod: Pod): void {
    if (isTerminalPhase(pod.status?.phase)) {
      // What an earlier kubelet kept of it is free.
      managers?.forget(uidOf(pod))
      admit(pod)
      return
    }
    // One that has begun before keeps what it has.
    if (pod.metadata.deletionTimestamp !== undefined || pod.status?.startTime !== undefined) {
      managers?.restore(pod)
      admit(pod)
      return
    }
    const refusal =
      options.stateRefusal(pod) ??
      sysctlRefusal(pod, options.allowedUnsafeSysctls) ??
      appArmorRefusal(pod, machine?.hasAppArmor() !== false) ??
      systemRefusal(pod) ??
      groupsPolicyRefusal(pod, machine?.knowsStrictGroups() !== false)
    if (refusal === undefined) inTurn.begin(pod)
    else reject(pod, refusal)
  }

  function checkRoom(pod: Pod): void {
    const own = admissionRefusal(pod, options.node(), allocatable, allocations, machine?.devicePlugins?.offers)
    const shortages = isCritical(pod, isStatic) ? own?.shortages : undefined
    const refusal = shortages === undefined ? own : preemption.makeRoom(pod, shortages)
    if (preemption.isUnderWay(uidOf(pod))) return
    if (refusal === undefined) admit(pod)
    else reject(pod, refusal)
  }

  function admit(pod: Pod): void {
    const own = resizes.accept(pod)
    if (!isTerminalPhase(pod.status?.phase)) allocations.add(own)
    start(own)
  }

  function reject(pod: Pod, refusal: AdmissionRefusal): void {
    release(uidOf(pod))
    options.refused(pod, refusal)
  }

  function release(uid: string): void {
    const had = allocations.has(uid)
    allocations.remove(uid)
    managers?.forget(uid)
    if (!had) return
    for (const waiting of resizes.waiting()) {
      const pod = pods.get(waiting)
      if (pod !== undefined) options.sync(resizes.accept(pod))
    }
  }

  return {
    add,
    isPending: (uid) => preemption.isUnderWay(uid) || inTurn.has(uid),
    release,
    forget(uid) {
      inTurn.forget(uid)
      preemption.forget(uid)
      release(uid)
    },
  }
}
