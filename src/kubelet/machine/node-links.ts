/**
 * What joins the nodes that share this machine, each in a network namespace of its own: the bridge `skiffn-ID`, which has this machine's
 * address among them, and a link `skiff2-ID`, `skiff3-ID`, … to each, whose other end is the node's `eth0`. A link goes with its namespace.
 */
import { readFileSync } from 'node:fs'
import { addressAt, type IPRange } from '../../api/objects/ip-range.ts'
import { NODE_BITS } from './routes.ts'
import { system } from './system.ts'

/** A range of /20 has 16 pieces; one is for the nodes' own addresses. */
export const MOST_NODES = 15

export const bridgeOf = (cluster: string): string => `skiffn-${cluster}`.slice(0, 15)
/** Names of interfaces have 15 characters: one is left for the node's number. */
export const linkOf = (cluster: string, number: number): string => `skiff${number.toString(16)}-${cluster}`.slice(0, 15)

/** Of the node of this number, in the range of the nodes; of this machine: 1. */
export const nodeAddress = (range: IPRange, number: number): string => addressAt(range, number)

/** /sys tells of the network that it was mounted in, /proc of this process's own. */
export const isInterface = (name: string): boolean =>
  readFileSync('/proc/net/dev', 'utf8')
    .split('\n')
    .some((line) => line.trim().startsWith(`${name}:`))

/** Does nothing twice. @throws Error */
export function setUpBridge(cluster: string, range: IPRange): void {
  const name = bridgeOf(cluster)
  if (!isInterface(name)) system('ip', ['link', 'add', name, 'type', 'bridge'])
  system('ip', ['address', 'replace', `${nodeAddress(range, 1)}/${NODE_BITS}`, 'dev', name])
  system('ip', ['link', 'set', name, 'up'])
}

/** The other end becomes eth0 in the network namespace of that process. @throws Error */
export function linkNode(cluster: string, number: number, pid: number): void {
  const name = linkOf(cluster, number)
  if (isInterface(name)) system('ip', ['link', 'delete', name])
  system('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)])
  system('ip', ['link', 'set', name, 'master', bridgeOf(cluster), 'up'])
}

/** Within the node's namespace: its address, and the way to everything else. @throws Error */
export function takeAddress(address: string, gateway: string): void {
  system('ip', ['link', 'set', 'lo', 'up'])
  system('ip', ['address', 'replace', `${address}/${NODE_BITS}`, 'dev', 'eth0'])
  system('ip', ['link', 'set', 'eth0', 'up'])
  system('ip', ['route', 'replace', 'default', 'via', gateway])
}

export function removeNodeLinks(cluster: string): void {
  for (let number = 2; number <= MOST_NODES; number++) removeInterface(linkOf(cluster, number))
  removeInterface(bridgeOf(cluster))
}

function removeInterface(name: string): void {
  if (!isInterface(name)) return
  try {
    system('ip', ['link', 'delete', name])
  } catch (error) {
    // The namespace of its other end has taken it along meanwhile.
    if (isInterface(name)) throw error
  }
}
