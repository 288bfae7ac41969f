/**
 * Priority levels: how many requests of each are worked on at once (seats), how many of these others may borrow while they
 * are free, and the queues of requests that wait. A flow's requests wait in few of its level's queues (shuffle sharding), and
 * queues take turns: a flow that sends much waits behind itself.
 */

import { createHash } from 'node:crypto'
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { createLruMap, type LruMap } from '../../base/lru.ts'
import type { Runtime } from '../../base/runtime.ts'
import { type BegunTurn, createTurnBudget } from './turn-budget.ts'

export interface PriorityLevel {
  readonly name: string
  readonly uid: string
  /** Has seats without end; its requests only wait for their turn. */
  readonly exempt: boolean
  /** Whether one may wait here at all. */
  readonly queues: boolean
  readonly seats: Seats
  /** Requests being worked on, and those that wait. */
  readonly executing: number
  readonly waiting: number
  /** Takes a seat if there is one; the request that got it gives it back with `release`. */
  enter(): boolean
  release(): void
  /** Waits for a seat, which `start` then has. undefined when the queue is full, or the level has none. */
  wait(flow: string, start: () => void): QueuePlace | undefined
}

export interface Seats {
  /** Its share. */
  readonly nominal: number
  /** What it has however much others borrow, and with all it may borrow. */
  readonly lower: number
  readonly upper: number
}

export interface QueuePlace {
  /** How many stood in the queue with it. */
  readonly length: number
  leave(): void
}

interface Queuing {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

const FLOWS_REMEMBERED = 1000

interface Level extends PriorityLevel {
  uid: string
  exempt: boolean
  seats: Seats
  queuing: Queuing | undefined
  executing: number
  waiting: number
  readonly begun: BegunTurn
  /** The queues that flows may wait in, as long as the level's queues stay as they are. */
  readonly hands: LruMap<string, readonly number[]>
  startNext(): boolean
}

export interface PriorityLevels {
  /** The levels as their objects now are; a level that stays keeps its queues. */
  configure(objects: readonly KubeObject[]): void
  get(name: string): PriorityLevel | undefined
  all(): Iterable<PriorityLevel>
  /** Seats that could be borrowed now. */
  free(): number
}

/**
 * `total`: requests that the server works on at once, divided among the levels by their shares, as those are that are begun
 * in one turn of the event loop.
 */
export function createPriorityLevels(
  total: number,
  { machineClock, scheduler }: Pick<Runtime, 'machineClock' | 'scheduler'>,
): PriorityLevels {
  let levels = new Map<string, Level>()
  /** Those where requests wait. */
  const crowded = new Set<Level>()
  let executing = 0

  const free = (): number => {
    let lendable = total - executing
    let lent = 0
    for (const { exempt, seats, executing: used } of levels.values()) {
      if (exempt) continue
      lent +=
        Math.max(0, Math.min(seats.nominal - seats.lower, seats.nominal - used)) - Math.max(0, used - seats.nominal)
    }
    lendable = Math.min(lendable, lent)
    return Math.max(0, lendable)
  }
  /** A level without a share works on one request at a time. */
  const hasSeat = ({ exempt, executing: used, seats }: Level): boolean =>
    exempt || used < Math.max(1, seats.nominal) || (used < seats.upper && free() > 0)
  /** A level without queues refuses what it has no seat for, and makes nothing wait. */
  const hasTurn = ({ begun, exempt, seats, queuing }: Level): boolean =>
    queuing === undefined || budget.allows(begun, exempt ? 1 : seats.nominal / total)
  const mayStart = (level: Level): boolean => hasSeat(level) && hasTurn(level)

  let serving = false
  /**
   * Levels take turns, too. A request that is answered at once gives its seat back while it is being started: the loop
   * sees it.
   */
  const serveCrowded = () => {
    if (serving) return
    serving = true
    for (let begun = true; begun; ) {
      begun = false
      for (const level of crowded) if (mayStart(level) && level.startNext()) begun = true
    }
    serving = false
  }
  const budget = createTurnBudget(machineClock, scheduler, () => {
    if (crowded.size > 0) serveCrowded()
  })
  const begin = (level: Level) => {
    level.executing++
    if (!level.exempt) executing++
    budget.begin(level.begun)
  }

  function createLevel(name: string): Level {
    /** In the order of their turns: a Map keeps it, and moving a queue to the end is delete and set. */
    const queues = new Map<number, (() => void)[]>()
    const level: Level = {
      name,
      uid: '',
      exempt: false,
      seats: { nominal: 0, lower: 0, upper: 0 },
      queuing: undefined,
      get queues() {
        return level.queuing !== undefined
      },
      executing: 0,
      waiting: 0,
      begun: { turn: -1, requests: 0 },
      hands: createLruMap(FLOWS_REMEMBERED),
      enter() {
        if (level.waiting > 0 || !mayStart(level)) return false
        begin(level)
        return true
      },
      release() {
        level.executing--
        if (level.exempt) return
        executing--
        if (crowded.size > 0) serveCrowded()
      },
      startNext() {
        for (const [at, queue] of queues) {
          queues.delete(at)
          const start = queue.shift()
          if (queue.length > 0) queues.set(at, queue)
          if (start === undefined) continue
          left()
          begin(level)
          start()
          return true
        }
        return false
      },
      wait(flow, start) {
        const { queuing } = level
        if (queuing === undefined) return undefined
        let hand = level.hands.get(flow)
        if (hand === undefined) {
          hand = handOf(flow, queuing)
          level.hands.set(flow, hand)
        }
        const at = shortest(hand, queues)
        const queue = queues.get(at) ?? []
        if (queue.length >= queuing.queueLengthLimit) return undefined
        queue.push(start)
        queues.set(at, queue)
        level.waiting++
        crowded.add(level)
        return {
          length: queue.length,
          leave() {
            const place = queue.indexOf(start)
            if (place < 0) return
            queue.splice(place, 1)
            if (queue.length === 0 && queues.get(at) === queue) queues.delete(at)
            left()
          },
        }
      },
    }
    const left = () => {
      level.waiting--
      if (level.waiting === 0) crowded.delete(level)
    }
    return level
  }

  return {
    configure(objects) {
      const shares = objects.reduce((sum, object) => sum + limitsOf(object).shares, 0)
      const next = new Map<string, Level>()
      for (const object of objects) {
        const name = object.metadata.name ?? ''
        const level = levels.get(name) ?? createLevel(name)
        const limits = limitsOf(object)
        // Requests that were let in without a seat leave without one.
        if (level.executing === 0 || level.exempt === limits.exempt) level.exempt = limits.exempt
        level.uid = object.metadata.uid ?? ''
        level.seats = seatsOf(limits, total, shares)
        level.queuing = limits.queuing
        level.hands.clear()
        next.set(name, level)
      }
      levels = next
      serveCrowded()
    },
    get: (name) => levels.get(name),
    all: () => levels.values(),
    free,
  }
}

interface Limits {
  readonly exempt: boolean
  readonly shares: number
  /** Percent of its own seats. */
  readonly lendable: number
  readonly borrowing: number | undefined
  readonly queuing: Queuing | undefined
}

function limitsOf(object: PriorityLevelConfiguration): Limits {
  const spec: Partial<PriorityLevelConfigurationSpec> = object.spec ?? {}
  const exempt = spec.type === 'Exempt'
  const own: ExemptPriorityLevelConfiguration & Partial<LimitedPriorityLevelConfiguration> =
    (exempt ? spec.exempt : spec.limited) ?? {}
  const response = own.limitResponse
  return {
    exempt,
    shares: own.nominalConcurrencyShares ?? (exempt ? 0 : 30),
    lendable: own.lendablePercent ?? 0,
    borrowing: own.borrowingLimitPercent,
    queuing:
      exempt || response?.type === 'Queue'
        ? { queues: 64, handSize: 8, queueLengthLimit: exempt ? Number.POSITIVE_INFINITY : 50, ...response?.queuing }
        : undefined,
  }
}

function seatsOf({ shares, lendable, borrowing }: Limits, total: number, sum: number): Seats {
  const nominal = sum === 0 ? 0 : Math.ceil((total * shares) / sum)
  const lower = nominal - Math.round((nominal * lendable) / 100)
  const upper = nominal + (borrowing === undefined ? total : Math.round((nominal * borrowing) / 100))
  return { nominal, lower, upper }
}

/** The queues that a flow may wait in: as many different ones as a hand holds, always the same for the same flow. */
function handOf(flow: string, { queues, handSize }: Queuing): readonly number[] {
  let rest = createHash('sha256').update(flow).digest().readBigUInt64BE()
  const hand: number[] = []
  while (hand.length < Math.min(handSize, queues)) {
    const left = BigInt(queues - hand.length)
    let card = Number(rest % left)
    rest /= left
    // `card` counts among the queues not dealt yet; they are not listed, as there may be millions.
    for (const dealt of hand.toSorted((a, b) => a - b)) if (card >= dealt) card++
    hand.push(card)
  }
  return hand
}

function shortest(hand: readonly number[], queues: ReadonlyMap<number, readonly unknown[]>): number {
  let best = hand[0] as number
  const lengthOf = (at: number) => queues.get(at)?.length ?? 0
  for (const at of hand) if (lengthOf(at) < lengthOf(best)) best = at
  return best
}
