/**
 * The network of a node's pods, where the machine has none for containers yet: a bridge, addresses of its own range, and masquerading for
 * what leaves the machine. Bridge, CNI configuration and nft table have names of the cluster's own, and go when the node ends.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type FoundRuntime, networkConfigurations, system } from './machine-requirements.ts'

export interface PodNetwork {
  /** Where the node is reached by its pods and by the API server. */
  readonly nodeIP: string
  /** Undefined where another configuration gives the pods their addresses. */
  readonly podCIDR: string | undefined
}

const bridgeOf = (cluster: string) => `skiff-${cluster}`.slice(0, 15)
const tableOf = (cluster: string) => `skiff-${cluster}`
const fileOf = (runtime: Pick<FoundRuntime, 'configurationDirectory'>, cluster: string) =>
  join(runtime.configurationDirectory, `10-skiff-${cluster}.conflist`)

/** `directory`: where addresses that are given out are noted. */
export function setUpNetwork(runtime: FoundRuntime, cluster: string, directory: string): PodNetwork {
  const file = fileOf(runtime, cluster)
  const others = networkConfigurations(runtime.configurationDirectory).filter((name) => !file.endsWith(`/${name}`))
  if (others.length > 0) return { nodeIP: ownAddress() ?? '127.0.0.1', podCIDR: undefined }
  const bridge = bridgeOf(cluster)
  const range = rangeOf(file) ?? freeRange(bridge)
  const gateway = `${range}.1`
  const podCIDR = `${range}.0/24`
  if (!isInterface(bridge)) system('ip', ['link', 'add', bridge, 'type', 'bridge'])
  system('ip', ['address', 'replace', `${gateway}/24`, 'dev', bridge])
  system('ip', ['link', 'set', bridge, 'up'])
  writeIfUnlike('/proc/sys/net/ipv4/ip_forward', '1')
  const table = tableOf(cluster)
  // Nothing here is a user's text: a number, and the cluster's own id in hexadecimal digits.
  system(
    'nft',
    ['-f', '-'],
    `add table ip ${table}
delete table ip ${table}
table ip ${table} {
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr ${podCIDR} ip daddr != ${podCIDR} masquerade
  }
}
`,
  )
  mkdirSync(runtime.configurationDirectory, { recursive: true })
  writeFileSync(file, configuration(bridge, podCIDR, join(directory, 'addresses'), runtime.hasPortmap))
  return { nodeIP: gateway, podCIDR }
}

/** What `setUpNetwork` made. What is not there is passed over. */
export function removeNetwork(runtime: Pick<FoundRuntime, 'configurationDirectory'>, cluster: string): void {
  rmSync(fileOf(runtime, cluster), { force: true })
  const bridge = bridgeOf(cluster)
  if (isInterface(bridge)) system('ip', ['link', 'delete', bridge])
  const table = tableOf(cluster)
  system('nft', ['-f', '-'], `add table ip ${table}\ndelete table ip ${table}\n`)
}

function configuration(bridge: string, subnet: string, dataDir: string, hasPortmap: boolean): string {
  const plugins = [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      hairpinMode: true,
      ipam: { type: 'host-local', dataDir, ranges: [[{ subnet }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    ...(hasPortmap ? [{ type: 'portmap', capabilities: { portMappings: true } }] : []),
  ]
  return `${JSON.stringify({ cniVersion: '1.0.0', name: bridge, plugins }, undefined, 2)}\n`
}

/** /sys tells of the network that it was mounted in, /proc of this process's own. */
const isInterface = (name: string) =>
  readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .some((line) => line.trim().startsWith(`${name}:`))

/** Of an earlier life of this node. */
function rangeOf(file: string): string | undefined {
  try {
    return /"subnet": "(\d+\.\d+\.\d+)\.0\/24"/.exec(readFileSync(file, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** Three numbers of a range that no interface and no route of this machine has. @throws Error */
function freeRange(bridge: string): string {
  const own = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    name === bridge ? [] : (addresses ?? []).map(({ address }) => address),
  )
  const found = unroutedRange(readFileSync('/proc/net/route', 'utf8'), own, bridge)
  if (found === undefined) throw new Error('every range that pods could have is routed elsewhere on this machine')
  return found
}

/** What clusters usually have first, then where a network of 10.0.0.0/8 leaves room. */
const CANDIDATES = ['10.244', '172.29', '192.168'].flatMap((prefix) =>
  Array.from({ length: 256 }, (_, n) => `${prefix}.${n}`),
)

/** `routes`: as in /proc/net/route; `addresses`: of the machine's interfaces. The default route counts for nothing. */
export function unroutedRange(routes: string, addresses: readonly string[], bridge: string): string | undefined {
  const number = (hex: string) =>
    [6, 4, 2, 0].reduce((bits, at) => bits * 256 + Number.parseInt(hex.slice(at, at + 2), 16), 0)
  const taken = routes
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
    .filter(([name, destination, , , , , , mask]) => name !== bridge && destination?.length === 8 && mask?.length === 8)
    .map(([, destination = '', , , , , , mask = '']) => ({ from: number(destination), size: 2 ** 32 - number(mask) }))
    .filter(({ size }) => size < 2 ** 32)
  return CANDIDATES.find((range) => {
    const first = range.split('.').reduce((bits, part) => bits * 256 + Number(part), 0) * 256
    const isRouted = taken.some(({ from, size }) => from < first + 256 && first < from + size)
    return !isRouted && !addresses.some((address) => address.startsWith(`${range}.`))
  })
}

const ownAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address

function writeIfUnlike(file: string, value: string): void {
  if (readFileSync(file, 'utf8').trim() !== value) writeFileSync(file, value)
}
