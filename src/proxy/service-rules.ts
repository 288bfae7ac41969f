/**
 * What nftables must hold for one port of a Service: chains of its own, and elements of the maps that lead there (service-table.ts). A pure
 * function; names of chains are hashes, everything else is an address or a number that was checked.
 */

import type { IPFamily } from '../api/values/ip.ts'
import { hash } from './chain-names.ts'
import { type Chosen, chooseEndpoints, type NodePlace } from './choose-endpoints.ts'
import { WORDS, withPort } from './families.ts'
import type { Protocol, ServedEndpoint, ServedPort } from './service-port.ts'
import type { SharedSet } from './service-table.ts'
import { clientsOf, endpointChain } from './session-affinity.ts'
import type { Element, Rules } from './table.ts'

export interface NodeNetwork extends NodePlace {
  /** Where NodePorts are open. */
  readonly nodePortAddresses: readonly string[]
  /** Of the table that the rules are for. */
  readonly family: IPFamily
}

/** A Service's own address cannot be taken over as another's external one. */
const OWN = 0
const EXTERNAL = 1

export function rulesOfService(service: ServedPort, node: NodeNetwork): Rules {
  const { protocol, port, clusterIP } = service
  const { ip: words } = WORDS[node.family]
  const chosen = chooseEndpoints(service, node)
  const chains = new Map<string, readonly string[]>()
  const sets = new Map<string, string>()
  const elements: (Element & { readonly set: SharedSet })[] = [
    { set: 'cluster-ips', key: clusterIP, value: '', rank: OWN },
  ]
  const id = hash(`${service.key}/${protocol}`)
  const names = { cluster: `svc-${id}`, local: `local-${id}`, external: `ext-${id}`, firewall: `fw-${id}` }
  const has = { cluster: chosen.cluster.length > 0, local: chosen.local.length > 0 }
  const used = new Set<keyof Chosen>()
  const lead = (policy: keyof Chosen) => {
    used.add(policy)
    return `goto ${names[policy]}`
  }
  const at = (set: SharedSet, address: string, atPort: number, value: string, rank: number) =>
    elements.push({ set, key: `${address} . ${protocol} . ${atPort}`, value, rank })

  const internal = service.internalLocal ? 'local' : 'cluster'
  if (has[internal]) at('services', clusterIP, port, lead(internal), OWN)
  else at('refused', clusterIP, port, has.cluster ? 'drop' : 'goto reject-it', OWN)

  const outside = [
    ...service.externalIPs.map((ip) => [ip, port] as const),
    ...service.loadBalancerIPs.map((ip) => [ip, port] as const),
    ...(service.nodePort === undefined ? [] : node.nodePortAddresses.map((ip) => [ip, service.nodePort ?? 0] as const)),
  ]
  if (service.externalLocal && outside.length > 0 && (has.cluster || has.local))
    chains.set(names.external, [
      // Clients within the cluster are led as by the cluster's own address.
      ...(has.cluster
        ? [`${words} saddr @pod-ranges ${lead('cluster')}`, `fib saddr type local ${lead('cluster')}`]
        : []),
      ...(has.local ? [lead('local')] : []),
    ])
  for (const [ip, atPort] of outside) {
    if (!has.cluster && !(service.externalLocal && has.local)) {
      at('refused', ip, atPort, 'goto reject-it', EXTERNAL)
      continue
    }
    at('services', ip, atPort, service.externalLocal ? `goto ${names.external}` : lead('cluster'), EXTERNAL)
    if (service.externalLocal && !has.local) at('refused', ip, atPort, 'drop', EXTERNAL)
    const masquerade = service.externalLocal ? 'goto masquerade-own' : 'goto masquerade-all'
    elements.push({ set: `masquerade-${protocol}`, key: `${ip} . ${atPort}`, value: masquerade, rank: EXTERNAL })
  }
  if (service.sourceRanges !== undefined && service.loadBalancerIPs.length > 0) {
    for (const ip of service.loadBalancerIPs) at('firewall', ip, port, `goto ${names.firewall}`, EXTERNAL)
    chains.set(names.firewall, [
      ...service.sourceRanges.map((range) => `${words} saddr ${range} return`),
      // Where the address is one of the node's own, what the node sends there comes from it.
      ...service.loadBalancerIPs.map((ip) => `${words} saddr ${ip} return`),
      'drop',
    ])
  }

  const leadsTo = new Map<string, ServedEndpoint>()
  for (const policy of used) {
    for (const endpoint of chosen[policy]) leadsTo.set(endpointChain(id, endpoint), endpoint)
    chains.set(names[policy], balance(service, id, chosen[policy], node.family))
  }
  for (const [name, endpoint] of leadsTo) {
    const { address } = endpoint
    elements.push({ set: 'hairpins', key: `${address} . ${address}`, value: '', rank: OWN })
    if (service.affinity === undefined) continue
    const clients = clientsOf(name, service.affinity, node.family)
    sets.set(clients.set, clients.definition)
    chains.set(name, [clients.remember, toOne(protocol, endpoint)])
  }
  return { chains, sets, elements }
}

const toOne = (protocol: Protocol, { address, port }: ServedEndpoint) =>
  `meta l4proto ${protocol} dnat to ${withPort(address, port)}`

/** By chance, one as often as another; but a client with an endpoint of its own goes there. */
function balance(
  service: ServedPort,
  id: string,
  endpoints: readonly ServedEndpoint[],
  family: IPFamily,
): readonly string[] {
  const { protocol, affinity } = service
  const [first, ...others] = endpoints
  if (first === undefined) return []
  if (affinity !== undefined) {
    const names = endpoints.map((endpoint) => endpointChain(id, endpoint))
    const verdicts = names.map((name, i) => `${i} : goto ${name}`).join(', ')
    return [
      ...names.map((name) => clientsOf(name, affinity, family).leadBack),
      names.length === 1 ? `goto ${names[0]}` : `numgen random mod ${names.length} vmap { ${verdicts} }`,
    ]
  }
  if (others.length === 0) return [toOne(protocol, first)]
  const targets = endpoints.map(({ address, port }, i) => `${i} : ${address} . ${port}`).join(', ')
  return [
    `meta l4proto ${protocol} dnat ${WORDS[family].ip} to numgen random mod ${endpoints.length} map { ${targets} }`,
  ]
}
