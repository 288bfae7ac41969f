/** How fast nodes of each zone may get their NoExecute taint. */
import type { Node } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'

const normalPerMs = 0.1 / 1000
const slowPerMs = 0.01 / 1000
/** From this share of unready nodes on, a zone is disrupted. */
const unhealthyShare = 0.55
/** Disrupted zones of up to this many nodes are left alone. */
const largeZone = 50
const leastUnready = 3

interface Zone {
  /** Nodes that wait for their taint, first come first. */
  readonly waiting: Set<string>
  ratePerMs: number
  tokens: number
  at: number
}

/** `stopped`: from now on no node is tainted, for all zones are down; `resumed`: that is over. */
export type ZoneOutcome = 'stopped' | 'resumed' | 'unchanged'

export function zoneOf(node: Node): string {
  const labels = node.metadata.labels
  const region = labels?.['topology.kubernetes.io/region'] ?? labels?.['failure-domain.beta.kubernetes.io/region'] ?? ''
  const zone = labels?.['topology.kubernetes.io/zone'] ?? labels?.['failure-domain.beta.kubernetes.io/zone'] ?? ''
  return region === '' && zone === '' ? '' : `${region}:\u0000:${zone}`
}

export function createZones(clock: Clock) {
  const zones = new Map<string, Zone>()
  let stopped = false

  const zone = (name: string): Zone => {
    const known = zones.get(name)
    if (known !== undefined) return known
    const created = { waiting: new Set<string>(), ratePerMs: normalPerMs, tokens: 1, at: clock.monotonic() }
    zones.set(name, created)
    return created
  }

  return {
    /** All zones are down: no node is tainted. */
    get stopped() {
      return stopped
    },
    /** Whether some node has yet to get its NoExecute taint. */
    get pending() {
      return [...zones.values()].some(({ waiting }) => waiting.size > 0)
    },
    condemn(node: string, zoneName: string) {
      for (const [name, other] of zones) if (name !== zoneName) other.waiting.delete(node)
      zone(zoneName).waiting.add(node)
    },
    withdraw(node: string) {
      for (const { waiting } of zones.values()) waiting.delete(node)
    },
    forget(node: string) {
      for (const { waiting } of zones.values()) waiting.delete(node)
    },
    /** `ready`: by zone, whether each of its nodes is. */
    update(ready: ReadonlyMap<string, readonly boolean[]>): ZoneOutcome {
      let allDown = ready.size > 0
      for (const [name, nodes] of ready) {
        const unready = nodes.filter((isReady) => !isReady).length
        const fully = unready > 0 && unready === nodes.length
        const partly = unready >= leastUnready && unready / nodes.length >= unhealthyShare
        if (!fully) allDown = false
        // A zone that is down as a whole is emptied at the usual rate as long as another one lives.
        zone(name).ratePerMs = partly && !fully ? (nodes.length > largeZone ? slowPerMs : 0) : normalPerMs
      }
      if (allDown === stopped) return 'unchanged'
      stopped = allDown
      for (const { waiting } of zones.values()) waiting.clear()
      return stopped ? 'stopped' : 'resumed'
    },
    /** The nodes whose turn it is now. */
    due(): string[] {
      const chosen: string[] = []
      const now = clock.monotonic()
      for (const own of zones.values()) {
        own.tokens = Math.min(1, own.tokens + (now - own.at) * own.ratePerMs)
        own.at = now
        if (stopped || own.ratePerMs === 0 || own.tokens < 1) continue
        const [node] = own.waiting
        if (node === undefined) continue
        own.waiting.delete(node)
        own.tokens -= 1
        chosen.push(node)
      }
      return chosen
    },
  }
}
