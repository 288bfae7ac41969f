/**
 * Hints by which each zone's clients use as large a part of a Service's endpoints as the zone has of the cluster's processors
 * (KEP-2433, topology-aware routing). As many endpoints as possible serve their own zone, and slices that are not written anyway
 * stay as they are while no endpoint gets too much to do.
 */
import type { Endpoint, EndpointSlice } from '../../api/generated/types.ts'
import type { SlicePlan } from './distribute-endpoints.ts'
import type { ZoneShares } from './zone-shares.ts'

/** By so much an endpoint may get more than its even part of the traffic. */
const OVERLOAD = 0.2

/** How many endpoints are for each zone. */
export type HintedZones = ReadonlyMap<string, number>

/** Why there are none, as Events say it; `zones`, `endpoints`: how many there are. */
export type NoHints =
  | { readonly because: 'nodes' }
  | { readonly because: 'endpoints' | 'overload'; readonly endpoints: number; readonly zones: number }
  | { readonly because: 'endpoint without zone' }

export interface Hinted {
  readonly plan: SlicePlan
  /** Of all slices that there will be. */
  readonly zones: HintedZones | NoHints
}

interface Allocation {
  readonly least: number
  readonly most: number
  readonly wanted: number
}

/** `plan` with hints, and with those of its unchanged slices as updates that need other ones. */
export function withZoneHints(plan: SlicePlan, shares: ZoneShares | undefined): Hinted {
  const without = (reason: NoHints): Hinted => ({ plan: withoutHints(plan), zones: reason })
  const ready = [...plan.create, ...plan.update, ...plan.unchanged].flatMap((slice) =>
    endpointsOf(slice).filter(isReady),
  )
  const allocations = allocate(shares, ready.length)
  if ('because' in allocations) return without(allocations)
  const zones = new Map<string, number>()
  const unchanged: EndpointSlice[] = []
  const changing: EndpointSlice[] = []
  for (const slice of plan.unchanged) {
    const own = keptHints(slice, zones, allocations)
    if (own === undefined) changing.push(slice)
    else {
      unchanged.push(slice)
      for (const [zone, count] of own) add(zones, zone, count)
    }
  }
  const written = [...plan.create, ...plan.update, ...changing]
  for (const endpoint of written.flatMap(endpointsOf).filter(isReady)) {
    if (!endpoint.zone) return without({ because: 'endpoint without zone' })
    add(zones, endpoint.zone, 1)
  }
  const moves = movesBetween(allocations, zones)
  const hinted = (slice: EndpointSlice): EndpointSlice =>
    withEndpoints(slice, (endpoint) => {
      const { hints: _, ...rest } = endpoint
      if (!isReady(endpoint)) return rest
      const own = endpoint.zone as string
      const target = moves.next(own) ?? own
      if (target !== own) {
        add(zones, own, -1)
        add(zones, target, 1)
      }
      return { ...rest, hints: { forZones: [{ name: target }] } }
    })
  const create = plan.create.map(hinted)
  const update = [...plan.update, ...changing].map(hinted)
  return { plan: { ...plan, create, update, unchanged }, zones }
}

/** `plan` without any hints. */
export function withoutHints(plan: SlicePlan): SlicePlan {
  const bare = (slice: EndpointSlice) => withEndpoints(slice, ({ hints: _, ...endpoint }) => endpoint)
  const isHinted = (slice: EndpointSlice) => endpointsOf(slice).some(({ hints }) => hints !== undefined)
  return {
    ...plan,
    create: plan.create.map(bare),
    update: [...plan.update, ...plan.unchanged.filter(isHinted)].map(bare),
    unchanged: plan.unchanged.filter((slice) => !isHinted(slice)),
  }
}

/** Whether endpoints as they are hinted now would be overloaded, so that the Service must be looked at again. */
export function isOverloaded(zones: HintedZones, shares: ZoneShares | undefined): boolean {
  if (zones.size === 0) return false
  if (shares === undefined) return true
  const all = [...zones.values()].reduce((sum, count) => sum + count, 0)
  return [...shares].some(([zone, share]) => (zones.get(zone) ?? -1) < fewest(all * share))
}

/** So few endpoints can do what `part` endpoints would. */
const fewest = (part: number): number => Math.ceil(part * (1 / (1 + OVERLOAD)))

function allocate(shares: ZoneShares | undefined, endpoints: number): ReadonlyMap<string, Allocation> | NoHints {
  if (shares === undefined) return { because: 'nodes' }
  if (endpoints < shares.size) return { because: 'endpoints', endpoints, zones: shares.size }
  const least = new Map([...shares].map(([zone, share]) => [zone, fewest(share * endpoints)]))
  const spare = endpoints - [...least.values()].reduce((sum, count) => sum + count, 0)
  if (spare < 0) return { because: 'overload', endpoints, zones: shares.size }
  return new Map(
    [...shares].map(([zone, share]) => {
      const own = least.get(zone) as number
      return [zone, { least: own, most: own + spare, wanted: Math.max(share * endpoints, own) }]
    }),
  )
}

/** What an unchanged slice has for each zone; undefined: it cannot stay as it is beside what `others` have. */
function keptHints(
  slice: EndpointSlice,
  others: HintedZones,
  allocations: ReadonlyMap<string, Allocation>,
): HintedZones | undefined {
  const own = new Map<string, number>()
  for (const endpoint of endpointsOf(slice).filter(isReady)) {
    const { forZones = [] } = endpoint.hints ?? {}
    const [first] = forZones
    if (first === undefined || forZones.some(({ name }) => !allocations.has(name))) return undefined
    add(own, first.name, 1)
  }
  const isTooMuch = ([zone, count]: readonly [string, number]) =>
    count + (others.get(zone) ?? 0) > (allocations.get(zone) as Allocation).most
  return [...own].some(isTooMuch) ? undefined : own
}

/** Which zones give endpoints to which others, the ones with the most to give or to get first. */
function movesBetween(allocations: ReadonlyMap<string, Allocation>, zones: HintedZones) {
  const surplus = new Map<string, number>()
  const lack = new Map<string, number>()
  for (const [zone, { wanted }] of allocations) {
    const difference = (zones.get(zone) ?? 0) - wanted
    if (difference > 0) surplus.set(zone, difference)
    if (difference < 0) lack.set(zone, -difference)
  }
  const gives = new Map<string, number>()
  const gets = new Map<string, number>()
  for (;;) {
    const [from, over] = largest(surplus)
    const [to, under] = largest(lack)
    // Half an endpoint is moved only towards or from a zone for which it is a whole one.
    if (Math.min(over, under) < 0.5 || Math.max(over, under) < 1) break
    add(surplus, from, -1)
    add(lack, to, -1)
    add(gives, from, 1)
    add(gets, to, 1)
  }
  return {
    /** The zone that one endpoint of `from` goes to, each time it is asked; undefined: it stays. */
    next(from: string): string | undefined {
      if ((gives.get(from) ?? 0) === 0) return undefined
      const to = [...gets].find(([, count]) => count > 0)?.[0]
      if (to === undefined) return undefined
      add(gives, from, -1)
      add(gets, to, -1)
      return to
    },
  }
}

function largest(zones: ReadonlyMap<string, number>): readonly [string, number] {
  let found: readonly [string, number] = ['', 0]
  for (const one of zones) if (one[1] > found[1]) found = one
  return found
}

function add(zones: Map<string, number>, zone: string, count: number): void {
  zones.set(zone, (zones.get(zone) ?? 0) + count)
}

const endpointsOf = (slice: EndpointSlice): readonly Endpoint[] => slice.endpoints ?? []
const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready === true

const withEndpoints = (slice: EndpointSlice, change: (endpoint: Endpoint) => Endpoint): EndpointSlice =>
  slice.endpoints ? { ...slice, endpoints: slice.endpoints.map(change) } : slice
