/**
 * The network of a node: where pods reach this process's servers, and, where the machine has no network for containers yet, the pods'
 * addresses, of IPv4, IPv6 or both, as Services have them. Interface, CNI configuration, nft tables and routes have names of the cluster's own, and
 * go when the node ends.
 *
 * The interface `skiff-ID` is a bridge without ports: an address that is there before the first pod, and stays when the last one has gone.
 * Each pod has a link of its own to the machine (the CNI plugin ptp), so that what pods send one another passes the machine's own rules:
 * on one bridge the answer of a Service's endpoint would come back past them, from an address that the client never asked.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { addressAt, type IPRange, overlap, parseIPRange, rangeText } from '../../api/objects/ip-range.ts'
import { bitsIn, type IPFamily } from '../../api/values/ip.ts'
import { forwarding, setForwarding } from './forwarding.ts'
import { hasHostPortChains, IPTABLES, letForwarded, removeForwardRules, removeHostPortChains } from './iptables.ts'
import { type FoundRuntime, isCommand, networkConfigurations } from './machine-requirements.ts'
import { hasTuning, networkConfiguration } from './network-configuration.ts'
import { chosenRanges, type GivenRanges, givenRanges, isLinkLocal, nodeRange, type Ranges } from './network-ranges.ts'
import { bridgeOf, isInterface, removeNodeLinks, setUpBridge } from './node-links.ts'
import { isDefault, LENGTHS, machineRoutes } from './routes.ts'
import { system } from './system.ts'

/** One of each family, those that Services have, in their order. */
export type PodNetwork = readonly [FamilyNetwork, ...FamilyNetwork[]]

export interface FamilyNetwork {
  readonly family: IPFamily
  /** The node's own address, as its status tells it. */
  readonly nodeIP: string
  /** Where pods reach the servers of this process; other machines do not. */
  readonly address: string
  /** Undefined where another configuration gives the pods their addresses. */
  readonly podCIDR: string | undefined
  /** Where packets of this machine's pods come from. */
  readonly podRanges: readonly string[]
  /** What the pods of all nodes, and the nodes that share this machine, have their addresses of; undefined where another gives them. */
  readonly clusterRange: string | undefined
  /** The piece of it that the nodes themselves have their addresses of; undefined where there is no room for more than one. */
  readonly nodeRange: string | undefined
}

export interface NetworkOptions {
  readonly runtime: Pick<FoundRuntime, 'configurationDirectory' | 'pluginDirectory' | 'hasPortmap'>
  /** The cluster's own id: hexadecimal digits. */
  readonly cluster: string
  /** Where addresses that are given out are noted. */
  readonly directory: string
  /** Where Services have their addresses: one of each family that they have. */
  readonly serviceRanges: readonly string[]
  /** Of the same families. Default: ranges that no route of the machine covers, and the node's own address in the first. */
  readonly ranges?: readonly GivenRanges[]
  /** What pods of all nodes are to have their addresses of, of the same families. Default: chosen likewise. */
  readonly clusterRanges?: readonly string[]
  /** Other nodes will have addresses of the cluster's range. */
  readonly hasOtherNodes?: boolean
}

/** What must be known to take the network away again. */
export interface NetworkRecord {
  readonly cluster: string
  readonly configurationDirectory: string
  /** net.ipv4.ip_forward before; undefined where the node has no addresses of IPv4. */
  readonly forwarding?: string
  /** The same of net.ipv6.conf.all.forwarding. */
  readonly forwardingOfIPv6?: string
  /** Whether others had pods with host ports before: then the plugin's chains are theirs too. */
  readonly hasHostPortChains?: boolean
  readonly hasHostPortChainsOfIPv6?: boolean
}

const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6']
/** In the words of nft. */
const NFT: Readonly<Record<IPFamily, string>> = { IPv4: 'ip', IPv6: 'ip6' }

const interfaceOf = (cluster: string) => `skiff-${cluster}`.slice(0, 15)
const tableOf = (cluster: string) => `skiff-${cluster}`
/** What the proxy of this cluster keeps in nftables. */
export const serviceTableOf = (cluster: string) => `skiff-${cluster}-services`
/** What NetworkPolicies are to it. */
export const policyTableOf = (cluster: string) => `skiff-${cluster}-policies`
const fileOf = ({ configurationDirectory, cluster }: NetworkRecord) =>
  join(configurationDirectory, `10-skiff-${cluster}.conflist`)

/** What the machine has before the node's network is made. `earlier`: what an earlier process wrote down, which goes on. */
export function networkBefore(
  families: readonly IPFamily[],
  earlier: Partial<NetworkRecord> | undefined,
): Omit<NetworkRecord, 'cluster' | 'configurationDirectory'> {
  const {
    forwarding: four,
    forwardingOfIPv6: six,
    hasHostPortChains: fours,
    hasHostPortChainsOfIPv6: sixes,
  } = earlier ?? {}
  return {
    ...(four !== undefined || families.includes('IPv4')
      ? { forwarding: four ?? forwarding('IPv4'), hasHostPortChains: fours ?? hasHostPortChains('IPv4') }
      : {}),
    ...(six !== undefined || families.includes('IPv6')
      ? { forwardingOfIPv6: six ?? forwarding('IPv6'), hasHostPortChainsOfIPv6: sixes ?? hasHostPortChains('IPv6') }
      : {}),
  }
}

/** Does nothing twice: what an earlier process made is taken over. @throws Error */
export function setUpNetwork(options: NetworkOptions): PodNetwork {
  const { runtime, cluster, directory, serviceRanges, ranges, clusterRanges = [], hasOtherNodes = false } = options
  const { configurationDirectory } = runtime
  const file = fileOf({ configurationDirectory, cluster })
  const others = networkConfigurations(configurationDirectory).filter((name) => !file.endsWith(`/${name}`))
  const isOwn = others.length === 0
  if (hasOtherNodes && !isOwn)
    throw new Error(
      `pods of this machine have the network of ${join(configurationDirectory, others[0] ?? '')}, which other nodes cannot share`,
    )
  if (clusterRanges.length > 0 && !isOwn)
    throw new Error(
      `pods of this machine have the network of ${join(configurationDirectory, others[0] ?? '')}, and none of --cluster-cidr`,
    )
  const wanted = clusterRanges.flatMap((cidr) => parseIPRange(cidr) ?? [])
  const name = interfaceOf(cluster)
  const earlier = { file, name, own: [name, bridgeOf(cluster)] }
  const families = serviceRanges.flatMap((services) => {
    const range = parseIPRange(services)
    if (range === undefined) return []
    const given = ranges?.find(({ podCIDR }) => parseIPRange(podCIDR)?.family === range.family)
    const { own, whole } =
      given === undefined
        ? chosenRanges(
            range.family,
            earlier,
            wanted.find(({ family }) => family === range.family),
          )
        : givenRanges(given)
    return { services: range, given, own, whole }
  })
  for (const { own, whole } of families)
    if (hasOtherNodes && whole.size === own.size)
      throw new Error(
        `there is no range of /${LENGTHS[own.family].cluster} that several nodes could share: routes of this machine are in each`,
      )
  if (!isInterface(name)) system('ip', ['link', 'add', name, 'type', 'bridge'])
  takeAddresses(name, families, isOwn)
  leaveFamilies(cluster, families)
  system('ip', ['link', 'set', name, 'up'])
  const network = families.map((one): FamilyNetwork => setUpFamily(one, cluster, isOwn))
  const [first, ...more] = network
  if (first === undefined) throw new Error('Services have addresses of no family')
  if (hasOtherNodes)
    setUpBridge(
      cluster,
      families.map(({ whole }) => nodeRange(whole)),
    )
  else if (ranges === undefined) removeNodeLinks(cluster)
  if (isOwn) {
    mkdirSync(configurationDirectory, { recursive: true })
    const own = families.map((one) => one.own)
    const hasPortmap = runtime.hasPortmap && own.every(({ family }) => isCommand(IPTABLES[family]))
    const dataDir = join(directory, 'addresses')
    writeFileSync(
      file,
      networkConfiguration({ name, ranges: own, dataDir, hasPortmap, hasTuning: hasTuning(runtime.pluginDirectory) }),
    )
  } else rmSync(file, { force: true })
  return [first, ...more]
}

/** What `setUpNetwork` made, and what the rules of Services and policies have left. What is not there is passed over. */
export function removeNetwork(record: NetworkRecord): void {
  const { cluster } = record
  rmSync(fileOf(record), { force: true })
  const name = interfaceOf(cluster)
  const before: Readonly<Record<IPFamily, string | undefined>> = {
    IPv4: record.forwarding,
    IPv6: record.forwardingOfIPv6,
  }
  const families = FAMILIES.filter((family) => before[family] !== undefined)
  for (const family of families) removeForwardRules(family, name)
  if (record.hasHostPortChains === false) removeHostPortChains('IPv4')
  if (record.hasHostPortChainsOfIPv6 === false) removeHostPortChains('IPv6')
  removeNodeLinks(cluster)
  if (isInterface(name)) system('ip', ['link', 'delete', name])
  for (const family of families) {
    removeTables(family, cluster)
    setForwarding(family, before[family] ?? '')
  }
}

function removeTables(family: IPFamily, cluster: string): void {
  const tables = [tableOf(cluster), serviceTableOf(cluster), policyTableOf(cluster)]
  const of = NFT[family]
  system('nft', ['-f', '-'], tables.map((table) => `add table ${of} ${table}\ndelete table ${of} ${table}\n`).join(''))
}

interface Family extends Ranges {
  readonly services: IPRange
  readonly given: GivenRanges | undefined
}

/** To addresses of no pod there is no way: they do not leave the machine. */
function takeAddresses(name: string, families: readonly Family[], isOwn: boolean): void {
  for (const { own } of families) {
    const { family } = own
    const length = isOwn ? LENGTHS[family].node : bitsIn(family)
    const at = ['address', 'replace', `${addressAt(own, 1)}/${length}`, 'dev', name]
    // No other machine is on this link: no duplicate of the address needs to be looked for.
    system('ip', family === 'IPv4' ? at : [...at, 'nodad'])
  }
}

/** Of a family that an earlier life of the node had, and that Services have no more. */
function leaveFamilies(cluster: string, families: readonly Family[]): void {
  const name = interfaceOf(cluster)
  for (const family of FAMILIES) {
    const isThere = networkInterfaces()[name]?.some((one) => one.family === family && !isLinkLocal(one.address))
    if (!isThere || families.some(({ own }) => own.family === family)) continue
    system('ip', [family === 'IPv4' ? '-4' : '-6', 'address', 'flush', 'dev', name, 'scope', 'global'])
    removeForwardRules(family, name)
    removeTables(family, cluster)
  }
}

function setUpFamily({ services, given, own, whole }: Family, cluster: string, isOwn: boolean): FamilyNetwork {
  const { family } = own
  const name = interfaceOf(cluster)
  const address = addressAt(own, 1)
  const podCIDR = isOwn ? rangeText(own) : undefined
  const clusterRange = isOwn ? rangeText(whole) : undefined
  const forNodes = isOwn && whole.size > own.size ? rangeText(nodeRange(whole)) : undefined
  routeServices(services, name, address)
  setForwarding(family, '1')
  const podRanges = podCIDR === undefined ? rangesOfOthers(family, name) : [podCIDR]
  system('nft', ['-f', '-'], rules(family, tableOf(cluster), address, clusterRange, podRanges))
  if (clusterRange !== undefined) letForwarded(family, name, clusterRange)
  const nodeIP =
    given?.nodeIP ?? (podCIDR === undefined ? (ownAddress(family, name) ?? addressOfNone(family)) : address)
  return { family, nodeIP, address, podCIDR, podRanges, clusterRange, nodeRange: forNodes }
}

/** Nothing here is a user's text: addresses that were read from the kernel, and the cluster's own id. */
function rules(
  family: IPFamily,
  table: string,
  address: string,
  range: string | undefined,
  podRanges: readonly string[],
): string {
  const ip = NFT[family]
  const sources = range === undefined ? podRanges : [range]
  const from = sources.length === 0 ? '' : ` ${ip} saddr != { ${sources.join(', ')} }`
  // Whether a neighbour is still there is asked under the link's own addresses.
  const neighbours = family === 'IPv4' ? '' : '    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept\n'
  return `add table ${ip} ${table}
delete table ${ip} ${table}
table ${ip} ${table} {
  chain input {
    type filter hook input priority filter - 20; policy accept;
${neighbours}    iifname != "lo" ${ip} daddr ${address}${from} drop
  }
${
  range === undefined
    ? ''
    : `  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ${ip} saddr ${range} ${ip} daddr != ${range} masquerade
  }
`
}}
`
}

/**
 * A machine without a default route would refuse to send to a Service's address before any rule could lead it elsewhere. Where the machine
 * routes something of that range already, that stays as it is.
 */
function routeServices(range: IPRange, name: string, address: string): void {
  const taken = machineRoutes(range.family).filter((route) => route.name !== name)
  if (taken.some((one) => !isDefault(one) && overlap(one, range))) return
  system('ip', ['route', 'replace', rangeText(range), 'dev', name, 'src', address])
}

/** Networks behind this machine's interfaces, but for those by which it reaches the rest of the world. */
function rangesOfOthers(family: IPFamily, own: string): readonly string[] {
  const routes = machineRoutes(family).filter(({ from, name }) => !isOfEachLink(family, from) && name !== 'lo')
  const outward = new Set(routes.filter(isDefault).map(({ name }) => name))
  const ranges = routes.filter((route) => route.name !== own && !outward.has(route.name) && !isDefault(route))
  return [...new Set(ranges.map(rangeText))]
}

/** Addresses of links themselves, and of groups: fe80::/10 and ff00::/8. */
const isOfEachLink = (family: IPFamily, from: bigint) => family === 'IPv6' && from >= 0xfe80n << 112n

const ownAddress = (family: IPFamily, own: string): string | undefined =>
  Object.entries(networkInterfaces())
    .flatMap(([name, addresses]) => (name === own ? [] : (addresses ?? [])))
    .find((one) => one.family === family && !one.internal && !isLinkLocal(one.address))?.address

const addressOfNone = (family: IPFamily) => (family === 'IPv4' ? '127.0.0.1' : '::1')
