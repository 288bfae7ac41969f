/**
 * The pods that wait to be scheduled (KEP-4247). Ready ones are in the order of priority, then age. One that was refused waits until a
 * change comes that may help it, as the plugins say that refused it, or five minutes; then for the rest of its backoff (1 s, doubling, at
 * most 10 s), unless no other is ready (SchedulerPopFromBackoffQ). One that an error kept back waits for its backoff alone, and for all of
 * it. One that a plugin holds back before it is tried (a scheduling gate, a claim that is not there) waits apart, without any backoff.
 *
 * A change costs the pods that one of the plugins refused which it concerns, and no others: none where there are none.
 */
import sortedBTree from 'sorted-btree'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SchedulingAttempt } from './attempt-metrics.ts'
import { type ClusterEvent, targetPodUpdates } from './cluster-events.ts'
import type { PodInfo } from './pod-info.ts'
import { HELPED_BY_ANY, type Hint, type Hints, type Refuser } from './queueing-hints.ts'

export interface QueueTimes {
  readonly initialBackoffMs: number
  readonly maxBackoffMs: number
  /** So long a pod waits at most until it is tried again without any help. */
  readonly flushMs: number
}

export const USUAL_TIMES: QueueTimes = { initialBackoffMs: 1000, maxBackoffMs: 10_000, flushMs: 5 * 60_000 }

const BTree = sortedBTree.default

/** `taken`: it is being scheduled. */
export type SchedulingPlace = 'active' | 'backoff' | 'unschedulable' | 'gated' | 'taken'

interface Waiting {
  info: PodInfo
  readonly sequence: number
  /** Of the monotonic clock, in milliseconds. */
  readonly came: number
  /** The last of its attempts. */
  attempt?: SchedulingAttempt
  place: SchedulingPlace
  /** When it was last refused, or came. */
  since: number
  /** How often it was refused, and how often an error kept it back since then. */
  refusals: number
  errors: number
  retryAt: number
  /** The plugins that refused it, or that hold it back. */
  refusedBy: ReadonlySet<Refuser>
}

/** One that is being decided over more than one turn, and what happened meanwhile. */
interface Held {
  readonly waiting: Waiting
  readonly missed: ClusterEvent[]
}

export interface SchedulingQueue {
  /** A pod to schedule, new or changed. A change of one that waits may help it. */
  add(info: PodInfo): void
  /** `uid`: no other pod of the name. */
  remove(key: string, uid?: string): void
  /** The pod whose turn it is, or undefined. */
  pop(): PodInfo | undefined
  /** Of a pod that was taken and is not bound yet. */
  attemptOf(info: PodInfo): SchedulingAttempt | undefined
  /** How many wait that a plugin refused. */
  refusedBy(): Iterable<readonly [plugin: string, pods: Iterable<PodInfo>]>
  /** One that was taken is not decided in this turn: what happens until it has failed, or is released, may help it. */
  hold(key: string): void
  /** The held one is decided: what happens from now on is not kept for it. */
  release(): void
  /** Something else of a waiting pod has changed than what makes it another one. */
  touched(key: string): void
  /** It did not fit now; refused by no plugin: an error kept it back. */
  failed(info: PodInfo, refusedBy: ReadonlySet<Refuser>): void
  /** One that was refused waits for its backoff alone, as one that an error kept back. */
  retry(key: string): void
  /** Pods that it may help are tried again. */
  happened(event: ClusterEvent): void
  /** Pods that could be taken now. */
  readonly ready: number
  /** How many are where. */
  readonly counts: Readonly<Record<SchedulingPlace, number>>
}

export interface QueueOptions {
  /** Called whenever a pod can be taken. */
  readonly wake: () => void
  readonly hints: Hints
  /** The plugin that holds the pod back before it is tried. */
  readonly gateOf?: (info: PodInfo) => Refuser | undefined
  readonly times?: QueueTimes
}

export function createSchedulingQueue(runtime: Runtime, options: QueueOptions): SchedulingQueue {
  const { clock } = runtime
  const { wake, hints, gateOf = () => undefined, times = USUAL_TIMES } = options
  const known = new Map<string, Waiting>()
  const counts: Record<SchedulingPlace, number> = { active: 0, backoff: 0, unschedulable: 0, gated: 0, taken: 0 }
  /** Each in the order of their turns. */
  const active = new BTree<Waiting, number>(undefined, turnOf)
  const backingOff = new BTree<Waiting, number>(undefined, (a, b) => a.retryAt - b.retryAt || turnOf(a, b))
  const refused = new Map<Refuser, Set<Waiting>>()
  const timers = new Map<string, Timer>()
  let sequence = 0
  const incoming = runtime.metrics?.counter(
    'scheduler_queue_incoming_pods_total',
    'Pods that came to wait in a queue, by the event that brought them there and the queue.',
    ['event', 'queue'],
  )

  let held: Held | undefined
  /** Out of where it waits, or out of the decision. */
  const leave = (waiting: Waiting) => {
    if (held?.waiting === waiting) held = undefined
    const { key } = waiting.info
    timers.get(key)?.cancel()
    timers.delete(key)
    counts[waiting.place]--
    if (waiting.place === 'active') active.delete(waiting)
    if (waiting.place === 'backoff') backingOff.delete(waiting)
    if (waiting.place === 'unschedulable' || waiting.place === 'gated')
      for (const plugin of waiting.refusedBy) refused.get(plugin)?.delete(waiting)
  }
  const enter = (waiting: Waiting, place: SchedulingPlace) => {
    waiting.place = place
    counts[place]++
  }
  const after = (ms: number, what: string, waiting: Waiting, then: () => void) =>
    void timers.set(waiting.info.key, clock.setTimer(ms, what, then))
  const waitFor = (waiting: Waiting, place: 'unschedulable' | 'gated', refusedBy: ReadonlySet<Refuser>) => {
    waiting.refusedBy = refusedBy
    enter(waiting, place)
    for (const plugin of refusedBy) {
      const all = refused.get(plugin) ?? new Set()
      refused.set(plugin, all.add(waiting))
    }
  }
  const activate = (waiting: Waiting, event: string) => {
    enter(waiting, 'active')
    active.set(waiting, 0)
    incoming?.child(event, 'active').add()
    wake()
  }
  const backOff = (waiting: Waiting, event: string) => {
    enter(waiting, 'backoff')
    if (waiting.errors === 0) backingOff.set(waiting, 0)
    after(waiting.retryAt - clock.now(), 'scheduling backoff', waiting, () => {
      leave(waiting)
      resume(waiting, 'BackoffComplete')
    })
    incoming?.child(event, 'backoff').add()
    wake()
  }
  const waitAfterFailure = (waiting: Waiting) => {
    waiting.since = clock.now()
    const count = waiting.errors || waiting.refusals
    const backoff = Math.min(times.maxBackoffMs, times.initialBackoffMs * 2 ** (count - 1))
    waiting.retryAt = endOfSecond(waiting.since + backoff)
  }
  /** It has left where it was. */
  const resume = (waiting: Waiting, event: string) => {
    const gate = gateOf(waiting.info)
    if (gate !== undefined) {
      waitFor(waiting, 'gated', new Set([gate]))
      incoming?.child(event, 'unschedulable').add()
    } else if (waiting.retryAt > clock.now()) backOff(waiting, event)
    else activate(waiting, event)
  }
  const isHelp = (hint: Hint, info: PodInfo, event: ClusterEvent) =>
    info.priority <= (event.upToPriority ?? info.priority) && hint(info, event)
  const mayHelp = (waiting: Waiting, info: PodInfo, event: ClusterEvent) =>
    waiting.refusedBy.has(HELPED_BY_ANY) ||
    (hints.get(event.name) ?? []).some(([plugin, hint]) => waiting.refusedBy.has(plugin) && isHelp(hint, info, event))
  const helped = (waiting: Waiting, event: string) => {
    const gate = waiting.place === 'gated' ? gateOf(waiting.info) : undefined
    if (gate !== undefined && waiting.refusedBy.has(gate)) {
      incoming?.child(event, 'unschedulable').add()
      return
    }
    leave(waiting)
    resume(waiting, event)
  }

  return {
    counts,
    get ready() {
      return counts.active + backingOff.size
    },
    add(info) {
      const waiting = known.get(info.key)
      if (waiting === undefined || waiting.info.uid !== info.uid) {
        if (waiting !== undefined) leave(waiting)
        const fresh: Waiting = {
          info,
          sequence: sequence++,
          came: clock.monotonic(),
          place: 'taken',
          since: clock.now(),
          refusals: 0,
          errors: 0,
          retryAt: 0,
          refusedBy: new Set(),
        }
        known.set(info.key, fresh)
        resume(fresh, 'UnscheduledPodAdd')
        return
      }
      const old = waiting.info
      const ordered = waiting.place === 'active' ? active : waiting.place === 'backoff' ? backingOff : undefined
      const isOrdered = ordered?.delete(waiting)
      waiting.info = info
      if (isOrdered) ordered?.set(waiting, 0)
      const events = targetPodUpdates(old.pod, info.pod)
      if (held?.waiting === waiting) held.missed.push(...events)
      if (waiting.place !== 'unschedulable' && waiting.place !== 'gated') return
      const help = events.find((event) => mayHelp(waiting, old, event))
      if (help !== undefined) helped(waiting, help.name)
      else if (waiting.refusedBy.has(HELPED_BY_ANY)) helped(waiting, 'TargetPodUpdate')
    },
    touched(key) {
      const waiting = known.get(key)
      if (waiting?.place === 'unschedulable' && waiting.refusedBy.has(HELPED_BY_ANY)) helped(waiting, 'TargetPodUpdate')
    },
    hold(key) {
      const waiting = known.get(key)
      held = waiting && { waiting, missed: [] }
    },
    release() {
      held = undefined
    },
    remove(key, uid) {
      const waiting = known.get(key)
      if (waiting === undefined || (uid !== undefined && waiting.info.uid !== uid)) return
      leave(waiting)
      known.delete(key)
    },
    pop() {
      const next = active.minKey() ?? backingOff.minKey()
      if (next === undefined) return undefined
      if (next.place === 'backoff') incoming?.child('PopFromBackoffQ', 'active').add()
      leave(next)
      enter(next, 'taken')
      next.attempt = { number: (next.attempt?.number ?? 0) + 1, began: clock.monotonic(), came: next.came }
      return next.info
    },
    attemptOf({ key, uid }) {
      const waiting = known.get(key)
      return waiting?.info.uid === uid ? waiting.attempt : undefined
    },
    *refusedBy() {
      for (const [plugin, all] of refused)
        yield [plugin, [...all].filter(({ place }) => place === 'unschedulable').map(({ info }) => info)]
    },
    failed(info, refusedBy) {
      const waiting = known.get(info.key)
      if (waiting?.place !== 'taken' || waiting.info.uid !== info.uid) return
      const missed = held?.waiting === waiting ? held.missed : []
      leave(waiting)
      if (refusedBy.size === 0) waiting.errors++
      else {
        waiting.errors = 0
        waiting.refusals++
      }
      waitAfterFailure(waiting)
      waiting.refusedBy = refusedBy
      if (refusedBy.size === 0 || missed.some((event) => mayHelp(waiting, info, event))) {
        backOff(waiting, 'ScheduleAttemptFailure')
        return
      }
      waitFor(waiting, 'unschedulable', refusedBy)
      after(times.flushMs, 'unschedulable flush', waiting, () => helped(waiting, 'UnschedulableTimeout'))
      incoming?.child('ScheduleAttemptFailure', 'unschedulable').add()
    },
    retry(key) {
      const waiting = known.get(key)
      if (waiting?.place !== 'unschedulable') return
      leave(waiting)
      waiting.errors++
      waitAfterFailure(waiting)
      backOff(waiting, 'PreemptionFailed')
    },
    happened(event) {
      held?.missed.push(event)
      for (const waiting of refused.get(HELPED_BY_ANY) ?? []) helped(waiting, event.name)
      for (const [plugin, hint] of hints.get(event.name) ?? [])
        for (const waiting of refused.get(plugin) ?? [])
          if (isHelp(hint, waiting.info, event)) helped(waiting, event.name)
    },
  }
}

function turnOf(a: Waiting, b: Waiting): number {
  return b.info.priority - a.info.priority || a.since - b.since || a.sequence - b.sequence
}

/** Backoffs end with the second of the clock in which they would: those that end together go by priority. */
const endOfSecond = (ms: number): number => (Math.floor(ms / 1000) + 1) * 1000
