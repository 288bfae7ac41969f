/**
 * For which audiences a kubelet may ask tokens (KEP-4935): those that its pod's volumes want, themselves or through their CSI
 * driver, and those that a role lets it have.
 */

import type {
  CSIDriver,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageV1TokenRequest,
  AuthenticationV1TokenRequest as TokenRequest,
  Volume,
} from '../../../api/generated/types.ts'
import type { Given } from '../../../api/object.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import type { CacheReads } from '../../reads.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { refused } from './pods.ts'

const VERB = 'request-serviceaccounts-token-audience'

/** @throws StatusError 403 */
export async function checkAudience(
  attributes: AdmissionAttributes,
  pod: Pod,
  reads: CacheReads,
  authorizer: Authorizer,
): Promise<void> {
  const request: Given<TokenRequest> | undefined = attributes.object
  const audiences = request?.spec?.audiences ?? []
  if (audiences.length > 1) throw refused(attributes, 'node may only request 0 or 1 audiences')
  // Without one the token is for this API server.
  const [audience = ''] = audiences
  if (audience === '') return
  const volumes: readonly Volume[] = pod.spec?.volumes ?? []
  for (const volume of volumes) if (wantedBy(volume, pod, audience, attributes, reads)) return
  const { user, namespace, name } = attributes
  const decision = await authorizer.authorize({
    user,
    verb: VERB,
    isResource: true,
    group: '',
    version: 'v1',
    resource: audience,
    subresource: '',
    namespace,
    name,
    path: '',
  })
  if (decision.verdict !== 'allow')
    throw refused(
      attributes,
      `${user.name} is not authorized to request tokens for audience ${JSON.stringify(audience)}`,
    )
}

function wantedBy(
  volume: Volume,
  pod: Pod,
  audience: string,
  attributes: AdmissionAttributes,
  reads: CacheReads,
): boolean {
  const sources = volume.projected?.sources ?? []
  if (sources.some((source) => source.serviceAccountToken?.audience === audience)) return true
  if (volume.csi) return driverWants(reads, volume.csi.driver, audience)
  const claim: string | undefined =
    volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral ? `${pod.metadata.name}-${volume.name}` : undefined)
  if (claim === undefined) return false
  const missing = (kind: string, name: string) =>
    refused(
      attributes,
      `error validating audience ${JSON.stringify(audience)}: ${kind} ${JSON.stringify(name)} not found`,
    )
  const found = reads.get<PersistentVolumeClaim>('', 'persistentvolumeclaims', attributes.namespace, claim)
  if (found === undefined) throw missing('persistentvolumeclaim', claim)
  const volumeName: string = found.spec?.volumeName ?? ''
  if (volumeName === '') return false
  const persistent = reads.get<PersistentVolume>('', 'persistentvolumes', '', volumeName)
  if (persistent === undefined) throw missing('persistentvolume', volumeName)
  return persistent.spec?.csi ? driverWants(reads, persistent.spec.csi.driver, audience) : false
}

function driverWants(reads: CacheReads, driver: string, audience: string): boolean {
  const requests: readonly StorageV1TokenRequest[] =
    reads.get<CSIDriver>('storage.k8s.io', 'csidrivers', '', driver)?.spec?.tokenRequests ?? []
  return requests.some((request) => request.audience === audience)
}
