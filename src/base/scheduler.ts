import type { Timer } from './clock.ts'

/**
 * Every hand-over between components (request, answer, commit, watch event, timer, queue item) passes a Scheduler.
 * Live, it runs in the order given; simulated, a seed picks which of the waiting ones comes next, one at a time, and
 * microtasks are drained between two of them.
 */
export interface Scheduler {
  /**
   * Hands `task` over. Live: a microtask, first in, first out. Tasks of the same `lane` never overtake each other, in
   * no simulated order either: give one where a real guarantee exists (the events of one watch, the bytes of one socket).
   */
  handOver(label: string, task: () => void, lane?: Lane): void
  /** Like handOver, but behind the I/O that is ready now. Live: setImmediate. For fan-out that must not delay a writer. */
  later(label: string, task: () => void, lane?: Lane): void
  /**
   * Hands `task` over a moment later, so that more may be done together, or what just failed is tried again. Such a moment is no
   * wait: where the cluster's time stands still it has passed when nothing else is left to do. In milliseconds, a few hundred at most.
   */
  soon(ms: number, label: string, task: () => void): Timer
  /** What is under way outside of this process, on a disk: until it is done the cluster is not at rest. Gives `work` back. */
  during<T>(work: Promise<T>): Promise<T>
}

/** Compared by identity (an object) or value (a string). */
export type Lane = object | string

/** Resolves when the scheduler lets this hand-over happen: `await turn(scheduler, 'request')`. */
export function turn(scheduler: Scheduler, label: string, lane?: Lane): Promise<void> {
  return new Promise((resolve) => scheduler.handOver(label, resolve, lane))
}
