/** What Kubernetes protects as long as it is used: classes of volumes, ranges of Services' addresses, what volumes and snapshots are made of. */
import type { IPAddress, PersistentVolume, PersistentVolumeClaim, ServiceCIDR } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { isWithin, parseIPRange, rangeOfAddress } from '../../api/objects/ip-range.ts'
import { asObject } from '../../api/unchecked.ts'
import { classesOfClaim, classesOfVolume } from '../../controllers/volume-protection/vac-protection-controller.ts'
import { type Link, lastLink, type ObjectRef } from './finding.ts'
import { CLAIMS, foundOf, itemsOf, type Look, MOST_ALIKE, SERVICES, unseenLink, VOLUMES } from './look.ts'
import { usedBy } from './users.ts'
import type { Examine } from './what-holds-an-object.ts'

/** Claims and volumes that have a VolumeAttributesClass, or are being given it (KEP-3751). */
export async function volumeClassLinks(look: Look, ref: ObjectRef, examine: Examine): Promise<readonly Link[]> {
  const [claims, volumes] = await Promise.all([
    look.reader.list<PersistentVolumeClaim>(CLAIMS),
    look.reader.list<PersistentVolume>(VOLUMES),
  ])
  if (claims.state !== 'found') return [unseenLink('claims that have the class', claims)]
  const ofClaims = claims.value.filter((claim) => classesOfClaim(claim).includes(ref.name))
  const ofVolumes = itemsOf(volumes).filter((volume) => classesOfVolume(volume).includes(ref.name))
  const how = 'it has the class, or is being given it'
  return usedByAny(look, 'persistentvolumeclaims', ofClaims, how, examine).then(async (links) =>
    links.length > 0 ? links : usedByAny(look, 'persistentvolumes', ofVolumes, how, examine),
  )
}

async function usedByAny(look: Look, plural: string, users: readonly KubeObject[], how: string, examine: Examine) {
  const resource = look.kinds.ofResource('', plural)
  if (resource === undefined) return []
  return Promise.all(users.slice(0, MOST_ALIKE).map((user) => usedBy(look, resource, user, how, examine)))
}

const NETWORKING = { group: 'networking.k8s.io', version: 'v1' }

/** Services with addresses of a ServiceCIDR that belong to no other one (KEP-1880). */
export async function addressLinks(
  look: Look,
  ref: ObjectRef,
  object: KubeObject,
  examine: Examine,
): Promise<readonly Link[]> {
  const [cidrs, addresses] = await Promise.all([
    look.reader.list<ServiceCIDR>({ ...NETWORKING, resource: 'servicecidrs' }),
    look.reader.list<IPAddress>({ ...NETWORKING, resource: 'ipaddresses' }),
  ])
  if (addresses.state !== 'found') return [unseenLink('addresses of the range', addresses)]
  const rangesOf = (one: KubeObject) =>
    ((one as ServiceCIDR).spec?.cidrs ?? []).flatMap((cidr) => parseIPRange(cidr) ?? [])
  const own = rangesOf(object)
  const others = itemsOf(cidrs)
    .filter(({ metadata }) => metadata.uid !== ref.uid)
    .flatMap(rangesOf)
  const used = addresses.value.filter(({ metadata: { name = '' } }) => {
    const address = rangeOfAddress(name)
    const isIn = (range: (typeof own)[number]) => address !== undefined && isWithin(address, range)
    return own.some(isIn) && !others.some(isIn)
  })
  const links = used.slice(0, MOST_ALIKE).map(async (address): Promise<Link> => {
    const { namespace = '', name = '' } = address.spec?.parentRef ?? {}
    const service = foundOf(await look.reader.get(SERVICES, namespace, name))
    const [user, plural, group] =
      service === undefined ? [address, 'ipaddresses', NETWORKING.group] : [service, 'services', '']
    const resource = look.kinds.ofResource(group, plural)
    const how = `${address.metadata.name} is of this range, and of no other`
    if (resource !== undefined) return usedBy(look, resource, user, how, examine)
    return lastLink('will-end', { kind: 'in-use', by: { ...ref, kind: 'IPAddress', name }, how, isDeleted: false })
  })
  return Promise.all(links)
}

const SNAPSHOTS = { group: 'snapshot.storage.k8s.io', resource: 'volumesnapshots' }

/** Claims that a volume is being made for out of this claim or snapshot, and snapshots of this claim that are not ready. */
export async function copyLinks(look: Look, ref: ObjectRef, examine: Examine): Promise<readonly Link[]> {
  if (ref.namespace === '') return []
  const { namespace } = ref
  const claims = itemsOf(await look.reader.list<PersistentVolumeClaim>(CLAIMS, { namespace })).filter(
    ({ spec, status }) =>
      status?.phase !== 'Bound' &&
      [spec?.dataSourceRef, spec?.dataSource].some(
        (source) => source?.kind === ref.kind && (source.apiGroup ?? '') === ref.group && source.name === ref.name,
      ),
  )
  const ofClaims = await usedByAny(look, 'persistentvolumeclaims', claims, 'its volume is being made of it', examine)
  const resource = look.kinds.ofResource(SNAPSHOTS.group, SNAPSHOTS.resource)
  if (ofClaims.length > 0 || resource === undefined || ref.resource !== 'persistentvolumeclaims') return ofClaims
  const snapshots = itemsOf(await look.reader.list(resource, { namespace })).filter((snapshot) => {
    const { spec, status } = snapshot as KubeObject & { readonly spec?: object; readonly status?: object }
    return (
      asObject(asObject(spec)['source'])['persistentVolumeClaimName'] === ref.name &&
      asObject(status)['readyToUse'] !== true
    )
  })
  return Promise.all(
    snapshots
      .slice(0, MOST_ALIKE)
      .map((snapshot) => usedBy(look, resource, snapshot, 'it is being taken of the claim', examine)),
  )
}
