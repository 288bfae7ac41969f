/**
 * Pods that come to a node are given CPUs, memory and devices one after the other, since what is decided for one rests on what is left by those
 * before it. Most are given it at once; one that asks plugins for devices holds up those behind it until they have answered.
 */
import { type Pod, uidOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import type { ResourceManagers } from './resource-managers.ts'

export interface GivenInTurn {
  /** Not decided yet. */
  has(uid: string): boolean
  /** Has the pod given what it asks for; then calls `given`, or `reject`, at once where nothing holds it up. */
  begin(pod: Pod): void
  forget(uid: string): void
}

export interface GivenInTurnOptions {
  /** Absent on a node that has nothing to give. */
  readonly managers: Pick<ResourceManagers, 'admit' | 'forget'> | undefined
  /** As it is now, if it is still there. */
  readonly pod: (uid: string) => Pod | undefined
  readonly signal: AbortSignal
  readonly given: (pod: Pod) => void
  readonly reject: (pod: Pod, refusal: AdmissionRefusal) => void
}

export function createGivenInTurn({ managers, pod: podOf, signal, given, reject }: GivenInTurnOptions): GivenInTurn {
  const waiting: Pod[] = []
  /** The uid of the one that plugins are asked for. */
  let asking: string | undefined
  let isForgotten = false

  function decide(pod: Pod, refusal: AdmissionRefusal | undefined): void {
    if (refusal === undefined) given(pod)
    else reject(pod, refusal)
  }

  function next(): void {
    while (asking === undefined && !signal.aborted) {
      const pod = waiting.shift()
      if (pod === undefined) return
      const outcome = managers?.admit(pod)
      if (outcome instanceof Promise) void ask(pod, outcome)
      else decide(pod, outcome)
    }
  }

  async function ask(pod: Pod, outcome: Promise<AdmissionRefusal | undefined>): Promise<void> {
    const uid = uidOf(pod)
    asking = uid
    isForgotten = false
    const refusal = await outcome
    asking = undefined
    if (signal.aborted) return
    const now = podOf(uid)
    // It may be gone by now.
    if (isForgotten || now === undefined) managers?.forget(uid)
    else decide(now, refusal)
    next()
  }

  return {
    has: (uid) => asking === uid || waiting.some((pod) => uidOf(pod) === uid),
    begin(pod) {
      if (managers === undefined) return given(pod)
      waiting.push(pod)
      next()
    },
    forget(uid) {
      if (asking === uid) isForgotten = true
      const at = waiting.findIndex((pod) => uidOf(pod) === uid)
      if (at >= 0) waiting.splice(at, 1)
    },
  }
}
