/** Which Services have hints by the zones' shares of processors, what their users are told of that, and what changes of nodes mean. */
import type { Node, Service } from '../../api/generated/types.ts'
import { objectKey } from '../../client/store.ts'
import type { SlicePlan } from './distribute-endpoints.ts'
import { asksForZoneHints } from './traffic-distribution.ts'
import { type HintedZones, isOverloaded, type NoHints, withZoneHints } from './zone-hints.ts'
import { type ZoneShares, zoneShares } from './zone-shares.ts'

/** An Event about the Service. */
export interface HintsEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled'
  readonly message: string
}

export interface TopologyRouting {
  /** `plan` of slices of that family with the hints that the Service's annotation asks for, and what to tell of it. */
  hint(service: Service, family: string, plan: SlicePlan): { readonly plan: SlicePlan; readonly event?: HintsEvent }
  /** Returns the Services whose hints do not fit these nodes any more. */
  setNodes(nodes: Iterable<Node>): readonly string[]
  /** Called when the Service has been deleted. */
  forget(service: string): void
}

const DISABLED = 'Topology Aware Hints has been disabled'
const ENABLED = 'Topology Aware Hints has been enabled'

export function createTopologyRouting(): TopologyRouting {
  let shares: ZoneShares | undefined
  /** By the Service's key and the family. */
  const hinted = new Map<string, Map<string, HintedZones>>()

  function set(key: string, family: string, zones: HintedZones | undefined): void {
    const own = hinted.get(key) ?? new Map<string, HintedZones>()
    if (zones === undefined) own.delete(family)
    else own.set(family, zones)
    if (own.size === 0) hinted.delete(key)
    else hinted.set(key, own)
  }

  return {
    hint(service, family, plan) {
      const key = objectKey(service)
      const wasHinted = hinted.has(key)
      const tell = (type: HintsEvent['type'], message: string): HintsEvent => ({
        type,
        reason: type === 'Normal' ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled',
        message: `${message}, addressType: ${family}`,
      })
      if (!asksForZoneHints(service)) {
        set(key, family, undefined)
        return wasHinted ? { plan, event: tell('Warning', DISABLED) } : { plan }
      }
      const { plan: withHints, zones } = withZoneHints(plan, shares)
      if ('because' in zones) {
        set(key, family, undefined)
        return { plan: withHints, event: tell('Warning', textOf(zones)) }
      }
      set(key, family, zones)
      return wasHinted ? { plan: withHints } : { plan: withHints, event: tell('Normal', ENABLED) }
    },
    setNodes(nodes) {
      shares = zoneShares(nodes)
      const isStale = ([, families]: readonly [string, ReadonlyMap<string, HintedZones>]) =>
        [...families.values()].some((zones) => isOverloaded(zones, shares))
      return [...hinted].filter(isStale).map(([key]) => key)
    },
    forget: (key) => void hinted.delete(key),
  }
}

function textOf(reason: NoHints): string {
  switch (reason.because) {
    case 'nodes':
      return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
    case 'endpoints':
      return `Insufficient number of endpoints (${reason.endpoints} endpoints, ${reason.zones} zones)`
    case 'overload':
      return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (${reason.endpoints} endpoints, ${reason.zones} zones)`
    case 'endpoint without zone':
      return 'One or more endpoints do not have a zone specified'
  }
}
