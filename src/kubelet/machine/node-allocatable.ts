/** Node allocatable (an API concept): what of a real node's capacity pods may be given, and that all of them together are held to it. */
import { formatQuantity, nanosOf, parseQuantity } from '../../api/values/quantity.ts'
import { messageOf } from '../../base/errors.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type EvictionConfig, thresholdValue } from '../eviction/thresholds.ts'
import type { NodeEvents } from '../node-events.ts'
import type { Cgroups } from './cgroups.ts'
import { resourcesOfAllPods } from './cpu-shares-and-memory-limits.ts'

type Amounts = Readonly<Record<string, string>>

const ONE = 1_000_000_000n
const RETRY_MS = 60_000
/** What is kept free by evictions. */
const KEPT = { memory: 'memory.available', 'ephemeral-storage': 'nodefs.available' } as const

/** What pods may be given: not what is reserved, nor what is kept free by evicting them. @throws Error when that is more than there is */
export function allocatableOf(
  capacity: Amounts,
  { thresholds }: Pick<EvictionConfig, 'thresholds'>,
  reserved: readonly Amounts[] = [],
): Amounts {
  const taken: Record<string, bigint> = {}
  const take = (name: string, nanos: bigint) => {
    if (capacity[name] !== undefined) taken[name] = (taken[name] ?? 0n) + nanos
  }
  for (const [name, amount] of reserved.flatMap((one) => Object.entries(one))) take(name, nanosOf(amount))
  for (const [name, signal] of Object.entries(KEPT)) {
    const threshold = thresholds.find((one) => one.signal === signal && one.graceMs === undefined)
    if (threshold === undefined) continue
    const whole = Number(nanosOf(capacity[name] ?? '0') / ONE)
    take(name, BigInt(thresholdValue(threshold.amount, whole)) * ONE)
  }
  refuseMoreThan(capacity, taken)
  // Pages that were put aside are nothing else's memory.
  for (const [name, amount] of Object.entries(capacity))
    if (name.startsWith('hugepages-')) take('memory', nanosOf(amount))
  const names = Object.keys(capacity)
  return Object.fromEntries(names.map((name) => [name, less(capacity[name] ?? '0', taken[name] ?? 0n)]))
}

function refuseMoreThan(capacity: Amounts, taken: Readonly<Record<string, bigint>>): void {
  const problems = Object.keys(taken)
    .sort()
    .filter((name) => (taken[name] ?? 0n) > nanosOf(capacity[name] ?? '0'))
    .map((name) => {
      const { format } = parseQuantity(capacity[name] ?? '0')
      const reservation = formatQuantity({ nanos: taken[name] ?? 0n, format })
      return `Resource "${name}" has a reservation of ${reservation} but capacity of ${capacity[name]}. Expected capacity >= reservation.`
    })
  if (problems.length > 0) throw new Error(`invalid Node Allocatable configuration. ${problems.join(' ')}`)
}

export interface HeldPods {
  readonly runtime: Runtime
  readonly signal: AbortSignal
  readonly cgroups: Pick<Cgroups, 'holdAll'>
  readonly capacity: Amounts
  /** None where that is not enforced: then pods are held to the capacity, whatever they were held to before. */
  readonly reserved: readonly Amounts[] | undefined
  readonly events: NodeEvents
}

/**
 * Holds all pods together to what is not reserved. What evictions keep free is theirs all the same: before it is used up pods are evicted,
 * not killed. What they use already they cannot be held below: that is tried again.
 */
export function holdAllPods(options: HeldPods): void {
  const { runtime, signal, cgroups, capacity, reserved, events } = options
  try {
    const isHeld = cgroups.holdAll(resourcesOfAllPods(allocatableOf(capacity, { thresholds: [] }, reserved)))
    if (isHeld) events.normal('NodeAllocatableEnforced', 'Updated Node Allocatable limit across pods')
  } catch (error) {
    const message = `Failed to update Node Allocatable Limits ${messageOf(error)}`
    events.warning('FailedNodeAllocatableEnforcement', message)
    const timer = runtime.clock.setTimer(RETRY_MS, 'all pods are held to what is allocatable', () =>
      holdAllPods(options),
    )
    signal.addEventListener('abort', () => timer.cancel(), { once: true })
  }
}

/** What pods are not given of the node's capacity. */
export function withheldOf(capacity: Amounts, allocatable: Amounts): Amounts {
  const names = Object.keys(capacity).filter((name) => capacity[name] !== allocatable[name])
  return Object.fromEntries(names.map((name) => [name, less(capacity[name] ?? '0', nanosOf(allocatable[name] ?? '0'))]))
}

function less(amount: string, taken: bigint): string {
  if (taken === 0n) return amount
  const { nanos, format } = parseQuantity(amount)
  return formatQuantity({ nanos: nanos > taken ? nanos - taken : 0n, format })
}
