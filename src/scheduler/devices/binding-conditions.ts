/** Devices that their drivers make ready before a pod is bound (KEP-5007): conditions in the claim's status tell how far they are. */
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'

export interface BindingFailure {
  readonly claim: string
  readonly reason: string
  readonly message: string
}

/** They were given longer ago than they may take to be made ready: others are to be found. Times in milliseconds. */
export function isOverdue(claim: ResourceClaim, now: number, longest: number): boolean {
  const since = Date.parse(claim.status?.allocation?.allocationTimestamp ?? '')
  return bindingState(claim) === 'waiting' && since + longest <= now
}

export function bindingState(claim: ResourceClaim | undefined): 'ready' | 'waiting' | BindingFailure {
  let isReady = true
  const told = claim?.status?.devices ?? []
  for (const result of claim?.status?.allocation?.devices?.results ?? []) {
    const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } = result
    const about = told.find(
      (one) => one.driver === driver && one.pool === pool && one.device === device && one.shareID === shareID,
    )
    const conditions = about?.conditions ?? []
    const ifTrue = (type: string) => conditions.find((one) => one.type === type && one.status === 'True')
    for (const type of bindingFailureConditions) {
      const { reason = '', message = '' } = ifTrue(type) ?? {}
      if (ifTrue(type)) return { claim: claim?.metadata.name ?? '', reason, message }
    }
    if (bindingConditions.some((type) => !ifTrue(type))) isReady = false
  }
  return isReady ? 'ready' : 'waiting'
}
