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
  const named = new Set((container.resources?.claims ?? []).map(({ name }) => name))
  return podClaims(pod)
    .filter(({ podClaim }) => named.has(podClaim))
    .flatMap(({ name }) => {
      const claim = typeof name === 'string' ? prepared.claim(uidOf(pod), name) : undefined
      if (claim === undefined) return []
      const devices = Object.entries(claim.devices).flatMap(([driver, own]) =>
        own.map((device) => ({ driver, device })),
      )
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
