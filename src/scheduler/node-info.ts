/**
 * The scheduler's picture of its nodes: for each the pods on it, what they have asked for, and their host ports. Pods that
 * were just bound count at once (assumed), before their watch event comes.
 */

import type { Node, Taint } from '../api/generated/types.ts'
import type { HostPort } from '../api/objects/host-ports.ts'
import { addInt64, type Int64 } from '../api/objects/integers.ts'
import { sameJson } from '../api/same.ts'
import { type Amounts, amountsOf, type PodInfo } from './pod-info.ts'

export interface NodeInfo {
  readonly name: string
  /** A small number that no other node has at the time, for what is remembered of nodes; a later one may have it after this is gone. */
  readonly slot: number
  /** A number that no other node has, nor a later one. */
  readonly serial: number
  /** undefined while only pods of that name are known. */
  node: Node | undefined
  allocatable: Amounts
  readonly pods: Map<string, PodInfo>
  readonly requested: Map<string, Int64>
  /** Sums of the pods' `assumed`. */
  readonly assumed: Map<string, Int64>
  readonly ports: HostPort[]
  /** How many pods use a PersistentVolumeClaim, by its `namespace/name`: on all nodes, which share this. */
  readonly claimUses: Map<string, number>
  /** Rises with every change of the node or of the pods on it that filters or scores can see. */
  generation: number
}

export interface ClusterNodes {
  readonly nodes: ReadonlyMap<string, NodeInfo>
  /** Nodes that exist: of each zone in turn, in the order they came, so that any stretch of them is of all zones. */
  ready(): readonly NodeInfo[]
  setNode(node: Node): void
  removeNode(name: string): void
  /** Adds the pod to its node, replacing what was known of the same key. */
  setPod(info: PodInfo, nodeName: string): void
  /** Whether it was on a node. */
  removePod(key: string): boolean
  /** Pods anywhere that carry required anti-affinity: every other pod must be checked against them. */
  readonly withAntiAffinity: ReadonlyMap<string, { readonly info: PodInfo; readonly node: NodeInfo }>
  /** Pods anywhere that wish others near or far, or must have them near: it speaks for or against nodes for those. */
  readonly withAffinity: ReadonlyMap<string, { readonly info: PodInfo; readonly node: NodeInfo }>
}

export function createCluster(): ClusterNodes {
  const nodes = new Map<string, NodeInfo>()
  const whereabouts = new Map<string, NodeInfo>()
  const withAntiAffinity = new Map<string, { info: PodInfo; node: NodeInfo }>()
  const withAffinity = new Map<string, { info: PodInfo; node: NodeInfo }>()
  const claimUses = new Map<string, number>()
  const freeSlots: number[] = []
  let serials = 0
  let existing: readonly NodeInfo[] | undefined

  const entry = (name: string): NodeInfo => {
    let info = nodes.get(name)
    if (info === undefined) {
      info = {
        name,
        slot: freeSlots.pop() ?? nodes.size,
        serial: serials++,
        node: undefined,
        allocatable: new Map(),
        pods: new Map(),
        requested: new Map(),
        assumed: new Map(),
        ports: [],
        claimUses,
        generation: 0,
      }
      nodes.set(name, info)
    }
    return info
  }
  const forget = ({ name, slot }: NodeInfo) => {
    nodes.delete(name)
    freeSlots.push(slot)
  }
  const removePod = (key: string) => {
    const node = whereabouts.get(key)
    const info = node?.pods.get(key)
    if (node === undefined || info === undefined) return false
    whereabouts.delete(key)
    withAntiAffinity.delete(key)
    withAffinity.delete(key)
    takeOff(node, info)
    if (node.node === undefined && node.pods.size === 0) forget(node)
    return true
  }
  return {
    nodes,
    withAntiAffinity,
    withAffinity,
    ready: () => {
      existing ??= zonesInTurn([...nodes.values()].filter((info) => info.node !== undefined))
      return existing
    },
    setNode(node) {
      const info = entry(node.metadata.name ?? '')
      const before = info.node
      info.node = node
      if (before === undefined || zoneOf(before) !== zoneOf(node)) existing = undefined
      if (before !== undefined && sameNode(before, node)) return
      info.generation++
      info.allocatable = amountsOf(node.status?.allocatable ?? node.status?.capacity)
    },
    removeNode(name) {
      const info = nodes.get(name)
      if (info === undefined) return
      existing = undefined
      info.node = undefined
      info.generation++
      if (info.pods.size === 0) forget(info)
    },
    setPod(info, nodeName) {
      removePod(info.key)
      const node = entry(nodeName)
      whereabouts.set(info.key, node)
      if (info.antiAffinity.length) withAntiAffinity.set(info.key, { info, node })
      if (info.preferred.length || info.affinity.length) withAffinity.set(info.key, { info, node })
      putOn(node, info)
    },
    removePod,
  }
}

/** By the labels of region and zone. */
function zoneOf({ metadata: { labels = {} } }: Node): string {
  return `${labels['topology.kubernetes.io/region'] ?? ''}/${labels['topology.kubernetes.io/zone'] ?? ''}`
}

function zonesInTurn(nodes: readonly NodeInfo[]): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>()
  for (const info of nodes) {
    const zone = zoneOf(info.node as Node)
    const inZone = zones.get(zone)
    if (inZone) inZone.push(info)
    else zones.set(zone, [info])
  }
  if (zones.size <= 1) return nodes
  const all: NodeInfo[] = []
  for (let i = 0; all.length < nodes.length; i++)
    for (const inZone of zones.values()) if (inZone[i] !== undefined) all.push(inZone[i] as NodeInfo)
  return all
}

/** Nothing that filters or scores look at has changed. */
export function sameNode(a: Node, b: Node): boolean {
  return (
    sameJson(a.status?.allocatable, b.status?.allocatable) &&
    sameJson(a.status?.capacity, b.status?.capacity) &&
    sameJson(a.status?.declaredFeatures, b.status?.declaredFeatures) &&
    sameJson(a.spec?.taints, b.spec?.taints) &&
    sameJson(a.metadata.labels, b.metadata.labels) &&
    a.spec?.unschedulable === b.spec?.unschedulable
  )
}

export function putOn(node: NodeInfo, info: PodInfo): void {
  node.generation++
  node.pods.set(info.key, info)
  sum(node.requested, info.requests, 1)
  sum(node.assumed, info.assumed, 1)
  node.ports.push(...info.ports)
  for (const claim of info.claims) node.claimUses.set(claim, (node.claimUses.get(claim) ?? 0) + 1)
}

export function takeOff(node: NodeInfo, info: PodInfo): void {
  node.generation++
  node.pods.delete(info.key)
  sum(node.requested, info.requests, -1)
  sum(node.assumed, info.assumed, -1)
  for (const port of info.ports) {
    const at = node.ports.indexOf(port)
    if (at >= 0) node.ports.splice(at, 1)
  }
  for (const claim of info.claims) {
    const left = (node.claimUses.get(claim) ?? 0) - 1
    if (left > 0) node.claimUses.set(claim, left)
    else node.claimUses.delete(claim)
  }
}

function sum(into: Map<string, Int64>, amounts: Amounts, sign: 1 | -1): void {
  for (const [name, amount] of amounts) into.set(name, addInt64(into.get(name) ?? 0, sign === 1 ? amount : -amount))
}

export const labelsOf = (node: NodeInfo): Readonly<Record<string, string>> => node.node?.metadata.labels ?? {}

export const taintsOf = (node: NodeInfo): readonly Taint[] => node.node?.spec?.taints ?? []
