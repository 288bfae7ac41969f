/**
 * Which pods make room for a critical one that the node has not enough left for (API concept: guaranteed scheduling for critical pods): as few
 * of the guaranteed ones as can be, then as few of the burstable ones, then of the others, and of each those that fit best.
 */
import { podRequests } from '../api/objects/pod-requests.ts'
import { type QosClass, qosClass } from '../api/objects/qos.ts'
import { nanosOf } from '../api/values/quantity.ts'
import { type Clock, sleep } from '../base/clock.ts'
import { isCritical } from './eviction/ranking.ts'
import { type Pod, specOf, uidOf } from './pod.ts'
import { type AdmissionRefusal, amountOf, type Shortage } from './pod-admission.ts'
import type { Failure } from './pod-status.ts'

interface Preemption {
  /** Why the critical pod is refused all the same; undefined: it begins once others have ended for it. */
  makeRoom(pod: Pod, shortages: readonly Shortage[]): AdmissionRefusal | undefined
  /** Others are ending for it. */
  isUnderWay(uid: string): boolean
  /** The pod is not to begin any more. */
  forget(uid: string): void
}

export interface PreemptionOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Pods that have something of the node. */
  readonly candidates: () => readonly Pod[]
  readonly isStatic: (uid: string) => boolean
  readonly reserve: (pod: Pod) => void
  /** `lack`: the resource that there is not enough of. */
  readonly end: (pod: Pod, failure: Failure, lack: string) => void
  readonly hasEnded: (uid: string) => boolean
  readonly begin: (uid: string) => void
}

const PREEMPTED: Failure = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
}
const END_POLL_MS = 100

export function createPreemption(options: PreemptionOptions): Preemption {
  const { clock, signal, isStatic } = options
  /** By uid. */
  const underWay = new Set<string>()

  function mayBePreempted(one: Pod, by: Pod): boolean {
    if (uidOf(one) === uidOf(by) || underWay.has(uidOf(one))) return false
    return !isCritical(one, isStatic) || (specOf(one).priority ?? 0) < (specOf(by).priority ?? 0)
  }

  /** One after the other, each in its own time. */
  async function endAll(victims: readonly Pod[], lack: string): Promise<void> {
    for (const victim of victims) {
      options.end(victim, PREEMPTED, lack)
      while (!options.hasEnded(uidOf(victim))) await sleep(clock, END_POLL_MS, signal)
    }
  }

  return {
    makeRoom(pod, shortages) {
      const uid = uidOf(pod)
      let victims: readonly Pod[]
      try {
        victims = podsToPreempt(
          shortages,
          options.candidates().filter((one) => mayBePreempted(one, pod)),
        )
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error
        const why = `preemption: error finding a set of pods to preempt: ${error.message}`
        const message = `Unexpected error while attempting to recover from admission failure: ${why}`
        return { reason: 'UnexpectedAdmissionError', message }
      }
      underWay.add(uid)
      options.reserve(pod)
      endAll(victims, shortages[0]?.name ?? '').then(
        () => {
          if (underWay.delete(uid)) options.begin(uid)
        },
        () => {},
      )
      return undefined
    },
    isUnderWay: (uid) => underWay.has(uid),
    forget: (uid) => void underWay.delete(uid),
  }
}

class NoRoom extends Error {}

/** `pods`: those that may be ended. In the order in which they are ended. @throws NoRoom when all of them are not enough */
export function podsToPreempt(shortages: readonly Shortage[], pods: readonly Pod[]): readonly Pod[] {
  const of = (wanted: QosClass) => pods.filter((pod) => qosClass(specOf(pod)) === wanted)
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')]
  const fromGuaranteed = closest(without(shortages, [...bestEffort, ...burstable]), guaranteed)
  const fromBurstable = closest(without(shortages, [...bestEffort, ...fromGuaranteed]), burstable)
  const fromBestEffort = closest(without(shortages, [...fromBurstable, ...fromGuaranteed]), bestEffort)
  return [...fromBestEffort, ...fromBurstable, ...fromGuaranteed]
}

function closest(shortages: readonly Shortage[], pods: readonly Pod[]): readonly Pod[] {
  const chosen: Pod[] = []
  const left = new Set(pods)
  for (let missing = shortages; missing.length > 0; missing = without(missing, chosen.slice(-1))) {
    let best: Pod | undefined
    let least = Number.POSITIVE_INFINITY
    for (const pod of left) {
      const distance = distanceOf(missing, pod)
      if (distance > least || (distance === least && best !== undefined && !isSmaller(pod, best))) continue
      best = pod
      least = distance
    }
    if (best === undefined) throw new NoRoom(`no set of running pods found to reclaim resources: ${textOf(missing)}`)
    left.delete(best)
    chosen.push(best)
  }
  return chosen
}

/** 0: the pod alone is enough. */
const distanceOf = (missing: readonly Shortage[], pod: Pod): number =>
  missing.reduce((sum, { name, nanos }) => {
    const had = requestOf(pod, name)
    return had >= nanos ? sum : sum + (1 - Number(had) / Number(nanos)) ** 2
  }, 0)

function without(shortages: readonly Shortage[], pods: readonly Pod[]): readonly Shortage[] {
  return shortages
    .map(({ name, nanos }) => ({ name, nanos: pods.reduce((left, pod) => left - requestOf(pod, name), nanos) }))
    .filter(({ nanos }) => nanos > 0n)
}

const ONE_POD = 1_000_000_000n
const requestOf = (pod: Pod, name: string): bigint =>
  name === 'pods' ? ONE_POD : nanosOf(podRequests(specOf(pod))[name] ?? '0')

function isSmaller(pod: Pod, other: Pod): boolean {
  for (const name of ['memory', 'cpu']) {
    const [own, others] = [requestOf(pod, name), requestOf(other, name)]
    if (own !== others) return own < others
  }
  return true
}

const textOf = (shortages: readonly Shortage[]) =>
  `[${shortages.map(({ name, nanos }) => `(res: ${name}, q: ${amountOf(name, nanos)}), `).join('')}]`
