/**
 * The network of a node: where pods reach this process's servers, and, where the machine has no network for containers yet, the pods'
 * addresses. Interface, CNI configuration, nft tables and routes have names of the cluster's own, and go when the node ends.
 *
 * The interface `skiff-ID` is a bridge without ports: an address that is there before the first pod, and stays when the last one has gone.
 * Each pod has a link of its own to the machine (the CNI plugin ptp), so that what pods send one another passes the machine's own rules:
 * on one bridge the answer of a Service's endpoint would come back past them, from an address that the client never asked.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import {
  addressAt,
  type IPRange,
  isWithin,
  overlap,
  parseIPRange,
  pieceAround,
  rangeText,
} from '../../api/objects/ip-range.ts'
import { type FoundRuntime, isCommand, networkConfigurations } from './machine-requirements.ts'
import { bridgeOf, isInterface, removeNodeLinks, setUpBridge } from './node-links.ts'
import {
  CLUSTER_BITS,
  EVERYTHING,
  isUnrouted,
  type MachineRoutes,
  NODE_BITS,
  routesOf,
  unroutedRange,
} from './routes.ts'
import { system } from './system.ts'

export interface PodNetwork {
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

/** Ranges that were chosen elsewhere. */
export interface GivenRanges {
  readonly podCIDR: string
  readonly clusterRange: string
  readonly nodeIP: string
}

export interface NetworkOptions {
  readonly runtime: Pick<FoundRuntime, 'configurationDirectory' | 'hasPortmap'>
  /** The cluster's own id: hexadecimal digits. */
  readonly cluster: string
  /** Where addresses that are given out are noted. */
  readonly directory: string
  /** Where Services have their addresses. */
  readonly serviceRange: string
  /** Default: ranges that no route of the machine covers, and the node's own address in the first. */
  readonly ranges?: GivenRanges
  /** Other nodes will have addresses of the cluster's range. */
  readonly hasOtherNodes?: boolean
}

/** What must be known to take the network away again. */
export interface NetworkRecord {
  readonly cluster: string
  readonly configurationDirectory: string
  /** net.ipv4.ip_forward before. */
  readonly forwarding?: string
  /** Whether others had pods with host ports before: then the plugin's chains are theirs too. */
  readonly hasHostPortChains?: boolean
}

const FORWARDING = '/proc/sys/net/ipv4/ip_forward'

const interfaceOf = (cluster: string) => `skiff-${cluster}`.slice(0, 15)
const NODE_SIZE = 1n << BigInt(32 - NODE_BITS)
/** The last piece of the cluster's range: what the nodes that share this machine have their own addresses of. */
const nodeRange = ({ family, from, size }: IPRange): IPRange => ({
  family,
  from: from + size - NODE_SIZE,
  size: NODE_SIZE,
})
const tableOf = (cluster: string) => `skiff-${cluster}`
/** What the proxy of this cluster keeps in nftables. */
export const serviceTableOf = (cluster: string) => `skiff-${cluster}-services`
/** What NetworkPolicies are to it. */
export const policyTableOf = (cluster: string) => `skiff-${cluster}-policies`
const fileOf = ({ configurationDirectory, cluster }: NetworkRecord) =>
  join(configurationDirectory, `10-skiff-${cluster}.conflist`)

export const forwarding = (): string => readFileSync(FORWARDING, 'utf8').trim()

/** Does nothing twice: what an earlier process made is taken over. @throws Error */
export function setUpNetwork(options: NetworkOptions): PodNetwork {
  const { runtime, cluster, directory, serviceRange, ranges, hasOtherNodes = false } = options
  const { configurationDirectory } = runtime
  const file = fileOf({ configurationDirectory, cluster })
  const others = networkConfigurations(configurationDirectory).filter((name) => !file.endsWith(`/${name}`))
  const isOwn = others.length === 0
  if (hasOtherNodes && !isOwn)
    throw new Error(
      `pods of this machine have the network of ${join(configurationDirectory, others[0] ?? '')}, which other nodes cannot share`,
    )
  const name = interfaceOf(cluster)
  const { own, whole } = ranges === undefined ? chosenRanges(file, cluster) : givenRanges(ranges)
  if (hasOtherNodes && whole.size === own.size)
    throw new Error(
      `there is no range of /${CLUSTER_BITS} that several nodes could share: routes of this machine are in each`,
    )
  const address = addressAt(own, 1)
  const podCIDR = isOwn ? rangeText(own) : undefined
  const clusterRange = isOwn ? rangeText(whole) : undefined
  const forNodes = isOwn && whole.size > own.size ? rangeText(nodeRange(whole)) : undefined
  if (!isInterface(name)) system('ip', ['link', 'add', name, 'type', 'bridge'])
  // To addresses of no pod there is no way: they do not leave the machine.
  system('ip', ['address', 'replace', `${address}/${isOwn ? NODE_BITS : 32}`, 'dev', name])
  system('ip', ['link', 'set', name, 'up'])
  routeServices(serviceRange, name, address)
  if (forwarding() !== '1') writeFileSync(FORWARDING, '1')
  if (hasOtherNodes) setUpBridge(cluster, nodeRange(whole))
  else if (ranges === undefined) removeNodeLinks(cluster)
  const podRanges = podCIDR === undefined ? rangesOfOthers(name) : [podCIDR]
  system('nft', ['-f', '-'], rules(tableOf(cluster), address, clusterRange, podRanges))
  if (podCIDR !== undefined && clusterRange !== undefined) {
    letForwarded(name, clusterRange)
    mkdirSync(configurationDirectory, { recursive: true })
    writeFileSync(file, configuration(name, podCIDR, join(directory, 'addresses'), runtime.hasPortmap))
  } else rmSync(file, { force: true })
  const nodeIP = ranges?.nodeIP ?? (podCIDR === undefined ? (ownAddress(name) ?? '127.0.0.1') : address)
  return { nodeIP, address, podCIDR, podRanges, clusterRange, nodeRange: forNodes }
}

/** What `setUpNetwork` made, and what the rules of Services and policies have left. What is not there is passed over. */
export function removeNetwork(record: NetworkRecord): void {
  const { cluster } = record
  rmSync(fileOf(record), { force: true })
  const name = interfaceOf(cluster)
  for (const rule of forwardRules().filter((line) => line.includes(` --comment ${name} `)))
    system('iptables', ['-w', ...rule.replace(/^-A/, '-D').split(' ')])
  if (record.hasHostPortChains === false) removeHostPortChains()
  removeNodeLinks(cluster)
  if (isInterface(name)) system('ip', ['link', 'delete', name])
  const tables = [tableOf(cluster), serviceTableOf(cluster), policyTableOf(cluster)]
  system('nft', ['-f', '-'], tables.map((table) => `add table ip ${table}\ndelete table ip ${table}\n`).join(''))
  if (record.forwarding !== undefined && forwarding() !== record.forwarding)
    writeFileSync(FORWARDING, record.forwarding)
}

/**
 * Docker has the kernel drop whatever it forwards but its own, and no rule of another table can undo that: then the cluster's range is let through
 * in the same place, by two rules that name this cluster.
 */
function letForwarded(name: string, range: string): void {
  const rules = forwardRules()
  if (!rules.includes('-P FORWARD DROP')) return
  for (const side of ['-s', '-d']) {
    const rule = [side, range, '-m', 'comment', '--comment', name, '-j', 'ACCEPT']
    if (!rules.includes(['-A FORWARD', ...rule].join(' '))) system('iptables', ['-w', '-I', 'FORWARD', ...rule])
  }
}

const forwardRules = () => iptablesRules(['-S', 'FORWARD'])

/** None where there is no iptables. */
function iptablesRules(args: readonly string[]): readonly string[] {
  if (!isCommand('iptables')) return []
  try {
    return system('iptables', ['-w', ...args]).split('\n')
  } catch {
    // A kernel without it has no rules of it.
    return []
  }
}

const HOST_PORTS = 'CNI-HOSTPORT-'
const hostPortRules = () => iptablesRules(['-t', 'nat', '-S']).filter((rule) => rule.includes(HOST_PORTS))
export const hasHostPortChains = (): boolean => hostPortRules().length > 0

/** The plugin portmap makes them for the first pod with a host port, and takes none but the pod's own away. Those of a pod of others stay. */
function removeHostPortChains(): void {
  const rules = hostPortRules()
  if (rules.some((rule) => rule.startsWith(`-A ${HOST_PORTS}DNAT`))) return
  const undo = (made: string, gone: string) => {
    for (const rule of rules.filter((one) => one.startsWith(made))) {
      const words = rule.match(/"[^"]*"|\S+/g) ?? []
      system('iptables', ['-w', '-t', 'nat', gone, ...words.slice(1).map((word) => word.replaceAll('"', ''))])
    }
  }
  undo('-A', '-D')
  undo('-N', '-X')
}

/** Nothing here is a user's text: addresses that were read from the kernel, and the cluster's own id. */
function rules(table: string, address: string, range: string | undefined, podRanges: readonly string[]): string {
  const sources = range === undefined ? podRanges : [range]
  const from = sources.length === 0 ? '' : ` ip saddr != { ${sources.join(', ')} }`
  return `add table ip ${table}
delete table ip ${table}
table ip ${table} {
  chain input {
    type filter hook input priority filter - 20; policy accept;
    iifname != "lo" ip daddr ${address}${from} drop
  }
${
  range === undefined
    ? ''
    : `  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${range} ip daddr != ${range} masquerade
  }
`
}}
`
}

/**
 * A machine without a default route would refuse to send to a Service's address before any rule could lead it elsewhere. Where the machine
 * routes something of that range already, that stays as it is.
 */
function routeServices(range: string, name: string, address: string): void {
  const taken = routesOf(readFileSync('/proc/net/route', 'utf8')).filter((route) => route.name !== name)
  const wanted = parseIPRange(range)
  if (wanted === undefined || taken.some((one) => one.size < EVERYTHING && overlap(one, wanted))) return
  system('ip', ['route', 'replace', range, 'dev', name, 'src', address])
}

/** Networks behind this machine's interfaces, but for those by which it reaches the rest of the world. */
function rangesOfOthers(own: string): readonly string[] {
  const routes = routesOf(readFileSync('/proc/net/route', 'utf8'))
  const outward = new Set(routes.filter(({ size }) => size === EVERYTHING).map(({ name }) => name))
  const ranges = routes.filter(({ name, size }) => name !== own && !outward.has(name) && size < EVERYTHING)
  return [...new Set(ranges.map(rangeText))]
}

function networkOf(name: string, subnet: string, dataDir: string) {
  const ranges = [[{ subnet }]] as const
  const ipam = { type: 'host-local', dataDir, ranges, routes: [{ dst: '0.0.0.0/0' }] }
  return { cniVersion: '1.0.0', name, plugins: [{ type: 'ptp', ipam }] as const }
}

function configuration(name: string, subnet: string, dataDir: string, hasPortmap: boolean): string {
  const network = networkOf(name, subnet, dataDir)
  const portmap = hasPortmap ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []
  return `${JSON.stringify({ ...network, plugins: [...network.plugins, ...portmap] }, undefined, 2)}\n`
}

interface Ranges {
  readonly own: IPRange
  /** Of all nodes: as large as `own` where there is no room for others. */
  readonly whole: IPRange
}

/** @throws Error for what is no range, or not within the other */
function givenRanges({ podCIDR, clusterRange }: GivenRanges): Ranges {
  const [own, whole] = [parseIPRange(podCIDR), parseIPRange(clusterRange)]
  if (own === undefined || whole === undefined || !isWithin(own, whole))
    throw new Error(`the node's range ${podCIDR} is not within the cluster's, ${clusterRange}`)
  return { own, whole }
}

/** The ranges of an earlier life of this node, or others that no interface and no route of this machine has. @throws Error */
function chosenRanges(file: string, cluster: string): Ranges {
  const own = [interfaceOf(cluster), bridgeOf(cluster)]
  const machine: MachineRoutes = {
    text: readFileSync('/proc/net/route', 'utf8'),
    addresses: Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
      own.includes(name) ? [] : (addresses ?? []).flatMap(({ family, address }) => (family === 'IPv4' ? address : [])),
    ),
    isOwn: (name) => own.includes(name),
  }
  const earlier = configuredRange(file) ?? addressRangeOf(interfaceOf(cluster))
  if (earlier !== undefined) {
    const whole = pieceAround({ family: earlier.family, value: earlier.from }, CLUSTER_BITS)
    return { own: earlier, whole: isUnrouted(whole, machine, earlier) ? whole : earlier }
  }
  const whole = unroutedRange(machine, CLUSTER_BITS)
  if (whole !== undefined) return { own: { ...whole, size: NODE_SIZE }, whole }
  const one = unroutedRange(machine, NODE_BITS)
  if (one === undefined) throw new Error('every range that pods could have is routed elsewhere on this machine')
  return { own: one, whole: one }
}

/** Of an earlier life of this node. */
function configuredRange(file: string): IPRange | undefined {
  try {
    const { plugins } = JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof networkOf>
    return parseIPRange(plugins[0].ipam.ranges[0][0].subnet)
  } catch {
    return undefined
  }
}

function addressRangeOf(name: string): IPRange | undefined {
  const found = networkInterfaces()[name]?.find(({ family }) => family === 'IPv4')
  return found === undefined ? undefined : parseIPRange(`${found.address}/${NODE_BITS}`)
}

const ownAddress = (own: string): string | undefined =>
  Object.entries(networkInterfaces())
    .flatMap(([name, addresses]) => (name === own ? [] : (addresses ?? [])))
    .find((one) => one.family === 'IPv4' && !one.internal)?.address
