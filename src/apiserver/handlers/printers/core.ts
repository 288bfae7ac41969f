/** Rows of the core group's other kinds, and of events, endpoint slices and leases. */
import type { Fields, KubeObject } from '../../../api/object.ts'
import { age, firstFew, formatLabels, NONE, UNKNOWN, UNSET } from './format.ts'
import type { Printer } from './printer.ts'

const list = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[]
const name = (object: KubeObject): string => object.metadata.name ?? ''
const created = (object: KubeObject, nowMs: number): string => age(object.metadata.creationTimestamp, nowMs)
const count = (value: unknown): number => Object.keys((value ?? {}) as Fields).length

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

/** `RWO,ROX`: in the order of ACCESS_MODES, each once. */
export function accessModes(modes: readonly string[] | undefined): string {
  return Object.keys(ACCESS_MODES)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => ACCESS_MODES[mode])
    .join(',')
}

function endpoints(object: KubeObject): string {
  const subsets = list(object['subsets'])
  if (subsets.length === 0) return NONE
  const all = subsets.flatMap((subset) => {
    const addresses = list(subset['addresses']).map((address) => address['ip'] as string)
    const ports = list(subset['ports'])
    if (ports.length === 0) return addresses
    return ports.flatMap((port) => addresses.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port['port']}`))
  })
  return firstFew(all, 3) || NONE
}

function servicePorts(ports: readonly Fields[]): string {
  return (
    ports
      .map((port) => `${port['port']}${port['nodePort'] ? `:${port['nodePort']}` : ''}/${port['protocol']}`)
      .join(',') || NONE
  )
}

function externalAddress(service: KubeObject): string {
  const spec: Fields = service['spec'] ?? {}
  const external: readonly string[] = spec['externalIPs'] ?? []
  if (spec['type'] === 'ExternalName') return spec['externalName'] ?? ''
  if (spec['type'] !== 'LoadBalancer') return external.join(',') || NONE
  const balanced = list(service['status']?.loadBalancer?.ingress).map((ingress) => ingress['ip'] || ingress['hostname'])
  return [...[...new Set(balanced)].sort(), ...external].join(',') || '<pending>'
}

const printService: Printer = (service, nowMs) => {
  const spec: Fields = service['spec'] ?? {}
  return [
    name(service),
    spec['type'],
    spec['clusterIPs']?.[0] || spec['clusterIP'] || NONE,
    externalAddress(service),
    servicePorts(list(spec['ports'])),
    created(service, nowMs),
    formatLabels(spec['selector']),
  ]
}

const printNode: Printer = (node, nowMs) => {
  const status: Fields = node['status'] ?? {}
  const ready = list(status['conditions']).find((condition) => condition['type'] === 'Ready')
  const words = [ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady']
  if (node['spec']?.unschedulable) words.push('SchedulingDisabled')
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith('node-role.kubernetes.io/')) roles.add(key.slice('node-role.kubernetes.io/'.length))
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(value)
  }
  roles.delete('')
  const address = (type: string) =>
    list(status['addresses']).find((candidate) => candidate['type'] === type)?.['address'] ?? NONE
  const info: Fields = status['nodeInfo'] ?? {}
  return [
    name(node),
    words.join(','),
    [...roles].sort().join(',') || NONE,
    created(node, nowMs),
    info['kubeletVersion'] ?? '',
    address('InternalIP'),
    address('ExternalIP'),
    info['osImage'] || UNKNOWN,
    info['kernelVersion']
      ? `${info['kernelVersion']}${info['architecture'] ? ` (${info['architecture']})` : ''}`
      : UNKNOWN,
    info['containerRuntimeVersion'] || UNKNOWN,
  ]
}

const printPersistentVolume: Printer = (volume, nowMs) => {
  const spec: Fields = volume['spec'] ?? {}
  const claim: Fields | undefined = spec['claimRef']
  const phase = volume.metadata.deletionTimestamp ? 'Terminating' : (volume['status']?.phase ?? '')
  return [
    name(volume),
    spec['capacity']?.storage ?? '0',
    accessModes(spec['accessModes']),
    spec['persistentVolumeReclaimPolicy'] ?? '',
    phase,
    claim ? `${claim['namespace'] ?? ''}/${claim['name'] ?? ''}` : '',
    storageClass(volume),
    spec['volumeAttributesClassName'] ?? UNSET,
    volume['status']?.reason ?? '',
    created(volume, nowMs),
    spec['volumeMode'] ?? UNSET,
  ]
}

function storageClass(object: KubeObject): string {
  return (
    object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? object['spec']?.storageClassName ?? ''
  )
}

const printPersistentVolumeClaim: Printer = (claim, nowMs) => {
  const spec: Fields = claim['spec'] ?? {}
  const status: Fields = claim['status'] ?? {}
  const bound = Boolean(spec['volumeName'])
  return [
    name(claim),
    claim.metadata.deletionTimestamp ? 'Terminating' : (status['phase'] ?? ''),
    spec['volumeName'] ?? '',
    bound ? (status['capacity']?.storage ?? '0') : '',
    bound ? accessModes(status['accessModes']) : '',
    storageClass(claim),
    spec['volumeAttributesClassName'] ?? UNSET,
    created(claim, nowMs),
    spec['volumeMode'] ?? UNSET,
  ]
}

function quotaCells(quota: KubeObject): readonly [requests: string, limits: string] {
  const status: Fields = quota['status'] ?? {}
  const requests: string[] = []
  const limits: string[] = []
  for (const resource of Object.keys((status['hard'] ?? {}) as Fields).sort()) {
    const cell = `${resource}: ${status['used']?.[resource] ?? '0'}/${status['hard'][resource]}`
    if (resource.startsWith('limits.')) limits.push(cell)
    else requests.push(cell)
  }
  return [requests.join(', '), limits.join(', ')]
}

/** Both Event APIs: `note` and `regarding` are the newer names. */
const printEvent: Printer = (event, nowMs) => {
  const about: Fields = event['regarding'] ?? event['involvedObject'] ?? {}
  const kind = String(about['kind'] ?? '').toLowerCase()
  const series: Fields | undefined = event['series']
  const eventTime: string | undefined = event['eventTime'] ?? undefined
  const firstTime = event['deprecatedFirstTimestamp'] ?? event['firstTimestamp'] ?? undefined
  const lastTime = event['deprecatedLastTimestamp'] ?? event['lastTimestamp'] ?? undefined
  const first = firstTime ? age(firstTime, nowMs) : age(eventTime, nowMs)
  const last = series ? age(series['lastObservedTime'], nowMs) : lastTime ? age(lastTime, nowMs) : first
  const times = series ? series['count'] : (event['deprecatedCount'] ?? event['count'] ?? 0)
  const source: Fields = event['deprecatedSource'] ?? event['source'] ?? {}
  const component = source['component'] || event['reportingController'] || event['reportingComponent'] || ''
  const host = source['host'] || event['reportingInstance'] || ''
  return [
    last,
    event['type'] ?? '',
    event['reason'] ?? '',
    about['name'] ? `${kind}/${about['name']}` : kind,
    about['fieldPath'] ?? '',
    host ? `${component}, ${host}` : component,
    String(event['note'] ?? event['message'] ?? '').trim(),
    first,
    times === 0 ? 1 : times,
    name(event),
  ]
}

function slicePorts(slice: KubeObject): string {
  const ports = list(slice['ports']).map((port) => (port['port'] === undefined ? '*' : String(port['port'])))
  return ports.length === 0 ? UNSET : firstFew(ports, 3)
}

function sliceEndpoints(slice: KubeObject): string {
  const addresses = list(slice['endpoints']).flatMap((endpoint) => endpoint['addresses'] as readonly string[])
  return addresses.length === 0 ? UNSET : firstFew(addresses, 3)
}

export const corePrinters: Readonly<Record<string, Printer>> = {
  '/configmaps': (o, now) => [name(o), count(o['data']) + count(o['binaryData']), created(o, now)],
  '/secrets': (o, now) => [name(o), o['type'] ?? '', count(o['data']), created(o, now)],
  '/serviceaccounts': (o, now) => [name(o), created(o, now)],
  '/namespaces': (o, now) => [name(o), o['status']?.phase ?? '', created(o, now)],
  '/endpoints': (o, now) => [name(o), endpoints(o), created(o, now)],
  '/events': printEvent,
  'events.k8s.io/events': printEvent,
  '/limitranges': (o) => [name(o), o.metadata.creationTimestamp ?? null],
  '/nodes': printNode,
  '/persistentvolumes': printPersistentVolume,
  '/persistentvolumeclaims': printPersistentVolumeClaim,
  '/resourcequotas': (o, now) => [name(o), ...quotaCells(o), created(o, now)],
  '/services': printService,
  '/componentstatuses': (o) => {
    const healthy = list(o['conditions']).find((condition) => condition['type'] === 'Healthy')
    const status = healthy?.['status'] === 'True' ? 'Healthy' : healthy ? 'Unhealthy' : 'Unknown'
    return [name(o), status, healthy?.['message'] ?? '', healthy?.['error'] ?? '']
  },
  'discovery.k8s.io/endpointslices': (o, now) => [
    name(o),
    o['addressType'] ?? '',
    slicePorts(o),
    sliceEndpoints(o),
    created(o, now),
  ],
  'coordination.k8s.io/leases': (o, now) => [name(o), o['spec']?.holderIdentity ?? '', created(o, now)],
}
