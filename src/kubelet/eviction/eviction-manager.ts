/**
 * Eviction (API concept: node-pressure eviction): looks every ten seconds how much is left of what the node has; below a threshold the
 * node has a condition, frees what it can free by itself, and else ends one pod after the other until there is enough again.
 */
import { qosClass } from '../../api/objects/qos.ts'
import { toleratesTaint } from '../../api/objects/taints.ts'
import { sleep } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import type { NodeEvents } from '../node-events.ts'
import { type Pod, specOf, uidOf } from '../pod.ts'
import type { AdmissionRefusal } from '../pod-admission.ts'
import { type Excess, excessOnDisk, isLimitedOnDisk } from './local-storage.ts'
import { type EvictionMessage, evictionMessage } from './messages.ts'
import { type EvictionMeasurements, MEANINGS, type Observations, type Pressure } from './observations.ts'
import { isCritical, ranked } from './ranking.ts'
import { type EvictionConfig, type Threshold, thresholdValue } from './thresholds.ts'

/** What a node that can be short of something is given. */
export interface EvictionOptions {
  readonly config: EvictionConfig
  readonly measurements: EvictionMeasurements
  /** Removes what disks can do without. @throws Error */
  readonly reclaimDisk: () => Promise<void>
  readonly events: NodeEvents
  /** The node's conditions have changed. */
  readonly changed: () => void
}

/** What a pod is evicted for, and how long ago that was measured. */
export interface MetSignal {
  readonly signal: string
  readonly tookMs: number
}

export interface EvictionManagerOptions extends EvictionOptions {
  readonly runtime: Runtime
  /** Those that run, or may come to. */
  readonly pods: () => readonly Pod[]
  readonly isStatic: (uid: string) => boolean
  /** The pod has to end, `graceSeconds` from now at the latest. */
  readonly evict: (pod: Pod, why: EvictionMessage, graceSeconds: number, met: MetSignal) => void
  readonly hasEnded: (uid: string) => boolean
}

export interface EvictionManager {
  readonly pressures: ReadonlySet<Pressure>
  /** Why a node under pressure does not take the pod. */
  refusal(pod: Pod): AdmissionRefusal | undefined
  run(signal: AbortSignal): void
}

const PERIOD_MS = 10_000
/** An evicted pod's end is waited for, so that the next decision sees what it has freed. */
const END_POLL_MS = 1000
const END_POLLS = 30
const AT_ONCE_SECONDS = 1

export function createEvictionManager(options: EvictionManagerOptions): EvictionManager {
  const { runtime, config, measurements, events } = options
  const { clock, log } = runtime
  /** Thresholds that were met when pods were last looked for. */
  let unresolved: readonly Threshold[] = []
  const metSince = new Map<Threshold, number>()
  const pressedAt = new Map<Pressure, number>()
  let pressures: ReadonlySet<Pressure> = new Set()

  /** Met by the observations, or met before and not yet left behind by as much as is wanted. */
  function metBy(observed: Observations, before: readonly Threshold[]): readonly Threshold[] {
    return config.thresholds.filter((threshold) => isMet(threshold, observed, before.includes(threshold)))
  }

  function notePressures(met: readonly Threshold[], now: number): void {
    for (const { signal } of met) pressedAt.set(MEANINGS[signal].pressure, now)
    const next = new Set<Pressure>()
    for (const pressure of PRESSURES) {
      const at = pressedAt.get(pressure)
      if (at !== undefined && (now === at || now - at < config.transitionMs)) next.add(pressure)
    }
    const isDifferent = PRESSURES.some((one) => next.has(one) !== pressures.has(one))
    pressures = next
    if (isDifferent) options.changed()
  }

  /** Pods that use more of the node's disk than they may end, whatever there is left. */
  async function beyondLimits(): Promise<readonly (readonly [Pod, Excess])[]> {
    const limited = options.pods().filter(isLimitedOnDisk)
    if (limited.length === 0) return []
    const uses = await measurements.pods(true, limited)
    return limited.flatMap((pod) => {
      const use = uses.get(uidOf(pod))
      const excess = use === undefined ? undefined : excessOnDisk(pod, use)
      return excess === undefined ? [] : [[pod, excess] as const]
    })
  }

  async function hasEnded(pod: Pod, signal: AbortSignal): Promise<void> {
    for (let polls = 0; polls < END_POLLS && !options.hasEnded(uidOf(pod)); polls++)
      await sleep(clock, END_POLL_MS, signal)
  }

  /** Gives the pod that has to end. */
  async function synchronize(signal: AbortSignal): Promise<Pod | undefined> {
    const observed = await measurements.observe()
    const now = clock.monotonic()
    const met = metBy(observed, unresolved)
    for (const threshold of metSince.keys()) if (!met.includes(threshold)) metSince.delete(threshold)
    for (const threshold of met) if (!metSince.has(threshold)) metSince.set(threshold, now)
    notePressures(met, now)
    const excessive = await beyondLimits()
    for (const [pod, { message, signal: excess }] of excessive) {
      options.evict(pod, { message }, AT_ONCE_SECONDS, { signal: excess, tookMs: clock.monotonic() - now })
      await hasEnded(pod, signal)
    }
    if (excessive.length > 0) return undefined
    const due = met.filter((threshold) => now - metSince.get(threshold)! >= (threshold.graceMs ?? 0))
    unresolved = due
    // What memory is short of cannot wait.
    const first = due.find(({ signal }) => MEANINGS[signal].resource === 'memory') ?? due[0]
    if (first === undefined) return undefined
    const { resource, pressure } = MEANINGS[first.signal]
    events.warning('EvictionThresholdMet', `Attempting to reclaim ${resource}`)
    if (pressure === 'DiskPressure' && (await isReclaimed())) return undefined
    const uses = await measurements.pods(pressure === 'DiskPressure')
    const pod = ranked(options.pods(), uses, resource).find((one) => !isCritical(one, options.isStatic))
    const seen = observed[first.signal]
    if (pod === undefined || seen === undefined) {
      log.info(0, 'Unable to evict any pods from the node', { resource })
      return undefined
    }
    const why = evictionMessage(pod, uses.get(uidOf(pod)), resource, first, seen)
    options.evict(
      pod,
      { ...why, isDisruption: true },
      first.graceMs === undefined ? AT_ONCE_SECONDS : config.maxPodGracePeriodSeconds,
      { signal: first.signal, tookMs: clock.monotonic() - now },
    )
    return pod
  }

  async function isReclaimed(): Promise<boolean> {
    try {
      await options.reclaimDisk()
    } catch (error) {
      log.info(1, 'Not all could be removed that disks can do without', { err: messageOf(error) })
    }
    return metBy(await measurements.observe(), config.thresholds).length === 0
  }

  async function turn(signal: AbortSignal): Promise<void> {
    let pod: Pod | undefined
    try {
      pod = await synchronize(signal)
    } catch (error) {
      if (signal.aborted) throw error
      log.error('What is left on the node could not be measured', error)
    }
    if (pod === undefined) return sleep(clock, PERIOD_MS, signal)
    await hasEnded(pod, signal)
  }

  return {
    get pressures() {
      return pressures
    },
    refusal(pod) {
      if (pressures.size === 0 || isCritical(pod, options.isStatic)) return undefined
      if (pressures.size === 1 && pressures.has('MemoryPressure')) {
        const spec = specOf(pod)
        if (qosClass(spec) !== 'BestEffort') return undefined
        const taint = { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' } as const
        if ((spec.tolerations ?? []).some((one) => toleratesTaint(one, taint))) return undefined
      }
      return { reason: 'Evicted', message: `The node had condition: [${[...pressures].join(' ')}]. ` }
    },
    run(signal) {
      const go = (): void => {
        turn(signal).then(go, () => {})
      }
      go()
    },
  }
}

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

/** `more`: what is to be there beyond the threshold counts too. */
function isMet({ signal, amount, minReclaim }: Threshold, observed: Observations, more: boolean): boolean {
  const seen = observed[signal]
  if (seen === undefined) return false
  const wanted = thresholdValue(amount, seen.capacity)
  return seen.available < wanted + (more && minReclaim !== undefined ? thresholdValue(minReclaim, seen.capacity) : 0)
}
