/** The kubelet's flags that say when nodes of real containers evict pods. */
import { InvalidArgumentError, Option } from 'commander'
import { parseGoDurationMs } from '../base/go-duration.ts'
import type { ClusterOptions } from '../cluster/cluster-options.ts'

type EvictionFlags = NonNullable<ClusterOptions['eviction']>

export interface EvictionFlagOptions {
  readonly evictionHard?: string
  readonly evictionSoft?: string
  readonly evictionSoftGracePeriod?: string
  readonly evictionMinimumReclaim?: string
  readonly evictionPressureTransitionPeriod?: number
  readonly evictionMaxPodGracePeriod?: number
}

export const evictionFlags = (): readonly Option[] => [
  new Option(
    '--eviction-hard <list>',
    'below what pods are evicted at once, as memory.available<1Gi,nodefs.available<10% (default: 5 % of disks and inodes, 100Mi of memory)',
  ),
  new Option('--eviction-soft <list>', 'below what they are evicted when it has lasted'),
  new Option('--eviction-soft-grace-period <list>', 'how long it has to last, as memory.available=1m30s'),
  new Option('--eviction-minimum-reclaim <list>', 'what is to be freed beyond a threshold, as memory.available=100Mi'),
  new Option(
    '--eviction-pressure-transition-period <duration>',
    'how long the condition of the node stays after that (default: 5m)',
  ).argParser(durationArgument),
  new Option(
    '--eviction-max-pod-grace-period <seconds>',
    'what pods have at most to end when a soft threshold is met (default: 0)',
  ).argParser(seconds),
]

/** Undefined: none was given. */
export function evictionFlagsOf(options: EvictionFlagOptions): EvictionFlags | undefined {
  const { evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim } = options
  const { evictionPressureTransitionPeriod, evictionMaxPodGracePeriod } = options
  const flags: EvictionFlags = {
    ...(evictionHard === undefined ? {} : { evictionHard }),
    ...(evictionSoft === undefined ? {} : { evictionSoft }),
    ...(evictionSoftGracePeriod === undefined ? {} : { evictionSoftGracePeriod }),
    ...(evictionMinimumReclaim === undefined ? {} : { evictionMinimumReclaim }),
    ...(evictionPressureTransitionPeriod === undefined
      ? {}
      : { evictionPressureTransitionPeriodMs: evictionPressureTransitionPeriod }),
    ...(evictionMaxPodGracePeriod === undefined ? {} : { evictionMaxPodGracePeriod }),
  }
  return Object.keys(flags).length === 0 ? undefined : flags
}

export function durationArgument(text: string): number {
  try {
    const ms = parseGoDurationMs(text)
    if (ms >= 0) return ms
  } catch {
    // Told below.
  }
  throw new InvalidArgumentError('it is no duration such as 5m or 30s.')
}

function seconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('it is no number of seconds.')
  return Number(text)
}
