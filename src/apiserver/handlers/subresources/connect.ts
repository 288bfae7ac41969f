/**
 * proxy, exec, attach and portforward where nothing behind them can be reached: whatever is wrong with the question is
 * said first, in the order in which Kubernetes finds it.
 */
import type { Fields } from '../../../api/object.ts'
import { parseIPv4, parseIPv6 } from '../../../api/objects/ip.ts'
import { badRequest, notFound, serviceUnavailable } from '../../../api/status.ts'
import { serviceAddress } from '../../service-address.ts'
import type { ResourceHandler, ResourceRequest } from '../context.ts'
import { addressesOf, checkContainer, checkHost } from './pod-location.ts'

const unreachable = () => serviceUnavailable('no node can be reached from this server')

export const notConnected: ResourceHandler = (resource) => {
  const { row, subresource } = resource
  if (subresource?.name === 'proxy') PROXIED[row.resource]?.(resource)
  else checkSession(resource)
  throw unreachable()
}

/** exec, attach and portforward of a pod. */
function checkSession({ context, request, info, subresource }: ResourceRequest): void {
  const pod = context.reads.get('', 'pods', info.namespace, info.name)
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, info.name)
  if (subresource?.name !== 'portforward') checkContainer(pod, request.query.get('container') ?? '')
  checkHost(context.reads, pod)
  if (request.headers['upgrade'] === undefined) throw badRequest('Upgrade request required')
}

const PROXIED: Readonly<Record<string, (resource: ResourceRequest) => void>> = {
  services({ context, info }) {
    const { name, port } = targetOf('service', info.name)
    const service = context.reads.get('', 'services', info.namespace, name)
    const byNumber = /^\d+$/.test(port)
    if (byNumber && service === undefined) throw notFound({ group: '', resource: 'services' }, name)
    const ports: readonly Fields[] = service?.['spec']?.ports ?? []
    const declared = ports.find((one) => (byNumber ? one['port'] === Number(port) : (one['name'] ?? '') === port))
    if (byNumber && declared === undefined)
      throw serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`)
    const found = declared && serviceAddress(context.reads, info.namespace, name, declared['port'])
    if (found?.kind !== 'found') throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
  },
  pods({ context, info }) {
    const { name } = targetOf('pod', info.name)
    const pod = context.reads.get('', 'pods', info.namespace, name)
    if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, name)
    checkAddress(pod['status']?.podIP ?? '')
  },
  nodes({ context, info }) {
    const { name } = targetOf('node', info.name)
    const node = context.reads.get('', 'nodes', '', name)
    if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, name)
    checkAddress(addressesOf(node)[0] ?? '')
  },
}

/** NAME, NAME:PORT or SCHEME:NAME:PORT. @throws StatusError 400 */
function targetOf(what: string, text: string): { readonly name: string; readonly port: string } {
  const parts = text.split(':')
  const [scheme, name, port] = parts.length === 3 ? parts : ['', ...parts]
  if (parts.length > 3 || !name || !['', 'http', 'https'].includes(scheme ?? ''))
    throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`)
  return { name, port: port ?? '' }
}

/** Nobody is led to this machine's own network. @throws StatusError 400 */
function checkAddress(address: string): void {
  if (address === '' || isOwn(address)) throw badRequest('address not allowed')
}

/** Loopback, link-local, multicast and no address at all. A name is none of these. */
function isOwn(address: string): boolean {
  const four = parseIPv4(address)
  if (four !== undefined) {
    const first = four >>> 24
    return first === 127 || first >>> 4 === 14 || four >>> 16 === 0xa9fe || four === 0
  }
  const six = parseIPv6(address)
  return six !== undefined && (six <= 1n || six >> 118n === 0x3fan || six >> 120n === 0xffn)
}
