/** The slices that mirror an Endpoints object. A slice that is not exactly as it should be is made anew, under its name. Pure. */
import type {
  DiscoveryV1EndpointPort,
  Endpoint,
  EndpointAddress,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
} from '../../api/generated/types.ts'
import { sameJson } from '../../api/same.ts'
import { inSliceOrder } from '../endpoints/port-order.ts'
import { triggerTimeAnnotation } from '../endpoints/service-pods-and-ports.ts'
import { managedByLabel, serviceNameLabel } from '../endpointslice/distribute-endpoints.ts'
import { controllerReference } from '../pods/pod.ts'

export const managedByMirroring = 'endpointslicemirroring-controller.k8s.io'
/** Addresses mirrored of one subset, and held by one slice. */
const mostAddresses = 1000
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror'
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader'

/** Some Endpoints are locks, and some say themselves that they are not to be mirrored. */
export const wantsMirror = ({ metadata }: Endpoints): boolean =>
  metadata.labels?.[skipLabel] !== 'true' && metadata.annotations?.[leaderAnnotation] === undefined

export interface MirrorPlan {
  readonly create: readonly EndpointSlice[]
  readonly update: readonly EndpointSlice[]
  readonly remove: readonly EndpointSlice[]
  /** Addresses that are too many. */
  readonly skipped: number
}

interface Group {
  readonly family: string
  readonly ports: readonly DiscoveryV1EndpointPort[]
  readonly endpoints: Endpoint[]
}

/** `existing`: the mirroring slices there are. */
export function planMirror(endpoints: Endpoints, existing: readonly EndpointSlice[]): MirrorPlan {
  const { groups, skipped } = groupsOf(endpoints.subsets ?? [])
  const wanted = groups.map((group) => sliceOf(endpoints, group))
  const rest = [...existing]
  const create: EndpointSlice[] = []
  const update: EndpointSlice[] = []
  for (const slice of wanted) {
    const same = rest.findIndex((other) => isSame(other, slice))
    if (same >= 0) rest.splice(same, 1)
    else create.push(slice)
  }
  // A slice with the same ports is written anew; what is left gives its name to a new one of its address type, which goes on saying what it was to be named after.
  const reuse = (fits: (old: EndpointSlice, slice: EndpointSlice) => boolean, metadataOf: typeof anew) => {
    for (const slice of [...create]) {
      const at = rest.findIndex((old) => old.addressType === slice.addressType && fits(old, slice))
      if (at < 0) continue
      const [old] = rest.splice(at, 1) as [EndpointSlice]
      create.splice(create.indexOf(slice), 1)
      update.push({ ...slice, metadata: { ...metadataOf(slice.metadata), name: old.metadata.name ?? '' } })
    }
  }
  reuse((old, slice) => sameJson(old.ports ?? [], slice.ports ?? []), anew)
  reuse(
    () => true,
    (metadata) => metadata,
  )
  return { create, update, remove: rest, skipped }
}

function anew({ generateName: _, ...metadata }: EndpointSlice['metadata']): EndpointSlice['metadata'] {
  return metadata
}

function groupsOf(subsets: readonly EndpointSubset[]): { readonly groups: readonly Group[]; readonly skipped: number } {
  const groups = new Map<string, Group>()
  let skipped = 0
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    const all: readonly Endpoint[] = [
      ...addresses.map((address) => endpointOf(address, true)),
      ...notReadyAddresses.map((address) => endpointOf(address, false)),
    ]
    skipped += Math.max(0, all.length - mostAddresses)
    const named = inSliceOrder(ports.map((port) => ({ name: '', ...port })))
    for (const endpoint of all.slice(0, mostAddresses)) {
      const family = endpoint.addresses[0]?.includes(':') ? 'IPv6' : 'IPv4'
      const key = JSON.stringify([family, named])
      const group: Group = groups.get(key) ?? { family, ports: named, endpoints: [] }
      groups.set(key, group)
      group.endpoints.push(endpoint)
    }
  }
  return { groups: [...groups.values()].flatMap(split), skipped }
}

function split(group: Group): readonly Group[] {
  const parts: Group[] = []
  for (let first = 0; first < group.endpoints.length; first += mostAddresses)
    parts.push({ ...group, endpoints: group.endpoints.slice(first, first + mostAddresses) })
  return parts
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    ...(targetRef ? { targetRef } : {}),
  }
}

function sliceOf(endpoints: Endpoints, { family, ports, endpoints: own }: Group): EndpointSlice {
  const { name = '', namespace = '', labels = {}, annotations = {} } = endpoints.metadata
  const kept = Object.entries(annotations).filter(([key]) => key !== lastApplied && key !== triggerTimeAnnotation)
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      generateName: `${name.slice(0, 250)}-`,
      namespace,
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: managedByMirroring },
      ...(kept.length > 0 ? { annotations: Object.fromEntries(kept) } : {}),
      ownerReferences: [controllerReference(endpoints)],
    },
    addressType: family,
    endpoints: own,
    // Without any, null is sent.
    ports: (ports.length > 0 ? ports : null) as EndpointSlice['ports'],
  }
}

/** In everything that is mirrored; endpoints may stand in any order. */
function isSame(slice: EndpointSlice, wanted: EndpointSlice): boolean {
  const texts = (one: EndpointSlice) => (one.endpoints ?? []).map((part) => JSON.stringify(sorted(part))).sort()
  return (
    slice.addressType === wanted.addressType &&
    sameJson(slice.ports ?? [], wanted.ports ?? []) &&
    sameJson(slice.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    sameJson(slice.metadata.annotations ?? {}, wanted.metadata.annotations ?? {}) &&
    sameJson(texts(slice), texts(wanted))
  )
}

const sorted = (part: Endpoint) => Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
