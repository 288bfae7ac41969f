/**
 * What the cluster's names mean (the DNS specification of Kubernetes, version 1.1.0, with what CoreDNS says beyond it): a pure function of a
 * question and of what is known of Services, slices and namespaces.
 */
import type { EndpointSlice, Service } from '../api/generated/types.ts'
import { canonicalIP, parseIPv4, parseIPv6 } from '../api/values/ip.ts'
import { type Answer, type Data, type DnsRecord, RCODE, TYPE } from './read-message.ts'

export interface Names {
  /** `cluster.local` */
  readonly domain: string
  /** Where these names are served: the addresses of Service kube-dns. */
  readonly servers: readonly string[]
  service(namespace: string, name: string): Service | undefined
  /** Of one Service. */
  slices(namespace: string, name: string): readonly EndpointSlice[]
  hasNamespace(name: string): boolean
  /** These two by addresses in their one spelling. */
  servicesByAddress(address: string): readonly Service[]
  slicesByAddress(address: string): readonly EndpointSlice[]
  /** Of the zone's state: it grows. */
  serial(): number
}

export interface ZoneAnswer extends Answer {
  /** The answer ends with another name, which the client wants to know the address of. */
  readonly alias?: string
}

/** As in kubeadm's clusters, in seconds. */
export const TTL = 30
const VERSION_TTL = 28_800
/** Shared out over the records of an answer. */
const SRV_WEIGHT = 100
const SERVICE_NAME = 'kubernetes.io/service-name'

interface Address {
  readonly data: Extract<Data, { type: 'A' | 'AAAA' }>
}

interface Endpoint extends Address {
  /** Its name below the Service's. */
  readonly label: string
  readonly ports: readonly Port[]
}

interface Port {
  readonly name: string
  readonly protocol: string
  readonly port: number
}

/** Undefined: the name is not of this zone. `shuffled`: puts addresses into another order each time. */
export function answerOf(
  name: string,
  type: number,
  names: Names,
  shuffled: <T>(values: readonly T[]) => readonly T[] = (values) => values,
): ZoneAnswer | undefined {
  const { domain } = names
  if (name.endsWith('.in-addr.arpa') || name.endsWith('.ip6.arpa')) return pointer(name, type, names)
  if (name !== domain && !name.endsWith(`.${domain}`)) return undefined
  const labels = name === domain ? [] : name.slice(0, -domain.length - 1).split('.')
  const found = lookUp(labels, name, type, names)
  if (found === undefined) return negative(RCODE.nameError, names)
  if (found.alias !== undefined) return found
  if (found.answers.length === 0) return negative(RCODE.ok, names)
  return { ...found, answers: shuffled(found.answers) }
}

interface Found {
  readonly answers: readonly DnsRecord[]
  readonly additional?: readonly DnsRecord[]
  readonly alias?: string
}

/** There is such a name, but nothing of the type. */
const EMPTY: Found = { answers: [] }

function lookUp(labels: readonly string[], name: string, type: number, names: Names): ZoneAnswer | undefined {
  const found = find(labels, name, type, names)
  if (found === undefined) return undefined
  return { rcode: RCODE.ok, authoritative: true, recursionAvailable: false, authority: [], additional: [], ...found }
}

function find(labels: readonly string[], name: string, type: number, names: Names): Found | undefined {
  const [kind, namespace, ...below] = labels.toReversed()
  const rest = below.toReversed()
  switch (kind) {
    case undefined:
      return apex(name, type, names)
    case 'svc': {
      if (namespace === undefined) return EMPTY
      const service = rest.at(-1)
      if (service === undefined) return names.hasNamespace(namespace) ? EMPTY : undefined
      return serviceName(names, { namespace, service, below: rest.slice(0, -1), name, type })
    }
    case 'pod': {
      if (namespace === undefined) return EMPTY
      if (!names.hasNamespace(namespace)) return undefined
      if (rest.length === 0) return EMPTY
      const address = rest.length === 1 ? podAddress(rest[0] ?? '') : undefined
      if (address === undefined) return undefined
      if (type !== TYPE.SRV) return { answers: ofType([address], name, type) }
      return { answers: [srv(name, SRV_WEIGHT, 0, name)], additional: [{ name, ttl: TTL, ...address.data }] }
    }
    case 'dns':
      return namespace === 'ns' && rest.length === 0 ? { answers: ofType(serversOf(names), name, type) } : undefined
    case 'dns-version':
      if (namespace !== undefined || type !== TYPE.TXT) return undefined
      return { answers: [{ name, ttl: VERSION_TTL, type: 'TXT', text: '1.1.0' }] }
    default:
      return undefined
  }
}

function apex(name: string, type: number, names: Names): Found {
  if (type === TYPE.SOA) return { answers: [soa(names)] }
  if (type !== TYPE.NS) return EMPTY
  const isKnown = names.service('kube-system', 'kube-dns') !== undefined
  const target = `${isKnown ? 'kube-dns.kube-system.svc' : 'ns.dns'}.${names.domain}`
  return {
    answers: [{ name, ttl: TTL, type: 'NS', target }],
    additional: serversOf(names).map(({ data }) => ({ name: target, ttl: TTL, ...data })),
  }
}

interface Asked {
  readonly namespace: string
  readonly service: string
  /** Labels below the Service's name. */
  readonly below: readonly string[]
  readonly name: string
  readonly type: number
}

function serviceName(names: Names, { namespace, service: called, below, name, type }: Asked): Found | undefined {
  const service = names.service(namespace, called)
  if (service === undefined) return undefined
  const own = `${called}.${namespace}.svc.${names.domain}`
  const { spec = {} } = service
  if (spec.type === 'ExternalName') {
    const alias = (spec.externalName ?? '').toLowerCase().replace(/\.$/, '')
    // An address is no name that another could stand for.
    if (below.length > 0 || alias === '' || parseIPv4(alias) !== undefined) return undefined
    if (type !== TYPE.A && type !== TYPE.AAAA && type !== TYPE.CNAME) return EMPTY
    return { answers: [{ name, ttl: TTL, type: 'CNAME', target: alias }], alias }
  }
  const isNamed = below.length === 2
  const [portLabel = '', protocolLabel = ''] = isNamed ? below : []
  if (below.length > 2 || (isNamed && !(portLabel.startsWith('_') && protocolLabel.startsWith('_')))) return undefined
  const wanted = ({ name: portName, protocol }: Port) =>
    !isNamed || (portName === portLabel.slice(1) && protocol.toLowerCase() === protocolLabel.slice(1))
  const isHeadless = spec.clusterIP === 'None'
  if (below.length === 1 || isHeadless) {
    const all = endpointsOf(names.slices(namespace, called))
    const these = all.filter(
      ({ label, ports }) => (below.length !== 1 || label === below[0]) && (!isNamed || ports.some(wanted)),
    )
    // A headless Service that no endpoint is ready of has no name, as CoreDNS sees it.
    if (these.length === 0) return undefined
    if (type !== TYPE.SRV) return { answers: ofType(once(these), name, type) }
    const targets = these.flatMap((endpoint) => endpoint.ports.filter(wanted).map((port) => ({ endpoint, port })))
    const weight = weightOf(targets.length)
    return {
      answers: eachOnce(targets.map(({ endpoint, port }) => srv(name, weight, port.port, `${endpoint.label}.${own}`))),
      additional: these.map(({ label, data }) => ({ name: `${label}.${own}`, ttl: TTL, ...data })),
    }
  }
  const ports = (spec.ports ?? []).map((port) => ({
    name: port.name ?? '',
    protocol: port.protocol ?? 'TCP',
    port: port.port,
  }))
  const these = ports.filter(wanted)
  const addresses = (spec.clusterIPs ?? [spec.clusterIP ?? '']).flatMap((ip) => addressOf(ip) ?? [])
  if (addresses.length === 0 || (isNamed && these.length === 0)) return undefined
  if (type !== TYPE.SRV) return { answers: ofType(addresses, name, type) }
  const weight = weightOf(these.length * addresses.length)
  return {
    answers: eachOnce(these.map(({ port }) => srv(name, weight, port, own))),
    additional: addresses.map(({ data }) => ({ name: own, ttl: TTL, ...data })),
  }
}

const weightOf = (records: number) => Math.max(1, Math.floor(SRV_WEIGHT / Math.max(1, records)))

/** What two addresses of one name have in common is told once; its weight is as if it were not. */
const eachOnce = (records: readonly SrvRecord[]): readonly SrvRecord[] => [
  ...new Map(records.map((record) => [`${record.port} ${record.target}`, record])).values(),
]

type SrvRecord = Extract<DnsRecord, { type: 'SRV' }>

const srv = (name: string, weight: number, port: number, target: string): SrvRecord => ({
  ...{ name, ttl: TTL, type: 'SRV', priority: 0, weight, port, target },
})

/** The ready endpoints of a Service: one for each hostname and address, with the ports of all slices that have the address. */
function endpointsOf(slices: readonly EndpointSlice[]): readonly Endpoint[] {
  const found = new Map<string, { label: string; data: Address['data']; ports: Port[] }>()
  for (const { endpoints, ports: said } of slices) {
    const ports = (said ?? []).map(({ name = '', protocol = 'TCP', port = 0 }) => ({ name, protocol, port }))
    for (const { addresses, conditions, hostname } of endpoints ?? []) {
      if (conditions?.ready === false) continue
      for (const ip of addresses) {
        const address = addressOf(ip)
        if (address === undefined) continue
        const label = labelOf(hostname, ip)
        const key = `${label} ${ip}`
        const there = found.get(key)
        if (there === undefined) found.set(key, { label, data: address.data, ports: [...ports] })
        else there.ports.push(...ports)
      }
    }
  }
  return [...found.values()]
}

const labelOf = (hostname: string | undefined, ip: string): string => hostname || ip.replace(/[.:]/g, '-')

/** An address that several endpoints have is told once. */
const once = (endpoints: readonly Endpoint[]): readonly Address[] => [
  ...new Map(endpoints.map((endpoint) => [endpoint.data.address.join(), endpoint])).values(),
]

function ofType(addresses: readonly Address[], name: string, type: number): readonly DnsRecord[] {
  return addresses.flatMap(({ data }) => (TYPE[data.type] === type ? [{ name, ttl: TTL, ...data }] : []))
}

/** `10-244-0-5`: whether there is such a pod is not asked (CoreDNS: pods insecure). */
function podAddress(label: string): Address | undefined {
  return addressOf(label.replaceAll('-', '.')) ?? addressOf(label.replaceAll('-', ':'))
}

function addressOf(ip: string): Address | undefined {
  const four = parseIPv4(ip)
  if (four !== undefined)
    return { data: { type: 'A', address: Uint8Array.from([24, 16, 8, 0], (bits) => (four / 2 ** bits) & 0xff) } }
  const six = parseIPv6(ip)
  if (six === undefined) return undefined
  return {
    data: {
      type: 'AAAA',
      address: Uint8Array.from({ length: 16 }, (_, i) => Number((six >> BigInt(120 - i * 8)) & 0xffn)),
    },
  }
}

const serversOf = ({ servers }: Names): readonly Address[] => servers.flatMap((ip) => addressOf(ip) ?? [])

/** Undefined: no address of the cluster's, to be asked elsewhere. */
function pointer(name: string, type: number, names: Names): ZoneAnswer | undefined {
  const ip = reversedAddress(name)
  if (ip === undefined) return undefined
  const below = (service: Service) => `${service.metadata.name}.${service.metadata.namespace}.svc.${names.domain}`
  const services = names.servicesByAddress(ip).map(below)
  const targets = services.length > 0 ? services : endpointNames(ip, names)
  if (targets.length === 0) return undefined
  const answers = [...new Set(targets)].map((target): DnsRecord => ({ name, ttl: TTL, type: 'PTR', target }))
  if (type !== TYPE.PTR) return negative(RCODE.ok, names)
  return { rcode: RCODE.ok, authoritative: true, recursionAvailable: false, answers, authority: [], additional: [] }
}

const endpointNames = (ip: string, names: Names): readonly string[] =>
  names.slicesByAddress(ip).flatMap(({ metadata, endpoints }) => {
    const service = metadata.labels?.[SERVICE_NAME]
    if (service === undefined) return []
    return (endpoints ?? [])
      .filter(
        ({ addresses, conditions }) => addresses.some((one) => canonicalIP(one) === ip) && conditions?.ready !== false,
      )
      .map(({ hostname }) => `${labelOf(hostname, ip)}.${service}.${metadata.namespace}.svc.${names.domain}`)
  })

function reversedAddress(name: string): string | undefined {
  const four = name.endsWith('.in-addr.arpa')
  const labels = name
    .replace(/\.(in-addr|ip6)\.arpa$/, '')
    .split('.')
    .reverse()
  if (four) return labels.length === 4 && parseIPv4(labels.join('.')) !== undefined ? labels.join('.') : undefined
  if (labels.length !== 32 || !labels.every((digit) => /^[0-9a-f]$/.test(digit))) return undefined
  return canonicalIP(labels.join('').replace(/(.{4})(?=.)/g, '$1:'))
}

function soa(names: Names): DnsRecord {
  const { domain } = names
  const numbers = [names.serial() >>> 0, 7200, 1800, 86_400, TTL]
  return { name: domain, ttl: TTL, type: 'SOA', server: `ns.dns.${domain}`, mailbox: `hostmaster.${domain}`, numbers }
}

const negative = (rcode: number, names: Names): ZoneAnswer => ({
  ...{ rcode, authoritative: true, recursionAvailable: false, answers: [], additional: [] },
  authority: [soa(names)],
})
