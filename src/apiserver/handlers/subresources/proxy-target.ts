/**
 * Where the proxy of a node, pod or service leads. No request is led to this machine's own network: addresses of loopback and of one link
 * only are refused, however an object's status names them, also by a name that resolves to one.
 */

import { lookup } from 'node:dns/promises'
import type {
  Container,
  DiscoveryV1EndpointPort,
  EndpointSlice,
  Node,
  ObjectReference,
  Pod,
  Service,
  ServicePort,
} from '../../../api/generated/types.ts'
import type { KubeObject } from '../../../api/object.ts'
import { badRequest, notFound, serviceUnavailable } from '../../../api/status.ts'
import { parseIPv4, parseIPv6 } from '../../../api/values/ip.ts'
import { kubeletPort } from '../../nodes/kubelets.ts'
import type { CacheReads } from '../../reads.ts'
import type { ResourceRequest } from '../context.ts'

export interface ProxyTarget {
  readonly scheme: 'http' | 'https'
  /** Without brackets: an address that may be proxied to. */
  readonly host: string
  readonly port: number
  /** What the request says in its Host header: the name or address as the object gives it. */
  readonly authority: string
  /** Where what is meant runs, if that is known. */
  readonly node?: KubeObject | undefined
  /** The pod that is meant, by a Service's endpoint too. */
  readonly pod?: KubeObject
  /** The node itself, where its kubelet is meant. */
  readonly kubeletOf?: KubeObject
}

type Locate = (resource: ResourceRequest) => ProxyTarget | Promise<ProxyTarget>

/** By the resource whose proxy is asked for. @throws StatusError */
export const PROXIED: Readonly<Record<string, Locate>> = {
  services({ context, info }) {
    const { scheme, name, port } = partsOf('service', info.name)
    const service = context.reads.get<Service>('', 'services', info.namespace, name)
    const byNumber = /^\d+$/.test(port)
    if (byNumber && service === undefined) throw notFound({ group: '', resource: 'services' }, name)
    const ports: readonly ServicePort[] = service?.spec?.ports ?? []
    const declared = ports.find((one) => (byNumber ? one.port === Number(port) : (one.name ?? '') === port))
    if (byNumber && declared === undefined)
      throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const found = declared && endpointOf(context.reads, info.namespace, name, declared.name ?? '')
    if (found === undefined) throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
    return target(scheme, found.address, found.port).then((located) => ({
      ...located,
      node: found.node,
      pod: found.pod,
    }))
  },
  pods({ context, info }) {
    const { scheme, name, port } = partsOf('pod', info.name)
    const pod = context.reads.get<Pod>('', 'pods', info.namespace, name)
    if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, name)
    const node = context.reads.get<Node>('', 'nodes', '', pod.spec?.nodeName ?? '')
    return target(scheme, pod.status?.podIP ?? '', podPort(pod, scheme, port)).then((at) => ({ ...at, node, pod }))
  },
  nodes({ context, info }) {
    const { scheme, name, port } = partsOf('node', info.name)
    const node = context.reads.get<Node>('', 'nodes', '', name)
    if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, name)
    const host = context.kubelets.addressesOf(node)[0] ?? ''
    const own = kubeletPort(node)
    if (port !== '' && Number(port) !== own) return target(scheme, host, Number(port) || 80)
    return target('https', host, own).then((located) => ({ ...located, node, kubeletOf: node }))
  },
}

/**
 * A ready endpoint of the Service that is a pod's own address. What an EndpointSlice or an external name says beyond that is its author's
 * word, and would lead this server wherever that is.
 */
function endpointOf(reads: CacheReads, namespace: string, service: string, portName: string) {
  for (const slice of reads.list<EndpointSlice>('discovery.k8s.io', 'endpointslices', namespace)) {
    if (slice.metadata.labels?.['kubernetes.io/service-name'] !== service) continue
    const ports: readonly DiscoveryV1EndpointPort[] = slice.ports ?? []
    const port: number | undefined = ports.find((one) => (one.name ?? '') === portName)?.port
    if (port === undefined) continue
    for (const endpoint of slice.endpoints ?? []) {
      const address: string = endpoint.addresses?.[0] ?? ''
      const pod = podOf(reads, namespace, endpoint.targetRef)
      const own = pod?.status?.podIPs ?? []
      if (pod === undefined || endpoint.conditions?.ready === false || !own.some(({ ip }) => ip === address)) continue
      return { address, port, pod, node: reads.get<Node>('', 'nodes', '', pod.spec?.nodeName ?? '') }
    }
  }
  return undefined
}

function podOf(reads: CacheReads, namespace: string, ref: ObjectReference | undefined): Pod | undefined {
  if (ref?.kind !== 'Pod' || (ref.namespace ?? namespace) !== namespace) return undefined
  return reads.get<Pod>('', 'pods', namespace, ref.name ?? '')
}

/** Without a port the first that a container declares. */
function podPort(pod: Pod, scheme: 'http' | 'https', asked: string): number {
  if (asked !== '') return Number(asked)
  const containers: readonly Container[] = pod.spec?.containers ?? []
  const declared = containers.find(({ ports = [] }) => ports.length > 0)
  return declared?.ports?.[0]?.containerPort ?? (scheme === 'https' ? 443 : 80)
}

/** NAME, NAME:PORT or SCHEME:NAME:PORT. @throws StatusError 400 */
function partsOf(what: string, text: string) {
  const parts = text.split(':')
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme ?? ''))
    throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`)
  return { scheme: scheme === 'https' ? ('https' as const) : ('http' as const), name, port: port ?? '' }
}

/** The name is resolved once, here, so that what was judged is what is asked. @throws StatusError 400 */
async function target(scheme: ProxyTarget['scheme'], name: string, port: number): Promise<ProxyTarget> {
  const host = isAddress(name) || name === '' ? name : await resolved(name)
  if (!isAddress(host) || isOwn(host) || !(port > 0 && port < 65536)) throw badRequest('address not allowed')
  const bracketed = name.includes(':') ? `[${name}]` : name
  return { scheme, host, port, authority: `${bracketed}:${port}` }
}

/** An address that may be proxied to, or '' when any of the name's is not. */
async function resolved(name: string): Promise<string> {
  const found = await lookup(name, { all: true }).catch(() => [])
  return found.some(({ address }) => isOwn(address)) ? '' : (found[0]?.address ?? '')
}

const isAddress = (text: string): boolean => parseIPv4(text) !== undefined || parseIPv6(text) !== undefined

/** Loopback, link-local, multicast and no address at all; IPv6's forms of IPv4 addresses count as those. */
export function isOwn(address: string): boolean {
  const four = parseIPv4(address)
  if (four !== undefined) return isOwnV4(four)
  const six = parseIPv6(address)
  if (six === undefined) return false
  if (six >> 32n === 0xffffn) return isOwnV4(Number(six & 0xffffffffn))
  return six <= 1n || six >> 118n === 0x3fan || six >> 120n === 0xffn
}

function isOwnV4(four: number): boolean {
  const first = four >>> 24
  return first === 127 || first >>> 4 === 14 || four >>> 16 === 0xa9fe || four === 0
}
