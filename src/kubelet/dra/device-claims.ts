/**
 * Sees to it that a pod may use its resource claims and has their devices before its sandbox is made (KEP-4381), and that drivers take them back
 * after its last container. On a simulated node every driver answers at once.
 */
import type { DeviceRequestAllocationResult } from '../../api/generated/types.ts'
import {
  claimsResource,
  isMadeFor,
  isReservedFor,
  podClaims,
  type ResourceClaim,
} from '../../api/objects/resource-claims.ts'
import { messageOf } from '../../base/errors.ts'
import type { Client } from '../../client/client.ts'
import { type Container, nameOf, namespaceOf, type Pod, uidOf } from '../pod.ts'
import type { ClaimsWork } from '../work-metrics.ts'
import type { AllocatedClaim, PreparedClaims } from './prepared-claims.ts'

export interface DeviceClaims {
  has(pod: Pod): boolean
  /** @throws Error what a user can be told */
  prepare(pod: Pod): Promise<void>
  /** What is prepared for the pod and no other is taken back. @throws Error what a user can be told; it is to be called again */
  unprepare(uid: string): Promise<void>
  /** What the runtime is to give the container, by their names in the Container Device Interface. @throws Error when a claim is not prepared */
  devices(pod: Pod, container: Container): readonly string[]
  /** Takes back what is prepared for pods that are no longer known. @throws the first failure */
  unprepareUnknown(isKnown: (uid: string) => boolean): Promise<void>
}

/** `prepared`: of a real node. */
export function createDeviceClaims(
  client: Client,
  prepared: PreparedClaims | undefined,
  counted: ClaimsWork = (_, task) => task(),
): DeviceClaims {
  const extendedName = (pod: Pod) => pod.status?.extendedResourceClaimStatus?.resourceClaimName
  const claimsIn = (pod: Pod) => {
    const extended = extendedName(pod)
    return [
      ...podClaims(pod),
      ...(extended === undefined ? [] : [{ podClaim: undefined, name: extended, template: undefined }]),
    ]
  }

  async function claimOf(
    pod: Pod,
    { name, template }: { readonly name: string; readonly template: string | undefined },
  ): Promise<AllocatedClaim> {
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
    const results: readonly DeviceRequestAllocationResult[] = claim.status?.allocation?.devices?.results ?? []
    const drivers = [...new Set(results.map(({ driver }) => driver))]
    return { namespace: namespaceOf(pod), name, uid: claim.metadata.uid ?? '', drivers }
  }

  async function prepare(pod: Pod): Promise<void> {
    const claims: AllocatedClaim[] = []
    for (const { name, template } of claimsIn(pod)) {
      // The pod needs none after all.
      if (name === null) continue
      if (name === undefined)
        throw new Error(`pod ${JSON.stringify(`${namespaceOf(pod)}/${nameOf(pod)}`)}: ResourceClaim not created yet`)
      const claim = await claimOf(pod, { name, template })
      if (!claims.some(({ uid }) => uid === claim.uid)) claims.push(claim)
    }
    await prepared?.prepare(uidOf(pod), claims)
  }

  return {
    has: (pod) => claimsIn(pod).length > 0,
    prepare: (pod) => counted('PrepareResources', () => prepare(pod)),
    unprepare: (uid) => counted('UnprepareResources', async () => prepared?.unprepare(uid)),
    devices(pod, container) {
      if (prepared === undefined) return []
      const ids: string[] = []
      const add = (claim: string, request: string | undefined) => {
        for (const device of prepared.devices(uidOf(pod), claim, request)) ids.push(...device.cdi_device_ids)
      }
      for (const { name, request } of container.resources?.claims ?? []) {
        const claim = claimsIn(pod).find(({ podClaim }) => podClaim === name)?.name
        if (claim !== undefined && claim !== null) add(claim, request)
      }
      const extended = extendedName(pod)
      const mappings = pod.status?.extendedResourceClaimStatus?.requestMappings ?? []
      for (const { containerName, requestName } of mappings)
        if (extended !== undefined && containerName === container.name) add(extended, requestName)
      return [...new Set(ids)]
    },
    async unprepareUnknown(isKnown) {
      const gone = (prepared?.pods() ?? []).filter((uid) => !isKnown(uid))
      const results = await Promise.allSettled(gone.map((uid) => prepared?.unprepare(uid)))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}
