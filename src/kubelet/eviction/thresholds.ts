/** Eviction thresholds (API concept: node-pressure eviction): below how much of what pods are evicted, read from the kubelet's flags. */
import { parseQuantity, quantityValue } from '../../api/values/quantity.ts'
import { parseGoDuration } from '../../base/go-duration.ts'

export const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
] as const
/** Also what is left to all pods together of the memory that they are held to. */
export type Signal = (typeof SIGNALS)[number] | 'allocatableMemory.available'

/** A share of what there is, or so much: bytes, inodes or processes, with the text that says it. */
export type Amount = { readonly share: number } | { readonly value: number; readonly text: string }

export interface Threshold {
  readonly signal: Signal
  readonly amount: Amount
  /** It has to be met for so long before pods are evicted, and these have time to end. Undefined: a hard one. */
  readonly graceMs?: number
  /** Eviction goes on until so much more than the threshold is available (--eviction-minimum-reclaim). */
  readonly minReclaim?: Amount
}

/** Named after the kubelet's flags, each as its text. */
export interface EvictionFlags {
  readonly evictionHard?: string
  readonly evictionSoft?: string
  readonly evictionSoftGracePeriod?: string
  readonly evictionMinimumReclaim?: string
  /** Milliseconds. */
  readonly evictionPressureTransitionPeriodMs?: number
  readonly evictionMaxPodGracePeriod?: number
}

export interface EvictionConfig {
  readonly thresholds: readonly Threshold[]
  /** How long a condition of the node stays after its threshold was last met. */
  readonly transitionMs: number
  /** Seconds that pods have at most when a soft threshold is met. */
  readonly maxPodGracePeriodSeconds: number
}

export const DEFAULT_HARD =
  'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%'
const TRANSITION_MS = 300_000

/** The default thresholds of signals that `hard` says nothing of, beside it (mergeDefaultEvictionSettings). */
export function withDefaultHard(hard: string): string {
  const signalOf = (one: string) => one.split('<', 1)[0]?.trim()
  const given = hard.split(',').filter((one) => one !== '')
  const others = DEFAULT_HARD.split(',').filter((one) => !given.some((own) => signalOf(own) === signalOf(one)))
  return [...given, ...others].join()
}

/** @throws Error in one line that names the flag */
export function evictionConfig(flags: EvictionFlags = {}): EvictionConfig {
  const hard = pairs('--eviction-hard', flags.evictionHard ?? DEFAULT_HARD, '<')
  const soft = pairs('--eviction-soft', flags.evictionSoft ?? '', '<')
  const grace = pairs('--eviction-soft-grace-period', flags.evictionSoftGracePeriod ?? '', '=')
  const reclaim = pairs('--eviction-minimum-reclaim', flags.evictionMinimumReclaim ?? '', '=')
  const minimum = new Map([...reclaim].map(([signal, text]) => [signal, amountOf('--eviction-minimum-reclaim', text)]))
  const thresholdOf = (flag: string, signal: Signal, text: string): Threshold => {
    const minReclaim = minimum.get(signal)
    return { signal, amount: amountOf(flag, text), ...(minReclaim === undefined ? {} : { minReclaim }) }
  }
  const thresholds = [...hard]
    // None at all, and all but nothing: never met, so switched off.
    .filter(([, text]) => text !== '0%' && text !== '100%')
    .map(([signal, text]) => thresholdOf('--eviction-hard', signal, text))
  for (const [signal, text] of soft) {
    const period = grace.get(signal)
    if (period === undefined)
      throw new Error(`--eviction-soft ${signal} needs its time in --eviction-soft-grace-period`)
    thresholds.push({ ...thresholdOf('--eviction-soft', signal, text), graceMs: durationOf(period) })
  }
  return {
    thresholds,
    transitionMs: flags.evictionPressureTransitionPeriodMs ?? TRANSITION_MS,
    maxPodGracePeriodSeconds: flags.evictionMaxPodGracePeriod ?? 0,
  }
}

/** Where all pods together are held to a limit of memory (enforceNodeAllocatable), as much of that is kept free for them as of the machine's. */
export const ofHeldPods = (config: EvictionConfig): EvictionConfig => ({
  ...config,
  thresholds: config.thresholds.flatMap((threshold) =>
    threshold.signal === 'memory.available' && threshold.graceMs === undefined
      ? [threshold, { ...threshold, signal: 'allocatableMemory.available' }]
      : [threshold],
  ),
})

function pairs(flag: string, text: string, sign: '<' | '='): ReadonlyMap<Signal, string> {
  const found = new Map<Signal, string>()
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [name = '', value, ...more] = part.split(sign).map((one) => one.trim())
    if (value === undefined || value === '' || more.length > 0)
      throw new Error(`${flag}: ${JSON.stringify(part)} is not of the form SIGNAL${sign}VALUE`)
    const signal = SIGNALS.find((one) => one === name)
    if (signal === undefined)
      throw new Error(`${flag}: there is no signal ${JSON.stringify(name)}; use ${SIGNALS.join(', ')}`)
    if (found.has(signal)) throw new Error(`${flag}: ${signal} is given twice`)
    found.set(signal, value)
  }
  return found
}

function amountOf(flag: string, text: string): Amount {
  if (text.endsWith('%')) {
    const percent = Number(text.slice(0, -1))
    if (!(percent >= 0 && percent <= 100)) throw new Error(`${flag}: ${text} is no percentage`)
    // As exact as the kubelet keeps it.
    return { share: Math.fround(percent / 100) }
  }
  try {
    if (parseQuantity(text).nanos < 0n) throw new Error('negative')
    return { value: Number(quantityValue(text)), text }
  } catch (cause) {
    throw new Error(`${flag}: ${JSON.stringify(text)} is neither a quantity nor a percentage`, { cause })
  }
}

function durationOf(text: string): number {
  try {
    const ms = Number(parseGoDuration(text)) / 1e6
    if (ms < 0) throw new Error('negative')
    return ms
  } catch (cause) {
    throw new Error(`--eviction-soft-grace-period: ${JSON.stringify(text)} is no duration`, { cause })
  }
}

/** In units of what there is of it. */
export const thresholdValue = (amount: Amount, capacity: number): number =>
  'share' in amount ? Math.floor(capacity * amount.share) : amount.value
