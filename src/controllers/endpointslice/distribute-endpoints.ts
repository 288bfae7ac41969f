/**
 * How the slices there are become those there should be, with few writes: endpoints stay in the slice they are in, what is
 * new fills slices that are written anyway, and a slice that would go gives its name to one that would be made.
 */
import type { Endpoint, EndpointSlice, Service } from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { inSliceOrder } from '../endpoints/port-order.ts'
import { byName, type EndpointPort, headlessLabel, isHeadless } from '../endpoints/service-pods-and-ports.ts'
import { controllerReference } from '../pods/pod.ts'
import { type EndpointGroup, portsKey } from './endpoint.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const managedBy = 'endpointslice-controller.k8s.io'
const perSlice = 100

export interface SlicePlan {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  /** Those that stay, as they are. */
  readonly unchanged: readonly EndpointSlice[]
}

export interface SliceCounts {
  /** Endpoints that there should be, and the fewest slices that have room for them. */
  readonly endpoints: number
  readonly slices: number
  /** Endpoints that are new, and that leave slices which stay. */
  readonly added: number
  readonly removed: number
}

/**
 * `existing`: the slices of this address family that name the service. One that it does not own (left behind by one of the same name, or its
 * reference was taken off) goes, unless it is the empty one that would be made in its place. With `ignoreHints` a slice whose endpoints
 * have other hints only is unchanged.
 */
export function planSlices(
  service: Service,
  family: string,
  existing: readonly EndpointSlice[],
  desired: ReadonlyMap<string, EndpointGroup>,
  { ignoreHints = false }: { readonly ignoreHints?: boolean } = {},
): SlicePlan & { readonly counts: SliceCounts } {
  const compared = ignoreHints ? ({ hints: _, ...endpoint }: Endpoint) => endpoint : (endpoint: Endpoint) => endpoint
  const create: EndpointSlice[] = []
  const update: EndpointSlice[] = []
  const isOwned = ({ metadata }: EndpointSlice) =>
    metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Service' && uid === service.metadata.uid) === true
  const [owned, others] = [existing.filter(isOwned), existing.filter((slice) => !isOwned(slice))]
  let remove = others
  const labels = labelsOf(service)
  const byPorts = new Map<string, EndpointSlice[]>()
  for (const slice of owned) {
    const key = portsKey(portsOfSlice(slice))
    byPorts.set(key, [...(byPorts.get(key) ?? []), slice])
  }
  const counts = { endpoints: 0, slices: 0, added: 0, removed: 0 }
  for (const [key, { ports, endpoints }] of desired) {
    const left = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]))
    const changed: { slice: EndpointSlice; endpoints: Endpoint[] }[] = []
    const unchanged: { slice: EndpointSlice; endpoints: Endpoint[] }[] = []
    for (const slice of byPorts.get(key) ?? []) {
      const old: readonly Endpoint[] = slice.endpoints ?? []
      const kept: Endpoint[] = []
      let differs = !sameJson(slice.metadata.labels, labels)
      for (const endpoint of old) {
        const wanted = left.get(endpointKey(endpoint))
        if (wanted === undefined) continue
        left.delete(endpointKey(endpoint))
        kept.push(wanted)
        if (!sameJson(compared(wanted), compared(endpoint))) differs = true
      }
      if (kept.length === 0 && old.length > 0) remove.push(slice)
      else {
        const stays = differs || kept.length < old.length ? changed : unchanged
        stays.push({ slice, endpoints: kept })
        counts.removed += old.length - kept.length
      }
    }
    const added = [...left.values()]
    counts.endpoints += endpoints.length
    counts.slices += Math.ceil(endpoints.length / perSlice)
    counts.added += added.length
    const fill = (target: { endpoints: Endpoint[] }) =>
      target.endpoints.push(...added.splice(0, perSlice - target.endpoints.length))
    for (const target of changed.toSorted((a, b) => b.endpoints.length - a.endpoints.length)) fill(target)
    // One more write is no worse than a new slice, if that is all.
    const roomy = unchanged
      .filter(({ endpoints: own }) => added.length > 0 && own.length + added.length <= perSlice)
      .sort((a, b) => b.endpoints.length - a.endpoints.length)[0]
    if (roomy !== undefined) {
      fill(roomy)
      changed.push(roomy)
    }
    for (const { slice, endpoints: own } of changed)
      update.push({ ...slice, metadata: { ...slice.metadata, labels }, endpoints: own })
    while (added.length > 0) create.push(newSlice(service, family, labels, added.splice(0, perSlice), ports))
  }
  for (const [key, slices] of byPorts) if (!desired.has(key)) remove.push(...slices)
  if (desired.size === 0 && remove.length === existing.length) {
    const placeholder = newSlice(service, family, labels, null, null)
    if (remove.length === 1 && isPlaceholder(remove[0] as EndpointSlice, labels)) remove = []
    else create.push(placeholder)
  }
  // Rather renamed than made and removed.
  const replaced = remove.filter(isOwned).slice(0, create.length)
  for (const { metadata } of replaced) {
    const slice = create.shift() as EndpointSlice
    update.push({ ...slice, metadata: { ...slice.metadata, name: metadata.name ?? '' } })
  }
  // The garbage collector takes the slices of a service that goes: new ones would come too late for it.
  const isGoing = service.metadata.deletionTimestamp !== undefined
  const touched = new Set([...update, ...remove].map(({ metadata }) => metadata.name))
  return {
    create: isGoing ? [] : create,
    update,
    remove: remove.filter((slice) => !replaced.includes(slice)),
    unchanged: existing.filter(({ metadata }) => !touched.has(metadata.name)),
    // One without endpoints stands for a service without any.
    counts: { ...counts, slices: Math.max(1, counts.slices) },
  }
}

function newSlice(
  service: Service,
  family: string,
  labels: Readonly<Record<string, string>>,
  endpoints: readonly Endpoint[] | null,
  ports: readonly EndpointPort[] | null,
): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${(service.metadata.name ?? '').slice(0, 250)}-`,
      namespace: service.metadata.namespace ?? '',
      labels,
      ownerReferences: [controllerReference(service)],
    },
    addressType: family,
    // Null stands for none, which the type does not say.
    endpoints: endpoints as readonly Endpoint[],
    ports: (ports === null || ports.length === 0 ? null : inSliceOrder(ports)) as readonly EndpointPort[],
  }
}

function labelsOf(service: Service): Readonly<Record<string, string>> {
  const reserved = new Set([headlessLabel, serviceNameLabel, managedByLabel])
  const own = Object.entries(service.metadata.labels ?? {}).filter(([name]) => !reserved.has(name))
  return {
    ...Object.fromEntries(own),
    ...(isHeadless(service) ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: service.metadata.name ?? '',
    [managedByLabel]: managedBy,
  }
}

const isPlaceholder = (slice: EndpointSlice, labels: Readonly<Record<string, string>>): boolean =>
  (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0 && sameJson(slice.metadata.labels, labels)

const portsOfSlice = (slice: EndpointSlice) =>
  (slice.ports ?? [])
    .map(({ name = '', port, protocol, appProtocol }) => ({
      name,
      port: port as number,
      protocol: protocol as string,
      ...(appProtocol ? { appProtocol: appProtocol as string } : {}),
    }))
    .toSorted(byName)

/** The same pod at the same address. */
const endpointKey = (endpoint: Endpoint): string =>
  JSON.stringify([endpoint.addresses, endpoint.hostname ?? '', endpoint.targetRef?.uid ?? ''])
