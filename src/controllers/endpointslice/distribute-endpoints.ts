/**
 * How the slices there are become those there should be, with few writes: endpoints stay in the slice they are in, what is
 * new fills slices that are written anyway, and a slice that would go gives its name to one that would be made.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same.ts'
import { headlessLabel, isHeadless } from '../endpoints/service-pods-and-ports.ts'
import { controllerReference } from '../pods/pod.ts'
import { type EndpointGroup, portsKey } from './endpoint.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const managedBy = 'endpointslice-controller.k8s.io'
const perSlice = 100

export interface SlicePlan {
  readonly create: readonly KubeObject[]
  readonly update: readonly KubeObject[]
  readonly remove: readonly KubeObject[]
}

/** `existing`: the service's slices of this address family. */
export function planSlices(
  service: KubeObject,
  family: string,
  existing: readonly KubeObject[],
  desired: ReadonlyMap<string, EndpointGroup>,
): SlicePlan {
  const create: KubeObject[] = []
  const update: KubeObject[] = []
  let remove: KubeObject[] = []
  const labels = labelsOf(service)
  const byPorts = new Map<string, KubeObject[]>()
  for (const slice of existing) {
    const key = portsKey(portsOfSlice(slice))
    byPorts.set(key, [...(byPorts.get(key) ?? []), slice])
  }
  for (const [key, { ports, endpoints }] of desired) {
    const left = new Map(endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]))
    const changed: { slice: KubeObject; endpoints: Fields[] }[] = []
    const unchanged: { slice: KubeObject; endpoints: Fields[] }[] = []
    for (const slice of byPorts.get(key) ?? []) {
      const old: readonly Fields[] = slice['endpoints'] ?? []
      const kept: Fields[] = []
      let differs = !sameJson(slice.metadata.labels, labels)
      for (const endpoint of old) {
        const wanted = left.get(endpointKey(endpoint))
        if (wanted === undefined) continue
        left.delete(endpointKey(endpoint))
        kept.push(wanted)
        if (!sameJson(wanted, endpoint)) differs = true
      }
      if (kept.length === 0 && old.length > 0) remove.push(slice)
      else if (differs || kept.length < old.length) changed.push({ slice, endpoints: kept })
      else unchanged.push({ slice, endpoints: kept })
    }
    const added = [...left.values()]
    const fill = (target: { endpoints: Fields[] }) =>
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
      update.push({ ...slice, metadata: { ...slice.metadata, labels }, endpoints: own as never })
    while (added.length > 0) create.push(newSlice(service, family, labels, added.splice(0, perSlice), ports))
  }
  for (const [key, slices] of byPorts) if (!desired.has(key)) remove.push(...slices)
  if (desired.size === 0 && remove.length === existing.length) {
    const placeholder = newSlice(service, family, labels, null, null)
    if (remove.length === 1 && isPlaceholder(remove[0] as KubeObject, labels)) remove = []
    else create.push(placeholder)
  }
  // Rather renamed than made and removed.
  while (create.length > 0 && remove.length > 0) {
    const slice = create.shift() as KubeObject
    const { name = '' } = (remove.shift() as KubeObject).metadata
    update.push({ ...slice, metadata: { ...slice.metadata, name } })
  }
  return { create, update, remove }
}

function newSlice(
  service: KubeObject,
  family: string,
  labels: Readonly<Record<string, string>>,
  endpoints: readonly Fields[] | null,
  ports: readonly Fields[] | null,
): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${(service.metadata.name ?? '').slice(0, 250)}-`,
      namespace: service.metadata.namespace ?? '',
      labels,
      ownerReferences: [controllerReference(service)],
    },
    addressType: family as never,
    endpoints: endpoints as never,
    ports: (ports === null || ports.length === 0 ? null : ports) as never,
  }
}

function labelsOf(service: KubeObject): Readonly<Record<string, string>> {
  const reserved = new Set([headlessLabel, serviceNameLabel, managedByLabel])
  const own = Object.entries(service.metadata.labels ?? {}).filter(([name]) => !reserved.has(name))
  return {
    ...Object.fromEntries(own),
    ...(isHeadless(service) ? { [headlessLabel]: '' } : {}),
    [serviceNameLabel]: service.metadata.name ?? '',
    [managedByLabel]: managedBy,
  }
}

const isPlaceholder = (slice: KubeObject, labels: Readonly<Record<string, string>>): boolean =>
  (slice['endpoints'] ?? []).length === 0 &&
  (slice['ports'] ?? []).length === 0 &&
  sameJson(slice.metadata.labels, labels)

const portsOfSlice = (slice: KubeObject) =>
  ((slice['ports'] ?? []) as readonly Fields[]).map(({ name = '', port, protocol, appProtocol }) => ({
    name: name as string,
    port: port as number,
    protocol: protocol as string,
    ...(appProtocol ? { appProtocol: appProtocol as string } : {}),
  }))

/** The same pod at the same address. */
const endpointKey = (endpoint: Fields): string =>
  JSON.stringify([endpoint['addresses'], endpoint['hostname'] ?? '', endpoint['targetRef']?.uid ?? ''])
