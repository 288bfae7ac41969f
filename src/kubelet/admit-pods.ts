/**
 * The node takes pods or refuses them: by the rules of admission, with what it has left; a critical pod may have others end for it
 * first, and one with devices begins once the plugins have given them.
 */
import type { Node } from '../api/generated/types.ts'
import type { Clock } from '../base/clock.ts'
import { createWaitingForDevices } from './device-plugins/waiting-for-devices.ts'
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

export interface PodAdmission {
  /** The pod is new on the node: it begins, now or later, or is refused. */
  add(pod: Pod): void
  /** The pod is neither begun nor refused yet: others end for it, or plugins are asked for its devices. */
  isPending(uid: string): boolean
  /** What the pod had of the node is free for others, which may have waited for it. */
  release(uid: string): void
  /** The pod is not to begin any more. */
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
  readonly machine: Pick<Machine, 'devicePlugins' | 'hasAppArmor' | 'knowsStrictGroups'> | undefined
  readonly allowedUnsafeSysctls: readonly string[] | undefined
  /** What refuses any pod, or one of its class, as long as the node is in some state. */
  readonly stateRefusal: (pod: Pod) => AdmissionRefusal | undefined
  readonly start: (pod: Pod) => void
  /** A waiting pod may be resized now. */
  readonly sync: (pod: Pod) => void
  readonly refused: (pod: Pod, refusal: AdmissionRefusal) => void
  /** Ends a pod for a critical one. */
  readonly preempt: (pod: Pod, failure: Failure) => void
  readonly hasEnded: (uid: string) => boolean
}

export function createPodAdmission(options: PodAdmissionOptions): PodAdmission {
  const { clock, signal, pods, isStatic, allocatable, allocations, resizes, machine, start, hasEnded } = options
  const devices = machine?.devicePlugins

  const waitingForDevices = createWaitingForDevices({
    devices,
    pod(uid) {
      const pod = pods.get(uid)
      return pod && resizes.accept(pod)
    },
    signal,
    start,
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

  /** @returns the refusal; where others end for the pod meanwhile there is none. */
  function refusalOf(pod: Pod): AdmissionRefusal | undefined {
    const refusal =
      options.stateRefusal(pod) ??
      sysctlRefusal(pod, options.allowedUnsafeSysctls) ??
      appArmorRefusal(pod, machine?.hasAppArmor() !== false) ??
      systemRefusal(pod) ??
      groupsPolicyRefusal(pod, machine?.knowsStrictGroups() !== false) ??
      devices?.reserve(pod)
    if (refusal !== undefined) return refusal
    const own = admissionRefusal(pod, options.node(), allocatable, allocations, devices?.offers)
    const shortages = isCritical(pod, isStatic) ? own?.shortages : undefined
    return shortages === undefined ? own : preemption.makeRoom(pod, shortages)
  }

  function admit(pod: Pod): void {
    const own = resizes.accept(pod)
    if (!isTerminalPhase(pod.status?.phase)) allocations.add(own)
    waitingForDevices.begin(own)
  }

  function reject(pod: Pod, refusal: AdmissionRefusal): void {
    release(uidOf(pod))
    options.refused(pod, refusal)
  }

  function release(uid: string): void {
    devices?.forget(uid)
    if (!allocations.has(uid)) return
    allocations.remove(uid)
    for (const waiting of resizes.waiting()) {
      const pod = pods.get(waiting)
      if (pod !== undefined) options.sync(resizes.accept(pod))
    }
  }

  return {
    add(pod) {
      const isKnown = pod.metadata.deletionTimestamp !== undefined || pod.status?.startTime !== undefined
      const refusal = isKnown ? undefined : refusalOf(pod)
      if (preemption.isUnderWay(uidOf(pod))) return
      if (refusal === undefined) admit(pod)
      else reject(pod, refusal)
    },
    isPending: (uid) => preemption.isUnderWay(uid) || waitingForDevices.has(uid),
    release,
    forget(uid) {
      waitingForDevices.forget(uid)
      preemption.forget(uid)
    },
  }
}
