/** Rows of the core group's other kinds, and of events, endpoint slices and leases. */
import type {
  ComponentStatus,
  ConfigMap,
  EndpointSlice,
  Endpoints,
  Event,
  EventSource,
  EventsV1Event,
  Lease,
  Namespace,
  Node,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  ResourceQuota,
  Secret,
  Service,
  ServicePort,
} from '../../../api/generated/types.ts'
import type { Fields, KubeObject } from '../../../api/object.ts'
import { age, firstFew, formatLabels, listOf, madeAt, NONE, objectAge, objectName, UNKNOWN, UNSET } from './format.ts'
import type { Cells, Printer } from './printer.ts'

const count = (value: unknown): number => Object.keys((value ?? {}) as Fields).length

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

/** `RWO,ROX`: in the order of ACCESS_MODES, each once. */
export function printedAccessModes(modes: readonly string[] | undefined): string {
  return Object.keys(ACCESS_MODES)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => ACCESS_MODES[mode])
    .join(',')
}

function endpoints(object: Endpoints): string {
  const subsets = listOf(object.subsets)
  if (subsets.length === 0) return NONE
  const all = subsets.flatMap((subset) => {
    const addresses = listOf(subset.addresses).map((address) => address.ip)
    const ports = listOf(subset.ports)
    if (ports.length === 0) return addresses
    return ports.flatMap((port) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port.port}`))
  })
  return firstFew(all, 3) || NONE
}

function servicePorts(ports: readonly ServicePort[]): string {
  return (
    ports.map((port) => `${port.port}${port.nodePort ? `:${port.nodePort}` : ''}/${port.protocol}`).join(',') || NONE
  )
}

function externalAddress(service: Service): string {
  const spec = service.spec
  const external: readonly string[] = spec?.externalIPs ?? []
  if (!spec?.type) return UNKNOWN
  if (spec?.type === 'ExternalName') return spec?.externalName ?? ''
  if (spec?.type !== 'LoadBalancer') return external.join(',') || NONE
  const balanced = listOf(service.status?.loadBalancer?.ingress).map((ingress) => ingress.ip || ingress.hostname)
  return [...[...new Set(balanced)].sort(), ...external].join(',') || '<pending>'
}

const printService = (service: Service, nowMs: number): Cells => {
  const spec = service.spec
  return [
    objectName(service),
    spec?.type ?? '',
    spec?.clusterIPs?.[0] || spec?.clusterIP || NONE,
    externalAddress(service),
    servicePorts(listOf(spec?.ports)),
    objectAge(service, nowMs),
    formatLabels(spec?.selector),
  ]
}

const printNode = (node: Node, nowMs: number): Cells => {
  const status = node.status
  const ready = listOf(status?.conditions).find((condition) => condition.type === 'Ready')
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady']
  if (node.spec?.unschedulable) words.push('SchedulingDisabled')
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith('node-role.kubernetes.io/')) roles.add(key.slice('node-role.kubernetes.io/'.length))
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(value)
  }
  roles.delete('')
  const address = (type: string) =>
    listOf(status?.addresses).find((candidate) => candidate.type === type)?.address ?? NONE
  const info = status?.nodeInfo
  return [
    objectName(node),
    words.join(','),
    [...roles].sort().join(',') || NONE,
    objectAge(node, nowMs),
    info?.kubeletVersion ?? '',
    address('InternalIP'),
    address('ExternalIP'),
    info?.osImage || UNKNOWN,
    info?.kernelVersion ? `${info?.kernelVersion}${info?.architecture ? ` (${info?.architecture})` : ''}` : UNKNOWN,
    info?.containerRuntimeVersion || UNKNOWN,
  ]
}

const printPersistentVolume = (volume: PersistentVolume, nowMs: number): Cells => {
  const spec = volume.spec
  const claim = spec?.claimRef
  const phase = volume.metadata.deletionTimestamp ? 'Terminating' : (volume.status?.phase ?? '')
  return [
    objectName(volume),
    spec?.capacity?.['storage'] ?? '0',
    printedAccessModes(spec?.accessModes),
    spec?.persistentVolumeReclaimPolicy ?? '',
    phase,
    claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
    storageClass(volume),
    spec?.volumeAttributesClassName ?? UNSET,
    volume.status?.reason ?? '',
    objectAge(volume, nowMs),
    spec?.volumeMode ?? UNSET,
  ]
}

function storageClass(object: PersistentVolume | PersistentVolumeClaim): string {
  return object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? object.spec?.storageClassName ?? ''
}

const printPersistentVolumeClaim = (claim: PersistentVolumeClaim, nowMs: number): Cells => {
  const spec = claim.spec
  const status = claim.status
  const bound = Boolean(spec?.volumeName)
  return [
    objectName(claim),
    claim.metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? ''),
    spec?.volumeName ?? '',
    bound ? (status?.capacity?.['storage'] ?? '0') : '',
    bound ? printedAccessModes(status?.accessModes) : '',
    storageClass(claim),
    spec?.volumeAttributesClassName ?? UNSET,
    objectAge(claim, nowMs),
    spec?.volumeMode ?? UNSET,
  ]
}

function quotaCells(quota: ResourceQuota): readonly [requests: string, limits: string] {
  const status = quota.status
  const requests: string[] = []
  const limits: string[] = []
  for (const [resource, hard] of Object.entries(status?.hard ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const cell = `${resource}: ${status?.used?.[resource] ?? '0'}/${hard}`
    if (resource.startsWith('limits.')) limits.push(cell)
    else requests.push(cell)
  }
  return [requests.join(', '), limits.join(', ')]
}

/** Both Event APIs: `note` and `regarding` are the newer names. */
const printEvent = (event: Partial<Event & EventsV1Event> & KubeObject, nowMs: number): Cells => {
  const about: ObjectReference = event.regarding ?? event.involvedObject ?? {}
  const kind = String(about.kind ?? '').toLowerCase()
  const { series } = event
  const eventTime: string | undefined = event.eventTime ?? undefined
  const firstTime = event.deprecatedFirstTimestamp ?? event.firstTimestamp ?? undefined
  const lastTime = event.deprecatedLastTimestamp ?? event.lastTimestamp ?? undefined
  const first = firstTime ? age(firstTime, nowMs) : age(eventTime, nowMs)
  const last = series ? age(series.lastObservedTime, nowMs) : lastTime ? age(lastTime, nowMs) : first
  const times = series ? series.count : (event.deprecatedCount ?? event.count ?? 0)
  const source: EventSource = event.deprecatedSource ?? event.source ?? {}
  const component = source.component || event.reportingController || event.reportingComponent || ''
  const host = source.host || event.reportingInstance || ''
  return [
    last,
    event.type ?? '',
    event.reason ?? '',
    about.name ? `${kind}/${about.name}` : kind,
    about.fieldPath ?? '',
    host ? `${component}, ${host}` : component,
    String(event.note ?? event.message ?? '').trim(),
    first,
    times === 0 ? 1 : times,
    objectName(event),
  ]
}

function slicePorts(slice: EndpointSlice): string {
  const ports = listOf(slice.ports).map((port) => (port.port === undefined ? '*' : String(port.port)))
  return ports.length === 0 ? UNSET : firstFew(ports, 3)
}

function sliceEndpoints(slice: EndpointSlice): string {
  const addresses = listOf(slice.endpoints).flatMap((endpoint) => endpoint.addresses)
  return addresses.length === 0 ? UNSET : firstFew(addresses, 3)
}

export const corePrinters: Readonly<Record<string, Printer>> = {
  '/configmaps': (o: ConfigMap, now) => [objectName(o), count(o.data) + count(o.binaryData), objectAge(o, now)],
  '/secrets': (o: Secret, now) => [objectName(o), o.type ?? '', count(o.data), objectAge(o, now)],
  '/serviceaccounts': (o, now) => [objectName(o), objectAge(o, now)],
  '/namespaces': (o: Namespace, now) => [objectName(o), o.status?.phase ?? '', objectAge(o, now)],
  '/endpoints': (o: Endpoints, now) => [objectName(o), endpoints(o), objectAge(o, now)],
  '/events': printEvent,
  'events.k8s.io/events': printEvent,
  '/limitranges': (o) => [objectName(o), madeAt(o)],
  '/nodes': printNode,
  '/persistentvolumes': printPersistentVolume,
  '/persistentvolumeclaims': printPersistentVolumeClaim,
  '/resourcequotas': (o: ResourceQuota, now) => [objectName(o), ...quotaCells(o), objectAge(o, now)],
  '/services': printService,
  '/componentstatuses': (o: ComponentStatus) => {
    const healthy = listOf(o.conditions).find((condition) => condition.type === 'Healthy')
    const status = healthy?.status === 'True' ? 'Healthy' : healthy ? 'Unhealthy' : 'Unknown'
    return [objectName(o), status, healthy?.message ?? '', healthy?.error ?? '']
  },
  'discovery.k8s.io/endpointslices': (o: EndpointSlice, now) => [
    objectName(o),
    o.addressType ?? '',
    slicePorts(o),
    sliceEndpoints(o),
    objectAge(o, now),
  ],
  'coordination.k8s.io/leases': (o: Lease, now) => [objectName(o), o.spec?.holderIdentity ?? '', objectAge(o, now)],
}
