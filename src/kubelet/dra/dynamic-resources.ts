/** What DRA drivers have prepared for a container, as agents on the machine are told (KEP-3695): by claim, whole, whatever requests of it are its. */
import { podClaims } from '../../api/objects/resource-claims.ts'
import { type Container, type Pod, uidOf } from '../pod.ts'
import type { DynamicResource } from '../pod-resources/pod-resources.ts'
import type { PreparedClaimsToTell } from './prepared-claims.ts'

/** A claim that is not prepared yet is left out. */
export function dynamicResources(
  prepared: PreparedClaimsToTell,
  pod: Pod,
  container: Container,
): readonly DynamicResource[] {
  return claimsOf(pod, container).flatMap((name) => {
    const claim = prepared.claim(uidOf(pod), name)
    if (claim === undefined) return []
    const devices = Object.entries(claim.devices).flatMap(([driver, own]) => own.map((device) => ({ driver, device })))
    return [
      {
        claim_name: claim.name,
        claim_namespace: claim.namespace,
        claim_resources: devices.map(({ driver, device }) => ({
          cdi_devices: device.cdi_device_ids.map((id) => ({ name: id })),
          driver_name: driver,
          pool_name: device.pool_name,
          device_name: device.device_name,
          ...(device.share_id === undefined ? {} : { share_id: device.share_id }),
        })),
      },
    ]
  })
}

/** Those that it names, and the one that stands for extended resources, where some of them are its. */
function claimsOf(pod: Pod, container: Container): readonly string[] {
  const named = new Set((container.resources?.claims ?? []).map(({ name }) => name))
  const claims = podClaims(pod).flatMap(({ podClaim, name }) =>
    named.has(podClaim) && typeof name === 'string' ? [name] : [],
  )
  const extended = pod.status?.extendedResourceClaimStatus
  const isOwn = extended?.requestMappings.some(({ containerName }) => containerName === container.name) === true
  return isOwn ? [...claims, extended.resourceClaimName] : claims
}
