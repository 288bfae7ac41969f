/**
 * What joins the nodes that share this machine, each in a network namespace of its own: the bridge `skiffn-ID`, which has this machine's
 * address among them, and a link `skiff2-ID`, `skiff3-ID`, … to each, whose other end is the node's `eth0`. A link goes with its namespace.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { addressAt, type IPRange } from '../../api/objects/ip-range.ts'
import { addressWithLength } from './network-ranges.ts'
import { system } from './system.ts'

/** A cluster's range has 16 pieces; one is for the nodes' own addresses. */
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

/** `ranges`: of the nodes, one of each family. Does nothing twice. @throws Error */
export function setUpBridge(cluster: string, ranges: readonly IPRange[]): void {
  const name = bridgeOf(cluster)
  if (!isInterface(name)) system('ip', ['link', 'add', name, 'type', 'bridge'])
  takeAddresses(
    name,
    ranges.map((range) => addressWithLength(range, 1)),
  )
}

/** All addresses of these links are given by skiff: no duplicates of those of IPv6 are looked for. */
function takeAddresses(name: string, addresses: readonly string[]): void {
  const hasIPv6 = addresses.some((address) => address.includes(':'))
  if (hasIPv6) writeFileSync(`/proc/sys/net/ipv6/conf/${name}/accept_dad`, '0')
  for (const address of addresses) system('ip', ['address', 'replace', address, 'dev', name])
  system('ip', ['link', 'set', name, 'up'])
}

/** The other end becomes eth0 in the network namespace of that process. @throws Error */
export function linkNode(cluster: string, number: number, pid: number): void {
  const name = linkOf(cluster, number)
  if (isInterface(name)) system('ip', ['link', 'delete', name])
  system('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)])
  system('ip', ['link', 'set', name, 'master', bridgeOf(cluster), 'up'])
  // Where the kernel passes bridged packets through its rules, what a node sends to a NodePort of this machine that leads back to it stays on the bridge.
  system('ip', ['link', 'set', name, 'type', 'bridge_slave', 'hairpin', 'on'])
}

/** Within the node's namespace: its addresses with their lengths, and the ways to everything else, one of each family. @throws Error */
export function takeLink(addresses: readonly string[], gateways: readonly string[]): void {
  system('ip', ['link', 'set', 'lo', 'up'])
  takeAddresses('eth0', addresses)
  for (const gateway of gateways) system('ip', ['route', 'replace', 'default', 'via', gateway])
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
