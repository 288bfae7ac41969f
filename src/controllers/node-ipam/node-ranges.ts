/** A range of addresses, cut into pieces of one size: which piece is which node's. */
import {
  type IPRange,
  overlap,
  parseIPRange,
  pieceAround,
  prefixLength,
  rangeText,
} from '../../api/objects/ip-range.ts'
import { bitsIn } from '../../api/values/ip.ts'

export interface NodeRanges {
  /** The piece is the holder's, or whatever of the range the given network covers. What lies elsewhere is nothing to it. */
  occupy(cidr: string, holder: string): void
  /** Free again is what no other holder has too. */
  release(cidr: string, holder: string): void
  /** A free piece, which is the holder's from now on. One that was given back comes last. Undefined: none is left. */
  next(holder: string): string | undefined
}

/** Kubernetes cuts a range into no more pieces than that. */
const MOST_BITS = 16

/** How long a node's prefix is in a range, as kube-controller-manager has it by default. */
export const nodeMaskSizeOf = (clusterCidr: string): number => (clusterCidr.includes(':') ? 64 : 24)

/** @throws Error that says what is wrong */
export function nodeRanges(clusterCidr: string, maskSize: number): NodeRanges {
  const whole = parseIPRange(clusterCidr)
  if (whole === undefined) throw new Error(`${clusterCidr} is no range of addresses`)
  const bits = maskSize - prefixLength(whole)
  if (!(bits >= 0) || maskSize > bitsIn(whole.family))
    throw new Error(`ranges of /${maskSize} do not fit into ${clusterCidr}`)
  if (bits > MOST_BITS) throw new Error(`${clusterCidr} holds more than 2^${MOST_BITS} ranges of /${maskSize}`)
  const piece = pieceAround({ family: whole.family, value: whole.from }, maskSize).size
  const count = 2 ** bits
  const holders = new Map<number, Set<string>>()
  let candidate = 0

  function* piecesOf(cidr: string): Generator<number> {
    const network = parseIPRange(cidr)
    if (network === undefined || whole === undefined || !overlap(network, whole)) return
    const at = (value: bigint) => Math.min(count - 1, Math.max(0, Number((value - whole.from) / piece)))
    const last = at(network.from + network.size - 1n)
    for (let i = at(network.from); i <= last; i++) yield i
  }

  return {
    occupy(cidr, holder) {
      for (const i of piecesOf(cidr)) holders.set(i, (holders.get(i) ?? new Set()).add(holder))
    },
    release(cidr, holder) {
      for (const i of piecesOf(cidr)) {
        const left = holders.get(i)
        left?.delete(holder)
        if (left?.size === 0) holders.delete(i)
      }
    },
    next(holder) {
      for (let tries = 0; tries < count; tries++) {
        const i = (candidate + tries) % count
        if (holders.has(i)) continue
        holders.set(i, new Set([holder]))
        candidate = (i + 1) % count
        return rangeText(pieceAt(whole, piece, i))
      }
      return undefined
    },
  }
}

const pieceAt = ({ family, from }: IPRange, size: bigint, index: number): IPRange => ({
  family,
  from: from + BigInt(index) * size,
  size,
})
