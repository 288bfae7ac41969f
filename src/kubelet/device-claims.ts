/**
 * Sees to it that a pod may use its resource claims and has their devices before its sandbox is made (KEP-4381). On a simulated node
 * every driver answers at once; a real one has no plugin that could.
 */

import {
  claimsResource,
  isMadeFor,
  isReservedFor,
  podClaims,
  type ResourceClaim,
} from '../api/objects/resource-claims.ts'
import { messageOf } from '../base/errors.ts'
import type { Client } from '../client/client.ts'
import { nameOf, namespaceOf, type Pod, uidOf } from './pod.ts'

export interface DeviceClaims {
  has(pod: Pod): boolean
  /** @throws Error what a user can be told */
  prepare(pod: Pod): Promise<void>
}

export function createDeviceClaims(client: Client, drivers: 'simulated' | 'none'): DeviceClaims {
  const claimsIn = (pod: Pod) => {
    const extended: string | undefined = pod.status?.extendedResourceClaimStatus?.resourceClaimName
    return [...podClaims(pod), ...(extended === undefined ? [] : [{ name: extended, template: undefined }])]
  }

  return {
    has: (pod) => claimsIn(pod).length > 0,
    async prepare(pod) {
      for (const { name, template } of claimsIn(pod)) {
        // The pod needs none after all.
        if (name === null) continue
        if (name === undefined)
          throw new Error(`pod ${JSON.stringify(`${namespaceOf(pod)}/${nameOf(pod)}`)}: ResourceClaim not created yet`)
        const claim = await client
          .resource<ResourceClaim>(claimsResource)
          .namespace(namespaceOf(pod))
          .get(name)

          .catch((error: unknown) => {
            throw new Error(`fetch ResourceClaim ${name}: ${messageOf(error)}`, { cause: error })
          })
        if (template !== undefined && !isMadeFor(claim, pod))
          throw new Error(
            `ResourceClaim ${name} was not created for pod ${namespaceOf(pod)}/${nameOf(pod)} (pod is not owner)`,
          )
        if (!isReservedFor(claim, pod))
          throw new Error(
            `pod ${nameOf(pod)} (${uidOf(pod)}) is not allowed to use ResourceClaim ${name} (${claim.metadata.uid})`,
          )
        const results = claim.status?.allocation?.devices?.results ?? []
        if (drivers === 'none' && results.length > 0)
          throw new Error(`DRA driver ${results[0]?.driver} is not registered`)
      }
    },
  }
}
