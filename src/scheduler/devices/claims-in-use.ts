/**
 * The scheduler's picture of claims and of the devices that they have: as the watch shows them, with what was answered to the
 * scheduler's own writes, and with what it has promised to pods on their way. A change costs its own claim, not all there are.
 */
import type { AllocationResult, DeviceRequestAllocationResult } from '../../api/generated/types.ts'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'
import { objectKey } from '../../client/store.ts'
import { createUsage, type DeviceUsage } from './capacity.ts'

export interface ClaimsInUse {
  readonly usage: DeviceUsage
  /** The newest that is known of it. */
  at(key: string): ResourceClaim | undefined
  /** The watch shows the claim, or that it is gone. */
  noticed(claim: ResourceClaim): void
  /** The API server answered with it. */
  answered(claim: ResourceClaim): void
  /** Given away and not written yet. */
  promise(key: string, allocation: AllocationResult): void
  isPromised(key: string): boolean
  /** The allocation was written, or its write was given up. */
  settle(key: string): void
  /** The same for a claim that is to be made for a pod: by the pod's uid, as it has no name yet. */
  promiseUnnamed(uid: string, allocation: AllocationResult): void
  /** It has got this name; what it has counts until the watch shows it. */
  named(uid: string, key: string): void
  nameOf(uid: string): string | undefined
  settleUnnamed(uid: string): void
}

/** `seen`: a claim as the watch has shown it. */
export function createClaimsInUse(seen: (key: string) => ResourceClaim | undefined): ClaimsInUse {
  const usage = createUsage()
  const promised = new Map<string, AllocationResult>()
  const unnamed = new Map<string, string | undefined>()
  /** Until the watch has shown them. */
  const written = new Map<string, ResourceClaim>()

  function at(key: string): ResourceClaim | undefined {
    const shown = seen(key)
    const known = written.get(key)
    if (shown === undefined || known === undefined || known.metadata.uid !== shown.metadata.uid) return shown
    return revision(known) > revision(shown) ? known : shown
  }
  const count = (key: string) => usage.set(key, resultsOf(promised.get(key) ?? at(key)?.status?.allocation))
  const settleUnnamed = (uid: string) => {
    unnamed.delete(uid)
    usage.set(`pod ${uid}`, [])
  }

  return {
    usage,
    at,
    noticed(claim) {
      const key = objectKey(claim)
      const known = written.get(key)
      const shown = seen(key)
      const isOld =
        known !== undefined &&
        shown !== undefined &&
        shown.metadata.uid === known.metadata.uid &&
        revision(shown) < revision(known)
      if (!isOld) written.delete(key)
      count(key)
      if (unnamed.size === 0) return
      for (const [uid, name] of [...unnamed])
        if (name === key && (shown === undefined || shown.status?.allocation !== undefined)) settleUnnamed(uid)
    },
    answered(claim) {
      written.set(objectKey(claim), claim)
      count(objectKey(claim))
    },
    promise(key, allocation) {
      promised.set(key, allocation)
      count(key)
    },
    isPromised: (key) => promised.has(key),
    settle(key) {
      promised.delete(key)
      count(key)
    },
    promiseUnnamed(uid, allocation) {
      unnamed.set(uid, undefined)
      usage.set(`pod ${uid}`, resultsOf(allocation))
    },
    named: (uid, key) => void unnamed.set(uid, key),
    nameOf: (uid) => unnamed.get(uid),
    settleUnnamed,
  }
}

const resultsOf = (allocation: AllocationResult | undefined): readonly DeviceRequestAllocationResult[] =>
  allocation?.devices?.results ?? []

const revision = ({ metadata }: ResourceClaim): number => Number(metadata.resourceVersion ?? 0)
