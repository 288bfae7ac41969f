/** A range of addresses, cut into pieces of one size: which piece is whose. IPv4 alone. */
import { ipv4Text, parseIPv4Range } from '../../api/objects/ipv4-range.ts'

export interface NodeRanges {
  /** The piece is taken, or whatever of the range the given network covers. What lies elsewhere is nothing to it. */
  occupy(cidr: string): void
  release(cidr: string): void
  /** A free piece, which is taken from now on. One that was given back comes last. Undefined: none is left. */
  next(): string | undefined
}

/** @throws Error that says what is wrong */
export function nodeRanges(clusterCidr: string, maskSize: number): NodeRanges {
  const whole = parseIPv4Range(clusterCidr)
  if (whole === undefined) throw new Error(`${clusterCidr} is no IPv4 range`)
  const { from: base, size } = whole
  const piece = 2 ** (32 - maskSize)
  if (!(maskSize >= 1 && maskSize <= 32) || piece > size)
    throw new Error(`ranges of /${maskSize} do not fit into ${clusterCidr}`)
  const count = size / piece
  const taken = new Set<number>()
  let candidate = 0

  function* piecesOf(cidr: string): Generator<number> {
    const network = parseIPv4Range(cidr)
    if (network === undefined) return
    const first = Math.max(0, Math.floor((network.from - base) / piece))
    const last = Math.min(count - 1, Math.floor((network.from + network.size - 1 - base) / piece))
    for (let i = first; i <= last; i++) yield i
  }

  return {
    occupy(cidr) {
      for (const i of piecesOf(cidr)) taken.add(i)
    },
    release(cidr) {
      for (const i of piecesOf(cidr)) taken.delete(i)
    },
    next() {
      for (let tries = 0; tries < count; tries++) {
        const i = (candidate + tries) % count
        if (taken.has(i)) continue
        taken.add(i)
        candidate = (i + 1) % count
        return `${ipv4Text(base + i * piece)}/${maskSize}`
      }
      return undefined
    },
  }
}
