/** Devices that their drivers make ready before a pod is bound (KEP-5007): conditions in the claim's status tell how far they are. */
import type { Fields } from '../../api/object.ts'
import type { ResourceClaim } from '../../api/objects/resource-claims.ts'

export interface BindingFailure {
  readonly claim: string
  readonly reason: string
  readonly message: string
}

const isTrue = ({ status }: Fields): boolean => status === 'True'

export function bindingState(claim: ResourceClaim | undefined): 'ready' | 'waiting' | BindingFailure {
  let isReady = true
  const told = (claim?.status?.devices ?? []) as readonly Fields[]
  for (const result of (claim?.status?.allocation?.devices?.results ?? []) as readonly Fields[]) {
    const { driver, pool, device, shareID, bindingConditions = [], bindingFailureConditions = [] } = result
    const about = told.find(
      (one) =>
        one['driver'] === driver && one['pool'] === pool && one['device'] === device && one['shareID'] === shareID,
    )
    const conditions = (about?.['conditions'] ?? []) as readonly Fields[]
    const ifTrue = (type: string) => conditions.find((one) => one['type'] === type && isTrue(one))
    for (const type of bindingFailureConditions as readonly string[]) {
      const { reason = '', message = '' } = ifTrue(type) ?? {}
      if (ifTrue(type)) return { claim: claim?.metadata.name ?? '', reason, message }
    }
    if ((bindingConditions as readonly string[]).some((type) => !ifTrue(type))) isReady = false
  }
  return isReady ? 'ready' : 'waiting'
}
