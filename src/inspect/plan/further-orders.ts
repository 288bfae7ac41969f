/**
 * What chance decides: which of several controllers comes first. The deed is rehearsed again with controllers whose requests take more or
 * less time, once so that each race that was seen ends the other way (races.ts), and once with controllers between the requests of the deed where that
 * matters; what then goes otherwise, or before what it went
 * after, is open.
 */
import { delaysBySeed } from '../../client/uneven-transport.ts'
import type { TimelineStep } from '../timeline/timeline-types.ts'
import type { TwinSource } from '../twin/read-cluster.ts'
import type { Programs, TwinModel } from '../twin/twin.ts'
import type { Deed } from './deed.ts'
import type { Going } from './plan.ts'
import { delaysFor, type Races } from './races.ts'
import { type Rehearsal, rehearse } from './rehearse.ts'

/** Objects and steps up to which so many further orders are rehearsed. */
const ORDERS_BY_SIZE = [
  { upTo: 5000, orders: 2 },
  { upTo: 30_000, orders: 1 },
] as const

/** How many further orders a rehearsal of this size is worth: where a single object changes there is no order. */
export function ordersFor({ before, steps }: Rehearsal): number {
  if (new Set(steps.map(({ object }) => object.uid)).size < 2) return 0
  return ORDERS_BY_SIZE.find(({ upTo }) => before.length + steps.length <= upTo)?.orders ?? 0
}

export async function furtherOrders(
  source: TwinSource,
  model: TwinModel,
  deed: Deed,
  programs: Programs,
  count: number,
  races: Races,
): Promise<readonly Rehearsal[]> {
  const all: Rehearsal[] = []
  const others = Array.from({ length: count }, (_, at) => delaysBySeed(at + 1))
  const otherWay = count === 0 ? undefined : delaysFor(races)
  const apart = count > 0 && races.isBetweenRequests ? [{ isApart: true }] : []
  const uneven = (otherWay === undefined ? others : [otherWay, ...others]).map((delays) => ({ uneven: delays }))
  for (const variation of [...apart, ...uneven]) all.push(await rehearse(source, model, deed, programs, variation))
  return all
}

interface Removal {
  readonly place: number
  readonly first: TimelineStep
  readonly isLate: boolean
}
type Removals = ReadonlyMap<string, Removal>

const isAsPlanned = ({ certainty }: Going, removal: Removal | undefined) =>
  removal !== undefined && removal.isLate === (certainty === 'if others act')

/** The same in the same order, with what goes otherwise in one of the others as `either`. */
export function openIn(goes: readonly Going[], others: readonly Removals[]): readonly Going[] {
  const orders = new Map(goes.map(({ object, order }) => [object.uid, order]))
  return goes.map((going) => {
    const { object, order, cause = '' } = going
    if (going.certainty !== 'either' && !others.every((other) => isAsPlanned(going, other.get(object.uid))))
      return { ...going, certainty: 'either' }
    const above = orders.get(cause)
    const isOpen = others.some((other) => {
      const [own, theirs] = [other.get(object.uid), other.get(cause)]
      return (
        above !== undefined && own !== undefined && theirs !== undefined && own.place < theirs.place !== order < above
      )
    })
    return isOpen ? { ...going, isOrderOpen: true } : going
  })
}
