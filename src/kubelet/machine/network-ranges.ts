/** Of which addresses pods and nodes have theirs: ranges of an earlier life of the node, ranges given to it, or others that nothing of the machine has. */
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import {
  addressAt,
  type IPRange,
  isWithin,
  parseIPRange,
  pieceAround,
  prefixLength,
  rangeText,
} from '../../api/objects/ip-range.ts'
import type { IPFamily } from '../../api/values/ip.ts'
import { isUnrouted, LENGTHS, machineNetwork, unroutedRange } from './routes.ts'

/** Ranges that were chosen elsewhere. */
export interface GivenRanges {
  readonly podCIDR: string
  readonly clusterRange: string
  readonly nodeIP: string
}

export interface Ranges {
  readonly own: IPRange
  /** Of all nodes: as large as `own` where there is no room for others. */
  readonly whole: IPRange
}

/** @throws Error for what is no range, or not within the other */
export function givenRanges({ podCIDR, clusterRange }: GivenRanges): Ranges {
  const [own, whole] = [parseIPRange(podCIDR), parseIPRange(clusterRange)]
  if (own === undefined || whole === undefined || !isWithin(own, whole))
    throw new Error(`the node's range ${podCIDR} is not within the cluster's, ${clusterRange}`)
  return { own, whole }
}

/** Where an earlier life of the node may have left its ranges. */
export interface EarlierNode {
  /** The network's configuration. */
  readonly file: string
  /** The interface that has the node's address, and all that are the cluster's own. */
  readonly name: string
  readonly own: readonly string[]
}

/**
 * The ranges of an earlier life of this node, or others that no interface and no route of this machine has. `wanted`: what all nodes are to have
 * theirs of. @throws Error
 */
export function chosenRanges(family: IPFamily, { file, name, own }: EarlierNode, wanted?: IPRange): Ranges {
  const machine = machineNetwork(family, own)
  const { cluster, node } = LENGTHS[family]
  const earlier = configuredRange(family, file) ?? addressRangeOf(family, name)
  if (wanted !== undefined) {
    if (!isUnrouted(wanted, machine, earlier))
      throw new Error(`--cluster-cidr ${rangeText(wanted)}: this machine has routes or addresses there already`)
    const isEarlier = earlier !== undefined && isWithin(earlier, wanted)
    return { own: isEarlier ? earlier : pieceAround({ family, value: wanted.from }, node), whole: wanted }
  }
  if (earlier !== undefined) {
    const whole = pieceAround({ family, value: earlier.from }, cluster)
    return { own: earlier, whole: isUnrouted(whole, machine, earlier) ? whole : earlier }
  }
  const whole = unroutedRange(machine, family, cluster)
  if (whole !== undefined) return { own: pieceAround({ family, value: whole.from }, node), whole }
  const one = unroutedRange(machine, family, node)
  if (one === undefined)
    throw new Error(
      `every range${family === 'IPv6' ? ' of IPv6' : ''} that pods could have is routed elsewhere on this machine`,
    )
  return { own: one, whole: one }
}

/** The last piece of the cluster's range: what the nodes that share this machine have their own addresses of. */
export function nodeRange({ family, from, size }: IPRange): IPRange {
  const piece = pieceAround({ family, value: from + size - 1n }, LENGTHS[family].node)
  return { family, from: piece.from, size: piece.size }
}

/** Of an earlier life of this node, as network-configuration.ts wrote it. */
function configuredRange(family: IPFamily, file: string): IPRange | undefined {
  try {
    const { plugins } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly plugins: readonly { readonly ipam?: { readonly ranges: readonly (readonly [{ subnet: string }])[] } }[]
    }
    return plugins
      .flatMap(({ ipam }) => ipam?.ranges ?? [])
      .flatMap(([{ subnet }]) => parseIPRange(subnet) ?? [])
      .find((range) => range.family === family)
  } catch {
    return undefined
  }
}

function addressRangeOf(family: IPFamily, name: string): IPRange | undefined {
  const found = networkInterfaces()[name]?.find((one) => one.family === family && !isLinkLocal(one.address))
  return found === undefined ? undefined : parseIPRange(`${found.address}/${LENGTHS[family].node}`)
}

export const isLinkLocal = (address: string): boolean => /^fe[89ab]/i.test(address)

/** `10.244.0.1/24` */
export const addressWithLength = (range: IPRange, offset: number): string =>
  `${addressAt(range, offset)}/${prefixLength(range)}`
