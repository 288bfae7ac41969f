/** What is taken of devices: whole ones, shares of their capacity (KEP-5075), and counters that several share (KEP-4815). */
import type {
  CapacityRequestPolicy,
  Device,
  DeviceRequestAllocationResult,
  ExactDeviceRequest,
} from '../../api/generated/types.ts'
import { formatQuantity, nanosOf, parseQuantity } from '../../api/values/quantity.ts'
import { getOrInsertComputed } from '../../base/get-or-insert.ts'
import type { Pool, PoolDevice } from './pools.ts'

export interface Consumed {
  /** Of a device that several may have at once. */
  readonly share: string | undefined
  readonly amounts: ReadonlyMap<string, bigint>
  readonly texts: Readonly<Record<string, string>>
}

const WHOLE: Consumed = { share: undefined, amounts: new Map(), texts: {} }

/** What a request takes of the device; undefined when the device cannot give that, however free it is. */
export function consumedOf(device: Device, asked: ExactDeviceRequest, newShare: () => string): Consumed | undefined {
  const requests: Readonly<Record<string, string>> = asked.capacity?.requests ?? {}
  const capacity = device.capacity ?? {}
  if (Object.keys(requests).some((name) => capacity[name] === undefined)) return undefined
  const amounts = new Map<string, bigint>()
  const texts: Record<string, string> = {}
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    const taken = amountOf(requests[name], value, requestPolicy)
    if (taken === undefined || taken > nanosOf(value)) return undefined
    amounts.set(name, taken)
    texts[name] = formatQuantity({ nanos: taken, format: parseQuantity(requests[name] ?? value).format })
  }
  if (device.allowMultipleAllocations !== true) return WHOLE
  return { share: newShare(), amounts, texts }
}

/** Rounded up to what the policy allows. */
function amountOf(
  requested: string | undefined,
  whole: string,
  policy: CapacityRequestPolicy | undefined,
): bigint | undefined {
  if (requested === undefined) return nanosOf(policy?.default ?? whole)
  const wanted = nanosOf(requested)
  if (policy === undefined) return wanted
  const { validValues = [], validRange, default: usual } = policy
  if (validValues.length > 0)
    return validValues
      .map(nanosOf)
      .sort((a, b) => (a < b ? -1 : 1))
      .find((value) => value >= wanted)
  if (validRange === undefined)
    return usual === undefined ? wanted : wanted <= nanosOf(usual) ? nanosOf(usual) : undefined
  const min = nanosOf(validRange.min ?? '0')
  if (wanted <= min) return min
  const step = validRange.step === undefined ? undefined : nanosOf(validRange.step)
  const rounded = step === undefined ? wanted : min + ((wanted - min + step - 1n) / step) * step
  return validRange.max !== undefined && rounded > nanosOf(validRange.max) ? undefined : rounded
}

/** What has been given away, by device. */
export interface DeviceUsage {
  /** What a claim has from now on: the results of its allocation. */
  set(key: string, results: readonly DeviceRequestAllocationResult[]): void
  /** To try with: what is taken there is taken nowhere else. */
  trial(): Trial
}

export interface Trial {
  /** A whole device that no claim has, or one that several may have. */
  isFree(device: PoolDevice): boolean
  /** What is taken of its capacity already. */
  consumed(device: PoolDevice, name: string): bigint
  isTaken(id: string): boolean
  take(device: PoolDevice, consumed: Consumed): void
  giveBack(device: PoolDevice, consumed: Consumed): void
}

/** Of claims, by their keys. */
export function createUsage(): DeviceUsage {
  const known = new Map<string, readonly DeviceRequestAllocationResult[]>()
  const whole = new Map<string, number>()
  const shares = new Map<string, Map<string, bigint>>()
  function add(results: readonly DeviceRequestAllocationResult[], sign: 1 | -1): void {
    for (const { driver, pool, device, adminAccess, shareID, consumedCapacity } of results) {
      if (adminAccess) continue
      const id = `${driver}/${pool}/${device}`
      const count = (whole.get(id) ?? 0) + sign
      if (count > 0) whole.set(id, count)
      else whole.delete(id)
      if (shareID !== undefined) {
        const amounts = getOrInsertComputed(shares, id, () => new Map<string, bigint>())
        for (const [name, amount] of Object.entries(consumedCapacity ?? {}))
          amounts.set(name, (amounts.get(name) ?? 0n) + (sign === 1 ? nanosOf(amount) : -nanosOf(amount)))
      }
      if (count <= 0) shares.delete(id)
    }
  }
  return {
    set(key, results) {
      const before = known.get(key) ?? []
      if (before === results) return
      add(before, -1)
      add(results, 1)
      if (results.length > 0) known.set(key, results)
      else known.delete(key)
    },
    trial() {
      const more = new Map<string, number>()
      const moreOf = new Map<string, bigint>()
      const isTaken = (id: string) => (whole.get(id) ?? 0) + (more.get(id) ?? 0) > 0
      const count = (device: PoolDevice, consumed: Consumed, sign: 1 | -1) => {
        more.set(device.id, (more.get(device.id) ?? 0) + sign)
        for (const [name, amount] of consumed.amounts) {
          const key = `${device.id} ${name}`
          moreOf.set(key, (moreOf.get(key) ?? 0n) + (sign === 1 ? amount : -amount))
        }
      }
      return {
        isTaken,
        isFree: ({ id, device }) => device.allowMultipleAllocations === true || !isTaken(id),
        consumed: ({ id }, name) => (shares.get(id)?.get(name) ?? 0n) + (moreOf.get(`${id} ${name}`) ?? 0n),
        take: (device, consumed) => count(device, consumed, 1),
        giveBack: (device, consumed) => count(device, consumed, -1),
      }
    },
  }
}

/** There is room for it, in the device's capacity and in the counters that it shares with others of its pool. */
export function fits(trial: Trial, device: PoolDevice, consumed: Consumed, pool: Pool): boolean {
  for (const [name, amount] of consumed.amounts) {
    const whole = device.device.capacity?.[name]
    if (whole === undefined || trial.consumed(device, name) + amount > nanosOf(whole.value)) return false
  }
  const counts = device.device.consumesCounters ?? []
  // A device that several have counts once.
  if (counts.length === 0 || trial.isTaken(device.id)) return true
  return counts.every(({ counterSet, counters }) =>
    Object.entries(counters ?? {}).every(([name, { value }]) => {
      const there = pool.counters.get(counterSet)?.[name]
      if (there === undefined) return false
      let used = nanosOf(value)
      for (const other of pool.all.values()) if (trial.isTaken(other.id)) used += countOf(other, counterSet, name)
      return used <= nanosOf(there.value)
    }),
  )
}

function countOf({ device }: PoolDevice, set: string, name: string): bigint {
  let sum = 0n
  for (const { counterSet, counters } of device.consumesCounters ?? []) {
    const value = counterSet === set ? counters?.[name]?.value : undefined
    if (value !== undefined) sum += nanosOf(value)
  }
  return sum
}
