/**
 * The pods that wait to be scheduled: ready ones in the order of priority, then age; those that failed back off (1 s,
 * doubling, at most 10 s) and wait until something changes that may help, or five minutes.
 */
import sortedBTree from 'sorted-btree'
import type { Timer } from '../base/clock.ts'
import type { Runtime } from '../base/runtime.ts'
import type { PodInfo } from './pod-info.ts'

export interface QueueTimes {
  readonly initialBackoffMs: number
  readonly maxBackoffMs: number
  /** So long a pod waits at most until it is tried again without any help. */
  readonly flushMs: number
}

export const USUAL_TIMES: QueueTimes = { initialBackoffMs: 1000, maxBackoffMs: 10_000, flushMs: 5 * 60_000 }

const BTree = sortedBTree.default

interface Waiting {
  info: PodInfo
  readonly sequence: number
  readonly since: number
  attempts: number
  retryAt: number
  cureless: boolean
}

export interface SchedulingQueue {
  /** A pod to schedule, new or changed. A change of one that waits for help makes it ready again. */
  add(info: PodInfo): void
  remove(key: string): void
  /** The pod whose turn it is, or undefined. */
  pop(): PodInfo | undefined
  /** It did not fit now. `cureless`: nor would it if there were fewer pods. */
  failed(info: PodInfo, cureless?: boolean): void
  /** Something changed that may help: every pod that waits may be tried again (after its backoff). */
  moveAll(): void
  /** A pod is gone: those may be tried again that fewer pods can help. */
  podGone(): void
  readonly ready: number
}

/** `wake` is called whenever a pod became ready. */
export function createSchedulingQueue(
  runtime: Runtime,
  wake: () => void,
  times: QueueTimes = USUAL_TIMES,
): SchedulingQueue {
  const { clock } = runtime
  const known = new Map<string, Waiting>()
  const active = new Map<string, Waiting>()
  const unschedulable = new Map<string, Waiting>()
  /** Those of `active` in the order of their turns. */
  const order = new BTree<Waiting, number>(undefined, (a, b) => turnOf(a, b))
  let sequence = 0
  const timers = new Map<string, Timer>()

  const activate = (key: string, waiting: Waiting) => {
    timers.get(key)?.cancel()
    timers.delete(key)
    unschedulable.delete(key)
    active.set(key, waiting)
    order.set(waiting, 0)
    wake()
  }
  const leave = (key: string, waiting: Waiting) => {
    active.delete(key)
    order.delete(waiting)
  }
  const activateAfterBackoff = (key: string, waiting: Waiting) => {
    const ms = waiting.retryAt - clock.now()
    if (ms <= 0) return activate(key, waiting)
    timers.get(key)?.cancel()
    timers.set(
      key,
      clock.setTimer(ms, 'scheduling backoff', () => activate(key, waiting)),
    )
  }
  return {
    get ready() {
      return active.size
    },
    add(info) {
      const waiting = known.get(info.key)
      if (waiting === undefined || waiting.info.uid !== info.uid) {
        const fresh = { info, since: clock.now(), sequence: sequence++, attempts: 0, retryAt: 0, cureless: false }
        if (waiting !== undefined) leave(info.key, waiting)
        known.set(info.key, fresh)
        activate(info.key, fresh)
        return
      }
      if (active.has(info.key)) {
        order.delete(waiting)
        waiting.info = info
        order.set(waiting, 0)
      } else waiting.info = info
      if (unschedulable.has(info.key)) activateAfterBackoff(info.key, waiting)
    },
    remove(key) {
      const waiting = known.get(key)
      if (waiting !== undefined) leave(key, waiting)
      known.delete(key)
      unschedulable.delete(key)
      timers.get(key)?.cancel()
      timers.delete(key)
    },
    pop() {
      const next = order.minKey()
      if (next === undefined) return undefined
      leave(next.info.key, next)
      next.attempts++
      return next.info
    },
    failed(info, cureless = false) {
      const waiting = known.get(info.key)
      if (waiting === undefined || active.has(info.key)) return
      waiting.cureless = cureless
      const backoff = Math.min(times.maxBackoffMs, times.initialBackoffMs * 2 ** (waiting.attempts - 1))
      waiting.retryAt = clock.now() + backoff
      unschedulable.set(info.key, waiting)
      timers.get(info.key)?.cancel()
      timers.set(
        info.key,
        clock.setTimer(times.flushMs, 'unschedulable flush', () => activate(info.key, waiting)),
      )
    },
    podGone() {
      for (const [key, waiting] of [...unschedulable]) if (!waiting.cureless) activateAfterBackoff(key, waiting)
    },
    moveAll() {
      for (const [key, waiting] of [...unschedulable]) activateAfterBackoff(key, waiting)
    },
  }
}

function turnOf(a: Waiting, b: Waiting): number {
  return b.info.priority - a.info.priority || a.since - b.since || a.sequence - b.sequence
}
